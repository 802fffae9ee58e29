"""What changed in a table between two snapshots, from its manifests.

Only manifests that a snapshot of the window added are opened, so the cost follows the change, not the table. Iceberg
spec, "Snapshots", "Manifest Lists" and "Scan Planning"; snapshot ids are never ordered, only ancestry counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pyiceberg.manifest import DataFile, ManifestEntryStatus
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Operation, Snapshot
from pyiceberg.types import DateType, NestedField

from dbt.adapters.icebergmv.maintenance.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.transforms import partition_domain


@dataclass(frozen=True)
class RecordedTable:
    """What a refresh read: the table's identity, the snapshot (None: it had none) and the schema."""

    uuid: str
    snapshot_id: int | None
    schema_id: int


@dataclass(frozen=True)
class StaleDataConstraints:
    """The rows of a base table that may have changed, as the RFC's `data_disjuncts`: any of them may hold a row."""

    data_disjuncts: tuple[TupleDomain, ...]


@dataclass(frozen=True)
class TableChange:
    """How a table changed since it was recorded.

    fresh: no row changed (`moved` tells whether the ids did). stale: rows changed within `constraints`. unknown: it
    cannot be told, `reason` says why; everything may have changed.
    """

    status: Literal["fresh", "stale", "unknown"]
    moved: bool = False
    constraints: StaleDataConstraints = StaleDataConstraints(())
    changed_partitions: int = 0
    unit: str = "partition"
    reason: str | None = None


def change_since(recorded: RecordedTable, now: RecordedTable, table: Table, schema: Schema) -> TableChange:
    """Return how the rows of the table, as read `now`, differ from those at the recorded snapshot.

    The constraints name the columns as `schema`, the one that is read now, does.
    """
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
    if recorded.snapshot_id is None:
        return _change_of(table, schema, _live_files(table, target))
    start = metadata.snapshot_by_id(recorded.snapshot_id)
    if start is None:
        return TableChange(
            "unknown", moved=True, reason=f"has expired the snapshot {recorded.snapshot_id} of the last refresh"
        )
    window = _window(metadata, start, target)
    if window is not None:
        return _change_of(table, schema, (f for s in window for f in _changed_files(table, s)))
    return _change_of(table, schema, _difference(table, start, target))


def partitions_of(table: Table, snapshot_id: int) -> set[tuple[int, tuple[object, ...]]]:
    """Return the partitions, as (spec id, values), that hold data files at a snapshot; reads all its manifests."""
    snapshot = table.metadata.snapshot_by_id(snapshot_id)
    return set() if snapshot is None else {_partition_key(f) for f in _live_files(table, snapshot)}


def changed_partitions(table: Table, from_snapshot_id: int, to_snapshot_id: int) -> set[tuple[int, tuple[object, ...]]]:
    """Return the partitions that snapshots after `from`, up to its descendant `to`, wrote to or deleted from."""
    start = table.metadata.snapshot_by_id(from_snapshot_id)
    target = table.metadata.snapshot_by_id(to_snapshot_id)
    window = _window(table.metadata, start, target) if start and target else None
    return {_partition_key(f) for s in window or () for f in _changed_files(table, s)}


def _window(metadata: TableMetadata, start: Snapshot, target: Snapshot) -> list[Snapshot] | None:
    """Return the snapshots that lie between two: those undone from `start` and those done to `target`.

    None when they have no common ancestor that is still known (replaced table, expired history).
    """
    from_start = list(ancestry(metadata, start.snapshot_id))
    from_target = list(ancestry(metadata, target.snapshot_id))
    common = {s.snapshot_id for s in from_start} & {s.snapshot_id for s in from_target}
    if not common:
        return None
    return [s for s in (*from_start, *from_target) if s.snapshot_id not in common]


def ancestry(metadata: TableMetadata, snapshot_id: int) -> Iterator[Snapshot]:
    """Yield the snapshot and its ancestors, as far back as they are kept."""
    current = metadata.snapshot_by_id(snapshot_id)
    while current is not None:
        yield current
        parent = current.parent_snapshot_id
        current = metadata.snapshot_by_id(parent) if parent is not None else None


def _changed_files(table: Table, snapshot: Snapshot) -> Iterator[DataFile]:
    """Yield the data and delete files that a snapshot added or removed; a `replace` snapshot changes no row."""
    if snapshot.summary is not None and snapshot.summary.operation == Operation.REPLACE:
        return
    for manifest in snapshot.manifests(table.io):
        if manifest.added_snapshot_id != snapshot.snapshot_id:
            continue
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False):
            if entry.snapshot_id == snapshot.snapshot_id and entry.status != ManifestEntryStatus.EXISTING:
                yield entry.data_file


def _live_files(table: Table, snapshot: Snapshot) -> Iterator[DataFile]:
    for manifest in snapshot.manifests(table.io):
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
            yield entry.data_file


def _difference(table: Table, start: Snapshot, target: Snapshot) -> Iterator[DataFile]:
    """Yield the files that only one of two unconnected snapshots holds.

    Deletion vectors share a file, so a path may stand for several of them; paths on both sides are compared with what
    tells their contents apart.
    """
    before = {_file_key(f): f for f in _live_files(table, start)}
    after = {_file_key(f): f for f in _live_files(table, target)}
    for key in before.keys() ^ after.keys():
        yield before.get(key) or after[key]


def _file_key(file: DataFile) -> tuple[object, ...]:
    return (file.content, file.file_path, _partition_key(file), file.record_count, file.file_size_in_bytes)


def _partition_key(file: DataFile) -> tuple[int, tuple[object, ...]]:
    return (file.spec_id, tuple(file.partition[i] for i in range(len(file.partition))))


def _change_of(table: Table, schema: Schema, files: Iterable[DataFile]) -> TableChange:
    partitions = {_partition_key(f) for f in files}
    if not partitions:
        return TableChange("fresh", moved=True)
    return TableChange(
        "stale",
        moved=True,
        constraints=StaleDataConstraints(
            tuple(partition_rows(table, schema, *p) for p in sorted(partitions, key=repr))
        ),
        changed_partitions=len(partitions),
        unit=_unit(table, {spec_id for spec_id, _ in partitions}),
    )


def partition_rows(table: Table, schema: Schema, spec_id: int, values: tuple[object, ...]) -> TupleDomain:
    """Return the rows that a partition can hold, on the top-level columns of a schema of the table.

    Fields whose source column is gone or nested constrain nothing. Several fields on one column are intersected.
    """
    top_level = {f.field_id: f for f in schema.fields}
    constraints: dict[ColumnKey, Domain] = {}
    for field, value in zip(table.specs()[spec_id].fields, values, strict=True):
        source = top_level.get(field.source_id)
        if source is None or _had_another_unit(table, source):
            continue
        constraint = partition_domain(field.transform, source.name, source.field_type, value)
        if constraint is not None:
            key, domain = constraint
            constraints[key] = domain.intersect(constraints[key]) if key in constraints else domain
    return TupleDomain.where(constraints)


def _had_another_unit(table: Table, source: NestedField) -> bool:
    """Return whether old partition values of the column may count days where it is a timestamp now."""
    earlier = [f for schema in table.schemas().values() for f in schema.fields if f.field_id == source.field_id]
    return any(isinstance(f.field_type, DateType) != isinstance(source.field_type, DateType) for f in earlier)


def _unit(table: Table, spec_ids: set[int]) -> str:
    """Return what a person calls the partitions: day, month, ... when that is all there is, else partition."""
    names = {str(f.transform) for i in spec_ids for f in table.specs()[i].fields}
    only = names.pop() if len(names) == 1 else ""
    return only if only in ("year", "month", "day", "hour") else "partition"
