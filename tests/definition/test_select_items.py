"""Which part of a text is which item of a SELECT list."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import tokens_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.select_items import select_items
from tests.support.rule_tables import analysed


@pytest.mark.parametrize(
    ("sql", "at", "item"),
    [
        ("SELECT a, f(b, c) AS d FROM t", "c", "f(b, c) AS d"),
        ("SELECT DISTINCT upper(a) b, c FROM t", "a", "upper(a) b"),
        ("SELECT x, (SELECT max(y) FROM u) AS m FROM t", "y", "max(y)"),
        ("SELECT x, (SELECT max(y) FROM u) + z AS m FROM t", "z", "(SELECT max(y) FROM u) + z AS m"),
        ("SELECT extract(year FROM a) + b FROM t", "b", "extract(year FROM a) + b"),
        ("SELECT a FROM (SELECT b, m[c] FROM t)", "c", "m[c]"),
        ("SELECT 1 UNION ALL SELECT a FROM t", "a", "a"),
        ("FROM t SELECT a, b + c WHERE d", "c", "b + c"),
    ],
)
def test_the_item_around_a_token(sql: str, at: str, item: str) -> None:
    tokens = select_items(tokens_of(sql) or ())[sql.index(at)]
    assert sql[tokens[0].start : tokens[-1].end + 1] == item


def test_what_is_outside_a_select_list_is_in_no_item() -> None:
    sql = "SELECT a FROM t WHERE b IN (c)"
    items = select_items(tokens_of(sql) or ())
    assert sql.index("b") not in items
    assert sql.index("(c)") + 1 not in items


@pytest.mark.parametrize(
    ("sql", "texts"),
    [
        ("SELECT  upper( region )|| '-'  AS r FROM t", ("upper( ", " )|| '-'")),
        ("SELECT v, nvl(t.v, 0) w FROM t", ("nvl(", ", 0)")),
        ("SELECT DISTINCT concat(region, ',', region) r, v FROM t", ("concat(", ", ',', ", ")")),
        ("SELECT r FROM (SELECT hash(v) AS r FROM t)", ("hash(", ")")),
    ],
)
def test_a_computed_key_is_quoted_letter_for_letter(sql: str, texts: tuple[str, ...]) -> None:
    tracks = [t for c in analysed(sql).columns or () for t in c.tracks]
    assert texts in [getattr(step, "text", None) for t in tracks for step in t.function]
