"""Which tables are so small that a view over them is computed when it is read."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable, IcebergSource
from dbt.adapters.icebergmv.maintenance.stitching import small_tables
from dbt.adapters.icebergmv.maintenance.stitching.small_tables import are_small, pays_to_prune
from tests.support.bare_tables import bare_table

T = ("lake", "ns", "t")


@pytest.fixture(scope="module")
def table(catalog: SqlCatalog) -> Table:
    """Return a table of two files of three rows each."""
    made = catalog.create_table("ns.t", Schema(NestedField(1, "id", LongType(), required=False)))
    for _ in range(2):
        made.append(pa.table({"id": [1, 2, 3]}))
    return made


def base(table: Table, snapshot_id: int | None, name: TableName = T, storage: TableName | None = None) -> BaseTable:
    version = TableVersion("uuid", snapshot_id, 0)
    return BaseTable(name, IcebergSource(table, storage or name, version, table.schema(), table.schema()))


@pytest.mark.parametrize("limit", ["rows", "_MOST_FILES", "_MOST_BYTES"])
def test_each_table_raises_the_limits(table: Table, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a look of its own, so to look takes longer where an empty one is joined."""
    now = base(table, table.metadata.current_snapshot_id)
    size = sum(task.file.file_size_in_bytes for task in table.scan().plan_files())
    below = 4 if limit == "rows" else 7
    if limit != "rows":
        monkeypatch.setattr(small_tables, limit, {"_MOST_FILES": 1, "_MOST_BYTES": size - 1}[limit])
    assert [are_small([now], looks, below) for looks in (0, 1, 2)] == [False, False, True]


def test_a_select_without_tables_is_small() -> None:
    assert are_small([], 0, 1)
    assert not are_small([], 0, 0)


def test_tables_count_as_often_as_they_are_read(table: Table) -> None:
    now = base(table, table.metadata.current_snapshot_id)
    assert [are_small([now], 1, below) for below in (0, 6, 7)] == [False, False, True]
    assert [are_small([now, now], 1, below) for below in (12, 13)] == [False, True]
    assert not are_small([now, BaseTable(T, None)], 1, 100)
    assert are_small([now, base(table, None)], 1, 7)


@pytest.mark.parametrize("limit", ["_MOST_FILES", "_MOST_BYTES"])
def test_few_rows_in_many_files(table: Table, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = base(table, table.metadata.current_snapshot_id)
    assert are_small([now], 1, 7)
    monkeypatch.setattr(small_tables, limit, 1)
    assert not are_small([now], 1, 7)


def test_a_table_that_does_not_count_its_rows() -> None:
    table = bare_table("t", {"id": LongType()}, (), (1,))
    assert not are_small([base(table, 1)], 1, 100)


def test_another_materialized_view_is_not_small(table: Table) -> None:
    """It may look at large tables of its own."""
    head = table.metadata.current_snapshot_id
    assert are_small([base(table, head)], 1, 7)
    assert not are_small([base(table, head, ("lake", "ns", "over_t"), storage=T)], 1, 7)


@pytest.mark.parametrize("limit", ["UNPRUNED_FILES", "UNPRUNED_BYTES"])
def test_files_of_small_tables_are_all_read(table: Table, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = base(table, table.metadata.current_snapshot_id).source
    empty, unknown = base(table, None).source, base(bare_table("t", {"id": LongType()}, (), (1,)), 1).source
    assert now is not None
    assert empty is not None
    assert unknown is not None
    assert [pays_to_prune(source) for source in (now, empty, unknown)] == [False, False, True]
    monkeypatch.setattr(small_tables, limit, 1)
    assert [pays_to_prune(source) for source in (now, empty)] == [True, False]
