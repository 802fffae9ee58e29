"""Iceberg tables of metadata alone: a schema, a partition spec, and snapshots without a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.io import FileIO, InputFile, OutputFile
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadataV2
from pyiceberg.transforms import parse_transform
from pyiceberg.types import IcebergType, NestedField


class _NoFiles(FileIO):
    """Refuses every file: planning and rendering read metadata alone."""

    def new_input(self, location: str) -> InputFile:
        raise AssertionError(f"nothing is to be read: {location}")

    def new_output(self, location: str) -> OutputFile:
        raise AssertionError(f"nothing is to be written: {location}")

    def delete(self, location: str | InputFile | OutputFile) -> None:
        raise AssertionError(f"nothing is to be deleted: {location}")


def bare_table(
    name: str,
    types: Mapping[str, IcebergType],
    fields: Sequence[tuple[str, str]],
    snapshots: Sequence[int],
    rows: int = 0,
) -> Table:
    """Return a table partitioned by `fields`, as (transform, column), whose last snapshot is the current one.

    `rows` is how many rows each snapshot says it has.
    """
    schema = Schema(*(NestedField(i, column, kind) for i, (column, kind) in enumerate(types.items(), start=1)))
    ids = {field.name: field.field_id for field in schema.fields}
    spec = PartitionSpec(
        *(PartitionField(ids[c], 1000 + n, parse_transform(t), f"p{n}") for n, (t, c) in enumerate(fields))
    )
    common = {
        "manifest-list": "",
        "schema-id": schema.schema_id,
        "summary": {"operation": "append", "total-records": str(rows)},
    }
    history = [{"snapshot-id": n, "sequence-number": n, "timestamp-ms": n, **common} for n in snapshots]
    metadata = TableMetadataV2.model_validate(
        {
            "location": f"memory://{name}",
            "table-uuid": UUID(int=1),
            "last-updated-ms": snapshots[-1],
            "last-column-id": len(schema.fields),
            "schemas": [schema],
            "current-schema-id": schema.schema_id,
            "partition-specs": [spec],
            "default-spec-id": spec.spec_id,
            "last-partition-id": 2000,
            "snapshots": history,
            "current-snapshot-id": snapshots[-1],
            "last-sequence-number": snapshots[-1],
        }
    )
    return Table(("ns", name), metadata, "", _NoFiles(), NoopCatalog("none"))
