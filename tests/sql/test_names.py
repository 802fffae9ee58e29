"""Dotted names as text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dbt.adapters.icebergmv.maintenance.sql.names import parse_name, show, split_name
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified

PARTS = st.text(min_size=1, max_size=6) | st.sampled_from(["a", "`", "``", ".", "a.b", "é", "1a", "a b", "\n", "$x"])


@given(PARTS, PARTS, PARTS)
@example("`", ".`.", "``")
def test_there_and_back(catalog: str, namespace: str, name: str) -> None:
    assert parse_name(show((catalog, namespace, name))) == (catalog, namespace, name)


def test_only_parts_that_need_it_are_quoted() -> None:
    assert show(("lake", "_a1", "b-c")) == "lake._a1.`b-c`"
    assert show(("lake", "a\n", "1")) == "lake.`a\n`.`1`"
    assert parse_name("lake.a.my table") == ("lake", "a", "my table")


@pytest.mark.parametrize(
    "text", ["", "a", "a.b", "a.b.c.d", "a..c", ".a.b", "a.b.", "a.b.c.", "`a.b.c", "a.b.`c", "`a``.b.c", "a`b`.c.d"]
)
def test_no_name(text: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        parse_name(text)


@given(st.lists(PARTS, min_size=1, max_size=5))
@example(["a"])
@example(["c", "s.x", "we`ird $t"])
def test_names_of_any_length_there_and_back(parts: list[str]) -> None:
    assert split_name(qualified(*parts)) == tuple(parts)


def test_plain_and_quoted_parts_mix() -> None:
    assert split_name("lake.a.`b.c`") == ("lake", "a", "b.c")


@pytest.mark.parametrize("text", ["", "a.", ".a", "`a", "`a`b", "a..b"])
def test_no_dotted_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a dotted name: .* at position \d"):
        split_name(text)
