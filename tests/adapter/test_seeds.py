"""When a seed counts as loaded, by the metadata of its table alone."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import agate
import pytest
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation
from pyiceberg.types import IntegerType, LongType, NestedField

from dbt.adapters.icebergmv.seeds import (
    LOAD_KEY,
    SeedLoad,
    SeedMixin,
    clauses_property,
    is_loaded,
    is_made_with,
    properties_after,
    seed_load,
)
from tests.support.metadata_tables import MetadataTable

SCHEMA = Schema(NestedField(1, "id", LongType()))
LOAD = seed_load([["id", "bigint"]], [[1], [2], [3]], {})


def table_of(folder: Path) -> MetadataTable:
    return MetadataTable(folder, SCHEMA)


def write(
    table: MetadataTable, added: int, total: int, load: str = "run", operation: Operation = Operation.APPEND
) -> int:
    summary: dict[str, Any] = {"added-records": str(added), "total-records": str(total), LOAD_KEY: load}
    return table.commit(operation, **summary)


def recorded(table: Table, load: SeedLoad = LOAD) -> Table:
    properties = properties_after(table, load, "run")
    assert properties is not None
    return with_properties(table, properties)


def with_properties(table: Table, properties: dict[str, str]) -> Table:
    metadata = table.metadata.model_copy(update={"properties": properties})
    return Table(table.name(), metadata, "", table.io, table.catalog)


def test_what_was_recorded_is_loaded(tmp_path: Path) -> None:
    made = table_of(tmp_path)
    write(made, 2, 2)
    write(made, 1, 3)
    table = recorded(made.table())
    assert is_loaded(table, LOAD)
    assert not is_loaded(made.table(), LOAD)
    made.commit(Operation.REPLACE)
    assert is_loaded(with_properties(made.table(), dict(table.properties)), LOAD)
    made.commit(Operation.DELETE)
    assert not is_loaded(with_properties(made.table(), dict(table.properties)), LOAD)


def test_no_rows(tmp_path: Path) -> None:
    nothing = seed_load([["id", "bigint"]], [], {})
    made = table_of(tmp_path)
    table = recorded(made.table(), nothing)
    assert is_loaded(table, nothing)
    assert not is_loaded(table, LOAD)
    write(made, 1, 1, "other")
    assert properties_after(made.table(), nothing, "run") is None
    assert not is_loaded(with_properties(made.table(), dict(table.properties)), nothing)


@pytest.mark.parametrize(
    "commits",
    [
        [],
        [(3, 4, "run")],
        [(2, 2, "run")],
        [(3, 3, "other")],
        [(1, 1, "other"), (2, 3, "run")],
        [(1, 1, "run"), (1, 2, "other"), (1, 3, "run")],
    ],
)
def test_what_cannot_be_proven_is_not_recorded(tmp_path: Path, commits: list[tuple[int, int, str]]) -> None:
    made = table_of(tmp_path)
    for added, total, load in commits:
        write(made, added, total, load)
    assert properties_after(made.table(), LOAD, "run") is None


def test_other_columns(tmp_path: Path) -> None:
    made = table_of(tmp_path)
    write(made, 3, 3)
    properties = dict(recorded(made.table()).properties)
    for other in (
        NestedField(1, "key", LongType()),
        NestedField(2, "id", LongType()),
        NestedField(1, "id", IntegerType()),
    ):
        changed = made.table(Schema(other, schema_id=1))
        assert not is_loaded(with_properties(changed, properties), LOAD)
        assert properties_after(changed, LOAD, "run") is None
    documented = made.table(Schema(NestedField(1, "id", LongType(), doc="the key"), schema_id=1))
    assert is_loaded(with_properties(documented, properties), LOAD)


def test_the_hash_covers_what_decides_the_rows() -> None:
    columns = [["a", "bigint"], ["b", "string"]]
    loads = [
        seed_load(columns, [[1, "x"]], {}),
        seed_load(columns, [[1, "x"], [1, "x"]], {}),
        seed_load(columns, [[1, None]], {}),
        seed_load(columns, [[1, ""]], {}),
        seed_load(columns, [[1, "null"]], {}),
        seed_load(columns, [[Decimal("1.0"), "x"]], {}),
        seed_load([["a", "int"], ["b", "string"]], [[1, "x"]], {}),
        seed_load([["A", "bigint"], ["b", "string"]], [[1, "x"]], {}),
        seed_load(columns, [[1, "x"]], {"spark.sql.session.timeZone": "UTC"}),
    ]
    assert len({load.hash for load in loads}) == len(loads)
    assert seed_load(columns, [[1, "x"]], {}) == loads[0]


def test_the_hash_of_a_seed_without_clauses_is_what_it_always_was() -> None:
    """Otherwise every seed of every project would be loaded again."""
    columns = [["id", "bigint"], ["name", "string"]]
    rows: list[list[object]] = [[Decimal(1), "a"], [Decimal(2), None]]
    settings = {"spark.sql.ansi.enabled": "true"}
    plain = seed_load(columns, rows, settings, "\n  using iceberg\n  \n")
    assert plain.hash == "41189ac084b8b49c09c449bd21a438349ecd4a06e83fcadc62354724b87e1a7b"
    assert seed_load(columns, rows, settings).hash == plain.hash
    assert seed_load(columns, rows, settings, "using iceberg partitioned by (id)").hash != plain.hash


def test_a_table_is_made_with_the_clauses_that_it_records(tmp_path: Path) -> None:
    table, clauses = table_of(tmp_path).table(), "using iceberg\n  partitioned by (id)"
    assert is_made_with(table, "using iceberg")
    assert not is_made_with(table, clauses)
    made = with_properties(table, clauses_property(seed_load([["id", "bigint"]], [], {}, clauses)))
    assert is_made_with(made, "using iceberg partitioned by (id)")
    assert not is_made_with(made, "using iceberg")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, None, -3], "bigint"),
        ([None], "bigint"),
        ([2**63 - 1], "bigint"),
        ([-(2**63) + 1], "bigint"),
        ([2**63], "decimal(38,0)"),
        ([1, -(10**28) + 1], "decimal(38,0)"),
        ([10**38], "double"),
    ],
)
def test_whole_numbers_get_a_type_that_holds_them(values: list[int | None], expected: str) -> None:
    table = agate.Table([[None if v is None else Decimal(v)] for v in values], ["n"], [agate.Number()])
    assert SeedMixin.convert_integer_type(table, 0) == expected
    assert SeedMixin.convert_number_type(table, 0) == expected


@pytest.mark.parametrize("number", ["1.5", "0.000000000000000000000000000001", "NaN", "Infinity", "1E+28"])
def test_other_numbers_are_double(number: str) -> None:
    """Of whole numbers those too that agate rounds when it reads them."""
    table = agate.Table([[Decimal(number)], [None], [Decimal(10**40)], [Decimal(7)]], ["n"], [agate.Number()])
    assert SeedMixin.convert_number_type(table, 0) == "double"
    alone = agate.Table([[Decimal(7)], [Decimal(number)]], ["n"], [agate.Number()])
    assert SeedMixin.convert_number_type(alone, 0) == "double"
