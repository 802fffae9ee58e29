"""Which snapshots of a storage table nobody reads any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timezone

from pyiceberg.table.metadata import TableMetadata

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import pinned_in
from dbt.adapters.icebergmv.maintenance.sql.names import TableName


@dataclass(frozen=True)
class Expiry:
    """Snapshots made before a moment are to go, but for those that a branch or tag names; `count` are to go."""

    before: datetime
    count: int


def snapshots_read(catalog: CatalogReader, views: Iterable[TableName]) -> frozenset[int]:
    """Return the snapshots, of any table, that the SQL of these views names. Raises CatalogUnavailable."""
    found = [catalog.view(*name[1:]) for name in views] if catalog.has_views else []
    return frozenset(snapshot_id for view in found if view is not None for snapshot_id in pinned_in(view.sql))


def expiry(
    metadata: TableMetadata, read: int, dropped: Collection[str], cutoff: datetime, needed: Collection[int] = ()
) -> Expiry | None:
    """Return what is to be expired once some branches are dropped; None: nothing. `read` is what the view reads now.

    The snapshot that readers got at the cutoff stays, however old it is, with all that came later: a reader may have
    begun with it. So do the heads of branches and tags, and the oldest snapshot that other views need.
    """
    published = [s.timestamp_ms for s in ancestry(metadata, read)]
    in_use = max((made for made in published if made <= cutoff.timestamp() * 1000), default=None)
    if in_use is None:
        return None
    in_use = min([in_use, *(s.timestamp_ms for s in metadata.snapshots if s.snapshot_id in needed)])
    named = {ref.snapshot_id for name, ref in metadata.refs.items() if name not in dropped}
    old = [s for s in metadata.snapshots if s.timestamp_ms < in_use and s.snapshot_id not in named]
    return Expiry(datetime.fromtimestamp(in_use / 1000, tz=timezone.utc), len(old)) if old else None
