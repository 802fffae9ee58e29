"""A run with `refresh_on_run: false`: no row is computed, though the view may be made to show the current ones.

With `use_stitching` the view then reads its stored rows where they are fresh and the definition elsewhere, told by
literals and with every table at the snapshot of the run: one exact cut, at the price of a commit of metadata. A view
has no session settings of its own, so where these would give other values the definition alone is read, at that cut.
"""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.refresh.publish import publish_sql, publish_view
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult, nothing_done
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import Lake
from dbt.adapters.icebergmv.maintenance.refresh.storage_table import alter_storage
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, inspect
from dbt.adapters.icebergmv.maintenance.status.pinned_view import sql_hash
from dbt.adapters.icebergmv.maintenance.status.session_check import check_session
from dbt.adapters.icebergmv.maintenance.stitching.current_rows import current_rows
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import reader_guard

_REASON = "refresh_on_run is false"


def leave(lake: Lake, inspection: Inspection) -> RefreshResult:
    """Apply changed configuration, and stitch what is to be stitched; the stored rows stay as they are."""
    state, request = inspection.state, inspection.request
    if state is None:
        raise AssertionError("a view that was never refreshed is built, whatever refresh_on_run says")
    if request.config.stale_read_behavior == "use_stitching":
        return _restitch(lake, inspection)
    if inspection.redefined is not None:
        # The stored rows are those of the former SQL of a view, which only a refresh replaces.
        return nothing_done(inspection, f"{_REASON}; {inspection.redefined}")
    if not inspection.changes:
        return nothing_done(inspection, _REASON)
    alter_storage(lake, inspection)
    publish_view(lake, inspection, replace(state, config=request.config.recorded()))
    return nothing_done(inspection, f"{_REASON}; {', '.join(inspection.changes.alter)}")


def _restitch(lake: Lake, inspection: Inspection) -> RefreshResult:
    state, view, request = inspection.state, inspection.view, inspection.request
    if state is None or view is None:
        raise AssertionError("a view that was never refreshed has nothing to be stitched to")
    if inspection.status.has_moved:
        check_session(lake, request.config.settings)
    rows = current_rows(lake, inspection, lambda: inspect(lake.catalog, request, expand_views=False), at_once=False)
    query = rows.where(reader_guard(inspection))
    if sql_hash(query) == sql_hash(view.sql) and not inspection.changes:
        is_fresh = rows.plan.kind == "none"
        return nothing_done(inspection, rows.plan.reason if is_fresh else f"stitched already ({rows.plan.reason})")
    alter_storage(lake, inspection)
    state = replace(
        state,
        config=request.config.recorded(),
        refresh_kind="restitch",
        refresh_reason=f"{_REASON}; {rows.plan.reason}",
    )
    publish_sql(lake, inspection, state, query, rows.columns)
    return replace(nothing_done(inspection, rows.plan.reason), kind="restitch")
