"""Since when the stored rows of a view may not be those of its SELECT: the rows before that moment were right."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import pairwise, takewhile

from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Snapshot

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.status.inspection import RefreshedView
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import is_compaction
from dbt.adapters.icebergmv.maintenance.status.session.clock import date_moved_at
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus

_SKEW = timedelta(minutes=1)
"""The clocks of two machines differ by less."""

_FILES = ("added-data-files", "deleted-data-files", "added-delete-files", "removed-delete-files")


def looked_at(view: RefreshedView) -> datetime:
    """Return when the last refresh looked at the base tables: its rows are those of this moment."""
    return datetime.fromisoformat(view.state.started_at)


def stale_since(view: RefreshedView, now: datetime) -> datetime | None:
    """Return since when a view that is not fresh may be stale.

    That is when the first of its base tables was committed to, or the date moved. Where nobody can know when it
    happened, it is the time of the last refresh; None if that is still to come, by a clock that was wrong.
    """
    refreshed = looked_at(view)
    latest = now + _SKEW
    otherwise = None if refreshed > latest else refreshed
    if view.rebuild is not None or view.redefined is not None or view.definition.always_full is not None:
        return otherwise
    moved = [_left(base) for base in view.status.base_tables if base.change.status != "fresh"]
    if view.status.clock is not None:
        moved.append(date_moved_at(view.status.clock, view.state.settings))
    # A writer's clock may be far ahead.
    known = [moment for moment in moved if moment is not None and moment <= latest]
    if not known or len(known) < len(moved):
        return otherwise
    # A table that another machine wrote has the time of its clock. The refresh saw that nothing had changed yet.
    return min(known) if otherwise is None else max(otherwise, min(known))


def _left(base: BaseTableStatus) -> datetime | None:
    """Return when a table left the snapshot that the last refresh read; None where its log does not say it."""
    source, recorded = base.base.source, base.recorded
    if source is None or recorded is None or recorded.version.uuid != source.version.uuid:
        return None
    metadata = source.table.metadata
    log = metadata.snapshot_log
    if recorded.version.snapshot_id is None:
        return None
    at = [number for number, entry in enumerate(log) if entry.snapshot_id == recorded.version.snapshot_id]
    if not at or at[-1] + 1 == len(log):
        return None
    moves = pairwise(log[at[-1] :])
    changed = (now for before, now in moves if not _is_compacted(metadata, before.snapshot_id, now.snapshot_id))
    return datetime.fromtimestamp(next(changed, log[at[-1] + 1]).timestamp_ms / 1000, timezone.utc)


def _is_compacted(metadata: TableMetadata, before: int, now: int) -> bool:
    """Return whether there is nothing but compactions from one snapshot to another: the rows are the same."""
    lowest = now
    for snapshot in takewhile(lambda s: s.snapshot_id != before, ancestry(metadata, now)):
        if not is_compaction(snapshot) and not _changes_no_file(snapshot):
            return False
        lowest = snapshot.parent_snapshot_id or 0
    return lowest == before


def _changes_no_file(snapshot: Snapshot) -> bool:
    """Return whether a snapshot has the files of the one before. The state of a view that is a table is recorded so."""
    summary = snapshot.summary
    return summary is not None and not any(summary.get(key) not in (None, "0") for key in _FILES)
