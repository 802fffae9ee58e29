"""Do the entries of a snapshot say all that distinguishes it from its parent?

A file that goes has a DELETED entry in a manifest that the snapshot added (Iceberg spec, "Manifests"). A writer that
makes its manifests anew leaves these out, and one that carries over manifests from elsewhere has files that
another snapshot added. Manifest lists show the second, and the counts of files in them the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pyiceberg.manifest import DataFileContent, ManifestContent, ManifestEntryStatus, ManifestFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot

from dbt.adapters.icebergmv.maintenance.catalog.append_window import operation
from dbt.adapters.icebergmv.maintenance.catalog.manifests import changed_entries, fetch_changes, manifests_of
from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered

_ACCOUNTED: Remembered[bool] = Remembered(20_000)


def are_accounted_for(table: Table, snapshots: Sequence[Snapshot]) -> bool:
    """Return whether snapshots whose parents are known add and remove just the files that their entries name.

    Of a `replace`, which changes no row, the rows are counted, where no delete file says that fewer of them are left.
    """
    unknown = (s for s in snapshots if not _ACCOUNTED.knows(s.manifest_list))
    fetch_changes(table.io, (s for s in unknown if operation(s) != Operation.REPLACE))
    return all(_remembered(table, snapshot) for snapshot in snapshots)


def _remembered(table: Table, snapshot: Snapshot) -> bool:
    if not snapshot.manifest_list:
        return _is_accounted_for(table, snapshot)
    return _ACCOUNTED.get(snapshot.manifest_list, lambda: _is_accounted_for(table, snapshot))


def _is_accounted_for(table: Table, snapshot: Snapshot) -> bool:
    above = snapshot.parent_snapshot_id
    parent = None if above is None else table.metadata.snapshot_by_id(above)
    before, after = manifests_of(table.io, parent), manifests_of(table.io, snapshot)
    there = {manifest.manifest_path for manifest in before}
    if any(m.manifest_path not in there and m.added_snapshot_id != snapshot.snapshot_id for m in after):
        return False
    if operation(snapshot) == Operation.REPLACE:
        return _keeps_rows(before, after)
    had, has = _live_files(before), _live_files(after)
    if had is None or has is None:
        return False
    for entry in changed_entries(table.io, after, snapshot.snapshot_id):
        is_data = entry.data_file.content == DataFileContent.DATA
        had[is_data] += 1 if entry.status == ManifestEntryStatus.ADDED else -1
    return had == has


def _live_files(manifests: Iterable[ManifestFile]) -> Counter[bool] | None:
    """Return the number of data files (True) and of delete files; None when a manifest does not count them."""
    counts = Counter({True: 0, False: 0})
    for manifest in manifests:
        if manifest.added_files_count is None or manifest.existing_files_count is None:
            return None
        is_data = manifest.content == ManifestContent.DATA
        counts[is_data] += manifest.added_files_count + manifest.existing_files_count
    return counts


def _keeps_rows(before: Sequence[ManifestFile], after: Sequence[ManifestFile]) -> bool:
    had, has = _rows(before), _rows(after)
    if had is None or has is None:
        return True
    deletes = _live_files(m for m in before if m.content != ManifestContent.DATA)
    # Rows that are deleted by files of their own are among those that there were.
    return has <= had if deletes is None or deletes[False] else has == had


def _rows(manifests: Iterable[ManifestFile]) -> int | None:
    """Return the number of rows in data files; None when a manifest does not count them."""
    counts = [(m.added_rows_count, m.existing_rows_count) for m in manifests if m.content == ManifestContent.DATA]
    known = [count for pair in counts for count in pair if count is not None]
    return sum(known) if len(known) == 2 * len(counts) else None
