"""What the next refresh of a view will do, as far as its metadata say it."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.catalog.reader import table_columns
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden, key_name
from dbt.adapters.icebergmv.maintenance.definition.partitioning import parse_partition_by, stored_partitioning
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.forecast import Forecast, certain, forecast_of
from dbt.adapters.icebergmv.maintenance.planning.kept_columns import as_far_as_of_use, stored_hidden, with_states
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, NoOp
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column, Columns, check_columns
from dbt.adapters.icebergmv.maintenance.planning.settle import (
    PlanOptions,
    Settled,
    first_plan,
    is_final,
    misfit_of,
    request_of,
)
from dbt.adapters.icebergmv.maintenance.planning.storage_fit import PARTITIONED_OTHERWISE
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, LostView, NewView, RefreshedView


@dataclass(frozen=True)
class Foreseen:
    """The forecast of a refresh, and the view that it was made of.

    `request` is what it was made from besides, where more than metadata of the view decided; `settled` is what would be
    carried out by its plan, if anything would.
    """

    forecast: Forecast
    view: Inspection
    request: PlanRequest | None = None
    settled: Settled | None = None


def foresee(view: Inspection, options: PlanOptions) -> Foreseen:
    """Return what a refresh of an inspected view will do.

    Raises InvalidConfig for a `partition_by` that the stored columns do not have.
    """
    match view:
        case NewView():
            return Foreseen(certain(Full(view.rebuild)), view)
        case LostView():
            return Foreseen(certain(Full(view.rebuild or view.lost)), view)
        case RefreshedView():
            return _foresee(view, options)


def _foresee(view: RefreshedView, options: PlanOptions) -> Foreseen:
    plan = first_plan(view, options)
    if is_final(view, plan) or view.rebuild is not None:
        return Foreseen(certain(plan), view)
    view, columns = as_stored(view)
    misfit = misfit_of(view, columns.hidden, _other_partitioning(view, columns))
    request = request_of(view, options, columns.hidden, misfit)
    forecast = forecast_of(view.definition, view.status, request)
    if isinstance(forecast.plan, NoOp):
        return Foreseen(forecast, view, request)
    settled = Settled(view, columns.output, forecast.plan, misfit, stored_hidden(view.storage))
    return Foreseen(forecast, view, request, settled)


def as_stored(view: RefreshedView) -> tuple[RefreshedView, Columns]:
    """Return the view with the columns that its storage table has, in place of those that Spark would see.

    They are the same as long as SELECT, settings and schemas are; where these changed, the stored rows are not kept.
    """
    view = as_far_as_of_use(view)
    table = view.stored.table
    output = tuple(Column(c.name, c.type) for c in table_columns(table) if not is_hidden(c.name))
    stored, definition = stored_hidden(table), view.definition
    if definition.keys:
        is_same = [c.name for c in stored] == [key_name(text) for text in definition.keys]
    else:
        is_same = definition.merging is not None and len(definition.merging.hidden) == len(stored)
    columns = Columns(output, stored if is_same else ())
    return with_states(check_columns(view, columns), columns)


def _other_partitioning(view: RefreshedView, columns: Columns) -> str | None:
    """Return that the storage table is not partitioned as the model says now, if so."""
    wanted = view.request.config.partition_by
    if wanted is None:
        return None
    fields = parse_partition_by(wanted, [c.name for c in columns.output])
    return None if fields == stored_partitioning(view.storage) else PARTITIONED_OTHERWISE
