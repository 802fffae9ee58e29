"""One more term in a WHERE: the text with it parses to the tree with it."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.edits.added_terms import add_term, edits_for_term
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse, parse_expression, parses_to

TERM = "t.v > 3"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT v FROM t", "SELECT v FROM t WHERE t.v > 3"),
        ("SELECT v FROM t -- all\n GROUP BY v", "SELECT v FROM t WHERE t.v > 3 -- all\n GROUP BY v"),
        ("SELECT v FROM t ORDER BY v LIMIT 3", "SELECT v FROM t WHERE t.v > 3 ORDER BY v LIMIT 3"),
        ("SELECT v FROM t JOIN u ON t.k = u.k", "SELECT v FROM t JOIN u ON t.k = u.k WHERE t.v > 3"),
        ("SELECT v FROM t WHERE a OR b", "SELECT v FROM t WHERE t.v > 3 AND ( a OR b)"),
        ("SELECT v FROM t WHERE/* as */a HAVING v > 1", "SELECT v FROM t WHERE t.v > 3 AND (/* as */a) HAVING v > 1"),
        ("SELECT v FROM t WHERE (a) = b QUALIFY rank() OVER (ORDER BY v) = 1", None),
    ],
)
def test_text_and_tree_agree(sql: str, expected: str | None) -> None:
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    assert isinstance(parsed.tree, exp.Select)
    edits = edits_for_term(parsed.tree, TextEdit(0, 0, TERM), parsed.tokens)
    assert edits is not None
    text = with_edits(sql, edits)
    assert expected is None or text == expected
    add_term(parsed.tree, parse_expression(TERM))
    assert parses_to(text, parsed.tree)


def test_the_term_is_before_what_is_added_to_the_first_one() -> None:
    parsed = parse("SELECT v FROM t WHERE a")
    assert isinstance(parsed, ParsedSql)
    assert isinstance(parsed.tree, exp.Select)
    found = edits_for_term(parsed.tree, TextEdit(0, 0, "b"), parsed.tokens)
    assert found is not None
    assert [edit.order for edit in found] == [-1, 0]
