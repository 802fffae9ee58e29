"""What a refresh would do if one file of a base table came, or were written again: tried with the planner itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyiceberg.manifest import DataFileContent

from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import FileRows, Wanted, changed_rows
from dbt.adapters.icebergmv.maintenance.catalog.manifests import live_files, manifests_of
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import StaleDataConstraints, TableChange
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import changes
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import WORTH_ASKING, is_within_bounds
from dbt.adapters.icebergmv.maintenance.planning.forecast import Forecast, forecast_of
from dbt.adapters.icebergmv.maintenance.planning.foreseen import as_stored
from dbt.adapters.icebergmv.maintenance.planning.settle import PlanOptions, misfit_of, request_of
from dbt.adapters.icebergmv.maintenance.planning.storage_fit import derived_partitioning
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, RefreshedView
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState
from dbt.adapters.icebergmv.maintenance.status.status import (
    BaseTableStatus,
    MaterializedViewStatus,
    tracked_columns,
)
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import IcebergSource

_FRESH = TableChange("fresh")


@dataclass(frozen=True)
class WhatIf:
    """The forecasts for one base table: if only rows came, and if rows changed or went. None: it holds no rows yet."""

    added: Forecast | None
    changed: Forecast | None


@dataclass(frozen=True)
class Trial:
    """A view whose rows are right at this moment, stored as they are or as a first build would store them."""

    view: Inspection
    request: PlanRequest

    def of(self, base: BaseTableStatus) -> WhatIf:
        """Return what would come of changes of one base table, while all others stay as they are."""
        added, changed = (self._forecast(base, only_added) for only_added in (True, False))
        return WhatIf(added, changed)

    def _forecast(self, base: BaseTableStatus, only_added: bool) -> Forecast | None:
        definition = self.view.definition
        tracked = tracked_columns(definition, base.references)
        source = base.base.source
        if source is None:
            change: TableChange | None = TableChange("unknown", moved=True, reason=base.base.untrackable)
        else:
            change = one_file_changed(source, tracked, only_added)
        if change is None:
            return None
        tables = tuple(
            _as_refreshed(other, change if other.base.name == base.base.name else _FRESH)
            for other in self.view.status.base_tables
        )
        tried = MaterializedViewStatus(tables)
        bounded = (i for b in tried.stale if is_within_bounds(b, tried) for i in b.references)
        found = forecast_of(
            definition, tried, replace(self.request, within_bounds=dict.fromkeys(bounded, WORTH_ASKING))
        )
        # That one file changed is our own assumption.
        reason = found.plan.reason.replace(f" ({changes(tried)})", "")
        return replace(found, plan=replace(found.plan, reason=reason))


def trial(view: Inspection) -> Trial:
    """Return the view with which changes are tried."""
    options = PlanOptions.of_run(view.request.config)
    if isinstance(view, RefreshedView) and view.rebuild is None:
        stored, columns = as_stored(view)
        request = request_of(stored, options, columns.hidden, misfit_of(stored, columns.hidden, None))
        as_if = replace(request, lost=None, changed_nearly_everywhere=frozenset(), left_out=frozenset())
        return Trial(stored, as_if)
    definition = view.definition
    request = PlanRequest(
        options.policy,
        partitioning=[(f.column, f.transform) for f in derived_partitioning(definition, view.bases)],
        incremental=options.incremental,
        merges=definition.merging is not None,
    )
    return Trial(view, request)


def one_file_changed(source: IcebergSource, tracked: frozenset[str], only_added: bool) -> TableChange | None:
    """Return the change that writing the first data file of a table anew is; None where it has none.

    `tracked` are the columns that some output column tracks.
    """
    snapshot = source.table.metadata.snapshot_by_id(source.version.snapshot_id or -1)
    files = live_files(source.table.io, manifests_of(source.table.io, snapshot))
    file = next((f for f in files if f.content == DataFileContent.DATA), None)
    if file is None:
        return None
    rows = changed_rows(FileRows(source.table, source.table_schema, Wanted(tracked)), [file], [])
    return TableChange(
        "stale",
        moved=True,
        constraints=StaleDataConstraints(rows.data_disjuncts),
        changed_partitions=rows.count,
        unit=rows.unit,
        appended_since=source.version.snapshot_id if only_added else None,
        appended_rows=rows.rows if only_added else 0,
        changed_rows=rows.rows,
        changed_bytes=rows.size,
    )


def _as_refreshed(base: BaseTableStatus, change: TableChange) -> BaseTableStatus:
    """Return a base table as if a refresh had just read it, and then this change came."""
    source = base.base.source
    recorded = None if source is None else BaseTableState(base.base.name, source.storage, source.version)
    unknown = TableChange("unknown", moved=True, reason=base.base.untrackable)
    return replace(base, recorded=recorded, change=unknown if source is None else change)
