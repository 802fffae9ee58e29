"""The upkeep of one view: its stored rows are compacted, and what nobody reads any more is dropped and expired.

A compaction goes on counting after the next refresh, which starts at the snapshot that the view reads. A refresh in
between wins or starts again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError, first_line
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.compaction import (
    NotCompacted,
    check_compactable,
    compacted,
    drop_branches,
    recorded_on_top,
)
from dbt.adapters.icebergmv.maintenance.operations.expiry import expiry
from dbt.adapters.icebergmv.maintenance.operations.kept_rows import KeptRows, kept_rows
from dbt.adapters.icebergmv.maintenance.operations.small_files import MIN_INPUT_FILES, file_counts
from dbt.adapters.icebergmv.maintenance.refresh.statements import expire_snapshots
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import (
    load_storage,
    pinned_by,
    protect,
    unneeded_branches,
)
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show

DAY = 86_400


@dataclass(frozen=True)
class Upkeep:
    """What was done for one view or, in a dry run, what is to be done.

    `data_files` and `delete_files` are those of the stored rows before, `compacted_files` the small ones among them
    that are compacted, `data_files_after` what there is then (None: nothing was compacted). `note` says what could not
    be done, and why; `error` why no more was.
    """

    name: str
    storage_table: str | None = None
    data_files: int = 0
    delete_files: int = 0
    compacted_files: int = 0
    data_files_after: int | None = None
    dropped_branches: int = 0
    expired_snapshots: int = 0
    note: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class UpkeepOptions:
    """What is worth the work. Snapshots that readers got within the last `older_than` seconds stay.

    `min_input_files` small files of a partition are compacted, fewer are not. Nothing is changed in a dry run.
    """

    older_than: int = DAY
    min_input_files: int = MIN_INPUT_FILES
    dry_run: bool = False


@dataclass(frozen=True)
class _Limits:
    """What is not expired: what readers got since a moment, and what other views need."""

    cutoff: datetime
    needed: Collection[int]


def upkeep(lake: Lake, view: TableName, options: UpkeepOptions, now: datetime, needed: Collection[int] = ()) -> Upkeep:
    """Compact the storage of a view where that pays, then drop and expire what no version of the view reads.

    `needed` are snapshots, of any table, that other views read: they are not expired.
    """
    done = Upkeep(show(view))
    try:
        kept = kept_rows(lake, view)
        if kept.state_is_below and not options.dry_run:
            kept = recorded_on_top(lake, kept)
        counts = file_counts(kept.stored, options.min_input_files)
        done = replace(
            done,
            storage_table=show(kept.stored.name),
            data_files=counts.data,
            delete_files=counts.deletes,
        )
        if counts.compaction_pays:
            done = _compacted(lake, kept, counts.small, options, done)
        cutoff = now - timedelta(seconds=options.older_than)
        # The view may have been refreshed, dropped or given another layout meanwhile.
        return _clear(lake, kept_rows(lake, view), _Limits(cutoff, needed), done, dry_run=options.dry_run)
    except MaintenanceError as error:
        return replace(done, error=error.cause)
    except Exception as error:
        # Spark fails in many kinds. Nothing half done is published, and other views are to be looked after.
        return replace(done, error=f"{first_line(error)}.")


def _compacted(lake: Lake, kept: KeptRows, small: int, options: UpkeepOptions, done: Upkeep) -> Upkeep:
    """Compact so many small files, or see in a dry run whether that can be; return what is done by then."""
    try:
        if options.dry_run:
            check_compactable(kept)
            return replace(done, compacted_files=small)
        stored = compacted(lake, kept, options.min_input_files)
    except NotCompacted as error:
        return replace(done, note=f"not compacted: {error.cause}")
    if stored is None:
        return done
    after = file_counts(stored, options.min_input_files).data
    return replace(done, compacted_files=small, data_files_after=after)


def _clear(lake: Lake, kept: KeptRows, limits: _Limits, done: Upkeep, *, dry_run: bool) -> Upkeep:
    """Drop the branches that no version of the view reads, then expire the snapshots that nobody names."""
    storage, table = kept.stored.name, kept.stored.table
    branches = unneeded_branches(table, kept.found)
    if not dry_run:
        protect(lake, storage, load_storage(lake, storage), pinned_by(kept.found), branches)
        branches = drop_branches(lake, storage, branches)
        table = load_storage(lake, storage)
    due = expiry(table.metadata, kept.stored.snapshot_id, branches, limits.cutoff, limits.needed)
    done = replace(done, dropped_branches=len(branches))
    if due is None:
        return done
    if not dry_run:
        lake.spark(expire_snapshots(storage, due.before))
        due = replace(due, count=len(table.metadata.snapshots) - len(load_storage(lake, storage).metadata.snapshots))
    return replace(done, expired_snapshots=due.count)
