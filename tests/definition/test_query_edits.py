"""Edits of a query as places in its text; what cannot be found for certain is not edited."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.asking.query_edits import text_edits
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import with_edits
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Edit, EditKind


def edited(sql: str, kind: EditKind, type_: type[exp.Expr], at: int = 0) -> str | None:
    """Return the text with one edit of the node of a type, the first one in the tree or a later one."""
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    node = [n for n in parsed.tree.walk(bfs=False) if type(n) is type_][at]
    edits = text_edits(parsed, [Edit(kind, id(node))])
    return None if edits is None else with_edits(sql, edits)


SUBQUERIES: dict[str, tuple[EditKind, str]] = {
    "SELECT x FROM t WHERE a IN (SELECT b FROM u)": ("in", "SELECT x FROM t WHERE a IN (SELECT b FROM u)"),
    "SELECT x FROM t WHERE y AND NOT a + 1 IN (SELECT b FROM u)": (
        "in",
        "SELECT x FROM t WHERE y AND a + 1 IN (SELECT b FROM u)",
    ),
    "SELECT x FROM t WHERE (f(a, b) NOT IN (SELECT b FROM u) OR z > 1) AND y": (
        "in",
        "SELECT x FROM t WHERE (f(a, b) IN (SELECT b FROM u)) AND y",
    ),
    "SELECT x FROM t WHERE (a, b) IN (SELECT b, c FROM u) OR NOT EXISTS (SELECT 1 FROM v)": (
        "in",
        "SELECT x FROM t WHERE (a, b) IN (SELECT b, c FROM u)",
    ),
    "SELECT x FROM t WHERE CASE WHEN y THEN 1 IN (SELECT b FROM u) ELSE z END AND w": (
        "in",
        "SELECT x FROM t WHERE 1 IN (SELECT b FROM u) AND w",
    ),
    "SELECT x FROM t WHERE y AND NOT EXISTS (SELECT 1 FROM u WHERE a AND b) AND z": (
        "exists",
        "SELECT x FROM t WHERE y AND EXISTS (SELECT 1 FROM u WHERE a AND b) AND z",
    ),
    "SELECT x FROM t WHERE a > 2 * (SELECT max(b) FROM u) - 1 AND z": (
        "exists",
        "SELECT x FROM t WHERE EXISTS (SELECT max(b) FROM u) AND z",
    ),
    "SELECT x FROM t WHERE a NOT IN (WITH c AS (SELECT 1 AS b) SELECT b FROM c)": (
        "exists",
        "SELECT x FROM t WHERE EXISTS (WITH c AS (SELECT 1 AS b) SELECT b FROM c)",
    ),
}


@pytest.mark.parametrize("sql", SUBQUERIES)
def test_a_term_is_cut_down_to_its_subquery(sql: str) -> None:
    kind, text = SUBQUERIES[sql]
    assert edited(sql, kind, exp.Select, 1) == text


COPIED: dict[str, tuple[EditKind, str]] = {
    "SELECT f(EXISTS (SELECT 1 FROM u)) FROM t": ("where exists", " FROM t WHERE EXISTS (SELECT 1 FROM u)"),
    "SELECT 2 * (SELECT max(b) FROM u) FROM t JOIN v ON t.a = v.a WHERE(x)GROUP BY ALL": (
        "where exists",
        " FROM t JOIN v ON t.a = v.a WHERE EXISTS (SELECT max(b) FROM u) AND ((x))GROUP BY ALL",
    ),
    "SELECT x, CASE WHEN NOT f(a, b) NOT IN (SELECT b FROM u) THEN y END AS z FROM t ORDER BY 1": (
        "where in",
        " FROM t WHERE f(a, b) IN (SELECT b FROM u) ORDER BY 1",
    ),
    "SELECT count_if(a + 1 IN (SELECT b FROM u) AND x) FROM t LATERAL VIEW explode(c) AS d WHERE y OR z -- or so": (
        "where in",
        " FROM t LATERAL VIEW explode(c) AS d WHERE a + 1 IN (SELECT b FROM u) AND ( y OR z) -- or so",
    ),
}


@pytest.mark.parametrize("sql", COPIED)
def test_a_subquery_of_a_list_is_copied_to_the_where(sql: str) -> None:
    kind, text = COPIED[sql]
    own = sql.index(" FROM t")
    assert edited(sql, kind, exp.Select, 1) == f"{sql[:own]}{text}"


def test_a_copy_has_the_edits_of_what_it_copies() -> None:
    sql = "SELECT EXISTS (SELECT x FROM u WHERE NOT EXISTS (SELECT 1 FROM v)) FROM t WHERE y"
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    _, one, two = (s for s in parsed.tree.walk(bfs=False) if isinstance(s, exp.Select))
    edits = text_edits(parsed, [Edit("where exists", id(one)), Edit("exists", id(two))])
    inside = "EXISTS (SELECT x FROM u WHERE EXISTS (SELECT 1 FROM v))"
    assert edits is not None and with_edits(sql, edits) == f"SELECT {inside} FROM t WHERE {inside} AND ( y)"


def test_an_edit_inside_a_part_that_goes_has_no_effect() -> None:
    sql = "SELECT x FROM t WHERE y IN (SELECT a FROM v WHERE w) OR b IN (SELECT c FROM u)"
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    _, one, two = (s for s in parsed.tree.walk(bfs=False) if isinstance(s, exp.Select))
    edits = text_edits(parsed, [Edit("in", id(two)), Edit("all rows", id(one.args["where"].this))])
    assert edits is not None and with_edits(sql, edits) == "SELECT x FROM t WHERE b IN (SELECT c FROM u)"


@pytest.mark.parametrize(
    ("sql", "kind", "type_", "at"),
    [
        # A list of one value that is a subquery is no list of rows.
        ("SELECT x FROM t WHERE a IN ((SELECT b FROM u))", "in", exp.Select, 1),
        # No name says where this SELECT is.
        ("SELECT 1 WHERE 1 IN (SELECT 2)", "in", exp.Select, 1),
        ("SELECT count(*) AS c FROM (SELECT 1) HAVING count(*) > 1", "some row", exp.Select, 1),
    ],
)
def test_what_cannot_be_found_is_not_edited(sql: str, kind: EditKind, type_: type[exp.Expr], at: int) -> None:
    assert edited(sql, kind, type_, at) is None
