"""Base tables as plain dataclasses, for planner tests that need no catalog."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from pyiceberg.transforms import parse_transform
from pyiceberg.types import DateType, IcebergType, IntegerType, StringType, TimestamptzType

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import StaleDataConstraints, TableChange, TableVersion
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import partition_domain
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable, BaseTables, IcebergSource
from tests.support.analysis import analysed_in
from tests.support.bare_tables import bare_table
from tests.support.stub_catalog import StubCatalog

COLUMNS: dict[str, tuple[IcebergType, str]] = {
    "id": (IntegerType(), "int"),
    "ts": (TimestamptzType(), "timestamp"),
    "d": (DateType(), "date"),
    "region": (StringType(), "string"),
    "v": (IntegerType(), "int"),
}
SPARK_TYPES = {name: spark for name, (_, spark) in COLUMNS.items()}
Row = dict[str, Any]
Spec = Sequence[tuple[str, str]]
"""Partition fields as (transform, column)."""


def columns_of(_: TableReference) -> tuple[ColumnInfo, ...]:
    """Return COLUMNS, whatever the table."""
    return tuple(ColumnInfo(name, spark, None) for name, spark in SPARK_TYPES.items())


def analysed(sql: str) -> ViewDefinition:
    """Analyse a SELECT over tables that all have COLUMNS, in a session in UTC."""
    return analysed_in(sql, "ns", columns_of, session_is_utc=True)


def partition_of(row: Row, spec: Spec) -> tuple[Any, ...]:
    """Return the partition that PyIceberg's transforms put a row in."""
    return tuple(parse_transform(t).transform(COLUMNS[c][0])(row[c]) for t, c in spec)


def partition_rows(spec: Spec, values: tuple[Any, ...]) -> TupleDomain:
    """Return the rows that a partition can hold."""
    constraints: dict[ColumnKey, Domain] = {}
    for (transform, column), value in zip(spec, values, strict=True):
        found = partition_domain(parse_transform(transform), column, COLUMNS[column][0], value)
        if found is not None:
            key, domain = found
            constraints[key] = domain.intersect(constraints.get(key, Domain.all()))
    return TupleDomain.where(constraints)


def change(
    disjuncts: Iterable[TupleDomain] = (),
    status: Literal["fresh", "stale", "unknown"] = "stale",
    unit: str = "partition",
    reason: str | None = None,
) -> TableChange:
    found = tuple(disjuncts)
    return TableChange(status, True, StaleDataConstraints(found), len(found), unit, reason)


def base_status(changed: TableChange, name: str = "t", references: tuple[int, ...] = (0,)) -> BaseTableStatus:
    full_name = ("lake", "ns", name)
    recorded = BaseTableState(full_name, full_name, TableVersion("uuid", 1, 0))
    return BaseTableStatus(BaseTable(full_name, None), references, recorded, changed)


def sized(changed: TableChange, rows: int, name: str = "t", index: int = 0) -> BaseTableStatus:
    """Return the status of a table that says it has so many rows."""
    table = bare_table(name, {column: kind for column, (kind, _) in COLUMNS.items()}, (), (1, 2), rows)
    source = IcebergSource(table, ("lake", "ns", name), TableVersion("uuid", 2, 0), table.schema(), table.schema())
    found = base_status(changed, name, (index,))
    return replace(found, base=BaseTable(found.base.name, source))


def status(*bases: BaseTableStatus) -> MaterializedViewStatus:
    return MaterializedViewStatus(bases)


def two_tables() -> BaseTables:
    """Return the tables t and u of the schema ns, which have COLUMNS and two snapshots."""
    fields = {name: kind for name, (kind, _) in COLUMNS.items()}
    return BaseTables(StubCatalog({}, {f"ns.{table}": bare_table(table, fields, (), (1, 2)) for table in "tu"}))
