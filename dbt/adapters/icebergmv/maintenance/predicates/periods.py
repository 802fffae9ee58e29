"""Periods of the calendar, and which of them divide which."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Period: TypeAlias = Literal[
    "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"
]
PERIODS: tuple[Period, ...] = get_args(Period)
"""From the shortest to the longest. Each divides every longer one, but for the week: it divides no other."""


def divides(inner: Period, outer: Period) -> bool:
    """Return whether every `inner` lies within one `outer`: a day within a week, a week within no month."""
    if inner == "week":
        return outer == "week"
    return PERIODS.index(inner) <= PERIODS.index(outer)
