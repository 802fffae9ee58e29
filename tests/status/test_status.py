"""Status of a view: every base is asked about the columns that the view tracks."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState, ViewState
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, status_of, tracked_columns
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from tests.support.analysis import analysed_in
from tests.support.metadata_tables import UUID_OF_TABLE, MetadataTable, bounds, file_of

SCHEMA = Schema(
    NestedField(1, "id", IntegerType(), required=False), NestedField(2, "Region", StringType(), required=False)
)
NAME = ("lake", "ns", "t")
ID = {ColumnKey("id"): Domain.between(Range(3, 4))}
REGION = {ColumnKey("Region"): Domain.of("b")}
TRACKED = {
    "SELECT id, count(*) AS n FROM t GROUP BY id": ID,
    "SELECT region AS r, count(*) AS n FROM t GROUP BY region": REGION,
    "SELECT id, Region FROM t": {**ID, **REGION},
    "SELECT count(*) AS n FROM t": {},
}


class Catalog:
    """A catalog with one table."""

    name = "lake"

    def __init__(self, table: Table) -> None:
        self._table = table

    def table(self, namespace: str, name: str) -> Table:
        return self._table


@pytest.fixture
def table(tmp_path: Path) -> MetadataTable:
    made = MetadataTable(tmp_path, SCHEMA)
    for path, low, high, region in (("a", 1, 2, "a"), ("b", 3, 4, "b")):
        metrics = bounds(id=(IntegerType(), 1, low, high), region=(StringType(), 2, region, region))
        made.commit(Operation.APPEND, [file_of(path, **metrics)])
    return made


def status(table: MetadataTable, sql: str) -> BaseTableStatus:
    """Return the status of the table for a view that was refreshed at its first snapshot."""
    bases = BaseTables(cast(CatalogReader, Catalog(table.table())))
    definition = analysed_in(sql, "ns", bases.columns_of, session_is_utc=True)
    recorded = BaseTableState(NAME, NAME, TableVersion(str(UUID_OF_TABLE), 1000, 0))
    state = ViewState(sql, "", NAME, "", 1, (recorded,), "full", "", "", "", "")
    (found,) = status_of(definition, bases, state).base_tables
    return found


@pytest.mark.parametrize(("sql", "expected"), TRACKED.items(), ids=TRACKED)
def test_change_is_told_on_the_tracked_columns(
    table: MetadataTable, sql: str, expected: dict[ColumnKey, Domain]
) -> None:
    change = status(table, sql).change
    assert change.constraints.data_disjuncts == (TupleDomain.where(expected),)
    assert change.appended_since == 1000


@pytest.mark.parametrize(
    ("sql", "is_known"),
    [
        ("WITH r AS (SELECT * FROM t) SELECT region, count(*) AS n FROM r GROUP BY region", True),
        ("WITH r AS (SELECT * FROM t) SELECT id FROM r", False),
        ("WITH r AS (SELECT * FROM t) SELECT * FROM r", False),
        ("SELECT DISTINCT * FROM t", False),
    ],
)
def test_another_type_of_a_column_that_star_hands_on(table: MetadataTable, sql: str, *, is_known: bool) -> None:
    longer = Schema(NestedField(1, "id", LongType(), required=False), SCHEMA.fields[1], schema_id=1)
    bases = BaseTables(cast(CatalogReader, Catalog(table.table(longer))))
    definition = analysed_in(sql, "ns", bases.columns_of, session_is_utc=True)
    recorded = BaseTableState(NAME, NAME, TableVersion(str(UUID_OF_TABLE), 1000, 0))
    (found,) = status_of(
        definition, bases, ViewState(sql, "", NAME, "", 1, (recorded,), "full", "", "", "", "")
    ).base_tables
    assert found.change.status == ("stale" if is_known else "unknown"), found.change.reason


def test_columns_of_all_occurrences_are_tracked() -> None:
    first, second = Occurrence(0), Occurrence(1)
    columns = (TrackedColumn("a", frozenset([Track(first, "id"), Track(second, "Region")])), TrackedColumn("b"))
    definition = ViewDefinition("", (), columns, occurrences=frozenset([first, second]))
    assert tracked_columns(definition, [0]) == {"id"}
    assert tracked_columns(definition, [0, 1]) == {"id", "Region"}
    assert tracked_columns(definition, [2]) == frozenset()


def test_manifests_that_cannot_be_read(table: MetadataTable, tmp_path: Path) -> None:
    for manifest in tmp_path.glob("manifest-*"):
        manifest.unlink()
    change = status(table, "SELECT id FROM t").change
    assert (change.status, change.appended_since) == ("unknown", None)
    assert change.reason == "has manifests that cannot be read (FileNotFoundError)"
