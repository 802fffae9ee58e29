"""Iceberg tables made of metadata alone: any history of any files, without data and without a catalog."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.conversions import to_bytes
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadataV2
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.typedef import Record
from pyiceberg.types import NestedField, PrimitiveType, StringType, StructType

from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import Wanted
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange, TableVersion, change_since
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain

UUID_OF_TABLE = UUID(int=1)
EVERY_ROW = TupleDomain.all()


class _Writer(ManifestWriterV2):
    """Writes data and delete manifests; the latter with the data file that a delete file is about."""

    content_: ManifestContent = ManifestContent.DATA

    def content(self) -> ManifestContent:
        return self.content_

    def _with_partition(self, format_version: Any) -> Schema:
        schema = super()._with_partition(format_version)
        (data_file,) = (f.field_type for f in schema.fields if f.field_id == 2)
        assert isinstance(data_file, StructType)
        more = StructType(*data_file.fields, NestedField(143, "referenced_data_file", StringType()))
        return Schema(*(f for f in schema.fields if f.field_id != 2), NestedField(2, "data_file", more, required=True))


def file_of(
    path: str,
    partition: Sequence[Any] = (),
    *,
    spec: int = 0,
    content: DataFileContent = DataFileContent.DATA,
    rows: int = 10,
    values: Mapping[int, int] | None = None,
    nulls: Mapping[int, int] | None = None,
    lower: Mapping[int, bytes] | None = None,
    upper: Mapping[int, bytes] | None = None,
    about: str | None = None,
) -> DataFile:
    """Return a data or delete file with the metrics given; `about` is its referenced data file."""
    file = DataFile.from_args(
        content=content,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=Record(*partition),
        record_count=rows,
        file_size_in_bytes=100,
        value_counts=values,
        null_value_counts=nulls,
        lower_bounds=lower,
        upper_bounds=upper,
    )
    file._data.append(about)
    file.spec_id = spec
    return file


def bounds(**columns: tuple[PrimitiveType, int, Any, Any]) -> dict[str, Any]:
    """Return the metrics of columns without NULL, each as (type, field id, lower, upper)."""
    return {
        "lower": {i: to_bytes(t, low) for t, i, low, _ in columns.values()},
        "upper": {i: to_bytes(t, high) for t, i, _, high in columns.values()},
        "nulls": {i: 0 for _, i, _, _ in columns.values()},
        "values": {i: 10 for _, i, _, _ in columns.values()},
    }


@dataclass(frozen=True)
class _Entry:
    status: ManifestEntryStatus
    snapshot_id: int
    sequence_number: int
    file: DataFile


@dataclass(frozen=True)
class _Manifest:
    written: ManifestFile
    entries: tuple[_Entry, ...]


class MetadataTable:
    """A table whose snapshots are committed one by one; `table()` is its current state."""

    def __init__(self, folder: Path, schema: Schema, *specs: PartitionSpec) -> None:
        self.schema = schema
        self.specs = {s.spec_id: s for s in specs or (PartitionSpec(),)}
        self.io: FileIO = load_file_io({}, folder.as_uri())
        self.snapshots: list[Snapshot] = []
        self.head: int | None = None
        self._folder = folder
        self._names = itertools.count()
        self._manifests: dict[int | None, tuple[_Manifest, ...]] = {None: ()}

    def commit(
        self,
        operation: Operation | None,
        added: Iterable[DataFile] = (),
        removed: Iterable[DataFile] = (),
        *,
        sequence_number: int | None = None,
        kept: bool = True,
        more: Iterable[_Manifest] = (),
        **properties: str,
    ) -> int:
        """Add a snapshot on the head and return its id.

        `sequence_number` is what the added files claim; `kept=False` leaves the manifests of the head out; `more` are
        manifests to carry over as they are.
        """
        snapshot_id = 1000 + len(self.snapshots)
        number = len(self.snapshots) + 1
        gone = {f.file_path for f in removed}
        manifests: list[_Manifest] = []
        known = {m.written.manifest_path: m for m in (*(self.state if kept else ()), *more)}
        for manifest in known.values():
            if any(e.file.file_path in gone for e in manifest.entries if e.status != ManifestEntryStatus.DELETED):
                manifests.append(self._write(snapshot_id, number, _without(manifest.entries, gone, snapshot_id)))
            else:
                manifests.append(manifest)
        groups: dict[tuple[bool, int], list[_Entry]] = {}
        for file in added:
            group = groups.setdefault((file.content == DataFileContent.DATA, file.spec_id), [])
            group.append(_Entry(ManifestEntryStatus.ADDED, snapshot_id, sequence_number or number, file))
        manifests += [self._write(snapshot_id, number, tuple(g), sequence_number is not None) for g in groups.values()]
        return self._add(snapshot_id, number, operation, manifests, properties)

    @property
    def state(self) -> tuple[_Manifest, ...]:
        """Return the manifests of the head."""
        return self._manifests[self.head]

    def table(self, schema: Schema | None = None) -> Table:
        """Return the table as it is now, with `schema` as its current one."""
        schemas = [self.schema, *([schema] if schema is not None and schema != self.schema else [])]
        current = schema or self.schema
        metadata = TableMetadataV2(
            location=self._folder.as_uri(),
            table_uuid=UUID_OF_TABLE,
            last_column_id=max(f.field_id for s in schemas for f in s.fields),
            schemas=schemas,
            current_schema_id=current.schema_id,
            partition_specs=list(self.specs.values()),
            default_spec_id=max(self.specs),
            last_partition_id=2000,
            snapshots=self.snapshots,
            current_snapshot_id=self.head,
            last_sequence_number=len(self.snapshots),
        )
        return Table(("ns", "t"), metadata, "", self.io, NoopCatalog("none"))

    def since(
        self, snapshot_id: int | None, *tracked: str, schema: Schema | None = None, rows: TupleDomain = EVERY_ROW
    ) -> TableChange:
        """Return the change since a snapshot, of which these columns and rows are wanted."""
        table = self.table(schema)
        before = TableVersion(str(UUID_OF_TABLE), snapshot_id, self.schema.schema_id)
        now = TableVersion(str(UUID_OF_TABLE), self.head, table.schema().schema_id)
        return change_since(before, now, table, table.schema(), Wanted(frozenset(tracked), (rows,)))

    def _add(
        self,
        snapshot_id: int,
        number: int,
        operation: Operation | None,
        manifests: Sequence[_Manifest],
        properties: Mapping[str, str],
    ) -> int:
        location = self._path("list")
        with write_manifest_list(2, self.io.new_output(location), snapshot_id, self.head, number, "null") as writer:
            writer.add_manifests([m.written for m in manifests])
        self.snapshots = [
            *self.snapshots,
            Snapshot(
                snapshot_id=snapshot_id,
                parent_snapshot_id=self.head,
                sequence_number=number,
                timestamp_ms=number,
                manifest_list=location,
                summary=None if operation is None else Summary(operation, **properties),
                schema_id=self.schema.schema_id,
            ),
        ]
        self._manifests[snapshot_id] = tuple(manifests)
        self.head = snapshot_id
        return snapshot_id

    def _write(self, snapshot_id: int, number: int, entries: tuple[_Entry, ...], explicit: bool = False) -> _Manifest:
        first = entries[0].file
        spec = self.specs[first.spec_id]
        writer = _Writer(spec, self.schema, self.io.new_output(self._path("manifest")), snapshot_id, "null")
        is_data = first.content == DataFileContent.DATA
        writer.content_ = ManifestContent.DATA if is_data else ManifestContent.DELETES
        with writer:
            for e in entries:
                fresh = e.status == ManifestEntryStatus.ADDED and not explicit
                writer.add_entry(
                    ManifestEntry.from_args(
                        status=e.status,
                        snapshot_id=e.snapshot_id,
                        sequence_number=None if fresh else e.sequence_number,
                        file_sequence_number=None if fresh else e.sequence_number,
                        data_file=e.file,
                    )
                )
        written = writer.to_manifest_file()
        written.sequence_number = number
        written.min_sequence_number = min(e.sequence_number for e in entries)
        return _Manifest(written, entries)

    def _path(self, kind: str) -> str:
        return f"{self._folder.as_uri()}/{kind}-{next(self._names)}.avro"


def _without(entries: Iterable[_Entry], gone: set[str], snapshot_id: int) -> tuple[_Entry, ...]:
    """Return what a snapshot that removes files writes instead of a manifest that holds them."""
    live = [e for e in entries if e.status != ManifestEntryStatus.DELETED]
    return tuple(
        replace(e, status=ManifestEntryStatus.DELETED, snapshot_id=snapshot_id)
        if e.file.file_path in gone
        else replace(e, status=ManifestEntryStatus.EXISTING)
        for e in live
    )
