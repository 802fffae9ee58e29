"""Rendered predicates hold for the rows of the set where Iceberg alone evaluates them, on whole partitions.

Iceberg takes a NULL partition value for less than every other, which Spark does not.
"""

from __future__ import annotations

from itertools import product

import pytest

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, conjunction
from integration.support.lake import LakeProject

INTS = {None: "NULL", 1: "1", 4: "4", 9: "9"}
TEXTS = {None: "NULL", "a": "'a'", "m": "'m'", "z": "'z'"}
CASES = [pytest.param("int", INTS, 4, id="int"), pytest.param("string", TEXTS, "m", id="string")]


def domains_around(middle: Value) -> list[Domain]:
    ranges = [
        (Range(None, middle),),
        (Range(None, middle, high_inclusive=False),),
        (Range(middle, None),),
        (Range(middle, middle),),
        Domain.of(middle).complement().ranges,
    ]
    return [Domain(r, null=null) for r, null in product(ranges, (False, True))]


@pytest.mark.parametrize(("spark_type", "values", "middle"), CASES)
def test_predicates_on_whole_partitions(
    lake: LakeProject, spark_type: str, values: dict[Value | None, str], middle: Value
) -> None:
    cases = domains_around(middle)
    table = f"lake.{lake.schema}.whole_{spark_type}"
    lake.sql(f"CREATE TABLE {table} (n int, p {spark_type}) USING iceberg PARTITIONED BY (n, p)")
    rows = ", ".join(f"({n}, {text})" for n in range(len(cases)) for text in values.values())
    lake.sql(f"INSERT INTO {table} VALUES {rows}")
    predicates = [
        conjunction(TupleDomain.where({ColumnKey("p"): domain}), {"p": spark_type}, Dialect("lake")) for domain in cases
    ]
    for n, predicate in enumerate(predicates):
        lake.sql(f"DELETE FROM {table} WHERE n = {n} AND {predicate}")
    left = {(n, v) for n, domain in enumerate(cases) for v in values if not domain.contains(v)}
    assert {*lake.sql(f"SELECT n, p FROM {table}")} == left
