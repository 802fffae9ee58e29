"""Functions from a base column to an output column through which staleness can be followed.

Each step is a monotone (non-decreasing), NULL-preserving function on integers: days for dates, microseconds for
timestamps, the number itself for ints. A step is given by `apply` and by `first`, its lower inverse:
first(y) = min {x : apply(x) >= y}. Both directions follow from the pair:

    image of [a, b]     is contained in  [apply(a), apply(b)]
    preimage of [c, d]  is               [first(c), first(d + 1) - 1]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.domain import Domain, Range, Value
from dbt.adapters.icebergmv.maintenance.transforms import (
    MICROS_PER_DAY,
    MICROS_PER_HOUR,
    civil_from_days,
    days_from_civil,
)


@dataclass(frozen=True)
class Step:
    """One monotone function, named as a person would write it; `result_type` is the Spark type it returns."""

    name: str
    result_type: str
    apply: Callable[[int], int]
    first: Callable[[int], int]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Step) and (self.name, self.result_type) == (other.name, other.result_type)

    def __hash__(self) -> int:
        return hash((self.name, self.result_type))


KeyFunction = tuple[Step, ...]
"""Steps from the base column outwards; the empty tuple is the identity."""


def image(function: KeyFunction, domain: Domain) -> Domain:
    """Return a superset of { f(x) : x in domain }, exact for domains made of whole preimages."""
    for step in function:
        domain = _map(domain, step.apply, step.apply)
    return domain


def preimage(function: KeyFunction, domain: Domain) -> Domain:
    """Return { x : f(x) in domain }, exactly."""
    for step in reversed(function):
        domain = _map(domain, step.first, lambda high, step=step: step.first(high + 1) - 1)  # type: ignore[misc]
    return domain


def _map(domain: Domain, map_low: Callable[[int], int], map_high: Callable[[int], int]) -> Domain:
    ranges = []
    for r in domain.ranges:
        low = None if r.low is None else map_low(_integer(r.low) + (0 if r.low_inclusive else 1))
        high = None if r.high is None else map_high(_integer(r.high) - (0 if r.high_inclusive else 1))
        ranges.append(Range(low, high))
    mapped = Domain.between(*ranges)
    return Domain(mapped.ranges, null=domain.null)


def _integer(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError(f"Cannot map a key of type {type(value).__name__} through a time function")
    return value


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


def timestamp_to_date() -> Step:
    """cast(ts as date), for a timestamp read in UTC."""
    return Step("cast as date", "date", lambda x: x // MICROS_PER_DAY, lambda y: y * MICROS_PER_DAY)


def date_to_timestamp() -> Step:
    """cast(d as timestamp), midnight UTC."""
    return Step("cast as timestamp", "timestamp", lambda x: x * MICROS_PER_DAY, lambda y: -(-y // MICROS_PER_DAY))


def date_to_year() -> Step:
    """year(d)."""
    return Step("year", "int", lambda x: civil_from_days(x)[0], lambda y: days_from_civil(y, 1))


def truncate_date(unit: str) -> Step | None:
    """trunc(d, unit); None for a unit that Spark's trunc does not know."""
    name = _UNITS.get(unit.upper())
    if name is None or name not in _DAY_FLOORS or name == "day":
        return None
    floor = _DAY_FLOORS[name]
    return Step(f"trunc to {name}", "date", floor, lambda y: _ceiling(floor, y, _LONGEST[name]))


def truncate_timestamp(unit: str) -> Step | None:
    """date_trunc(unit, ts), for a timestamp read in UTC; None for a unit that Spark does not know."""
    name = _UNITS.get(unit.upper())
    if name is None:
        return None
    if name in _MICROS:
        width = _MICROS[name]
        return Step(
            f"date_trunc to {name}", "timestamp", lambda x: x // width * width, lambda y: -(-y // width) * width
        )
    floor = _DAY_FLOORS[name]
    return Step(
        f"date_trunc to {name}",
        "timestamp",
        lambda x: floor(x // MICROS_PER_DAY) * MICROS_PER_DAY,
        lambda y: _ceiling(floor, -(-y // MICROS_PER_DAY), _LONGEST[name]) * MICROS_PER_DAY,
    )


def _ceiling(floor: Callable[[int], int], days: int, longest: int) -> int:
    """Return the smallest period start that is >= days; `longest` is the most days a period has."""
    start = floor(days)
    return start if start == days else floor(start + longest)
