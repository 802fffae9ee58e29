"""The changed rows of a table, as they are read to be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import duckdb
import pytest
from pyiceberg.types import IcebergType, IntegerType, MapType, NestedField, StringType, StructType

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import RowChanges, changed_rows
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, identifier
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable, IcebergSource
from tests.support.analysis import analysed_in
from tests.support.bare_tables import bare_table
from tests.support.bases import base_status, change
from tests.support.duck import to_duckdb

COLUMNS: dict[str, tuple[IcebergType, str]] = {
    "id": (IntegerType(), "int"),
    "props": (MapType(100, StringType(), 101, StringType()), "map<string,string>"),
}


@pytest.mark.parametrize("appended_since", [1, None])
@pytest.mark.parametrize("counted", ["id", "props['a']"])
def test_new_rows_may_have_values_that_cannot_be_compared(counted: str, appended_since: int | None) -> None:
    sql = f"SELECT id, count(DISTINCT {counted}) AS n FROM t GROUP BY id"
    columns = tuple(ColumnInfo(name, of, None) for name, (_, of) in COLUMNS.items())
    definition = analysed_in(sql, "ns", lambda _: columns, True)
    found = changed(definition, {name: kind for name, (kind, _) in COLUMNS.items()}, appended_since)
    assert (found is None) is (counted != "id" and appended_since is None)


@pytest.mark.parametrize("name", ["a b", "select", "q`q"])
def test_columns_that_nothing_reads_may_have_fields_of_any_name(name: str) -> None:
    of = StructType(NestedField(102, name, IntegerType(), required=False))
    columns = (ColumnInfo("id", "int", None), ColumnInfo("payload", str(of), None))
    sql = "WITH staged AS (SELECT * FROM t) SELECT id, count(*) AS n FROM staged GROUP BY id"
    definition = analysed_in(sql, "ns", lambda _: columns, True)
    text = changed(definition, {"id": IntegerType(), "payload": of}, None)
    assert text is not None
    assert f"CAST(NULL AS struct<{identifier(name)}:int>) AS `payload`" in text


@pytest.mark.parametrize("rows", [1, 9_999, 10_000, 10_001, 20_000, 30_001])
def test_rows_come_and_go_as_often_as_they_did(rows: int) -> None:
    """A row that one version has more often is there so many times, however many these are; names may be anything."""
    con = with_two_versions()
    con.sql('CREATE TABLE "@1"."t" (col INT, v INT)')
    con.sql('CREATE TABLE "@2"."t" (col INT, v INT)')
    con.sql(f'INSERT INTO "@1"."t" SELECT 1, NULL FROM range({rows + 2}) UNION ALL SELECT 2, 2 FROM range(3)')
    con.sql(f'INSERT INTO "@2"."t" SELECT 1, NULL FROM range(2) UNION ALL SELECT 2, 2 FROM range({rows + 3})')
    con.sql('INSERT INTO "@2"."t" VALUES (3, 3)')
    changes = compared(("col", "v"))
    came, went, moved = (
        con.sql(to_duckdb(f"SELECT *, count(*) FROM {read(Dialect('lake'))} GROUP BY ALL ORDER BY ALL")).fetchall()
        for read in (changes.that_came, changes.that_went, changes.that_moved)
    )
    assert came == [(2, 2, rows), (3, 3, 1)]
    assert went == [(1, None, rows)]
    assert moved == [(1, None, -1, rows), (2, 2, 1, rows), (3, 3, 1, 1)]


@pytest.mark.parametrize(
    ("rows", "size", "is_one"),
    [(250_000, 1024, True), (250_001, 1024, False), (10, 2**25, True), (10, 2**25 + 1, False), (10, None, False)],
)
def test_one_task_compares_two_small_versions(rows: int, size: int | None, is_one: bool) -> None:
    """All that is read counts, not what changed of it; and what is joined to others has to be sent to other tasks."""
    dialect, changes = Dialect("lake"), replace(compared(("id",), rows, size), few=True)
    joined = (changes.that_came, changes.that_went, changes.that_moved, changes.each_once)
    assert {"/*+ COALESCE(1) */" in read(dialect) for read in (*joined, changes.counted)} == {is_one}
    few = replace(changes, few=False)
    of_many = (few.that_came, few.that_went, few.that_moved, few.each_once, few.both_versions)
    assert not any("COALESCE" in read(dialect) for read in of_many)
    assert ("COALESCE" in few.counted(dialect)) is is_one


def test_rows_of_which_no_column_is_compared_are_all_alike() -> None:
    """Only how many there are is a change."""
    con = with_two_versions()
    con.sql('CREATE TABLE "@1"."t" AS SELECT 1 AS v FROM range(2)')
    con.sql('CREATE TABLE "@2"."t" AS SELECT 2 AS v FROM range(5)')
    changes = replace(compared(("v",)), unread={"v": "int"})
    assert con.sql(to_duckdb(f"SELECT * FROM {changes.that_moved(Dialect('lake'))}")).fetchall() == [(None, 1)] * 3
    assert con.sql(to_duckdb(f"SELECT * FROM {changes.that_came(Dialect('lake'))}")).fetchall() == [(None,)] * 3
    assert con.sql(to_duckdb(f"SELECT * FROM {changes.that_went(Dialect('lake'))}")).fetchall() == []


def with_two_versions() -> duckdb.DuckDBPyConnection:
    """Return a database with a place for the tables of each of two snapshots."""
    con = duckdb.connect()
    con.sql('CREATE SCHEMA "@1"; CREATE SCHEMA "@2"')
    return con


def compared(columns: Sequence[str], rows: int = 10, size: int | None = 1024) -> RowChanges:
    """Return what changed of a table of integers between two snapshots, each of so many rows and bytes."""
    table = bare_table("t", dict.fromkeys(columns, IntegerType()), (), (1, 2), rows)
    for snapshot in table.metadata.snapshots if size is not None else ():
        assert snapshot.summary is not None
        snapshot.summary["total-files-size"] = str(size)
    before, now = (
        IcebergSource(table, ("lake", "ns", "t"), TableVersion("uuid", n, 0), table.schema(), table.schema())
        for n in (1, 2)
    )
    (reference,) = analysed_in(
        "SELECT * FROM t", "ns", lambda _: (ColumnInfo(columns[0], "int", None),), True
    ).references
    return RowChanges(reference, before, now, dict.fromkeys(columns, "int"))


def changed(definition: ViewDefinition, columns: dict[str, IcebergType], appended_since: int | None) -> str | None:
    """Return the text of the changed rows of the one table of a definition."""
    table = bare_table("t", columns, (), (1, 2), 10)
    source = IcebergSource(table, ("lake", "ns", "t"), TableVersion("uuid", 2, 0), table.schema(), table.schema())
    appended = replace(change([TupleDomain.all()], unit="table"), appended_since=appended_since, appended_rows=3)
    base = base_status(appended, "t", (0,))
    base = replace(base, base=BaseTable(base.base.name, source))
    return changed_rows(definition, definition.references[0], base, source, Dialect("lake"))
