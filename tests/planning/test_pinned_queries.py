"""The definition over pinned snapshots: how tables with floats and UUIDs are read."""

from __future__ import annotations

import pytest
from pyiceberg.types import (
    DoubleType,
    FloatType,
    IntegerType,
    NestedField,
    StringType,
    StructType,
    UUIDType,
)

from dbt.adapters.icebergmv.maintenance.catalog.reader import schema_columns
from dbt.adapters.icebergmv.maintenance.planning.queries.pinned_queries import pinned_query, read_appended
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from tests.support.analysis import analysed_in
from tests.support.bare_tables import bare_table
from tests.support.stub_catalog import StubCatalog

TABLE = bare_table(
    "t",
    {
        "id": IntegerType(),
        "x": DoubleType(),
        "f": FloatType(),
        "s": StructType(NestedField(10, "a", DoubleType()), NestedField(11, "b", IntegerType())),
    },
    (),
    (7,),
)
AT = "`lake`.`ns`.`t` VERSION AS OF 7"


def pinned(sql: str, **filters: tuple[TupleDomain, ...]) -> str:
    definition = analysed_in(sql, "ns", lambda _: schema_columns(TABLE.schema()), True)
    bases = BaseTables(StubCatalog(tables={"ns.t": TABLE}))
    return pinned_query(definition, bases, {0: filters["wanted"]} if filters else {})


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, sum(x) AS x FROM {} GROUP BY id",
        "SELECT id, x, f FROM {} WHERE id > 1 AND x IS NOT NULL",
        "SELECT id, s.a FROM {} WHERE id = 1",
        "SELECT id FROM {} JOIN (SELECT 1 AS id) USING (id) WHERE ns.t.x > 1",
    ],
)
def test_floats_that_are_not_compared_are_read_as_they_are(sql: str) -> None:
    assert pinned(sql.format("t")) == sql.format(AT)


@pytest.mark.parametrize(
    ("condition", "columns"),
    [
        ("x > 1", "`id` AS `id`, `x` * 1D AS `x`, `f` AS `f`, `s` AS `s`"),
        ("f = 0 OR id = 1", "`id` AS `id`, `x` AS `x`, `f` * 1F AS `f`, `s` AS `s`"),
        ("s.a > 1", "`id` AS `id`, `x` AS `x`, `f` AS `f`, element_at(array(`s`), 1) AS `s`"),
    ],
)
def test_floats_that_are_compared_are_read_as_iceberg_does_not_see_them(condition: str, columns: str) -> None:
    found = pinned(f"SELECT id FROM t WHERE {condition}")
    assert found == f"SELECT id FROM (SELECT {columns} FROM {AT}) AS `t` WHERE {condition}"


def test_rows_that_are_wanted_are_still_seen() -> None:
    found = pinned("SELECT id FROM t v WHERE f > 1", wanted=(TupleDomain.where({ColumnKey("id"): Domain.of(3)}),))
    columns = "`id` AS `id`, `x` AS `x`, `f` * 1F AS `f`, `s` AS `s`"
    assert f"(SELECT * FROM (SELECT {columns} FROM {AT}) WHERE (`id` <=> 3)) v" in found


def test_rows_that_came_are_read_in_the_same_form() -> None:
    definition = analysed_in("SELECT id FROM t WHERE x > 1", "ns", lambda _: schema_columns(TABLE.schema()), True)
    (reference,) = definition.references
    source = BaseTables(StubCatalog(tables={"ns.t": TABLE})).source_of(reference)
    assert source is not None
    found = read_appended(reference, source, 5, None, Dialect("lake"))
    assert "`x` * 1D AS `x`" in found
    assert "`start-snapshot-id` = '5'" in found


@pytest.mark.parametrize("sql", ["SELECT t.k FROM t JOIN u ON t.k = u.k", "SELECT u.k, 1 AS n FROM u"])
@pytest.mark.parametrize("key", [ColumnKey("k"), ColumnKey("k", "bucket[4]")])
def test_uuids_that_are_compared_or_wanted_are_read_as_iceberg_does_not_see_them(sql: str, key: ColumnKey) -> None:
    """A UUID has another order, and another bucket, than its text, which is what Spark compares."""
    tables = {
        "t": bare_table("t", {"k": StringType()}, [("bucket[4]", "k")], (7,)),
        "u": bare_table("u", {"k": UUIDType()}, [("bucket[4]", "k")], (7,)),
    }
    definition = analysed_in(sql, "ns", lambda r: schema_columns(tables[r.name].schema()), True)
    bases = BaseTables(StubCatalog(tables={f"ns.{name}": table for name, table in tables.items()}))
    wanted = (TupleDomain.where({key: Domain.of(1 if key.transform else "a")}),)
    found = pinned_query(definition, bases, {r.index: wanted for r in definition.references})
    assert "FROM (SELECT (`k` || '') AS `k` FROM `lake`.`ns`.`u` VERSION AS OF 7)" in found
    assert pinned_query(definition, bases, {}).count("||") == ("JOIN" in sql)
