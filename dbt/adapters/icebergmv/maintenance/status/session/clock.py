"""What the clock says in the session of a view, found out without Spark, and whether it moved since a refresh."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import TIME_ZONE, UTC_ZONES

_AREAS = "Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Canada|Etc|Europe|Indian|Pacific|US"
_REGION = re.compile(rf"({_AREAS})(/[A-Za-z0-9_+-]+)+")
_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)")
_WIDEST = timedelta(hours=18)
"""No zone is further from UTC (java.time.ZoneOffset)."""

_NAMES = {"date": "date", "timestamp": "time", "timestamp_ntz": "time"}


@dataclass(frozen=True)
class ClockChange:
    """A clock that a definition reads has other values than at the last refresh (None: these are not recorded)."""

    before: Clock | None
    now: Clock

    def __str__(self) -> str:
        """Return what people call it."""
        kind = max(self.now, key=lambda one: one != "date")
        name = _NAMES[kind]
        if self.before is None:
            return f"the {name} of the last refresh is not recorded"
        return f"the {name} moved from {self.before[kind]} to {self.now[kind]}"


def utc_now() -> datetime:
    """Return this moment."""
    return datetime.now(timezone.utc)


def iso(moment: datetime) -> str:
    """Return a moment as states record it."""
    return moment.astimezone(timezone.utc).isoformat(timespec="milliseconds")


def iso_now() -> str:
    """Return this moment as states record it."""
    return iso(utc_now())


def clock_of(settings: Mapping[str, str], moment: datetime) -> Clock | None:
    """Return what the clock functions give at a moment in a session; None where its zone is not known for certain."""
    zone = _zone(settings.get(TIME_ZONE, ""))
    if zone is None:
        return None
    wall, instant = moment.astimezone(zone).replace(tzinfo=None), moment.astimezone(timezone.utc).replace(tzinfo=None)
    return {
        "date": wall.date().isoformat(),
        "timestamp": f"{instant.isoformat(' ', 'microseconds')}Z",
        "timestamp_ntz": wall.isoformat(" ", "microseconds"),
    }


def clock_change(values: Clock, recorded: Clock) -> ClockChange | None:
    """Compare what the clock functions of a definition give with what they gave; None if the clock did not move."""
    if not values.keys() <= recorded.keys():
        return ClockChange(None, values)
    before = {kind: recorded[kind] for kind in values}
    return None if before == values else ClockChange(before, values)


def date_moved_at(change: ClockChange, settings: Mapping[str, str]) -> datetime | None:
    """Return when a clock left the values of a refresh, None where it did at once, or nobody knows."""
    zone = _zone(settings.get(TIME_ZONE, ""))
    if zone is None or change.before is None or change.before.keys() != {"date"}:
        return None
    day = datetime.fromisoformat(change.before["date"]) + timedelta(days=1)
    return day.replace(tzinfo=zone).astimezone(timezone.utc)


def _zone(name: str) -> tzinfo | None:
    """Return a zone that Java and Python understand alike."""
    if name in UTC_ZONES:
        return timezone.utc
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        ahead = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(ahead if offset[1] == "+" else -ahead) if ahead <= _WIDEST else None
    if not _REGION.fullmatch(name):
        return None
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        # No such zone is known here.
        return None
