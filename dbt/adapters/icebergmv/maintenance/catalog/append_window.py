"""Is everything between two snapshots an append?

Then the rows that came are those of Iceberg's incremental append scan: the files that append snapshots of the window
added, whatever compaction made of them later. The scan reads, of each append snapshot, the entries ADDED by it in the
data manifests added by it, and applies no delete file. So this proves, per append snapshot, that its entries are such
ones. That they are all that distinguishes it from its parent is known of every window (accounted.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyiceberg.manifest import DataFileContent, ManifestEntry, ManifestEntryStatus
from pyiceberg.table.snapshots import Operation, Snapshot


@dataclass(frozen=True)
class Appended:
    """What was appended since a snapshot."""

    since: int
    rows: int = 0


class AppendWindow:
    """Checks the snapshots after `start`, each the child of the one before, in that order."""

    def __init__(self, start: Snapshot) -> None:
        self._appended: Appended | None = Appended(start.snapshot_id)

    def add(self, snapshot: Snapshot, changed: Iterable[ManifestEntry]) -> None:
        """Take the next snapshot and the entries that it added or removed; compaction changes no row."""
        if self._appended is None or operation(snapshot) == Operation.REPLACE:
            return
        entries = list(changed)
        if operation(snapshot) != Operation.APPEND or not all(_is_plain(entry, snapshot) for entry in entries):
            self._appended = None
            return
        rows = sum(entry.data_file.record_count for entry in entries)
        self._appended = Appended(self._appended.since, self._appended.rows + rows)

    @property
    def appended(self) -> Appended | None:
        """Return what was appended; None when something else happened too, or nothing was."""
        return self._appended if self._appended is not None and self._appended.rows > 0 else None


def operation(snapshot: Snapshot) -> Operation | None:
    """Return what a snapshot says it did; it need not say."""
    return None if snapshot.summary is None else snapshot.summary.operation


def _is_plain(entry: ManifestEntry, snapshot: Snapshot) -> bool:
    """Return whether an entry adds a data file. One that claims to be older may be subject to older deletes."""
    return (
        entry.status == ManifestEntryStatus.ADDED
        and entry.data_file.content == DataFileContent.DATA
        and entry.snapshot_id == snapshot.snapshot_id
        and (entry.sequence_number or 0) == (snapshot.sequence_number or 0)
    )
