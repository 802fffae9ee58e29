"""One decision: definition, columns and plan, settled together with what only Spark knows.

The catalog alone gives a first plan, which is final when nothing has to be done. Otherwise Spark says what the columns
of the definition are, what its expressions make of the values that changed and, where no column follows a change, which
output rows the changed rows reach. The plan is made from that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.partitioning import stored_partitioning
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.changed_keys import Questions, ToAsk
from dbt.adapters.icebergmv.maintenance.planning.key_evaluation import evaluated
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, NoOp, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, plan_refresh, references_to_ask
from dbt.adapters.icebergmv.maintenance.planning.spark_columns import Column, check_columns, columns_of_definition
from dbt.adapters.icebergmv.maintenance.status.inspection import (
    Inspection,
    LostView,
    NewView,
    RefreshedView,
    View,
    with_views_as_names,
)
from dbt.adapters.icebergmv.maintenance.status.view_config import RefreshPolicy

Misfit: TypeAlias = Callable[[Lake, Inspection, Sequence[Column]], str | None]
"""Says why rows with the given columns cannot be beside the stored ones, or None."""


@dataclass(frozen=True)
class PlanOptions:
    """What the plan is for. `policy` and `incremental` are the user's; `appends` says that it runs at once."""

    policy: RefreshPolicy = "auto"
    incremental: bool = True
    appends: bool = True


@dataclass(frozen=True)
class Settled:
    """Rows will be computed by `plan`, over the definition in `view`, which gives `columns`.

    `misfit` says why the storage table cannot take these columns, if so.
    """

    view: Inspection
    columns: tuple[Column, ...]
    plan: Append | Overwrite | Full
    misfit: str | None = None

    @property
    def makes_storage(self) -> bool:
        """Return whether the storage table is made, or gets new columns and partitioning, before rows are written."""
        is_asked_for = self.view.request.rebuild is not None
        return isinstance(self.plan, Full) and (self.misfit is not None or is_asked_for)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(c.name for c in self.columns)


@dataclass(frozen=True)
class Unchanged:
    """No row will be computed: those that are stored are right."""

    view: RefreshedView
    plan: NoOp


def first_plan(view: RefreshedView, options: PlanOptions) -> RefreshPlan:
    """Return the plan as far as the catalog knows. It is final if `is_final` says so."""
    return plan_refresh(view.definition, view.status, _request(view, options, None))


def is_final(view: RefreshedView, plan: RefreshPlan) -> bool:
    """Return whether Spark need not be asked: nothing changed, neither rows nor columns nor configuration."""
    return isinstance(plan, NoOp) and not view.changes and not view.status.schema_moved


def settle(lake: Lake, view: RefreshedView, options: PlanOptions, misfit: Misfit) -> Settled | Unchanged:
    """Return what will be done for a view that has stored rows, after asking Spark.

    Raises InvalidDefinition for columns that no table can hold, InvalidConfig for a `partition_by` that they do not
    have, RefreshConflict when the view was dropped meanwhile.
    """
    view, columns = _with_columns(lake, view)
    if view.rebuild is None and isinstance(first_plan(view, options), Overwrite | Full):
        view = replace(view, definition=evaluated(view.definition, view.status, lake.spark))
    unfit = misfit(lake, view, columns)
    request = _request(view, options, unfit)
    to_ask = references_to_ask(view.definition, view.status, request)
    if to_ask != ToAsk():
        preferred = frozenset(column for column, _ in request.partitioning)
        questions = Questions(view.definition, view.definition.asked, view.bases, view.status, columns, preferred)
        request = replace(request, answers=questions.answers(to_ask, lake.spark))
    plan = plan_refresh(view.definition, view.status, request)
    return Unchanged(view, plan) if isinstance(plan, NoOp) else Settled(view, columns, plan, unfit)


def settle_build(lake: Lake, view: NewView | LostView, misfit: Misfit) -> Settled:
    """Return how a view is built that has no rows to keep; as `settle` otherwise."""
    reason = view.rebuild or (view.lost if isinstance(view, LostView) else "")
    view, columns = _with_columns(lake, view)
    return Settled(view, columns, Full(reason), misfit(lake, view, columns))


def _with_columns(lake: Lake, view: View) -> tuple[View, tuple[Column, ...]]:
    columns = columns_of_definition(lake, view)
    if columns is None:
        view = with_views_as_names(lake.catalog, view)
        columns = columns_of_definition(lake, view) or ()
    return check_columns(view, columns), columns


def _request(view: RefreshedView, options: PlanOptions, misfit: str | None) -> PlanRequest:
    return PlanRequest(
        policy=options.policy,
        refreshed_at=view.state.refreshed_for_people,
        rebuild=view.rebuild,
        lost=view.redefined or misfit,
        partitioning=[(f.column, f.transform) for f in stored_partitioning(view.storage)],
        incremental=options.incremental,
        appends=options.appends,
    )
