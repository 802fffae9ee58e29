"""Spans of time as they are configured, and in words."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import ago, span, time_span


@pytest.mark.parametrize(
    ("text", "seconds"),
    [(None, None), ("1 hour", 3600), (" 90  Minutes ", 5400), ("0 seconds", 0), ("2 WEEKS", 1_209_600)],
)
def test_what_is_a_span(text: str | None, seconds: int | None) -> None:
    assert time_span("target_lag", text) == seconds


@pytest.mark.parametrize(
    "text", ["1", "hour", "", "-1 hour", "1.5 hours", 3600, True, "1 month", "DOWNSTREAM", ["1 hour"]]
)
def test_what_is_none_names_the_setting_and_an_example(text: object) -> None:
    with pytest.raises(InvalidConfig, match=r"^target_lag is .* such as '15 minutes'"):
        time_span("target_lag", text)


def test_a_year_is_the_longest() -> None:
    assert time_span("target_lag", "366 days") == 366 * 86_400
    with pytest.raises(InvalidConfig, match=r"^target_lag is '53 weeks'\. A year is the longest"):
        time_span("target_lag", "53 weeks")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds ago"), (1, "1 second ago"), (119, "1 minute ago"), (7200, "2 hours ago"), (200_000, "2 days ago")],
)
def test_how_long_ago(seconds: int, words: str) -> None:
    assert ago(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (60, "1 minute"),
        (5400, "90 minutes"),
        (90_000, "25 hours"),
        (86_400, "1 day"),
        (61, "61 seconds"),
    ],
)
def test_a_span_loses_nothing(seconds: int, words: str) -> None:
    assert span(seconds) == words
