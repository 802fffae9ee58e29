"""Which snapshots of a storage table nobody reads any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone

from pyiceberg.table.metadata import TableMetadata

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo
from dbt.adapters.icebergmv.maintenance.errors import StateUnreadable
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.sql.snapshots import snapshots_named
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import is_materialized_view, read_state
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import found_view


@dataclass(frozen=True)
class Expiry:
    """Snapshots made before a moment are to go, but for those that a branch or tag names; `count` are to go."""

    before: datetime
    count: int


def snapshots_read(catalog: CatalogReader, views: Iterable[TableName]) -> frozenset[int]:
    """Return the snapshots, of any table, that the SQL of these views names, or that their last refreshes read.

    A view may be refreshed less often than one below it; its next refresh asks what changed since. Raises
    CatalogUnavailable.
    """
    found = [view for name in views if (view := found_view(catalog, name)) is not None]
    return frozenset(snapshot_id for view in found for snapshot_id in (*snapshots_named(view.sql), *_recorded(view)))


def _recorded(view: ViewInfo) -> Iterator[int]:
    """Yield the snapshots of base tables that the state of a view names, if it has a state that can be read."""
    if not is_materialized_view(view.properties):
        return
    with suppress(StateUnreadable):
        for base in read_state(view.name, view.properties).base_tables:
            if base.version.snapshot_id is not None:
                yield base.version.snapshot_id


def expiry(
    metadata: TableMetadata, read: int, dropped: Collection[str], cutoff: datetime, needed: Collection[int] = ()
) -> Expiry | None:
    """Return what is to be expired once some branches are dropped; None: nothing. `read` is what the view reads now.

    What main was at the cutoff or later stays, however old it is: a reader may have begun with it. So does what main
    was before, as a view is published after main has moved. So do the heads of branches and tags, what other views
    need, and all that was made later than the oldest of these.
    """
    past = sum(entry.timestamp_ms <= cutoff.timestamp() * 1000 for entry in metadata.snapshot_log)
    if not past:
        return None
    main = {entry.snapshot_id for entry in metadata.snapshot_log[max(past - 2, 0) :]}
    in_use = min(s.timestamp_ms for s in metadata.snapshots if s.snapshot_id in {*main, read, *needed})
    named = {ref.snapshot_id for name, ref in metadata.refs.items() if name not in dropped}
    old = [s for s in metadata.snapshots if s.timestamp_ms < in_use and s.snapshot_id not in named]
    return Expiry(datetime.fromtimestamp(in_use / 1000, tz=timezone.utc), len(old)) if old else None
