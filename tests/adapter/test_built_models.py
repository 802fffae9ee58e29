"""The condition by which rows are of a batch: on the bare column, in the type that it has."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from dbt.adapters.icebergmv.built_models import batch_condition, time_in_batch

START = datetime(2026, 3, 1, tzinfo=timezone.utc)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def test_an_instant() -> None:
    assert batch_condition("ts", "timestamp", START + HOUR, START + 2 * HOUR) == (
        "`ts` >= timestamp'2026-03-01 01:00:00+00:00' and `ts` < timestamp'2026-03-01 02:00:00+00:00'"
    )


def test_a_time_without_zone_is_one_in_utc() -> None:
    there = timezone(timedelta(hours=9))
    start = datetime(2026, 3, 1, 9, tzinfo=there)
    assert batch_condition("ts", "timestamp_ntz", start, start + HOUR) == (
        "`ts` >= timestamp_ntz'2026-03-01 00:00:00' and `ts` < timestamp_ntz'2026-03-01 01:00:00'"
    )


@pytest.mark.parametrize("there", [timezone.utc, timezone(timedelta(hours=-5))])
def test_a_date(there: timezone) -> None:
    assert batch_condition("day", "date", START.astimezone(there), (START + DAY).astimezone(there)) == (
        "`day` >= date'2026-03-01' and `day` < date'2026-03-02'"
    )


@pytest.mark.parametrize("hour", [0, 1, 23])
def test_a_date_has_no_hours(hour: int) -> None:
    start = START + hour * HOUR
    with pytest.raises(ValueError, match="shorter than a day"):
        batch_condition("day", "date", start, start + HOUR)


def test_a_window_that_begins_inside_a_day_begins_with_the_next_date() -> None:
    found = batch_condition("day", "date", START + 5 * HOUR, START + DAY + 5 * HOUR)
    assert found == "`day` >= date'2026-03-02' and `day` < date'2026-03-03'"


def test_any_other_type_is_compared_as_dbt_compares_its_source() -> None:
    assert batch_condition("at", "string", START, START + DAY) == (
        "`at` >= '2026-03-01 00:00:00+00:00' and `at` < '2026-03-02 00:00:00+00:00'"
    )


def test_a_name_is_quoted() -> None:
    assert batch_condition("the`time", "timestamp", START, START + DAY).startswith("`the``time` >= ")


def test_the_time_of_a_row_outside_of_the_batch_raises() -> None:
    assert time_in_batch("lake.s.it's", "the`time", "`the``time` >= 1") == (
        "case when `the``time` >= 1 then `the``time` else raise_error('Cannot replace a batch of lake.s.it\\'s: "
        "the SELECT gives rows whose `the`time` is outside of it, or NULL. "
        "Give the models that it reads an `event_time`, or leave these rows out.') end"
    )
