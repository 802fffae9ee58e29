"""Each step is monotone, `first` is its lower inverse, and `apply` is what a database computes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt.adapters.icebergmv.maintenance.predicates.date_functions import (
    date_to_timestamp,
    date_to_year,
    timestamp_to_date,
    truncate_date,
    truncate_timestamp,
)
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import KeyFunction, Monotone, image, preimage
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_DAY, days_from_civil


def known(step: Monotone | None) -> Monotone:
    assert step is not None
    return step


DATE_UNITS = ("year", "quarter", "month", "week")
TIME_UNITS = (*DATE_UNITS, "day", "hour", "minute", "second", "millisecond", "microsecond")
ON_DAYS = {
    "date_to_timestamp": date_to_timestamp(),
    "date_to_year": date_to_year(),
    **{f"trunc_{u}": known(truncate_date(u)) for u in DATE_UNITS},
}
ON_MICROS = {
    "timestamp_to_date": timestamp_to_date(),
    **{f"date_trunc_{u}": known(truncate_timestamp(u)) for u in TIME_UNITS},
}
STEPS = {**ON_DAYS, **ON_MICROS}
CHAINS: list[KeyFunction] = [
    (),
    *((s,) for s in STEPS.values()),
    (timestamp_to_date(), date_to_year()),
    (timestamp_to_date(), known(truncate_date("month"))),
    (known(truncate_timestamp("hour")), timestamp_to_date(), known(truncate_date("week"))),
    (known(truncate_date("quarter")), date_to_timestamp(), known(truncate_timestamp("year"))),
    (timestamp_to_date(), date_to_timestamp(), known(truncate_timestamp("week"))),
]
# Five centuries around the epoch, the turn of the first and of the last year that SQL text can write, and beyond.
DAY = st.integers(-200_000, 200_000) | st.builds(
    lambda y, d: days_from_civil(y, 1) + d,
    st.sampled_from([-401, -1, 0, 1, 1900, 2000, 9999, 10000]),
    st.integers(-3, 3),
)
MICRO = st.builds(
    lambda d, m: d * MICROS_PER_DAY + m, DAY, st.sampled_from([-1, 0, 1, 999, 1000]) | st.integers(0, MICROS_PER_DAY)
)


def inputs(step: Monotone) -> st.SearchStrategy[int]:
    return DAY if step in ON_DAYS.values() else MICRO


def outputs(step: Monotone) -> st.SearchStrategy[int]:
    if step.name == "year":
        return st.integers(-500, 10_100)
    return DAY if step.result_type == "date" else MICRO


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@settings(max_examples=25)
@given(data=st.data())
def test_monotone(step: Monotone, data: st.DataObject) -> None:
    a, b = sorted((data.draw(inputs(step)), data.draw(inputs(step))))
    assert step.apply(a) <= step.apply(b)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@settings(max_examples=25)
@given(data=st.data())
def test_first_is_the_lower_inverse(step: Monotone, data: st.DataObject) -> None:
    y = data.draw(outputs(step))
    first = step.first(y)
    assert step.apply(first) >= y
    assert step.apply(first - 1) < y


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@settings(max_examples=25)
@given(data=st.data())
def test_first_of_a_result_is_not_after_its_input(step: Monotone, data: st.DataObject) -> None:
    x = data.draw(inputs(step))
    first = step.first(step.apply(x))
    assert first <= x
    assert step.apply(first) == step.apply(x)


@pytest.mark.parametrize("function", CHAINS, ids=lambda f: " > ".join(s.name for s in f) or "identity")
@settings(max_examples=15)
@given(data=st.data())
def test_image_covers_and_preimage_is_exact(function: KeyFunction, data: st.DataObject) -> None:
    base = inputs(function[0]) if function else DAY
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
def test_image_of_whole_preimages_is_exact(function: KeyFunction, data: st.DataObject) -> None:
    base = inputs(function[0]) if function else DAY
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
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


EPOCH = "epoch_us({})"
DAYS_OF = "datediff('day', DATE '1970-01-01', {})"
ON_DUCKDB: dict[str, tuple[str, str]] = {
    "timestamp_to_date": ("micros", DAYS_OF.format("CAST(x AS DATE)")),
    "date_to_timestamp": ("days", EPOCH.format("CAST(x AS TIMESTAMP)")),
    "date_to_year": ("days", "year(x)"),
    **{f"trunc_{u}": ("days", DAYS_OF.format(f"CAST(date_trunc('{u}', x) AS DATE)")) for u in DATE_UNITS},
    **{f"date_trunc_{u}": ("micros", EPOCH.format(f"date_trunc('{u}', x)")) for u in TIME_UNITS},
}


@pytest.mark.parametrize("name", STEPS)
@settings(max_examples=5)
@given(data=st.data())
def test_steps_are_what_duckdb_computes(name: str, database: duckdb.DuckDBPyConnection, data: st.DataObject) -> None:
    kind, expression = ON_DUCKDB[name]
    # date_trunc of DuckDB rounds years before 1 towards zero; proleptic Gregorian years from 1 on are compared.
    first = days_from_civil(1, 1, 8)
    values = [v for v in data.draw(st.lists(inputs(STEPS[name]), min_size=40, max_size=40)) if in_years(v, kind, first)]
    x = "make_timestamp(i)" if kind == "micros" else "DATE '1970-01-01' + CAST(i AS INTEGER)"
    rows = database.execute(
        f"SELECT i, {expression} FROM (SELECT i, {x} AS x FROM (SELECT unnest(?::BIGINT[]) AS i))", [values]
    ).fetchall()
    assert len(rows) == len(values)
    for value, result in rows:
        assert STEPS[name].apply(value) == result


def in_years(value: int, kind: str, first: int) -> bool:
    return value >= (first if kind == "days" else first * MICROS_PER_DAY)


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
        map_((date_to_year(),), Domain.of("2024"))


def test_steps_are_equal_by_name() -> None:
    pairs = itertools.combinations(STEPS.values(), 2)
    assert timestamp_to_date() == timestamp_to_date()
    assert hash(timestamp_to_date()) == hash(timestamp_to_date())
    assert not any(a == b for a, b in pairs)
    assert timestamp_to_date() != "cast as date"
