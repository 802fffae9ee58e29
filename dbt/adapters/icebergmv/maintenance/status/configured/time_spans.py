"""Spans of time: as the configuration gives them, and as people read them, as they read numbers of other things."""

from __future__ import annotations

import re

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig

_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_LONGEST = 366 * 86_400
_SPAN = re.compile(r"\s*([0-9]{1,9})\s+(second|minute|hour|day|week)s?\s*", re.IGNORECASE)
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def time_span(setting: str, value: object) -> int | None:
    """Return the seconds of a span such as `15 minutes`; None for none. Raises InvalidConfig, naming the setting."""
    return None if value is None else seconds_of(setting, value)


def seconds_of(setting: str, value: object) -> int:
    """Return the seconds of a span such as `15 minutes`. Raises InvalidConfig, naming the setting."""
    matched = _SPAN.fullmatch(value) if isinstance(value, str) else None
    if matched is None:
        raise InvalidConfig(
            f"{setting} is {value!r}. Give a number of seconds, minutes, hours, days or weeks, such as '15 minutes'."
        )
    seconds = int(matched[1]) * _SECONDS[matched[2].lower()]
    if seconds > _LONGEST:
        raise InvalidConfig(f"{setting} is {value!r}. A year is the longest.")
    return seconds


def ago(seconds: int, after: str = " ago") -> str:
    """Return a time span in its largest unit, rounded down."""
    unit, length = next((u, n) for u, n in _UNITS if seconds >= n or n == 1)
    return f"{count(seconds // length, unit)}{after}"


def span(seconds: int) -> str:
    """Return a time span as it is, in the largest unit that it is whole in."""
    unit, length = next((u, n) for u, n in _UNITS if (seconds >= n and seconds % n == 0) or n == 1)
    return count(seconds // length, unit)


def count(number: int, unit: str) -> str:
    """Return a number of things."""
    return f"{number} {unit}{'' if number == 1 else 's'}"
