"""Monotone functions on dates and timestamps, as Spark writes them: the registry of the steps that need no evaluation.

A deterministic function of one column is tracked without an entry here: Spark evaluates it on the values in question
(`Computed`). That needs values that can be listed: those of identity partitions, or days, up to 10,000 of them. An
entry is worth its while when the function is monotone and people group by it over a timestamp, or over more days: then
ranges follow through it, without a query, and a read between refreshes can compare it with partitions.

To add one, write one `Monotone` and put it into `DATE_FUNCTIONS` (a function of one date: nothing else is to be done)
or, for other arguments, into `STEPS` with a rule in definition/tracking/projection.py. Then give its meaning on DuckDB
in tests/support/key_steps.py. Every law test runs over `STEPS`: the order, the lower inverse, both periods, the SQL on
DuckDB and on Spark, the partitions that its values are compared with, and that the analysis finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Monotone
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import (
    MICROS_PER_DAY,
    MICROS_PER_HOUR,
    civil_from_days,
    days_from_civil,
)
from dbt.adapters.icebergmv.maintenance.predicates.periods import Period


def _month_floor(days: int, months: int) -> int:
    year, month, _ = civil_from_days(days)
    return days_from_civil(year, (month - 1) // months * months + 1)


def _year_floor(days: int) -> int:
    return days_from_civil(civil_from_days(days)[0], 1)


def _week_floor(days: int) -> int:
    """Return the Monday of the week; 1970-01-01 was a Thursday."""
    return days - (days + 3) % 7


_DAY_FLOORS: Mapping[Period, Callable[[int], int]] = {
    "year": _year_floor,
    "quarter": lambda days: _month_floor(days, 3),
    "month": lambda days: _month_floor(days, 1),
    "week": _week_floor,
    "day": lambda days: days,
}
_LONGEST: Mapping[Period, int] = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}
_MICROS: Mapping[Period, int] = {
    "hour": MICROS_PER_HOUR,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
_SPELLINGS: Mapping[str, Period] = {
    "YEAR": "year",
    "YYYY": "year",
    "YY": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "MM": "month",
    "MON": "month",
    "WEEK": "week",
    "DAY": "day",
    "DD": "day",
    "HOUR": "hour",
    "MINUTE": "minute",
    "SECOND": "second",
    "MILLISECOND": "millisecond",
    "MICROSECOND": "microsecond",
}
"""Spark's documentation of trunc and date_trunc."""


def _ceiling(period: Period, days: int) -> int:
    """Return the smallest start of a period that is >= days."""
    floor = _DAY_FLOORS[period]
    start = floor(days)
    return start if start == days else floor(start + _LONGEST[period])


def _floor_of_moments(period: Period, micros: int) -> int:
    if period in _MICROS:
        return micros // _MICROS[period] * _MICROS[period]
    return _DAY_FLOORS[period](micros // MICROS_PER_DAY) * MICROS_PER_DAY


def _ceiling_of_moments(period: Period, micros: int) -> int:
    if period in _MICROS:
        return -(-micros // _MICROS[period]) * _MICROS[period]
    return _ceiling(period, -(-micros // MICROS_PER_DAY)) * MICROS_PER_DAY


def _trunc(period: Period) -> Monotone:
    return Monotone(
        name=f"trunc to {period}",
        sql=f"TRUNC({{}}, '{period.upper()}')",
        argument_type="date",
        result_type="date",
        apply=_DAY_FLOORS[period],
        first=partial(_ceiling, period),
        constant_within=period,
        stays_within=period,
    )


def _date_trunc(period: Period) -> Monotone:
    return Monotone(
        name=f"date_trunc to {period}",
        sql=f"DATE_TRUNC('{period.upper()}', {{}})",
        argument_type="timestamp_ntz",
        result_type="timestamp_ntz",
        apply=partial(_floor_of_moments, period),
        first=partial(_ceiling_of_moments, period),
        constant_within=period,
        stays_within=period,
    )


TIMESTAMP_TO_DATE = Monotone(
    name="cast as date",
    sql="CAST({} AS DATE)",
    argument_type="timestamp_ntz",
    result_type="date",
    apply=lambda x: x // MICROS_PER_DAY,
    first=lambda y: y * MICROS_PER_DAY,
    constant_within="day",
    stays_within="day",
)
"""The date of the time on the wall."""

DATE_TO_TIMESTAMP = Monotone(
    name="cast as timestamp",
    sql="CAST({} AS TIMESTAMP)",
    argument_type="date",
    result_type="timestamp_ntz",
    apply=lambda x: x * MICROS_PER_DAY,
    first=lambda y: -(-y // MICROS_PER_DAY),
    stays_within="microsecond",
)
"""Midnight on the wall."""

DATE_TO_YEAR = Monotone(
    name="year",
    sql="YEAR({})",
    argument_type="date",
    result_type="int",
    apply=lambda x: civil_from_days(x)[0],
    first=lambda y: days_from_civil(y, 1),
    constant_within="year",
)

DATE_FUNCTIONS = (DATE_TO_YEAR,)
"""Functions of one date; Spark casts a timestamp to a date for them. The analysis knows them by their SQL."""

_TRUNC: Mapping[Period, Monotone] = {period: _trunc(period) for period in _DAY_FLOORS if period != "day"}
_DATE_TRUNC: Mapping[Period, Monotone] = {period: _date_trunc(period) for period in (*_DAY_FLOORS, *_MICROS)}

STEPS = (TIMESTAMP_TO_DATE, DATE_TO_TIMESTAMP, *DATE_FUNCTIONS, *_TRUNC.values(), *_DATE_TRUNC.values())
"""The registry: every monotone step of dates and timestamps that the analysis can find."""


def truncate_date(unit: str) -> Monotone | None:
    """trunc(d, unit); None for a unit that Spark's trunc does not know."""
    period = _SPELLINGS.get(unit.upper())
    return None if period is None else _TRUNC.get(period)


def truncate_timestamp(unit: str) -> Monotone | None:
    """date_trunc(unit, ts), for the time on the wall; None for a unit that Spark does not know."""
    period = _SPELLINGS.get(unit.upper())
    return None if period is None else _DATE_TRUNC[period]
