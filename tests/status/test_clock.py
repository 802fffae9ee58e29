"""What the clock says in a session, by Python, and whether it moved."""

from __future__ import annotations

from datetime import datetime

import pytest

from dbt.adapters.icebergmv.maintenance.status.session.clock import ClockChange, clock_change, clock_of, utc_now
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import TIME_ZONE

DATES = [
    ("UTC", "2026-11-22T23:59:59.999999+00:00", "2026-11-22"),
    ("UTC", "2026-11-23T00:00:00+00:00", "2026-11-23"),
    ("America/New_York", "2026-11-23T04:59:59+00:00", "2026-11-22"),
    ("America/New_York", "2026-11-23T05:00:00+00:00", "2026-11-23"),
    # Daylight saving: midnight is an hour earlier in UTC.
    ("America/New_York", "2026-07-01T03:59:59+00:00", "2026-06-30"),
    ("America/New_York", "2026-07-01T04:00:00+00:00", "2026-07-01"),
    # The days on which the clocks change, and a zone without that midnight.
    ("Europe/Berlin", "2026-03-28T23:00:00+00:00", "2026-03-29"),
    ("Europe/Berlin", "2026-03-29T22:00:00+00:00", "2026-03-30"),
    ("America/Santiago", "2026-09-06T03:59:59+00:00", "2026-09-05"),
    ("America/Santiago", "2026-09-06T04:00:00+00:00", "2026-09-06"),
    ("Asia/Kolkata", "2026-11-22T18:30:00+00:00", "2026-11-23"),
    ("America/Argentina/Buenos_Aires", "2026-11-22T02:59:59+00:00", "2026-11-21"),
    ("Etc/GMT+12", "2026-11-22T11:59:59+00:00", "2026-11-21"),
    ("+14:00", "2026-11-22T10:00:00+00:00", "2026-11-23"),
    ("-03:30", "2026-11-22T03:29:59+00:00", "2026-11-21"),
]


@pytest.mark.parametrize(("zone", "moment", "date"), DATES)
def test_the_date_is_that_of_the_zone(zone: str, moment: str, date: str) -> None:
    clock = clock_of({TIME_ZONE: zone}, datetime.fromisoformat(moment))
    assert clock is not None
    assert clock["date"] == date


def test_the_time_is_an_instant_and_a_time_on_the_wall() -> None:
    clock = clock_of({TIME_ZONE: "Europe/Berlin"}, datetime.fromisoformat("2026-10-25T00:30:00+00:00"))
    assert clock == {
        "date": "2026-10-25",
        "timestamp": "2026-10-25 00:30:00.000000Z",
        "timestamp_ntz": "2026-10-25 02:30:00.000000",
    }


@pytest.mark.parametrize(
    "zone",
    [None, "", "PST", "EST5EDT", "GMT+8", "UTC+1", "+1", "+19:00", "Europe/Atlantis", "europe/berlin", "../etc/passwd"],
)
def test_the_clock_of_an_odd_zone_is_not_known(zone: str | None) -> None:
    assert clock_of({} if zone is None else {TIME_ZONE: zone}, utc_now()) is None


def test_a_clock_that_did_not_move() -> None:
    assert clock_change({"date": "2026-11-22"}, {"date": "2026-11-22", "timestamp": "of another definition"}) is None
    assert clock_change({}, {}) is None


@pytest.mark.parametrize(("before", "now"), [("2026-11-21", "2026-11-22"), ("2026-11-23", "2026-11-22")])
def test_a_clock_may_go_back(before: str, now: str) -> None:
    change = clock_change({"date": now}, {"date": before})
    assert change == ClockChange({"date": before}, {"date": now})
    assert str(change) == f"the date moved from {before} to {now}"


def test_a_clock_that_is_not_recorded() -> None:
    change = clock_change({"date": "2026-11-22"}, {"timestamp": "2026-11-22 00:00:00.000000Z"})
    assert change is not None
    assert change.before is None
    assert str(change) == "the date of the last refresh is not recorded"


def test_people_read_of_the_time_where_both_moved() -> None:
    change = clock_change({"date": "2", "timestamp": "b"}, {"date": "1", "timestamp": "a"})
    assert str(change) == "the time moved from a to b"
