"""Session time zones: no local time that an instant has is lost, nor an instant that a local time may mean."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.icebergmv.maintenance.predicates.date_functions import TIMESTAMP_TO_DATE
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Inverse
from dbt.adapters.icebergmv.maintenance.predicates.local_time import SAMPLED_EVERY, LocalTime, Offsets
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_DAY, MICROS_PER_HOUR

ZONES = ["Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
START, END = (int((datetime(y, 1, 1, tzinfo=timezone.utc) - EPOCH).total_seconds()) * 10**6 for y in (2010, 2013))
INSTANTS = st.integers(START + 40 * MICROS_PER_DAY, END - 40 * MICROS_PER_DAY)


def local(zone: str, instant: int) -> int:
    when = EPOCH + timedelta(microseconds=instant)
    return int((when.astimezone(ZoneInfo(zone)).replace(tzinfo=timezone.utc) - EPOCH) / timedelta(microseconds=1))


def offsets(zone: str) -> Offsets:
    samples = [(i, local(zone, i) - i) for i in range(START, END + 1, SAMPLED_EVERY)]
    changes = [s for n, s in enumerate(samples) if n == 0 or s[1] != samples[n - 1][1]]
    return Offsets(tuple(changes), samples[-1][0])


KNOWN = {zone: LocalTime(offsets(zone)) for zone in ZONES}


@given(INSTANTS, st.integers(0, 3 * MICROS_PER_DAY), st.sampled_from(ZONES), st.booleans())
def test_instants_in_a_range_have_local_times_in_its_image(instant: int, width: int, zone: str, known: bool) -> None:
    step = KNOWN[zone] if known else LocalTime()
    wall = local(zone, instant)
    assert step.image(Domain.between(Range(instant - width, instant + width // 2))).contains(wall)
    assert step.preimage(Domain.between(Range(wall - width // 2, wall + width))).contains(instant)
    assert step.image(Domain.between(Range(None, instant))).contains(wall)
    assert step.preimage(Domain.between(Range(wall, None, True, False))).contains(instant)


@pytest.mark.parametrize("zone", ZONES)
def test_a_day_touches_few_local_days(zone: str) -> None:
    """Two, but where a day is skipped or repeated; a wide bound would give four."""
    for number in range(START // MICROS_PER_DAY + 40, START // MICROS_PER_DAY + 400):
        day = Domain.between(Range(number * MICROS_PER_DAY, (number + 1) * MICROS_PER_DAY, True, False))
        (days,) = TIMESTAMP_TO_DATE.image(KNOWN[zone].image(day)).ranges
        assert isinstance(days.low, int)
        assert isinstance(days.high, int)
        assert days.high - days.low <= (2 if zone == "Pacific/Apia" else 1)


def test_wall_times_in_a_gap_lead_to_the_instants_that_they_are_read_as() -> None:
    """Sao Paulo left midnight out on 2012-10-21; java.time reads 00:30 there as 01:30, which is 03:30 UTC."""
    midnight = int((datetime(2012, 10, 21, tzinfo=timezone.utc) - EPOCH).total_seconds()) * 10**6
    found = KNOWN["America/Sao_Paulo"].preimage(Domain.of(midnight + MICROS_PER_HOUR // 2))
    assert found.contains(midnight + 3 * MICROS_PER_HOUR + MICROS_PER_HOUR // 2)


def test_null_and_nothing() -> None:
    assert KNOWN["UTC"].image(Domain.only_null()) == Domain.only_null()
    assert LocalTime().image(Domain.all()).is_all
    assert LocalTime().preimage(Domain.none()).is_none


@pytest.mark.parametrize("hours", [2, 24])
def test_times_on_a_wall_that_skips_hours_are_found_again(hours: int) -> None:
    """Antarctica/Troll skips two hours a year, Pacific/Apia skipped a day; a skipped time means a later one."""
    hour = 3_600_000_000
    zone = LocalTime(Offsets(((-1000 * hour, 0), (0, hours * hour)), 1000 * hour))
    for skipped in range(0, hours * hour, hour // 2):
        instant = skipped  # By the offset before the change, which is 0.
        assert Inverse(zone).image(Domain.of(skipped)).contains(instant)
        assert Inverse(zone).preimage(Domain.of(instant)).contains(skipped)
