"""Which columns hold other values than before, as far as metrics of files show it: on tables that PyIceberg writes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import DoubleType, LongType, NestedField, StringType

from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import Wanted
from dbt.adapters.icebergmv.maintenance.catalog.differing_metrics import columns_that_differ
from dbt.adapters.icebergmv.maintenance.catalog.manifests import live_files, manifests_of
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion, change_since

SCHEMA = Schema(
    NestedField(1, "k", LongType(), required=False),
    NestedField(2, "v", StringType(), required=False),
    NestedField(3, "f", DoubleType(), required=False),
)
BEFORE = [(1, "a", 0.5), (2, "b", 1.5), (3, None, None), (4, "c", 0.0)]
ALL = {"k", "v", "f"}


@pytest.fixture
def table(catalog: SqlCatalog) -> Table:
    if catalog.table_exists("ns.metrics"):
        catalog.drop_table("ns.metrics")
    made = catalog.create_table("ns.metrics", SCHEMA)
    made.append(rows(BEFORE))
    return made


def rows(values: list[tuple[Any, ...]]) -> pa.Table:
    schema = pa.schema([("k", pa.int64()), ("v", pa.string()), ("f", pa.float64())])
    return pa.table([list(column) for column in zip(*values, strict=True)] if values else [[], [], []], schema=schema)


def version(table: Table) -> TableVersion:
    metadata = table.metadata
    return TableVersion(str(metadata.table_uuid), metadata.current_snapshot_id, metadata.current_schema_id)


def differing(before: TableVersion, table: Table) -> set[str]:
    return {*change_since(before, version(table), table, table.schema(), Wanted(frozenset(["k"]))).differing}


OVERWRITTEN = {
    "the same rows": (BEFORE, set()),
    "the same rows in another order": (BEFORE[::-1], set()),
    "another highest value": ([*BEFORE[:3], (5, "c", 0.0)], {"k"}),
    "another lowest value": ([(1, "Z", 0.5), *BEFORE[1:]], {"v"}),
    "a NULL more": ([BEFORE[0], (2, None, 1.5), *BEFORE[2:]], {"v"}),
    "a NULL that is a value": ([*BEFORE[:2], (3, "aa", None), BEFORE[3]], {"v"}),
    "a value between the bounds": ([BEFORE[0], (3, "b", 1.5), *BEFORE[2:]], set()),
    "only floats, which have no bounds to trust": ([(1, "a", 0.25), *BEFORE[1:]], set()),
    "a row more": ([*BEFORE, BEFORE[0]], ALL),
    "a row less": (BEFORE[:2], ALL),
}


@pytest.mark.parametrize("name", OVERWRITTEN)
def test_rows_that_are_written_again(table: Table, name: str) -> None:
    after, expected = OVERWRITTEN[name]
    before = version(table)
    table.overwrite(rows(after))
    assert differing(before, table) == expected


def test_what_came_and_went_again_is_no_difference(table: Table) -> None:
    before = version(table)
    table.append(rows([(9, "z", 9.0)]))
    table.delete("k = 9")
    assert differing(before, table) == set()


def test_what_was_taken_back_counts_the_other_way_round(table: Table) -> None:
    first = table.metadata.current_snapshot_id
    assert first is not None
    table.append(rows([(9, "z", 9.0)]))
    ahead = version(table)
    table.manage_snapshots().set_current_snapshot(first).commit()
    assert differing(ahead, table) == ALL


def test_of_many_files_nothing_is_known(table: Table) -> None:
    (file,) = live_files(table.io, manifests_of(table.io, table.current_snapshot()))
    assert columns_that_differ([(file, True)], SCHEMA.fields) == ALL
    assert columns_that_differ([(file, True)] * 1000, SCHEMA.fields) == frozenset()


def test_of_deleted_rows_no_column_is_known(table: Table) -> None:
    (file,) = live_files(table.io, manifests_of(table.io, table.current_snapshot()))
    deletes = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path="deletes",
        file_format=FileFormat.PARQUET,
        partition=file.partition,
        record_count=1,
        file_size_in_bytes=1,
    )
    assert columns_that_differ([(file, True), (deletes, True)], SCHEMA.fields) == frozenset()
