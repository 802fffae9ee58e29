"""Static stitching (`refresh_on_run: false`): a run stores no rows; it only rewrites the view.

With `use_stitching` the view then returns the current rows: stored rows where they are fresh, the definition elsewhere,
separated by literals, with every table at the snapshot of the run. It is one consistent snapshot at the price of a
commit of metadata. A view has no session settings of its own. Where those of a reader would give other values, the view
reads the definition alone, at the same snapshots.
"""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.plan import NoOp
from dbt.adapters.icebergmv.maintenance.refresh.layouts import layout_of
from dbt.adapters.icebergmv.maintenance.refresh.publish import ViewText, publish_text
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult, nothing_done
from dbt.adapters.icebergmv.maintenance.refresh.shortcomings import recorded_config, say
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import take_main_back
from dbt.adapters.icebergmv.maintenance.refresh.storage_table import alter_storage
from dbt.adapters.icebergmv.maintenance.sql.names import show
from dbt.adapters.icebergmv.maintenance.status.inspection import RefreshedView, as_written
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import sql_hash
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import check_session
from dbt.adapters.icebergmv.maintenance.stitching.current_rows import CurrentRows, current_rows
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import ReadPlan, reader_guard

_REASON = "refresh_on_run is false"


def leave(lake: Lake, view: RefreshedView, reads: ReadPlan) -> RefreshResult:
    """Apply changed configuration, and stitch what is to be stitched; the stored rows stay as they are."""
    behavior, config = view.state.stale_read_behavior, view.request.config
    reason, unpinned = _REASON, _not_pinned(as_written(view))
    if config.stale_read_behavior == "use_stitching":
        if unpinned is None:
            return _restitch(lake, view, reads)
        reason = f"{_REASON}, nor stitched: {unpinned}"
    if view.redefined is not None:
        # The stored rows are those of the former SQL of a view, which only a refresh replaces.
        return nothing_done(view, f"{reason}; {view.redefined}", behavior)
    if not view.changes:
        return nothing_done(view, reason, behavior)
    unknown = _not_recorded(view, reads)
    if unknown is not None:
        reads, reason = ReadPlan("use_data_table"), f"{reason}; {unknown}"
    say(lake, view, reads)
    alter_storage(lake, view)
    state = replace(view.state, config=recorded_config(view, reads))
    behavior = layout_of(config).republish(lake, view, reads, state)
    return nothing_done(view, f"{reason}; {', '.join(view.changes.alter)}", behavior)


def _not_pinned(view: RefreshedView) -> str | None:
    """Return what the SELECT reads that cannot be read at the snapshot of the run; None where it can be, all of it."""
    unpinned = (base.base.untrackable for base in view.status.base_tables if base.base.source is None)
    return view.definition.always_full or next(unpinned, None)


def _not_recorded(view: RefreshedView, reads: ReadPlan) -> str | None:
    """Return why the stored rows cannot be compared with the base tables when they are read; None where they can be.

    None are recorded after a rollback to rows of which nobody knows what they were computed from. One is not that could
    not be read at a snapshot at the last refresh, and can be now.
    """
    known = {base.name for base in view.state.base_tables}
    names = (view.bases.of(reference).name for reference in view.definition.live) if reads.watches_bases else ()
    missing = next((name for name in names if name not in known), None)
    if known and missing is None:
        return None
    of = "any base table" if missing is None else show(missing)
    return f"readers get the stored rows until a refresh, as it is not recorded of which rows of {of} these are"


def _guard(view: RefreshedView, rows: CurrentRows) -> str | None:
    """Return the condition on a reader's session under which stored rows and literals mean the same there."""
    asked = [reader_guard(view), r"length('\\') = 1" if "\\" in rows.query else None]
    return " AND ".join(condition for condition in asked if condition is not None) or None


def _restitch(lake: Lake, view: RefreshedView, reads: ReadPlan) -> RefreshResult:
    as_configured, view, config = view, as_written(view), view.request.config
    if view.status.has_moved:
        check_session(lake, config.settings)
    rows = current_rows(lake, view, at_once=False)
    query = rows.where(_guard(view, rows))
    if sql_hash(query) == sql_hash(view.found.sql) and not view.changes:
        reason = rows.plan.reason if isinstance(rows.plan, NoOp) else f"stitched already ({rows.plan.reason})"
        return nothing_done(view, reason, view.state.stale_read_behavior)
    say(lake, as_configured, reads)
    alter_storage(lake, view)
    state = replace(
        view.state,
        config=recorded_config(as_configured, reads),
        refresh_kind="restitch",
        refresh_reason=f"{_REASON}; {rows.plan.reason}",
    )
    take_main_back(lake, view.stored)
    behavior = publish_text(lake, view, state, view.stored, ViewText(query, rows.columns, reads.behavior))
    return replace(nothing_done(view, rows.plan.reason, behavior), kind="restitch")
