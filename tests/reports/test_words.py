"""Numbers, times and tables in words."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.reports.words import ago, aligned, listed, size, table


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds ago"), (1, "1 second ago"), (119, "1 minute ago"), (7200, "2 hours ago"), (200_000, "2 days ago")],
)
def test_a_time_span(seconds: int, words: str) -> None:
    assert ago(seconds) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 B"), (999, "999 B"), (1234, "1.2 kB"), (123_456, "123 kB"), (10**9, "1.0 GB"), (3 * 10**15, "3000.0 TB")],
)
def test_a_size(number: int, words: str) -> None:
    assert size(number) == words
    assert size(None) == "?"


def test_a_list() -> None:
    assert listed(["a"], "or") == "a"
    assert listed(["a", "b", "c"], "or") == "a, b or c"


def test_a_table() -> None:
    assert table(("name", "is"), [("long name", "x"), ("b", "")]) == ["NAME       IS", "long name  x", "b"]
    assert aligned([("a", "b")]) == ["a  b"]
