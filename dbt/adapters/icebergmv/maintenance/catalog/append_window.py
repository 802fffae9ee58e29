"""Is everything between two snapshots an append?

Then the rows that came are those of Iceberg's incremental append scan: the files that append snapshots of the window
added, whatever compaction made of them later. The scan reads, of each append snapshot, the entries ADDED by it in the
data manifests added by it, and applies no delete file. So this proves, per append snapshot, that such entries are all
that distinguishes it from its parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFileContent, ManifestContent, ManifestEntry, ManifestEntryStatus, ManifestFile
from pyiceberg.table.snapshots import Operation, Snapshot

from dbt.adapters.icebergmv.maintenance.catalog.manifests import manifests_of


@dataclass(frozen=True)
class Appended:
    """What was appended since a snapshot."""

    since: int
    rows: int = 0


class AppendWindow:
    """Checks the snapshots after `start`, each the child of the one before, in that order."""

    def __init__(self, io: FileIO, start: Snapshot) -> None:
        self._io = io
        self._parent = start
        self._live: tuple[int, int] | None = None
        self._appended: Appended | None = Appended(start.snapshot_id)

    def add(self, snapshot: Snapshot, manifests: Sequence[ManifestFile], changed: Iterable[ManifestEntry]) -> None:
        """Take the next snapshot, its manifest list and the entries that it added or removed."""
        if self._appended is None:
            return
        live = _live_files(manifests)
        if operation(snapshot) == Operation.REPLACE:
            # Compaction changes no row; only the files to start from are others.
            pass
        elif operation(snapshot) == Operation.APPEND:
            before = self._live or _live_files(manifests_of(self._io, self._parent))
            self._appended = self._extended(snapshot, before, live, list(changed))
        else:
            self._appended = None
        self._parent, self._live = snapshot, live

    @property
    def appended(self) -> Appended | None:
        """Return what was appended; None when something else happened too, or nothing was."""
        return self._appended if self._appended is not None and self._appended.rows > 0 else None

    def _extended(
        self,
        snapshot: Snapshot,
        before: tuple[int, int] | None,
        after: tuple[int, int] | None,
        changed: Sequence[ManifestEntry],
    ) -> Appended | None:
        """Return what was appended including the snapshot, None when it cannot be proven to be a plain append.

        The counts of files must agree with the entries: a manifest that was carried over from elsewhere, or left
        out, is in no entry. A file that claims to be older than its snapshot may be subject to older deletes.
        """
        if self._appended is None or before is None or after != (before[0] + len(changed), before[1]):
            return None
        if not all(_is_plain(entry, snapshot) for entry in changed):
            return None
        return Appended(
            self._appended.since,
            self._appended.rows + sum(e.data_file.record_count for e in changed),
        )


def operation(snapshot: Snapshot) -> Operation | None:
    """Return what a snapshot says it did; it need not say."""
    return None if snapshot.summary is None else snapshot.summary.operation


def _is_plain(entry: ManifestEntry, snapshot: Snapshot) -> bool:
    return (
        entry.status == ManifestEntryStatus.ADDED
        and entry.data_file.content == DataFileContent.DATA
        and entry.snapshot_id == snapshot.snapshot_id
        and (entry.sequence_number or 0) == (snapshot.sequence_number or 0)
    )


def _live_files(manifests: Iterable[ManifestFile]) -> tuple[int, int] | None:
    """Return the number of data files and of delete files; None when a manifest does not count them."""
    data = deletes = 0
    for manifest in manifests:
        if manifest.added_files_count is None or manifest.existing_files_count is None:
            return None
        files = manifest.added_files_count + manifest.existing_files_count
        if manifest.content == ManifestContent.DATA:
            data += files
        else:
            deletes += files
    return data, deletes
