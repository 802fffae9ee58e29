"""Rendered predicates hold for the rows of the set where Iceberg alone evaluates them, on whole partitions.

Iceberg takes a NULL partition value for less than every other, and NaN for more than every other; Spark does not.
"""

from __future__ import annotations

from datetime import datetime, timezone
from itertools import product
from math import isnan
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, conjunction
from integration.support.lake import LakeProject

MICROS = 1_000_000
NAN = float("nan")
MIDNIGHT = int(datetime(2024, 1, 2, tzinfo=timezone.utc).timestamp()) * MICROS

# Type, partition transform, the middle value, and a literal for every value in the table.
CASES: list[tuple[str, str, Value, dict[Value | None, str]]] = [
    ("int", "p", 4, {None: "NULL", 1: "1", 4: "4", 9: "9"}),
    ("string", "p", "m", {None: "NULL", "a": "'a'", "m": "'m'", "z": "'z'"}),
    ("string", "truncate(1, p)", "m", {None: "NULL", "az": "'az'", "m": "'m'", "z": "'z'"}),
    ("double", "p", 0.5, {None: "NULL", -1.5: "-1.5D", 0.5: "0.5D", 2.0: "2.0D", NAN: "double('NaN')"}),
    (
        "timestamp",
        "days(p)",
        MIDNIGHT,
        {None: "NULL", **{t: f"timestamp_micros({t})" for t in (MIDNIGHT - MICROS, MIDNIGHT, MIDNIGHT + MICROS)}},
    ),
]


def domains_around(middle: Value) -> list[Domain]:
    """Return sets with one bound, with the value and without it, each with NULL and without."""
    ranges = [
        (Range(None, middle),),
        (Range(None, middle, high_inclusive=False),),
        (Range(middle, None),),
        (Range(middle, middle),),
        Domain.of(middle).complement().ranges,
    ]
    return [Domain(r, null=null) for r, null in product(ranges, (False, True))]


def stored(value: Any) -> Any:
    """Return a value that Spark gave, as the sets have it."""
    if isinstance(value, float) and isnan(value):
        return NAN
    return round(value.astimezone(timezone.utc).timestamp() * MICROS) if isinstance(value, datetime) else value


def params() -> list[Any]:
    """Return the cases; integers and days are in every run."""
    always = ("p of int", "days(p) of timestamp")
    names = [f"{transform} of {spark_type}" for spark_type, transform, _, _ in CASES]
    return [
        pytest.param(*case, id=name, marks=() if name in always else pytest.mark.long)
        for name, case in zip(names, CASES, strict=True)
    ]


@pytest.mark.parametrize(("spark_type", "transform", "middle", "literals"), params())
def test_deletes_of_whole_partitions(
    lake: LakeProject, spark_type: str, transform: str, middle: Value, literals: dict[Value | None, str]
) -> None:
    cases = domains_around(middle)
    table = f"lake.{lake.schema}.whole_{spark_type}_{len(transform)}"
    lake.sql(f"CREATE TABLE {table} (n int, p {spark_type}) USING iceberg PARTITIONED BY (n, {transform})")
    rows = ", ".join(f"({n}, {text})" for n in range(len(cases)) for text in literals.values())
    lake.sql(f"INSERT INTO {table} VALUES {rows}")
    for n, domain in enumerate(cases):
        where = conjunction(TupleDomain.where({ColumnKey("p"): domain}), {"p": spark_type}, Dialect("lake"))
        lake.sql(f"DELETE FROM {table} WHERE n = {n} AND {where}")
    left = {(n, stored(p)) for n, p in lake.sql(f"SELECT n, p FROM {table}")}
    assert left == {(n, p) for n, domain in enumerate(cases) for p in literals if not domain.contains(p)}
