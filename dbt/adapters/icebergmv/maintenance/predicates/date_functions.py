"""Monotone functions on dates and timestamps, as Spark writes them: the steps that need no evaluation."""

from __future__ import annotations

from collections.abc import Callable

from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Monotone
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import (
    MICROS_PER_DAY,
    MICROS_PER_HOUR,
    civil_from_days,
    days_from_civil,
)


def _month_floor(days: int, months: int) -> int:
    year, month, _ = civil_from_days(days)
    return days_from_civil(year, (month - 1) // months * months + 1)


def _year_floor(days: int) -> int:
    return days_from_civil(civil_from_days(days)[0], 1)


def _week_floor(days: int) -> int:
    """Return the Monday of the week; 1970-01-01 was a Thursday."""
    return days - (days + 3) % 7


_DAY_FLOORS: dict[str, Callable[[int], int]] = {
    "year": _year_floor,
    "quarter": lambda days: _month_floor(days, 3),
    "month": lambda days: _month_floor(days, 1),
    "week": _week_floor,
    "day": lambda days: days,
}
_LONGEST = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}
_MICROS = {"hour": MICROS_PER_HOUR, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1_000, "microsecond": 1}
_UNITS = {
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


def timestamp_to_date() -> Monotone:
    """cast(ts as date), from the time on the wall."""
    return Monotone("cast as date", "date", lambda x: x // MICROS_PER_DAY, lambda y: y * MICROS_PER_DAY)


def date_to_timestamp() -> Monotone:
    """cast(d as timestamp): midnight on the wall."""
    return Monotone(
        "cast as timestamp", "timestamp_ntz", lambda x: x * MICROS_PER_DAY, lambda y: -(-y // MICROS_PER_DAY)
    )


def date_to_year() -> Monotone:
    """year(d)."""
    return Monotone("year", "int", lambda x: civil_from_days(x)[0], lambda y: days_from_civil(y, 1))


def truncate_date(unit: str) -> Monotone | None:
    """trunc(d, unit); None for a unit that Spark's trunc does not know."""
    name = _UNITS.get(unit.upper())
    if name is None or name not in _DAY_FLOORS or name == "day":
        return None
    floor = _DAY_FLOORS[name]
    return Monotone(f"trunc to {name}", "date", floor, lambda y: _ceiling(floor, y, _LONGEST[name]))


def truncate_timestamp(unit: str) -> Monotone | None:
    """date_trunc(unit, ts), for the time on the wall; None for a unit that Spark does not know."""
    name = _UNITS.get(unit.upper())
    if name is None:
        return None
    if name in _MICROS:
        width = _MICROS[name]
        return Monotone(
            f"date_trunc to {name}", "timestamp_ntz", lambda x: x // width * width, lambda y: -(-y // width) * width
        )
    floor = _DAY_FLOORS[name]
    return Monotone(
        f"date_trunc to {name}",
        "timestamp_ntz",
        lambda x: floor(x // MICROS_PER_DAY) * MICROS_PER_DAY,
        lambda y: _ceiling(floor, -(-y // MICROS_PER_DAY), _LONGEST[name]) * MICROS_PER_DAY,
    )


def _ceiling(floor: Callable[[int], int], days: int, longest: int) -> int:
    """Return the smallest period start that is >= days; `longest` is the most days a period has."""
    start = floor(days)
    return start if start == days else floor(start + longest)
