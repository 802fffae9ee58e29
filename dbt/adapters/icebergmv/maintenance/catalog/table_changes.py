"""What changed in a table between two snapshots, from its manifests.

Only manifests that a snapshot of the window added are opened, so the cost follows the change, not the table. Iceberg
spec, "Snapshots", "Manifest Lists" and "Scan Planning"; snapshot ids are never ordered, only ancestry counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pyiceberg.manifest import DataFile, ManifestContent, ManifestEntry, ManifestEntryStatus, ManifestFile
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Operation, Snapshot

from dbt.adapters.icebergmv.maintenance.catalog.accounted import are_accounted_for
from dbt.adapters.icebergmv.maintenance.catalog.append_window import Appended, AppendWindow, operation
from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import FileRows, Wanted, changed_rows
from dbt.adapters.icebergmv.maintenance.catalog.differing_metrics import ChangedFile, columns_that_differ
from dbt.adapters.icebergmv.maintenance.catalog.manifests import (
    PartitionKey,
    changed_entries,
    fetch_changes,
    fetch_manifests,
    live_entries,
    live_files,
    manifests_of,
    partition_key,
    referenced_data_file,
)
from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain


@dataclass(frozen=True)
class TableVersion:
    """A table at one moment: its identity, the snapshot of main (None: it has none) and the schema."""

    uuid: str
    snapshot_id: int | None
    schema_id: int


@dataclass(frozen=True)
class StaleDataConstraints:
    """The rows of a base table that may have changed, as the RFC's `data_disjuncts`: any of them may hold a row.

    `is_part`: rows that cannot matter to a view are left out, so they say nothing of the change to other views.
    """

    data_disjuncts: tuple[TupleDomain, ...]
    is_part: bool = False

    @property
    def narrowed(self) -> tuple[TupleDomain, ...] | None:
        """Return the disjuncts, None where one of them is any row of the table."""
        return None if any(d.is_all for d in self.data_disjuncts) else self.data_disjuncts


@dataclass(frozen=True)
class TableChange:
    """How a table changed since it was recorded.

    fresh: no row changed (`moved` says whether the ids did). stale: rows changed within `constraints`. unknown: it
    is not known, `reason` says why; everything may have changed. `changed_partitions` counts in `unit`s: partitions,
    or files where partitions do not show which rows changed, or the table where it has no partitions.

    `appended_since` is the recorded snapshot when all that happened since are appends (and compaction): an incremental
    append scan from there to the current snapshot reads exactly the rows that came. `appended_rows` is
    their number. `changed_rows` is how many rows the files hold or delete that came or went, `changed_bytes` the size
    of these files.
    `replaced`: the table was made anew, so its files say little about which rows changed. `is_whole`: no file of before
    is left.
    `differing` are the columns that hold other values than before, as far as metrics of files show it.
    """

    status: Literal["fresh", "stale", "unknown"]
    moved: bool = False
    constraints: StaleDataConstraints = StaleDataConstraints(())
    changed_partitions: int = 0
    unit: str = "partition"
    reason: str | None = None
    appended_since: int | None = None
    appended_rows: int = 0
    changed_rows: int = 0
    changed_bytes: int = 0
    replaced: bool = False
    is_whole: bool = False
    differing: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Window:
    """The snapshots between two, the newest first: those undone from the one and those done to the other."""

    start: Snapshot
    target: Snapshot
    undone: tuple[Snapshot, ...]
    done: tuple[Snapshot, ...]


@dataclass(frozen=True)
class _WindowFiles:
    """The files that the snapshots of a window added or removed, and what they appended if that is all they did.

    `differing`: see TableChange.
    """

    changed: tuple[DataFile, ...]
    appended: Appended | None
    differing: frozenset[str]


_FILES: Remembered[_WindowFiles] = Remembered(20_000, lambda w: 1 + len(w.changed))
_CHANGES: Remembered[TableChange] = Remembered(50_000, lambda c: 1 + len(c.constraints.data_disjuncts))
_PARTITIONS: Remembered[Mapping[PartitionKey, int]] = Remembered(100_000, lambda sizes: 1 + len(sizes))


def change_since(
    recorded: TableVersion,
    now: TableVersion,
    table: Table,
    schema: Schema,
    wanted: Wanted,
) -> TableChange:
    """Return how the rows of the table, as read `now`, differ from those at the recorded snapshot.

    The constraints name the columns as `schema`, one of the table's that is read now, does, and so does `wanted`. All
    of it is in immutable files, so the same question is answered once a process.
    """

    def find_out() -> TableChange:
        return _change_since(recorded, now, table, schema, wanted)

    if recorded.snapshot_id == now.snapshot_id or not table.metadata_location:
        return find_out()
    return _CHANGES.get((table.metadata_location, recorded, now, schema.schema_id, wanted), find_out)


def _change_since(
    recorded: TableVersion,
    now: TableVersion,
    table: Table,
    schema: Schema,
    wanted: Wanted,
) -> TableChange:
    metadata = table.metadata
    if now.uuid != recorded.uuid:
        return TableChange("unknown", moved=True, reason="was dropped and created again")
    if recorded.snapshot_id == now.snapshot_id:
        return TableChange("fresh", moved=recorded != now)
    if now.snapshot_id is None:
        return TableChange("unknown", moved=True, reason="was replaced and has no snapshot")
    target = metadata.snapshot_by_id(now.snapshot_id)
    if target is None:
        return TableChange("unknown", moved=True, reason=f"has lost the snapshot {now.snapshot_id}")
    rows = FileRows(table, schema, wanted)
    if recorded.snapshot_id is None:
        return _change_of(rows, _live_files(table, target), ())
    start = metadata.snapshot_by_id(recorded.snapshot_id)
    if start is None:
        return TableChange(
            "unknown", moved=True, reason=f"has expired the snapshot {recorded.snapshot_id} of the last refresh"
        )
    window = _window(table, start, target)
    if window is None:
        files, all_files = _difference(table, start, target)
        change = _change_of(rows, [file for file, _ in files], all_files)
        is_whole = _file_count(start) != 0 and len(files) == len(all_files)
        return replace(change, replaced=True, is_whole=is_whole, differing=columns_that_differ(files, schema.fields))
    straight = not window.undone and recorded.schema_id == now.schema_id
    found = _files_of(table, schema, window, straight)
    change = _change_of(rows, found.changed, _unchanged_files(table, window), found.appended)
    return replace(change, is_whole=_is_whole(window, found.changed), differing=found.differing)


def _is_whole(window: _Window, changed: Sequence[DataFile]) -> bool:
    """Return whether the changed files are all those of both snapshots, by what their summaries count."""
    if any(operation(s) == Operation.REPLACE for s in (*window.undone, *window.done)):
        return False
    before, after = _file_count(window.start), _file_count(window.target)
    if not before or after is None:
        return False
    return len({_file_key(f) for f in changed}) == len(changed) == before + after


def _file_count(snapshot: Snapshot) -> int | None:
    """Return how many data and delete files a snapshot holds; None where its summary does not say."""
    summary = {} if snapshot.summary is None else snapshot.summary.additional_properties
    counts = [summary.get(key, "") for key in ("total-data-files", "total-delete-files")]
    return sum(map(int, counts)) if all(map(str.isdecimal, counts)) else None


def _files_of(table: Table, schema: Schema, window: _Window, straight: bool) -> _WindowFiles:
    """Return the changed files of a window; manifests are opened once for it, whatever columns are tracked."""

    def find_out() -> _WindowFiles:
        appends = AppendWindow(window.start) if straight else None
        changed = tuple(_changed_files(table, window, appends))
        differing = columns_that_differ(changed, schema.fields)
        return _WindowFiles(tuple(f for f, _ in changed), None if appends is None else appends.appended, differing)

    if not table.metadata_location:
        return find_out()
    key = (table.metadata_location, schema.schema_id, window.start.snapshot_id, window.target.snapshot_id, straight)
    return _FILES.get(key, find_out)


def partitions_of(table: Table, snapshot_id: int) -> set[PartitionKey]:
    """Return the partitions, as (spec id, values), that hold files at a snapshot; each manifest is opened once."""
    return set(bytes_by_partition(table, snapshot_id))


def bytes_by_partition(table: Table, snapshot_id: int) -> Mapping[PartitionKey, int]:
    """Return the size of the data and delete files of each partition at a snapshot; each manifest is opened once."""
    snapshot = table.metadata.snapshot_by_id(snapshot_id)

    def find_out() -> Mapping[PartitionKey, int]:
        sizes: dict[PartitionKey, int] = {}
        manifests = manifests_of(table.io, snapshot)
        fetch_manifests(table.io, (m for m in manifests if not _PARTITIONS.knows(m.manifest_path)))
        for manifest in manifests:
            for key, size in _bytes_in(table, manifest).items():
                sizes[key] = sizes.get(key, 0) + size
        return sizes

    if snapshot is None or not snapshot.manifest_list:
        return find_out()
    return _PARTITIONS.get(snapshot.manifest_list, find_out)


def _bytes_in(table: Table, manifest: ManifestFile) -> Mapping[PartitionKey, int]:
    def find_out() -> Mapping[PartitionKey, int]:
        sizes: dict[PartitionKey, int] = {}
        for file in live_files(table.io, [manifest]):
            key = partition_key(file)
            sizes[key] = sizes.get(key, 0) + file.file_size_in_bytes
        return sizes

    return _PARTITIONS.get(manifest.manifest_path, find_out)


def changed_partitions(table: Table, from_snapshot_id: int, to_snapshot_id: int) -> set[PartitionKey]:
    """Return the partitions that snapshots after `from`, up to its descendant `to`, wrote to or deleted from."""
    return {partition_key(f) for f, _ in files_between(table, from_snapshot_id, to_snapshot_id) or ()}


def files_between(table: Table, from_snapshot_id: int, to_snapshot_id: int) -> list[ChangedFile] | None:
    """Return the files that came or went by the snapshots after `from`, up to its descendant `to`.

    None where these snapshots are not all known.
    """
    start = table.metadata.snapshot_by_id(from_snapshot_id)
    target = table.metadata.snapshot_by_id(to_snapshot_id)
    window = _window(table, start, target) if start and target else None
    return None if window is None else [*_changed_files(table, window)]


def ancestry(metadata: TableMetadata, snapshot_id: int) -> Iterator[Snapshot]:
    """Yield the snapshot and its ancestors, as far back as they are kept."""
    known = {s.snapshot_id: s for s in metadata.snapshots}
    current = known.get(snapshot_id)
    while current is not None:
        yield current
        parent = current.parent_snapshot_id
        current = known.get(parent) if parent is not None else None


def _window(table: Table, start: Snapshot, target: Snapshot) -> _Window | None:
    """Return the snapshots that lie between two.

    None when they have no common ancestor that is still known (replaced table, expired history), and when the entries
    of one of them do not say all that it changed.
    """
    from_start = list(ancestry(table.metadata, start.snapshot_id))
    from_target = list(ancestry(table.metadata, target.snapshot_id))
    common = {s.snapshot_id for s in from_start} & {s.snapshot_id for s in from_target}
    if not common:
        return None
    undone, done = (tuple(s for s in side if s.snapshot_id not in common) for side in (from_start, from_target))
    return _Window(start, target, undone, done) if are_accounted_for(table, (*undone, *done)) else None


def _changed_files(table: Table, window: _Window, appends: AppendWindow | None = None) -> Iterator[ChangedFile]:
    """Yield the files that came or went, and note the snapshots in `appends`; a `replace` changes no row."""
    fetch_changes(table.io, (s for s in (*window.undone, *window.done) if operation(s) != Operation.REPLACE))
    undone = ((snapshot, ManifestEntryStatus.DELETED) for snapshot in window.undone)
    done = ((snapshot, ManifestEntryStatus.ADDED) for snapshot in reversed(window.done))
    for snapshot, came in (*undone, *done):
        replaced = operation(snapshot) == Operation.REPLACE
        manifests = () if replaced else manifests_of(table.io, snapshot)
        entries = list(changed_entries(table.io, manifests, snapshot.snapshot_id))
        if appends is not None:
            appends.add(snapshot, entries)
        yield from ((e.data_file, e.status == came) for e in entries)


def _unchanged_files(table: Table, window: _Window) -> Iterator[DataFile]:
    """Yield the other files that delete files of the window can be about: what compaction wrote, what there was."""
    for snapshot in (*window.done, *window.undone):
        if operation(snapshot) == Operation.REPLACE:
            manifests = [m for m in manifests_of(table.io, snapshot) if m.content == ManifestContent.DATA]
            yield from (e.data_file for e in changed_entries(table.io, manifests, snapshot.snapshot_id))
    yield from live_files(
        table.io, (m for m in manifests_of(table.io, window.start) if m.content == ManifestContent.DATA)
    )


def _live_files(table: Table, snapshot: Snapshot) -> Iterator[DataFile]:
    return live_files(table.io, manifests_of(table.io, snapshot))


def _difference(table: Table, start: Snapshot, target: Snapshot) -> tuple[list[ChangedFile], list[DataFile]]:
    """Return the files that one of two unconnected snapshots holds more often, and all that either holds.

    Deletion vectors share a file, so one path may name several of them; paths on both sides are compared with what
    distinguishes their contents. A data file may be in a table twice. Deletes count for older files alone, so a file
    that was taken out and came again is another one (Iceberg spec, "Scan Planning").
    """
    before, after = ([*live_entries(table.io, manifests_of(table.io, snapshot))] for snapshot in (start, target))
    files = {_entry_key(e): e.data_file for e in (*after, *before)}
    now, then = Counter(map(_entry_key, after)), Counter(map(_entry_key, before))
    changed = [(file, now[key] > then[key]) for key, file in files.items() if now[key] != then[key]]
    return changed, [e.data_file for e in (*before, *after)]


def _entry_key(entry: ManifestEntry) -> tuple[object, ...]:
    return (entry.sequence_number or 0, *_file_key(entry.data_file))


def _file_key(file: DataFile) -> tuple[object, ...]:
    contents = (file.record_count, file.file_size_in_bytes, referenced_data_file(file))
    return (file.content, file.file_path, partition_key(file), *contents)


def _change_of(
    rows: FileRows, files: Iterable[DataFile], others: Iterable[DataFile], appended: Appended | None = None
) -> TableChange:
    """Return the change that the changed files make; `others` are those that delete files among them can be about."""
    changed = changed_rows(rows, files, others)
    if changed.count == 0:
        return TableChange("fresh", moved=True)
    return TableChange(
        "stale",
        moved=True,
        constraints=StaleDataConstraints(changed.data_disjuncts, changed.is_part),
        changed_partitions=changed.count,
        unit=changed.unit,
        appended_since=appended.since if appended else None,
        appended_rows=appended.rows if appended else 0,
        changed_rows=changed.rows,
        changed_bytes=changed.size,
    )
