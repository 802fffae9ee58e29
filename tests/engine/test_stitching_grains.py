"""The law of grains, on DuckDB: for every row x of a partition with value v, row(f(x)) = value(v)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta

import duckdb
import pytest

from dbt.adapters.icebergmv.maintenance.predicates.date_functions import (
    date_to_timestamp,
    date_to_year,
    timestamp_to_date,
    truncate_date,
    truncate_timestamp,
)
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Inverse, KeyFunction, Monotone, OrNull
from dbt.adapters.icebergmv.maintenance.stitching import grains
from dbt.adapters.icebergmv.maintenance.stitching.grains import Grain, grain_of
from dbt.adapters.icebergmv.maintenance.stitching.key_sql import expression_of

# Spark's functions that DuckDB lacks, or has with another meaning.
_MACROS = (
    "CREATE MACRO trunc(day, unit) AS CAST(date_trunc(unit, day) AS DATE)",
    "CREATE MACRO add_months(day, n) AS CAST(day + to_months(CAST(n AS INT)) AS DATE)",
    "CREATE MACRO timestamp_seconds(n) AS make_timestamp(CAST(n AS BIGINT) * 1000000)",
)
_WORDS = ((re.compile(r"\bTIMESTAMP_NTZ\b"), "TIMESTAMP"), (re.compile(r"\b(\d+)L\b"), r"\1::BIGINT"))

_EPOCH = date(1970, 1, 1)
_ENDS = ("2023-12-31", "2024-01-01", "2024-02-29", "2024-03-01", "2024-12-30", "1969-12-31", "1970-01-01", "1968-02-29")
DAYS = sorted({date.fromisoformat(d) + timedelta(days=n) for d in _ENDS for n in range(-8, 9)})
MOMENTS = [
    datetime(d.year, d.month, d.day) + timedelta(microseconds=us)
    for d in DAYS[::3]
    for us in (0, 1, 3_599_999_999, 3_600_000_000, 86_399_999_999)
]
PARTITIONS: dict[str, Callable[[datetime], object]] = {
    "hour": lambda x: (x - datetime(1970, 1, 1)) // timedelta(hours=1),
    "day": lambda x: x.date(),
    "month": lambda x: (x.year - 1970) * 12 + x.month - 1,
    "year": lambda x: x.year - 1970,
}
"""Partition values as Spark shows them (Iceberg spec, Partition Transforms)."""


def _known(step: Monotone | None) -> Monotone:
    assert step is not None
    return step


_ON_TIME = [
    (),
    (timestamp_to_date(),),
    (timestamp_to_date(), date_to_year()),
    *((_known(truncate_timestamp(u)),) for u in ("second", "hour", "day", "week", "month", "quarter", "year")),
    *((timestamp_to_date(), _known(truncate_date(u))) for u in ("week", "month", "quarter", "year")),
    (_known(truncate_timestamp("week")), timestamp_to_date(), _known(truncate_date("month"))),
    (_known(truncate_timestamp("hour")), timestamp_to_date(), _known(truncate_date("quarter")), date_to_year()),
]
_ON_DAYS = [
    (),
    (date_to_year(),),
    (date_to_timestamp(),),
    *((_known(truncate_date(u)),) for u in ("week", "month", "quarter", "year")),
    (date_to_timestamp(), _known(truncate_timestamp("week"))),
    (_known(truncate_date("month")), date_to_timestamp(), _known(truncate_timestamp("year"))),
    (_known(truncate_date("week")), _known(truncate_date("year"))),
]
CASES: list[tuple[str, str, KeyFunction]] = [
    *itertools.product(("identity", *PARTITIONS), ("timestamp", "timestamp_ntz"), _ON_TIME),
    *itertools.product(("identity", "day", "month", "year"), ("date",), _ON_DAYS),
]
FOLLOWED = 182
"""How many of the cases have a grain; fewer would mean that views are read in full for nothing."""


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for macro in _MACROS:
        connection.execute(macro)
    return connection


def _breaks(database: duckdb.DuckDBPyConnection, case: tuple[str, str, KeyFunction], grain: Grain) -> Sequence[object]:
    """Return a row that breaks the law, nothing when none does."""
    transform, type_, function = case
    found = expression_of(function)
    assert found is not None
    inputs: list[datetime] = [datetime(d.year, d.month, d.day) for d in DAYS] if type_ == "date" else MOMENTS
    cast = "DATE" if type_ == "date" else "TIMESTAMP"
    rows = [f"(CAST(TIMESTAMP '{x}' AS {cast}), {_partition(transform, x, cast)})" for x in inputs]
    left, right = found.then(grain.row).of("x"), grain.value.of("p")
    values = ", ".join(rows)
    sql = f"SELECT x, p, {left}, {right} FROM (VALUES {values}) t(x, p) WHERE {left} IS DISTINCT FROM {right}"
    for word, other in _WORDS:
        sql = word.sub(other, sql)
    return database.execute(sql).fetchone() or ()


def _partition(transform: str, x: datetime, cast: str) -> str:
    if transform == "identity":
        return f"CAST(TIMESTAMP '{x}' AS {cast})"
    value = PARTITIONS[transform](x)
    return f"DATE '{value}'" if isinstance(value, date) else str(value)


def _grain(case: tuple[str, str, KeyFunction]) -> Grain | None:
    transform, type_, function = case
    return grain_of(transform, type_, function, True, "lake")


def _name(case: object) -> str:
    transform, type_, function = case  # type: ignore[misc]
    return f"{transform} of {type_} > {' > '.join(s.name for s in function) or 'itself'}"


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_rows_meet_their_partition(database: duckdb.DuckDBPyConnection, case: tuple[str, str, KeyFunction]) -> None:
    grain = _grain(case)
    if grain is not None:
        assert not _breaks(database, case, grain)
        assert grain.adds_null is False


def test_most_functions_are_followed() -> None:
    assert sum(_grain(case) is not None for case in CASES) == FOLLOWED


@pytest.mark.parametrize("case", CASES[:: len(CASES) // 12], ids=_name)
def test_an_outer_join_adds_null_to_the_same_grain(case: tuple[str, str, KeyFunction]) -> None:
    transform, type_, function = case
    without, with_null = _grain(case), _grain((transform, type_, (*function, OrNull())))
    assert (without is None) == (with_null is None)
    if without is not None and with_null is not None:
        assert with_null.adds_null
        assert (with_null.value, with_null.row) == (without.value, without.row)


@pytest.mark.parametrize("transform", ["identity", "bucket[4]", "truncate[2]", "day", "month"])
def test_a_null_that_concerns_every_row_has_no_grain(transform: str) -> None:
    """As on the right side of NOT IN, where one NULL takes all rows away."""
    type_ = "string" if transform == "truncate[2]" else "date"
    assert grain_of(transform, type_, (OrNull(),), True, "lake") is not None
    assert grain_of(transform, type_, (Inverse(OrNull()), OrNull()), True, "lake") is None
    assert expression_of((Inverse(OrNull()),)) is None


@pytest.mark.parametrize(
    ("type_", "in_utc", "transforms"),
    [
        ("timestamp", False, []),
        ("timestamp_ntz", False, ["day", "month", "year"]),
        ("timestamp", True, ["hour", "day", "month", "year"]),
    ],
)
def test_periods_are_told_in_utc_alone(type_: str, in_utc: bool, transforms: list[str]) -> None:
    assert [t for t in PARTITIONS if grain_of(t, type_, (), in_utc, "lake") is not None] == transforms


def _week_in_months(transform: str, step: object) -> bool:
    return grains_right(transform, step) or (getattr(step, "name", "").endswith("week") and transform != "identity")


def _all_stay(_transform: str, _step: object) -> bool:
    return True


grains_right = grains._is_constant_within
WRONG = {
    "a week lies within a month": ("_is_constant_within", _week_in_months),
    "what is constant within a partition is confused with what is not": (
        "_is_constant_within",
        lambda transform, step: not grains_right(transform, step),
    ),
    "every step keeps moments in their partition": ("_stays_within", _all_stay),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_grains_break_the_law(
    name: str, database: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grains, *WRONG[name])
    assert any(_breaks(database, case, grain) for case in CASES if (grain := _grain(case)) is not None)
