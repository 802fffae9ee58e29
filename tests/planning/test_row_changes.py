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
    con = duckdb.connect()
    con.sql('CREATE SCHEMA "@1"; CREATE SCHEMA "@2"')
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


@pytest.mark.parametrize("few", [True, False])
def test_one_task_compares_few_rows(few: bool) -> None:
    """Rows that are read as they are, of both versions, are joined by several."""
    changes = replace(compared(("id",)), few=few)
    dialect = Dialect("lake")
    reads = (changes.that_came, changes.that_went, changes.that_moved, changes.each_once, changes.counted)
    assert {"/*+ COALESCE(1) */" in read(dialect) for read in reads} == {few}
    assert "COALESCE" not in changes.both_versions(dialect)


@pytest.mark.parametrize(("few", "sent", "hint"), [(True, True, True), (True, False, False), (False, True, False)])
def test_few_rows_are_sent_to_every_task(few: bool, sent: bool, hint: bool) -> None:
    changes = replace(compared(("id",)), few=few, sent=sent)
    assert ("BROADCAST" in changes.that_moved(Dialect("lake"))) is hint


def compared(columns: Sequence[str]) -> RowChanges:
    """Return what changed of a table of integers between its first and its second snapshot."""
    table = bare_table("t", dict.fromkeys(columns, IntegerType()), (), (1, 2), 10)
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
