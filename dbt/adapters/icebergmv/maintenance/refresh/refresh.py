"""One refresh, from inspection to the published view: decide, write, publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone

from pyiceberg.table import Table
from typing_extensions import assert_never

from dbt.adapters.icebergmv.maintenance.definition.partitioning import PartitionField, stored_partitioning
from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError, RefreshConflict, first_line, naming
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.merged_groups import NOT_MERGED
from dbt.adapters.icebergmv.maintenance.planning.plan import Merge
from dbt.adapters.icebergmv.maintenance.planning.policy import enforce
from dbt.adapters.icebergmv.maintenance.planning.settle import (
    PlanOptions,
    Settled,
    Unchanged,
    first_plan,
    is_final,
    settle,
    settle_build,
)
from dbt.adapters.icebergmv.maintenance.planning.storage_fit import coarser_partitioning, misfit_to_write
from dbt.adapters.icebergmv.maintenance.planning.write import ReplaceAll, distribution_of, write_of
from dbt.adapters.icebergmv.maintenance.refresh.publish import is_outdated, publish_view, record, republish
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult, done, nothing_done
from dbt.adapters.icebergmv.maintenance.refresh.shortcomings import recorded_config, say
from dbt.adapters.icebergmv.maintenance.refresh.state_after import moved, refresh_state, state_after
from dbt.adapters.icebergmv.maintenance.refresh.statements import drop_table
from dbt.adapters.icebergmv.maintenance.refresh.static_stitching import leave
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import (
    drop_unneeded_branches,
    load_storage,
    write_storage,
)
from dbt.adapters.icebergmv.maintenance.refresh.storage_table import (
    alter_storage,
    make_storage,
    partition_otherwise,
)
from dbt.adapters.icebergmv.maintenance.status.clock import utc_now
from dbt.adapters.icebergmv.maintenance.status.inspection import (
    Inspection,
    LostView,
    NewView,
    RefreshedView,
    inspect,
)
from dbt.adapters.icebergmv.maintenance.status.session_settings import check_session
from dbt.adapters.icebergmv.maintenance.status.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import ReadPlan, read_plan

ATTEMPTS = 3


class _NotMerged(Exception):
    """Groups could not be merged; nothing was written."""

    def __init__(self, error: Exception) -> None:
        words = "an extreme went, or a sum or an average would not be exact"
        first = words if NOT_MERGED in str(error) else first_line(error)
        super().__init__(f"groups were not merged: {first}")


def refresh(lake: Lake, inspection: Inspection, reads: ReadPlan) -> RefreshResult:
    """Bring the inspected view up to date and return what was done. `reads` is what readers are to get.

    A refresh that loses against another one starts again from what the winner published, a few times; then it raises
    RefreshConflict. Any error leaves what readers see untouched and names the view.
    """
    with naming("refresh", inspection.request.name):
        for _ in range(ATTEMPTS - 1):
            try:
                return _refresh_once(lake, inspection, reads)
            except RefreshConflict:
                inspection = inspect(lake.catalog, inspection.request)
                reads = read_plan(inspection)
        return _refresh_once(lake, inspection, reads)


def _refresh_once(lake: Lake, inspection: Inspection, reads: ReadPlan) -> RefreshResult:
    started_at = _iso(inspection.looked_at)
    match inspection:
        case NewView() | LostView():
            return _build(lake, inspection, reads, started_at)
        case RefreshedView():
            if not inspection.request.config.refresh_on_run and inspection.rebuild is None:
                return leave(lake, inspection, reads)
            return _bring_up_to_date(lake, inspection, reads, started_at)
        case _:
            assert_never(inspection)


def _build(lake: Lake, view: NewView | LostView, reads: ReadPlan, started_at: str) -> RefreshResult:
    """Compute every row; there are none that can be kept."""
    check_session(lake, view.request.config.settings)
    settled = settle_build(lake, view, misfit_to_write)
    return _carry_out(lake, view, settled, reads, started_at)


def _bring_up_to_date(lake: Lake, view: RefreshedView, reads: ReadPlan, started_at: str) -> RefreshResult:
    config = view.request.config
    options = PlanOptions.of_run(config)
    plan = first_plan(view, options)
    if is_final(view, plan):
        return _record_moved(lake, view, reads, plan.reason)
    check_session(lake, config.settings)
    settled = settle(lake, view, options, misfit_to_write)
    if isinstance(settled, Unchanged):
        return _alter_only(lake, settled, reads)
    try:
        return _carry_out(lake, view, settled, reads, started_at)
    except _NotMerged as error:
        again = settle(lake, view, replace(options, merges=False), misfit_to_write)
        if isinstance(again, Unchanged):
            raise AssertionError("groups that change cannot be merged, and yet nothing changes") from error
        settled = replace(again, plan=replace(again.plan, reason=f"{again.plan.reason}; {error}"))
    return _carry_out(lake, view, settled, reads, started_at)


def _carry_out(lake: Lake, view: Inspection, settled: Settled, reads: ReadPlan, started_at: str) -> RefreshResult:
    enforce(settled.view, settled.plan)
    reads = _reads_of(view, settled.view, reads)
    say(lake, settled.view, reads)
    return _write(lake, settled, reads, started_at)


def _reads_of(inspected: Inspection, settled: Inspection, reads: ReadPlan) -> ReadPlan:
    """Return what readers get, planned again for another text of the SELECT.

    Views may stay names in it after all, which no reader can watch, and it may have other hidden keys to stitch by.
    """
    is_same = (settled.views, settled.definition.keys) == (inspected.views, inspected.definition.keys)
    return reads if is_same else read_plan(settled)


def _write(lake: Lake, settled: Settled, reads: ReadPlan, started_at: str) -> RefreshResult:
    view = settled.view
    storage = view.request.config.storage_table
    if settled.makes_storage:
        make_storage(lake, settled)
    elif not isinstance(view, NewView):
        alter_storage(lake, view)
    start = _start(settled, load_storage(lake, storage))
    state_option = {"snapshot-property.refresh-state": refresh_state(view, started_at)}
    try:
        options = {**state_option, **distribution_of(settled, start)}
        stored = write_storage(lake, start, write_of(settled, start), options)
    except MaintenanceError:
        raise
    except Exception as error:
        # The statement itself finds out that some group cannot be merged exactly. It may also fail of values that no
        # full refresh meets: rows of two tables that were never there together, a sum that overflows on the way.
        if isinstance(settled.plan, Merge):
            raise _NotMerged(error) from error
        raise
    coarser = coarser_partitioning(settled, stored)
    if coarser is not None:
        settled = replace(settled, plan=replace(settled.plan, reason=_with_grain(settled, stored, coarser)))
        rows = partition_otherwise(lake, settled, stored, coarser)
        start = _start(settled, load_storage(lake, storage))
        stored = write_storage(lake, start, ReplaceAll(rows), state_option)
    times = (started_at, _iso(utc_now()))
    state = state_after(settled, stored, times, recorded_config(view, reads))
    behavior = publish_view(lake, view, reads, state, stored)
    drop_unneeded_branches(lake, storage, lake.catalog.view(*view.request.view[1:]))
    if not isinstance(view, NewView) and view.state.storage_table != storage:
        lake.spark(drop_table(view.state.storage_table, purge=True))
    return done(settled, stored, start.snapshot_id, behavior)


def _with_grain(settled: Settled, stored: StoredRows, coarser: Sequence[PartitionField]) -> str:
    """Return the reason of a plan, and the partitioning that its rows get in place of the derived one."""
    by = f"partitioned by {', '.join(f.ddl() for f in coarser)}" if coarser else "not partitioned"
    derived = ", ".join(f.ddl() for f in stored_partitioning(stored.table))
    return f"{settled.plan.reason}; {by}, as the rows are too few for {derived}"


def _start(settled: Settled, table: Table) -> StoredRows:
    """Return the rows to build on: those that the view pins, unless the table was made anew."""
    view, storage = settled.view, settled.view.request.config.storage_table
    if isinstance(view, RefreshedView) and not settled.makes_storage:
        return StoredRows(storage, table, view.state.storage_snapshot_id)
    head = table.metadata.current_snapshot_id
    if head is None:
        raise RefreshConflict(f"the storage table of {view.request.name} was replaced meanwhile. Run again.")
    return StoredRows(storage, table, head)


def _alter_only(lake: Lake, settled: Unchanged, reads: ReadPlan) -> RefreshResult:
    """Apply changed properties and comments, and record ids that moved; the rows stay as they are."""
    view, reason = settled.view, settled.plan.reason
    say(lake, view, reads)
    alter_storage(lake, view)
    state = moved(view, recorded_config(view, reads))
    behavior = republish(lake, view, reads, state)
    altered = ", ".join(view.changes.alter)
    return nothing_done(view, f"{reason}; {altered}" if altered else reason, behavior)


def _record_moved(lake: Lake, view: RefreshedView, reads: ReadPlan, reason: str) -> RefreshResult:
    """Record the new snapshot ids of bases whose rows did not change (compaction, a DELETE that matched nothing)."""
    behavior = view.state.stale_read_behavior
    state = moved(view, recorded_config(view, reads))
    if is_outdated(view, reads):
        say(lake, view, reads)
        behavior = republish(lake, view, reads, state)
    elif view.status.has_moved:
        say(lake, view, reads)
        record(lake, view, state)
    return nothing_done(view, reason, behavior)


def _iso(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).isoformat(timespec="milliseconds")
