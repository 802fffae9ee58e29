"""Facts of a whole SELECT."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import parse_query
from dbt.adapters.icebergmv.maintenance.definition.syntax.query_facts import is_joined_by_where, needs_tables

NEEDS_TABLES = {
    "SELECT id FROM t": True,
    "SELECT id, (SELECT 1) AS one FROM t": True,
    "SELECT region, count(*) AS c FROM t GROUP BY region": True,
    "SELECT sum(v) OVER () AS s FROM t": True,
    "SELECT count(*) AS c FROM t": False,
    "SELECT my_function(v) AS c FROM t": False,
    "SELECT id FROM t UNION ALL SELECT 1": False,
    "SELECT x FROM VALUES (1) AS v(x)": False,
    "SELECT id FROM range(3)": False,
}


@pytest.mark.parametrize("sql", NEEDS_TABLES)
def test_whether_every_row_comes_from_tables(sql: str) -> None:
    tree = parse_query(sql)
    assert tree is not None
    assert needs_tables(Nodes(tree)) is NEEDS_TABLES[sql]


@pytest.mark.parametrize(
    ("joins", "by_where"),
    [
        ("t, u", False),
        ("t, u JOIN w ON u.a = w.a", True),
        ("t JOIN u ON t.a = u.a, w", False),
        ("t CROSS JOIN u, w", True),
    ],
)
def test_whether_a_join_leaves_its_condition_to_where(joins: str, by_where: bool) -> None:
    tree = parse_query(f"SELECT t.a FROM {joins} WHERE t.a = 1")
    assert isinstance(tree, exp.Select)
    assert is_joined_by_where(tree) is by_where
