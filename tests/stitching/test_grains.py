"""The law of grains, on DuckDB: for every row x of a partition with value v, row(f(x)) = value(v)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

import duckdb
import pytest

from dbt.adapters.icebergmv.maintenance.predicates.date_functions import (
    DATE_TO_TIMESTAMP,
    DATE_TO_YEAR,
    STEPS,
    TIMESTAMP_TO_DATE,
)
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Inverse, KeyFunction, OrNull, Prefix
from dbt.adapters.icebergmv.maintenance.stitching.grains import Grain, grain_of
from dbt.adapters.icebergmv.maintenance.stitching.key_sql import expression_of
from tests.support import key_steps
from tests.support.key_steps import step

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


_TRUNCATED = {unit: step(f"TRUNC({{}}, '{unit.upper()}')") for unit in ("week", "month", "quarter", "year")}
_WEEK, _HOUR, _YEAR = (step(f"DATE_TRUNC('{unit}', {{}})") for unit in ("WEEK", "HOUR", "YEAR"))
_OF_TIME = [s for s in STEPS if s.argument_type == "timestamp_ntz"]
_OF_DAYS = [s for s in STEPS if s.argument_type == "date"]
_ON_TIME: list[KeyFunction] = [
    (),
    *((s,) for s in _OF_TIME),
    *((TIMESTAMP_TO_DATE, s) for s in _OF_DAYS),
    (_WEEK, TIMESTAMP_TO_DATE, _TRUNCATED["month"]),
    (_HOUR, TIMESTAMP_TO_DATE, _TRUNCATED["quarter"], DATE_TO_YEAR),
]
_ON_DAYS: list[KeyFunction] = [
    (),
    *((s,) for s in _OF_DAYS),
    (DATE_TO_TIMESTAMP, _WEEK),
    (_TRUNCATED["month"], DATE_TO_TIMESTAMP, _YEAR),
    (_TRUNCATED["week"], _TRUNCATED["year"]),
]
CASES: list[tuple[str, str, KeyFunction]] = [
    *itertools.product(("identity", *PARTITIONS), ("timestamp", "timestamp_ntz"), _ON_TIME),
    *itertools.product(("identity", "day", "month", "year"), ("date",), _ON_DAYS),
]
NOT_FOLLOWED = [
    "month of timestamp > date_trunc to week",
    "month of timestamp > cast as date > trunc to week",
    "month of timestamp > date_trunc to week > cast as date > trunc to month",
    "month of timestamp_ntz > date_trunc to week",
    "month of timestamp_ntz > cast as date > trunc to week",
    "month of timestamp_ntz > date_trunc to week > cast as date > trunc to month",
    "year of timestamp > date_trunc to week",
    "year of timestamp > cast as date > trunc to week",
    "year of timestamp > date_trunc to week > cast as date > trunc to month",
    "year of timestamp_ntz > date_trunc to week",
    "year of timestamp_ntz > cast as date > trunc to week",
    "year of timestamp_ntz > date_trunc to week > cast as date > trunc to month",
    "month of date > trunc to week",
    "month of date > cast as timestamp > date_trunc to week",
    "month of date > trunc to week > trunc to year",
    "year of date > trunc to week",
    "year of date > cast as timestamp > date_trunc to week",
    "year of date > trunc to week > trunc to year",
]
"""A week lies in no month and in no year. More would mean that views are read in full for nothing."""


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    return key_steps.database()


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
    return database.execute(key_steps.as_duckdb(sql)).fetchone() or ()


def _partition(transform: str, x: datetime, cast: str) -> str:
    if transform == "identity":
        return f"CAST(TIMESTAMP '{x}' AS {cast})"
    value = PARTITIONS[transform](x)
    return f"DATE '{value}'" if isinstance(value, date) else str(value)


def _grain(case: tuple[str, str, KeyFunction]) -> Grain | None:
    transform, type_, function = case
    return grain_of(transform, type_, function, True, "lake")


def _name(case: tuple[str, str, KeyFunction]) -> str:
    transform, type_, function = case
    return f"{transform} of {type_} > {' > '.join(s.name for s in function) or 'itself'}"


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_rows_meet_their_partition(database: duckdb.DuckDBPyConnection, case: tuple[str, str, KeyFunction]) -> None:
    grain = _grain(case)
    if grain is not None:
        assert not _breaks(database, case, grain)
        assert grain.adds_null is False


def test_all_other_functions_are_followed() -> None:
    assert [_name(case) for case in CASES if _grain(case) is None] == NOT_FOLLOWED


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


_MONTH, _DAY = step("DATE_TRUNC('MONTH', {})"), step("DATE_TRUNC('DAY', {})")
WRONG: dict[str, KeyFunction] = {
    "a week lies within a month": (replace(_WEEK, constant_within="month"),),
    "a week keeps moments in their month": (replace(_WEEK, stays_within="month"), _MONTH),
    "a month keeps moments in their day": (replace(_MONTH, constant_within=None, stays_within="day"),),
    "a day keeps moments in their hour": (replace(_DAY, constant_within=None, stays_within="hour"),),
    "a day is constant over a month": (replace(TIMESTAMP_TO_DATE, constant_within="month"),),
}


@pytest.mark.parametrize("claim", WRONG)
def test_wrong_periods_of_a_step_break_the_law(claim: str, database: duckdb.DuckDBPyConnection) -> None:
    cases = [(transform, "timestamp_ntz", WRONG[claim]) for transform in PARTITIONS]
    assert any(_breaks(database, case, grain) for case in cases if (grain := _grain(case)) is not None)


TEXTS = ("", "a", "ab", "abc", "abcd", "é𝄞x", "𝄞", "𝄞𝄞𝄞")


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("lengths", [(1,), (2,), (3,), (3, 1), (1, 3), (4, 3)])
def test_first_characters_meet_a_truncated_text(
    database: duckdb.DuckDBPyConnection, lengths: tuple[int, ...], width: int
) -> None:
    function = tuple(Prefix(length) for length in lengths)
    found, grain = expression_of(function), grain_of(f"truncate[{width}]", "string", function, True, "lake")
    assert found is not None
    assert grain is not None
    truncate = f"`lake`.system.truncate({width}, "
    left, right = (
        sql.replace(truncate, f"left_of({width}, ") for sql in (found.then(grain.row).of("x"), grain.value.of("p"))
    )
    database.execute("CREATE OR REPLACE MACRO left_of(width, text) AS left(text, width)")
    rows = ", ".join(f"('{text}', '{text[:width]}')" for text in TEXTS)
    sql = f"SELECT x, p FROM (VALUES {rows}) t(x, p) WHERE ({left}) IS DISTINCT FROM ({right})"
    assert database.execute(sql).fetchall() == []
    assert grain_of(f"bucket[{width}]", "string", function, True, "lake") is None
