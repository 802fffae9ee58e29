"""Each step is monotone, `first` is its lower inverse, and `apply` is what a database computes."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt.adapters.icebergmv import maintenance
from dbt.adapters.icebergmv.maintenance.predicates import date_functions
from dbt.adapters.icebergmv.maintenance.predicates.date_functions import (
    DATE_TO_TIMESTAMP,
    DATE_TO_YEAR,
    STEPS,
    TIMESTAMP_TO_DATE,
    truncate_date,
    truncate_timestamp,
)
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import KeyFunction, Monotone, image, preimage
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_DAY, days_from_civil
from dbt.adapters.icebergmv.maintenance.predicates.periods import PERIODS, Period, divides
from tests.support import key_steps
from tests.support.key_steps import DAY, ON_DUCKDB, arguments, results


def known(step: Monotone | None) -> Monotone:
    assert step is not None
    return step


CHAINS: list[tuple[Monotone, ...]] = [
    (),
    *((s,) for s in STEPS),
    (TIMESTAMP_TO_DATE, DATE_TO_YEAR),
    (TIMESTAMP_TO_DATE, known(truncate_date("month"))),
    (known(truncate_timestamp("hour")), TIMESTAMP_TO_DATE, known(truncate_date("week"))),
    (known(truncate_date("quarter")), DATE_TO_TIMESTAMP, known(truncate_timestamp("year"))),
    (TIMESTAMP_TO_DATE, DATE_TO_TIMESTAMP, known(truncate_timestamp("week"))),
]
each_step = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)


@each_step
@settings(max_examples=25)
@given(data=st.data())
def test_monotone(step: Monotone, data: st.DataObject) -> None:
    a, b = sorted((data.draw(arguments(step)), data.draw(arguments(step))))
    assert step.apply(a) <= step.apply(b)


@each_step
@settings(max_examples=25)
@given(data=st.data())
def test_first_is_the_lower_inverse(step: Monotone, data: st.DataObject) -> None:
    y = data.draw(results(step))
    first = step.first(y)
    assert step.apply(first) >= y
    assert step.apply(first - 1) < y


@each_step
@settings(max_examples=25)
@given(data=st.data())
def test_first_of_a_result_is_not_after_its_input(step: Monotone, data: st.DataObject) -> None:
    x = data.draw(arguments(step))
    first = step.first(step.apply(x))
    assert first <= x
    assert step.apply(first) == step.apply(x)


@pytest.mark.parametrize("function", CHAINS, ids=lambda f: " > ".join(s.name for s in f) or "identity")
@settings(max_examples=15)
@given(data=st.data())
def test_image_covers_and_preimage_is_exact(function: tuple[Monotone, ...], data: st.DataObject) -> None:
    base = arguments(function[0]) if function else DAY
    near = st.builds(lambda x, o: x + o, base, st.integers(-2, 2))
    domain = data.draw(integer_domains(base))
    points = data.draw(st.lists(near, min_size=4, max_size=4)) + ends(domain)
    for x in points:
        assert not domain.contains(x) or image(function, domain).contains(applied(function, x))
    assert image(function, domain).null == domain.null
    results = data.draw(integer_domains(base.map(lambda x: applied(function, x))))
    back = preimage(function, results)
    for x in points + ends(back):
        assert back.contains(x) == results.contains(applied(function, x))
    assert back.null == results.null


@pytest.mark.parametrize("function", CHAINS, ids=lambda f: " > ".join(s.name for s in f) or "identity")
@settings(max_examples=15)
@given(data=st.data())
def test_image_of_whole_preimages_is_exact(function: tuple[Monotone, ...], data: st.DataObject) -> None:
    base = arguments(function[0]) if function else DAY
    keys = [applied(function, data.draw(base)) for _ in range(3)]
    mapped = image(function, preimage(function, Domain.of(*keys)))
    for k in keys:
        assert mapped.contains(k)
    for x in (data.draw(base) for _ in range(5)):
        assert mapped.contains(applied(function, x)) == (applied(function, x) in keys)


def integer_domains(values: st.SearchStrategy[int]) -> st.SearchStrategy[Domain]:
    end = values | st.none()
    ranges = st.lists(st.builds(Range, end, end, st.booleans(), st.booleans()), max_size=3)
    return st.builds(lambda rs, n: Domain(Domain.between(*rs).ranges, null=n), ranges, st.booleans())


def applied(function: Sequence[Monotone], x: int) -> int:
    for step in function:
        x = step.apply(x)
    return x


def ends(domain: Domain) -> list[int]:
    found = [e for r in domain.ranges for e in (r.low, r.high) if isinstance(e, int)]
    return [e + o for e in found for o in (-1, 0, 1)]


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    return key_steps.database()


def test_each_step_has_a_meaning() -> None:
    """A step that this table does not have is a step that no law is checked for."""
    assert sorted(ON_DUCKDB) == sorted(step.sql for step in STEPS)


def test_no_step_is_kept_outside_the_registry() -> None:
    kept = [v for value in vars(date_functions).values() for v in steps_in(value)]
    assert [step.name for step in kept if not any(step is known for known in STEPS)] == []
    root = Path(maintenance.__file__).parent
    makers = {path.name for path in root.rglob("*.py") if makes_a_step(ast.parse(path.read_text()))}
    assert makers == {Path(date_functions.__file__).name}


def steps_in(value: object) -> list[Monotone]:
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else [value]
    return [v for v in inside if isinstance(v, Monotone)]


def makes_a_step(module: ast.Module) -> bool:
    calls = (node.func for node in ast.walk(module) if isinstance(node, ast.Call))
    return any("Monotone" in (getattr(called, "id", None), getattr(called, "attr", None)) for called in calls)


@each_step
@pytest.mark.parametrize("of", ["meaning", "sql"])
@settings(max_examples=5)
@given(data=st.data())
def test_steps_are_what_duckdb_computes(
    step: Monotone, of: str, database: duckdb.DuckDBPyConnection, data: st.DataObject
) -> None:
    """Both the meaning that a person wrote down for the test, and the SQL that readers get."""
    sql = key_steps.as_duckdb(key_steps.number_of(step.sql.format("x"), step.result_type))
    expression = sql if of == "sql" else ON_DUCKDB[step.sql]
    # date_trunc of DuckDB rounds years before 1 towards zero; proleptic Gregorian years from 1 on are compared.
    first = days_from_civil(1, 1, 8) * (1 if step.argument_type == "date" else MICROS_PER_DAY)
    values = [v for v in data.draw(st.lists(arguments(step), min_size=40, max_size=40)) if v >= first]
    x = key_steps.literal_of("i", step.argument_type)
    rows = database.execute(
        f"SELECT i, {expression} FROM (SELECT i, {x} AS x FROM (SELECT unnest(?::BIGINT[]) AS i))", [values]
    ).fetchall()
    assert len(rows) == len(values)
    for value, result in rows:
        assert step.apply(value) == result


def moments() -> list[datetime]:
    """Return times around the turns of all periods, in years with and without a leap day."""
    turns = (
        datetime(y, m, d) for y in (1968, 1969, 1970, 2023, 2024) for m in (1, 2, 3, 4, 10, 12) for d in (1, 15, 28)
    )
    shifts = [timedelta(days=d, microseconds=us) for d in range(-4, 5) for us in (-1001, -1, 0, 1, 3_600_000_000)]
    shifts += [timedelta(hours=h, seconds=s) for h in (1, 13) for s in (0, 1, 59, 60)]
    return sorted({turn + shift for turn in turns for shift in shifts})


@pytest.fixture(scope="module")
def periods_of(database: duckdb.DuckDBPyConnection) -> Callable[[Sequence[int], str], dict[Period, list[int]]]:
    """Return what shows the period, as DuckDB has it, in which each of some dates or times lies."""

    def found(values: Sequence[int], spark_type: str) -> dict[Period, list[int]]:
        x = key_steps.literal_of("i", spark_type)
        listed = ", ".join(f"epoch_us(date_trunc('{p}', CAST({x} AS TIMESTAMP)))" for p in PERIODS)
        rows = database.execute(
            f"SELECT {listed} FROM (SELECT unnest($1) AS i, generate_subscripts($1, 1) AS n) ORDER BY n", [values]
        ).fetchall()
        return dict(zip(PERIODS, map(list, zip(*rows, strict=True)), strict=True))

    return found


PeriodsOf = Callable[[Sequence[int], str], dict[Period, list[int]]]


@each_step
def test_periods_are_told_exactly(step: Monotone, periods_of: PeriodsOf) -> None:
    assert broken_claims(step, periods_of) == []


def broken_claims(step: Monotone, periods_of: PeriodsOf) -> list[tuple[str, Period]]:
    """Return the periods for which `constant_within` or `stays_within` says more, or less, than is true."""
    micros = [(m - datetime(1970, 1, 1)) // timedelta(microseconds=1) for m in moments()]
    is_date = step.argument_type == "date"
    values = sorted({m // MICROS_PER_DAY for m in micros}) if is_date else micros
    mapped = [step.apply(v) for v in values]
    before = periods_of(values, step.argument_type)
    after = periods_of(mapped, step.result_type) if step.result_type in ("date", "timestamp_ntz") else None
    broken: list[tuple[str, Period]] = []
    for period in PERIODS:
        constant = len(set(zip(before[period], mapped, strict=True))) == len(set(before[period]))
        claimed = step.constant_within is not None and divides(period, step.constant_within)
        # Over a period that holds one value alone every function is constant: not worth a claim, and no wrong one.
        if claimed != constant and not divides(period, "day" if is_date else "microsecond"):
            broken.append(("constant_within", period))
        stays = after is not None and after[period] == before[period]
        if (step.stays_within is not None and divides(step.stays_within, period)) != stays:
            broken.append(("stays_within", period))
    return broken


WRONG = {
    "a week lies within a month": replace(known(truncate_timestamp("week")), constant_within="month"),
    "a day is constant over a week": replace(TIMESTAMP_TO_DATE, constant_within="week"),
    "a month keeps moments in their day": replace(known(truncate_timestamp("month")), stays_within="day"),
    "a year is a time": replace(DATE_TO_YEAR, stays_within="year"),
    "a fiscal year is a year": replace(DATE_TO_YEAR, apply=lambda x: DATE_TO_YEAR.apply(x + 92)),
    "a quarter is constant over a month at most": replace(known(truncate_date("quarter")), constant_within="month"),
}


@pytest.mark.parametrize("claim", WRONG)
def test_wrong_periods_are_found(claim: str, periods_of: PeriodsOf) -> None:
    assert broken_claims(WRONG[claim], periods_of)


@pytest.mark.parametrize(
    ("unit", "same"),
    [("YYYY", "year"), ("yy", "year"), ("MON", "month"), ("mm", "month"), ("Quarter", "quarter"), ("week", "WEEK")],
)
def test_spellings_of_units(unit: str, same: str) -> None:
    assert known(truncate_date(unit)) == known(truncate_date(same))
    assert known(truncate_timestamp(unit)) == known(truncate_timestamp(same))


@pytest.mark.parametrize("unit", ["day", "dd", "hour", "", "y", "q", "isoyear", "decade", "century", "weeks"])
def test_units_that_trunc_does_not_know(unit: str) -> None:
    assert truncate_date(unit) is None


@pytest.mark.parametrize("unit", ["", "y", "q", "d", "days", "hours", "decade", "century", "millennium", "epoch"])
def test_units_that_date_trunc_does_not_know(unit: str) -> None:
    assert truncate_timestamp(unit) is None


def test_weeks_start_on_monday() -> None:
    week = known(truncate_date("week"))
    monday = days_from_civil(2024, 1, 1)
    assert [week.apply(monday + i) - monday for i in range(-1, 8)] == [-7, 0, 0, 0, 0, 0, 0, 0, 7]


@pytest.mark.parametrize("map_", [image, preimage])
def test_other_kinds_of_values_are_an_error(map_: Callable[[KeyFunction, Domain], Domain]) -> None:
    with pytest.raises(TypeError, match="str"):
        map_((DATE_TO_YEAR,), Domain.of("2024"))


def test_steps_are_equal_by_what_they_do() -> None:
    assert not any(a == b for a, b in itertools.combinations(STEPS, 2))
    assert not any(a.name == b.name for a, b in itertools.combinations(STEPS, 2))
    month = known(truncate_date("month"))
    assert truncate_date("mm") is month
    assert replace(month, name="the month's first day") == month
    assert hash(replace(month, name="the month's first day")) == hash(month)
    assert replace(DATE_TO_YEAR, name=month.name) != month
