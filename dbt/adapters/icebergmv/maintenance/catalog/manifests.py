"""The entries of manifests. Iceberg spec, "Manifests" and "Manifest Lists"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Literal, Protocol, runtime_checkable

from pyiceberg.avro.file import AvroFile
from pyiceberg.io import FileIO
from pyiceberg.manifest import (
    DATA_FILE_TYPE,
    MANIFEST_ENTRY_SCHEMAS,
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
)
from pyiceberg.table.snapshots import Snapshot

from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered

PartitionKey = tuple[int, tuple[object, ...]]
"""A partition as (spec id, values)."""

# fetch_manifest_entry reads with the schema of format 2, which has no referenced_data_file. Fields are read by their
# ids, so the schema of format 3 reads the manifests of every format.
_FORMAT: Literal[3] = 3
_REFERENCED_DATA_FILE = [f.name for f in DATA_FILE_TYPE[_FORMAT].fields].index("referenced_data_file")
_FILE_PATH = 2147483546
"""The column of a position delete file that names the data file. Iceberg spec, "Reserved Field IDs"."""


_MOST_ENTRIES = 20_000
"""That are remembered: what one run reads of a table, it reads several times."""

_LENGTH_OF_LIST = 64 * 1024
"""About; a snapshot does not say it."""

_LISTS: Remembered[tuple[ManifestFile, ...]] = Remembered(_MOST_ENTRIES, lambda manifests: 1 + len(manifests))
_ENTRIES: Remembered[tuple[ManifestEntry, ...]] = Remembered(_MOST_ENTRIES, lambda entries: 1 + len(entries))


_OPENED_AHEAD = 64
"""Manifests that are fetched together, where they are read one after the other."""


@runtime_checkable
class FetchesMany(Protocol):
    """A FileIO for which many files at once cost hardly more than one."""

    def fetch(self, lengths: Mapping[str, int]) -> None:
        """Fetch the files, given with about how long they are, so that each is at hand when it is opened."""


def manifests_of(io: FileIO, snapshot: Snapshot | None) -> tuple[ManifestFile, ...]:
    """Return the manifests of a snapshot, of none if there is none; a list is read once a process."""
    if snapshot is None or not snapshot.manifest_list:
        return () if snapshot is None else tuple(snapshot.manifests(io))
    return _LISTS.get(snapshot.manifest_list, lambda: tuple(snapshot.manifests(io)))


def changed_entries(io: FileIO, manifests: Iterable[ManifestFile], snapshot_id: int) -> Iterator[ManifestEntry]:
    """Yield the entries of the files that a snapshot, whose manifest list is given, added or removed."""
    for manifest in _at_hand(io, (m for m in manifests if m.added_snapshot_id == snapshot_id)):
        yield from (e for e in _entries(io, manifest) if e.status != ManifestEntryStatus.EXISTING)


def live_files(io: FileIO, manifests: Iterable[ManifestFile]) -> Iterator[DataFile]:
    """Yield the data and delete files that manifests hold, opening one manifest after the other."""
    return (entry.data_file for entry in live_entries(io, manifests))


def live_entries(io: FileIO, manifests: Iterable[ManifestFile]) -> Iterator[ManifestEntry]:
    """Yield the entries of the data and delete files that manifests hold, opening one manifest after the other."""
    for manifest in _at_hand(io, manifests):
        yield from (e for e in _entries(io, manifest) if e.status != ManifestEntryStatus.DELETED)


def fetch_changes(io: FileIO, snapshots: Iterable[Snapshot]) -> None:
    """Fetch what `manifests_of` and `changed_entries` will read of all these snapshots, where `io` fetches many."""
    if not isinstance(io, FetchesMany):
        return
    known = list(snapshots)
    lists = (s.manifest_list for s in known if s.manifest_list)
    io.fetch({path: _LENGTH_OF_LIST for path in lists if not _LISTS.knows(path)})
    fetch_manifests(io, (m for s in known for m in manifests_of(io, s) if m.added_snapshot_id == s.snapshot_id))


def fetch_manifests(io: FileIO, manifests: Iterable[ManifestFile]) -> None:
    """Fetch the manifests whose entries are not known yet, where `io` fetches many."""
    if isinstance(io, FetchesMany):
        unknown = {m.manifest_path: m.manifest_length for m in manifests if not _ENTRIES.knows(m.manifest_path)}
        io.fetch(unknown)


def partition_key(file: DataFile) -> PartitionKey:
    """Return the partition of a file."""
    return (file.spec_id, tuple(file.partition[i] for i in range(len(file.partition))))


def referenced_data_file(file: DataFile) -> str | None:
    """Return the path of the only data file that a delete file is about; None when it can be about several.

    A deletion vector names it, a position delete file may, or has one path as both bounds of its paths.
    """
    if file.content != DataFileContent.POSITION_DELETES:
        return None
    named = file[_REFERENCED_DATA_FILE]
    if isinstance(named, str):
        return named
    low, high = ((bounds or {}).get(_FILE_PATH) for bounds in (file.lower_bounds, file.upper_bounds))
    return low.decode("utf-8", "replace") if low is not None and low == high else None


def count_files(manifests: Iterable[ManifestFile]) -> int:
    """Return how many live files manifests list, without opening them."""
    return sum((m.added_files_count or 0) + (m.existing_files_count or 0) for m in manifests)


def _at_hand(io: FileIO, manifests: Iterable[ManifestFile]) -> Iterator[ManifestFile]:
    waiting = iter(manifests)
    while some := list(islice(waiting, _OPENED_AHEAD)):
        fetch_manifests(io, some)
        yield from some


def _entries(io: FileIO, manifest: ManifestFile) -> tuple[ManifestEntry, ...]:
    return _ENTRIES.get(manifest.manifest_path, lambda: tuple(_read_entries(io, manifest)))


def _read_entries(io: FileIO, manifest: ManifestFile) -> list[ManifestEntry]:
    if manifest.content != ManifestContent.DELETES:
        return manifest.fetch_manifest_entry(io, discard_deleted=False)
    with AvroFile[ManifestEntry](
        io.new_input(manifest.manifest_path),
        MANIFEST_ENTRY_SCHEMAS[_FORMAT],
        read_types={-1: ManifestEntry, 2: DataFile},
        read_enums={0: ManifestEntryStatus, 101: FileFormat, 134: DataFileContent},
    ) as reader:
        return [_inherit(entry, manifest) for entry in reader]


def _inherit(entry: ManifestEntry, manifest: ManifestFile) -> ManifestEntry:
    """Return the entry with what the manifest alone knows. Iceberg spec, "Sequence Number Inheritance" and so on.

    PyIceberg has the same, but as a private function.
    """
    if entry.snapshot_id is None and manifest.added_snapshot_id is not None:
        entry.snapshot_id = manifest.added_snapshot_id
    if entry.sequence_number is None and entry.status == ManifestEntryStatus.ADDED:
        entry.sequence_number = manifest.sequence_number
    entry.data_file.spec_id = manifest.partition_spec_id
    return entry
