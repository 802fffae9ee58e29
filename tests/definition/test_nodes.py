"""The nodes of a tree in one walk, against sqlglot's own."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import parse_query
from tests.support.rule_pairs import all_pairs

TYPES = ((exp.Column,), (exp.Table, exp.Subquery, exp.CTE), (exp.Func,), (exp.Select,), (exp.Expr,), (exp.Pivot,))


@pytest.mark.parametrize("types", TYPES, ids=lambda types: "_".join(t.__name__ for t in types))
def test_they_come_as_sqlglot_gives_them(types: tuple[type[exp.Expr], ...]) -> None:
    queries = [query for pair in all_pairs() if (query := parse_query(pair.sql)) is not None]
    assert len(queries) > 100
    for query in queries:
        nodes = Nodes(query)
        assert [id(n) for n in nodes.of(*types)] == [id(n) for n in query.find_all(*types)]
        assert nodes.have(*types) is (query.find(*types) is not None)
