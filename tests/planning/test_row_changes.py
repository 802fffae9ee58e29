"""The changed rows of a table, as they are read to be asked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyiceberg.types import IcebergType, IntegerType, MapType, NestedField, StringType, StructType

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import changed_rows
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, identifier
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable, IcebergSource
from tests.support.analysis import analysed_in
from tests.support.bare_tables import bare_table
from tests.support.bases import base_status, change

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


def changed(definition: ViewDefinition, columns: dict[str, IcebergType], appended_since: int | None) -> str | None:
    """Return the text of the changed rows of the one table of a definition."""
    table = bare_table("t", columns, (), (1, 2), 10)
    source = IcebergSource(table, ("lake", "ns", "t"), TableVersion("uuid", 2, 0), table.schema(), table.schema())
    appended = replace(change([TupleDomain.all()], unit="table"), appended_since=appended_since, appended_rows=3)
    base = base_status(appended, "t", (0,))
    base = replace(base, base=BaseTable(base.base.name, source))
    return changed_rows(definition, definition.references[0], base, source, Dialect("lake"))
