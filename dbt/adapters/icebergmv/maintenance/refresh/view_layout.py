"""The layout `view`: a storage table with the rows, and a view that pins a snapshot of it and carries the state."""

from __future__ import annotations

from time import monotonic

from dbt.adapters.icebergmv.maintenance.errors import RefreshConflict
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.planning.storage_fit import coarser_partitioning, is_as_planned, with_grain
from dbt.adapters.icebergmv.maintenance.planning.write import ReplaceAll
from dbt.adapters.icebergmv.maintenance.refresh import statements
from dbt.adapters.icebergmv.maintenance.refresh.left_storage import drop_left, leaving
from dbt.adapters.icebergmv.maintenance.refresh.publish import check_sql_stayed, publish_view
from dbt.adapters.icebergmv.maintenance.refresh.replaced_tables import (
    drop_backup,
    drop_if_ours,
    staging_name,
)
from dbt.adapters.icebergmv.maintenance.refresh.shortcomings import recorded_config
from dbt.adapters.icebergmv.maintenance.refresh.state_after import (
    Recording,
    recorded_with,
    state_after,
    state_of_rows,
)
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import (
    drop_unneeded_branches,
    load_storage,
    lost_race,
    protect,
    take_main_back,
    write_storage,
)
from dbt.adapters.icebergmv.maintenance.refresh.storage_table import alter_storage, make_storage, partition_otherwise
from dbt.adapters.icebergmv.maintenance.refresh.writing import Published, write_plan
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.inspection import LostView, NewView, RefreshedView
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import has_moved
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import text_below_a_view
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.session.clock import iso_now
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import ReadPlan


def finish(lake: Lake, view: RefreshedView) -> None:
    """Do nothing: what a dead refresh leaves here goes with the next one that writes."""


def write(lake: Lake, settled: Settled, reads: ReadPlan, started_at: str) -> Published:
    """Write the rows of a plan into the storage table, and publish the view."""
    view, began = settled.view, monotonic()
    storage = view.request.config.storage_table
    if settled.makes_storage:
        make_storage(lake, settled)
    elif not isinstance(view, NewView):
        alter_storage(lake, view)
    start = _start(settled, lake)
    config = recorded_config(view, reads)
    recording = Recording(started_at, iso_now(), config)
    written = write_plan(lake, settled, start, _recorded_with(settled, start, recording))
    settled, stored = written.settled, written.stored
    coarser = coarser_partitioning(settled, stored)
    if coarser is not None:
        settled = with_grain(settled, stored, coarser)
        rows = partition_otherwise(lake, settled, stored, coarser)
        start = _start(settled, lake)
        recording = Recording(started_at, iso_now(), config)
        stored = write_storage(lake, start, ReplaceAll(rows), _recorded_with(settled, start, recording))
    state = state_after(settled, stored, Recording(started_at, iso_now(), config), monotonic() - began)
    with leaving(lake, view, storage):
        behavior = publish_view(lake, view, reads, state, stored)
    if written.are_same:
        # Another refresh may have published its rows meanwhile, and dropped the branch of these.
        protect(lake, storage, load_storage(lake, storage), [stored.snapshot_id])
    drop_unneeded_branches(lake, storage, lake.catalog.view(*view.request.view[1:]))
    if not isinstance(view, NewView):
        drop_left(lake, view, storage)
    drop_backup(lake, view.request.view)
    if isinstance(view, NewView | LostView):
        drop_if_ours(lake, staging_name(view.request.view), view.request.view)
    return Published(settled, stored, start.snapshot_id, behavior)


def _recorded_with(settled: Settled, start: StoredRows, recording: Recording) -> dict[str, str]:
    """Return the write options that record with the rows what a rollback to them needs to know."""
    state = state_of_rows(settled, start.name, recording)
    return recorded_with(settled.view, recording.started_at, text_below_a_view(state, start.table))


def _start(settled: Settled, lake: Lake) -> StoredRows:
    """Return the rows to build on: those that the view pins, unless the table was made anew."""
    view, storage = settled.view, settled.view.request.config.storage_table
    table = load_storage(lake, storage)
    if not is_as_planned(settled, table):
        raise lost_race(storage)
    if isinstance(view, RefreshedView) and not settled.makes_storage:
        return StoredRows(storage, table, view.state.storage_snapshot_id)
    head = table.metadata.current_snapshot_id
    if head is None:
        raise RefreshConflict(f"the storage table of {view.request.name} was replaced meanwhile. Run again.")
    return StoredRows(storage, table, head)


def republish(lake: Lake, view: RefreshedView, reads: ReadPlan, state: ViewState) -> StaleReadBehavior:
    """Publish another state over the rows that are stored already; return the behaviour that readers get.

    Main may be ahead of these rows, where a refresh has died before it published its own.
    """
    take_main_back(lake, view.stored)
    return publish_view(lake, view, reads, state, view.stored)


def record(lake: Lake, view: RefreshedView, state: ViewState) -> None:
    """Record a state of which nothing but ids moved; the SQL of the view stays."""
    name = view.request.view
    if has_moved(lake.catalog, name, view.found):
        raise RefreshConflict(f"another refresh moved the view {view.request.name} meanwhile. Run again.")
    lake.spark(statements.set_view_properties(name, state.to_properties()))
    check_sql_stayed(lake, name, view.found, view.stored)
