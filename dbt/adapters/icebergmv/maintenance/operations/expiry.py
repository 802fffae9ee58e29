"""Which snapshots of a storage table nobody reads any more."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timezone

from pyiceberg.table.metadata import TableMetadata

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry


@dataclass(frozen=True)
class Expiry:
    """Snapshots made before a moment are to go, but for those that a branch or tag names; `count` are to go."""

    before: datetime
    count: int


def expiry(metadata: TableMetadata, read: int, dropped: Collection[str], cutoff: datetime) -> Expiry | None:
    """Return what is to be expired once some branches are dropped; None: nothing. `read` is what the view reads now.

    The snapshot that readers got at the cutoff stays, however old it is, with all that came later: a reader may have
    begun with it. So do the heads of branches and tags.
    """
    published = [s.timestamp_ms for s in ancestry(metadata, read)]
    in_use = max((made for made in published if made <= cutoff.timestamp() * 1000), default=None)
    if in_use is None:
        return None
    named = {ref.snapshot_id for name, ref in metadata.refs.items() if name not in dropped}
    old = [s for s in metadata.snapshots if s.timestamp_ms < in_use and s.snapshot_id not in named]
    return Expiry(datetime.fromtimestamp(in_use / 1000, tz=timezone.utc), len(old)) if old else None
