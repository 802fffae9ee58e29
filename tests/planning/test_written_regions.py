"""How a region of many keys is written: where Iceberg prunes by pairs of partitions, as terms; elsewhere as lists."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.planning.plan import Overwrite
from dbt.adapters.icebergmv.maintenance.planning.write import ReplacePartitions, ReplaceRows
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from tests.randomised.iceberg_tables import base_table, storage_table
from tests.randomised.planners import analysed
from tests.randomised.tables import Spec
from tests.randomised.writes import Target
from tests.support.stub_catalog import StubCatalog

DEFINITION = analysed("SELECT region, v, count(*) AS n FROM t0 GROUP BY region, v")
KEYS = tuple(
    TupleDomain.where({ColumnKey("region"): Domain.of(f"r{n}"), ColumnKey("v"): Domain.of(n)}) for n in range(12)
)
BASES = BaseTables(StubCatalog({}, {"ns.t0": base_table("t0", Spec((("identity", "d"),)))}))


@pytest.mark.parametrize(
    ("partitioned", "listed"),
    [((), True), ((("region", "identity"),), True), ((("region", "truncate[1]"), ("v", "bucket[4]")), False)],
)
def test_keys_are_listed_unless_pairs_of_partitions_are_pruned(
    partitioned: tuple[tuple[str, str], ...], listed: bool
) -> None:
    storage = storage_table({"region": "string", "v": "int", "n": "bigint"}, partitioned)
    write = Target(DEFINITION, BASES, storage).write(Overwrite("t0: 1 day changed", KEYS))
    assert isinstance(write, ReplaceRows)
    assert ("struct(" in write.where) is listed
    assert write.rows.where is not None and "struct(" in write.rows.where


MANY = (TupleDomain.where({ColumnKey("v"): Domain.of(*range(2000), None)}),)


@pytest.mark.parametrize(
    ("partitioned", "listed"),
    [((), True), ((("v", "bucket[4]"),), True), ((("region", "identity"),), True), ((("v", "truncate[10]"),), False)],
)
def test_many_values_are_a_text_unless_partitions_are_pruned_by_them(
    partitioned: tuple[tuple[str, str], ...], listed: bool
) -> None:
    storage = storage_table({"region": "string", "v": "int", "n": "bigint"}, partitioned)
    write = Target(DEFINITION, BASES, storage).write(Overwrite("t0: 1 day changed", MANY, {0: MANY}))
    assert isinstance(write, ReplaceRows)
    assert ("explode(split(" in write.where) is listed
    assert write.rows.where is not None and "explode(split(" in write.rows.where
    assert "explode(split(" in write.rows.query


def test_a_base_table_is_pruned_by_many_values() -> None:
    by_v = BaseTables(StubCatalog({}, {"ns.t0": base_table("t0", Spec((("identity", "v"),)))}))
    storage = storage_table({"region": "string", "v": "int", "n": "bigint"}, (("v", "identity"),))
    write = Target(DEFINITION, by_v, storage).write(Overwrite("t0: 1 day changed", MANY, {0: MANY}))
    assert isinstance(write, ReplacePartitions)
    assert "explode" not in write.where and "explode" not in write.rows.query


def test_whole_partitions_are_terms() -> None:
    """Iceberg has to understand all of what it replaces without a look at the rows."""
    whole = (("region", "identity"), ("v", "identity"))
    storage = storage_table({"region": "string", "v": "int", "n": "bigint"}, whole)
    write = Target(DEFINITION, BASES, storage).write(Overwrite("t0: 1 day changed", KEYS))
    assert isinstance(write, ReplacePartitions)
    assert "struct(" not in write.where
    assert write.rows.where is not None and "struct(" in write.rows.where
