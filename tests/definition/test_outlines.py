from __future__ import annotations

import pytest
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.edits.outlines import Outline, outline_around
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import with_edits
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse


def outlined(sql: str, name: str) -> tuple[str, Outline] | None:
    """Return the outline of a text around the first column of a name, and its text."""
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    found = outline_around(parsed, [next(c for c in parsed.tree.find_all(exp.Column) if c.name == name)])
    return None if found is None else (with_edits(sql, found.edits), found)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a FROM t WHERE k = 1", "SELECT a FROM t WHERE k = 1"),
        ("SELECT a FROM (SELECT b AS a FROM t) x WHERE k = 1", "SELECT a FROM (SELECT 1) x WHERE k = 1"),
        ("SELECT a FROM (SELECT a FROM t WHERE k = 1) x", "SELECT a FROM (SELECT a FROM t WHERE k = 1) x"),
        (
            "WITH x AS (SELECT a FROM t), y AS (SELECT a FROM x WHERE k IN (SELECT a FROM u)) SELECT a FROM y",
            "WITH x AS (SELECT 1), y AS (SELECT a FROM x WHERE k IN (SELECT 2)) SELECT a FROM y",
        ),
        (
            "SELECT a FROM t UNION ALL SELECT a FROM u WHERE k = 1 UNION SELECT a FROM v ORDER BY a LIMIT 3",
            "SELECT 1 UNION ALL SELECT a FROM u WHERE k = 1 UNION SELECT 2 ORDER BY a LIMIT 3",
        ),
        (
            "SELECT a FROM (SELECT a FROM t EXCEPT SELECT a FROM u) x JOIN (SELECT a FROM v MINUS SELECT k FROM w) y",
            "SELECT a FROM (SELECT 1) x JOIN (SELECT 2 MINUS SELECT k FROM w) y",
        ),
        (
            "SELECT k FROM t WHERE EXISTS (WITH x AS (SELECT a FROM u) SELECT a FROM x)",
            "SELECT k FROM t WHERE EXISTS (SELECT 1)",
        ),
    ],
)
def test_queries_beside_a_node_become_numbers(sql: str, expected: str) -> None:
    found = outlined(sql, "k")
    assert found is not None
    text, outline = found
    assert text == expected
    again = parse(text)
    assert isinstance(again, ParsedSql)
    assert outline.tree.this == again.tree


def test_the_nodes_that_are_left_have_copies() -> None:
    sql = "SELECT a FROM t UNION ALL SELECT a FROM u WHERE k = 1"
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    condition = parsed.tree.find(exp.EQ)
    assert condition is not None
    outline = outline_around(parsed, [condition])
    assert outline is not None
    copy = outline.copies[id(condition)]
    assert copy == condition
    assert copy is not condition
    assert copy.root() is outline.tree


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, k FROM t WHERE EXISTS (SELECT 1)",
        "SELECT k FROM t UNION ALL SELECT 1",
        "SELECT k FROM t UNION ALL BY NAME SELECT a FROM u",
    ],
)
def test_there_is_none_where_the_same_queries_are_not_found_in_the_text(sql: str) -> None:
    assert outlined(sql, "k") is None
