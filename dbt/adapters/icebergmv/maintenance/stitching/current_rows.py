"""The current rows of a materialized view, from what is recorded with it and from what its tables are now."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.errors import naming
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, NoOp, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import pinned_definition
from dbt.adapters.icebergmv.maintenance.planning.settle import (
    PlanOptions,
    Settled,
    Unchanged,
    first_plan,
    settle,
    settle_build,
)
from dbt.adapters.icebergmv.maintenance.planning.storage_fit import misfit_to_read
from dbt.adapters.icebergmv.maintenance.planning.write import query_of
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list, select_from
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.status.inspection import LostView, RefreshedView, as_written, inspect_recorded
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import check_reader
from dbt.adapters.icebergmv.maintenance.stitching.snapshot_query import in_stored_types, stitched_query


def current_query(lake: Lake, view: TableName, *, at_once: bool = True) -> str:
    """Return one SELECT of the rows that the view would hold if it were refreshed now; nothing is written.

    `at_once`: Spark analyses it now, and not again when the columns of a table may be others.
    Its tables are read at the snapshots that the catalog shows at this moment. Raises MaintenanceError, with the view's
    name, where those rows cannot be known.
    """
    with naming("read", show(view)):
        inspection = as_written(inspect_recorded(lake.catalog, view))
        check_reader(lake, inspection.request.config.settings)
        return current_rows(lake, inspection, at_once=at_once).query


@dataclass(frozen=True)
class CurrentRows:
    """The rows that a refresh would leave, as a query of these columns, and the plan that it follows.

    `definition` gives the same rows without stored ones; None where the query does not mix the two.
    """

    query: str
    columns: tuple[str, ...]
    plan: RefreshPlan
    definition: str | None = None

    def where(self, guard: str | None) -> str:
        """Return the query for sessions that a condition admits; in others the definition alone is the answer."""
        if self.definition is None or guard is None:
            return self.query
        listed, arms = column_list(self.columns), ((self.query, guard), (self.definition, f"NOT ({guard})"))
        return "\nUNION ALL\n".join(f"{select_from(query, listed)} WHERE {when}" for query, when in arms)


def current_rows(lake: Lake, view: LostView | RefreshedView, *, at_once: bool) -> CurrentRows:
    """Return the current rows of an inspected view. `at_once`: the query is analysed once, now."""
    _show_snapshots(lake, view)
    if isinstance(view, LostView):
        return _computed(settle_build(lake, view, misfit_to_read))
    options = PlanOptions(appends=at_once)
    plan = first_plan(view, options)
    if isinstance(plan, NoOp) and not view.status.schema_moved:
        return CurrentRows(view.stored.query, view.stored.columns, plan)
    settled = settle(lake, view, options, misfit_to_read)
    if isinstance(settled, Unchanged):
        return CurrentRows(view.stored.query, view.stored.columns, settled.plan)
    if isinstance(settled.plan, Full):
        return _computed(settled)
    definition = in_stored_types(pinned_definition(settled.view), view.stored)
    return CurrentRows(stitched_query(settled, view.stored), view.stored.columns, settled.plan, definition)


def _computed(settled: Settled) -> CurrentRows:
    query = select_from(query_of(settled), column_list(settled.names))
    return CurrentRows(query, settled.names, settled.plan)


def _show_snapshots(lake: Lake, view: LostView | RefreshedView) -> None:
    """Let Spark forget the tables that it caches: it may not know yet the snapshots that the catalog shows."""
    sources = [view.bases.of(r).source for r in view.definition.references]
    tables = dict.fromkeys(s.storage for s in sources if s is not None)
    for table in (*tables, *([view.stored.name] if isinstance(view, RefreshedView) else [])):
        lake.spark(f"REFRESH TABLE {qualified(*table)}")
