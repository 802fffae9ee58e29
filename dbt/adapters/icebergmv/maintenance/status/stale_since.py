"""Since when the stored rows of a view may not be those of its SELECT: the rows before that moment were right."""

from __future__ import annotations

from datetime import datetime, timezone

from dbt.adapters.icebergmv.maintenance.status.clock import date_moved_at
from dbt.adapters.icebergmv.maintenance.status.inspection import RefreshedView
from dbt.adapters.icebergmv.maintenance.status.snapshot_state import is_compaction
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus


def looked_at(view: RefreshedView) -> datetime:
    """Return when the last refresh looked at the base tables: its rows are those of this moment."""
    return datetime.fromisoformat(view.state.started_at)


def stale_since(view: RefreshedView, now: datetime) -> datetime | None:
    """Return since when a view that is not fresh may be stale.

    That is when the first of its base tables was committed to, or the date moved. Where nobody can know when it
    happened, it is the time of the last refresh; None if that is still to come, by a clock that was wrong.
    """
    refreshed = looked_at(view)
    otherwise = None if refreshed > now else refreshed
    if view.rebuild is not None or view.redefined is not None or view.definition.always_full is not None:
        return otherwise
    moved = [_left(base) for base in view.status.base_tables if base.change.status != "fresh"]
    if view.status.clock is not None:
        moved.append(date_moved_at(view.status.clock, view.state.settings))
    known = [moment for moment in moved if moment is not None]
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
    since = log[at[-1] + 1 :]
    # A compaction changed no row.
    changed = (e for e in since if (s := metadata.snapshot_by_id(e.snapshot_id)) is None or not is_compaction(s))
    return datetime.fromtimestamp(next(changed, since[0]).timestamp_ms / 1000, timezone.utc)
