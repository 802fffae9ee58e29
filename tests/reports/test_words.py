"""Numbers and tables in words."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.reports.words import aligned, listed, size, table


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
