"""The tables of the rule fixtures (tests/definition), and SELECTs over them analysed."""

from __future__ import annotations

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from tests.support.analysis import analysed_in

TABLES = {
    "t": (
        "id bigint, ts timestamp, n timestamp_ntz, d date, region string, v int, "
        "s struct<month:string,d:date>, xs array<int>"
    ),
    "u": "id bigint, w int, d date",
    "odd": "month string, ts timestamp, d date",
}


def columns_of(reference: TableReference) -> tuple[ColumnInfo, ...] | None:
    if reference.name not in TABLES:
        return None
    pairs = (column.split(" ", 1) for column in TABLES[reference.name].split(", "))
    return tuple(ColumnInfo(name, type_, None) for name, type_ in pairs)


def analysed(sql: str, utc: bool = True, keys: tuple[str, ...] = ()) -> ViewDefinition:
    return analysed_in(sql, "ns", columns_of, utc, keys)
