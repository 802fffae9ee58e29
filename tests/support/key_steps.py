"""The monotone steps for law tests: values to try them on, what DuckDB makes of these, and Spark's SQL on DuckDB."""

from __future__ import annotations

import re

import duckdb
from hypothesis import strategies as st

from dbt.adapters.icebergmv.maintenance.predicates.date_functions import STEPS
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Monotone
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_DAY, days_from_civil
from dbt.adapters.icebergmv.maintenance.predicates.periods import Period

_DAYS = "datediff('day', DATE '1970-01-01', {})"
_MICROS = "epoch_us({})"
_DATE_UNITS = ("year", "quarter", "month", "week")
_TIME_UNITS = (*_DATE_UNITS, "day", "hour", "minute", "second", "millisecond", "microsecond")

ON_DUCKDB: dict[str, str] = {
    "CAST({} AS DATE)": _DAYS.format("CAST(x AS DATE)"),
    "CAST({} AS TIMESTAMP)": _MICROS.format("CAST(x AS TIMESTAMP)"),
    "YEAR({})": "year(x)",
    **{f"TRUNC({{}}, '{u.upper()}')": _DAYS.format(f"CAST(date_trunc('{u}', x) AS DATE)") for u in _DATE_UNITS},
    **{f"DATE_TRUNC('{u.upper()}', {{}})": _MICROS.format(f"date_trunc('{u}', x)") for u in _TIME_UNITS},
}
"""What each step means, by its SQL: the number that DuckDB makes of a date or timestamp x."""

# Spark's functions that DuckDB lacks, or has with another meaning.
_MACROS = (
    "CREATE MACRO trunc(day, unit) AS CAST(date_trunc(unit, day) AS DATE)",
    "CREATE MACRO add_months(day, n) AS CAST(day + to_months(CAST(n AS INT)) AS DATE)",
    "CREATE MACRO timestamp_seconds(n) AS make_timestamp(CAST(n AS BIGINT) * 1000000)",
)
_WORDS = ((re.compile(r"\bTIMESTAMP_(N|L)TZ\b"), "TIMESTAMP"), (re.compile(r"\b(\d+)L\b"), r"\1::BIGINT"))

# Five centuries around the epoch, the turn of the first and of the last year that SQL text can write, and beyond.
DAY = st.integers(-200_000, 200_000) | st.builds(
    lambda y, d: days_from_civil(y, 1) + d,
    st.sampled_from([-401, -1, 0, 1, 1900, 2000, 9999, 10000]),
    st.integers(-3, 3),
)
MICRO = st.builds(
    lambda d, m: d * MICROS_PER_DAY + m, DAY, st.sampled_from([-1, 0, 1, 999, 1000]) | st.integers(0, MICROS_PER_DAY)
)
_NUMBER = st.integers(-500, 10_100)
_VALUES = {"date": DAY, "timestamp_ntz": MICRO}


def database() -> duckdb.DuckDBPyConnection:
    """Return a DuckDB in UTC that knows Spark's functions."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for macro in _MACROS:
        connection.execute(macro)
    return connection


def as_duckdb(sql: str) -> str:
    """Return Spark SQL of the engine's key expressions as DuckDB reads it."""
    for word, other in _WORDS:
        sql = word.sub(other, sql)
    return sql


def step(sql: str) -> Monotone:
    """Return the step of the registry that has this SQL."""
    (found,) = (s for s in STEPS if s.sql == sql)
    return found


def truncations(kind: str, *periods: Period) -> list[Monotone]:
    """Return the steps `trunc` or `date_trunc` to the periods."""
    texts = {"trunc": "TRUNC({{}}, '{}')", "date_trunc": "DATE_TRUNC('{}', {{}})"}
    return [step(texts[kind].format(period.upper())) for period in periods]


def arguments(of: Monotone) -> st.SearchStrategy[int]:
    """Return values that a step takes. Raises KeyError for a type of argument that no law test knows yet."""
    return _VALUES[of.argument_type]


def results(of: Monotone) -> st.SearchStrategy[int]:
    """Return values of the type that a step gives, whether or not it gives them."""
    return _NUMBER if of.result_type == "int" else _VALUES[of.result_type]


def number_of(expression: str, spark_type: str) -> str:
    """Return the DuckDB expression of a Domain value (days, microseconds, a number) of an expression's value."""
    return {"date": _DAYS, "timestamp_ntz": _MICROS, "int": "{}"}[spark_type].format(expression)


def literal_of(number: str, spark_type: str) -> str:
    """Return the DuckDB expression of the date or time of a Domain value."""
    texts = {"date": "DATE '1970-01-01' + CAST({} AS INTEGER)", "timestamp_ntz": "make_timestamp({})"}
    return texts[spark_type].format(number)
