"""Which columns of its tables a SELECT may compare."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.references.compared_columns import compared_names
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import find_references
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import parse_expression


def names_of(sql: str) -> frozenset[str] | None:
    return compared_names(Nodes(parse_expression(sql)))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k FROM t WHERE x > 1",
        "SELECT k FROM t WHERE NOT (T.X <= 1) OR k = 2",
        "SELECT k FROM t WHERE isnan(x)",
        "SELECT k FROM t JOIN u ON t.x = u.k",
        "SELECT k FROM t LEFT SEMI JOIN u USING (x)",
        "SELECT x, count(*) AS n FROM t GROUP BY x HAVING x BETWEEN 1 AND 2",
        "SELECT k FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY d) < x",
        "SELECT sum(CASE WHEN x > 1 THEN 1 END) AS n FROM t",
        "SELECT count(*) FILTER (WHERE x > 1) AS n FROM t",
        "SELECT CASE x WHEN 1 THEN 'a' END AS c FROM t",
        "SELECT nullif(x, 0) AS c FROM t",
        "SELECT nullifzero(x) AS c FROM t",
        "SELECT decode(x, 0, 'a') AS c FROM t",
        "SELECT equal_null(x, 0) AS c FROM t",
        "SELECT boolean(x) AS c FROM t",
        "SELECT k FROM t WHERE k IN (SELECT x FROM u)",
        "SELECT k FROM t WHERE k = (SELECT x FROM u LIMIT 1)",
        "SELECT k FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.x = t.k)",
        "SELECT k FROM t WHERE s.x > 1",
        "SELECT k FROM (SELECT k, q.x.i.* FROM t AS q) WHERE a > 1",
        "SELECT x FROM t INTERSECT SELECT 0D AS k",
        "SELECT 0D AS k EXCEPT SELECT x FROM t",
    ],
)
def test_what_conditions_name_is_compared(sql: str) -> None:
    found = names_of(sql)
    assert found is not None
    assert "x" in found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k FROM (SELECT k, x AS y FROM t) WHERE y > 1",
        "WITH c AS (SELECT k, x * 2 AS y FROM t), d AS (SELECT k, -y AS z FROM c) SELECT k FROM d WHERE z > 1",
        "WITH c (k, y) AS (SELECT k, x FROM t) SELECT k FROM c WHERE y > 1",
        "SELECT k FROM (SELECT k, x FROM t) AS v(k, y) WHERE y > 1",
        "SELECT y FROM (SELECT w AS y FROM u UNION ALL SELECT x FROM t) WHERE y > 1",
        "SELECT k FROM (SELECT k, named_struct('a', x) AS s FROM t) WHERE s.a > 1",
        "SELECT k FROM (SELECT s.* FROM (SELECT struct(x AS a) AS s FROM t)) WHERE a > 1",
        "SELECT k FROM (SELECT s.a FROM (SELECT struct(x AS a) AS s FROM t)) WHERE a > 1",
        "SELECT k FROM (SELECT k, x + 1 FROM t) WHERE `(x + 1)` > 1",
        "SELECT k FROM (SELECT CASE WHEN k = 1 THEN x END AS y FROM t) WHERE y > 1",
        "SELECT k FROM t LATERAL VIEW explode(array(x)) e AS y WHERE y > 1",
    ],
)
def test_names_lead_down_to_those_that_they_are_made_of(sql: str) -> None:
    found = names_of(sql)
    assert found is not None
    assert "x" in found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, sum(x) AS x2 FROM t GROUP BY k",
        "SELECT k, sum(x) AS total FROM t WHERE d >= 1 GROUP BY k HAVING total > 1 AND avg(x) > 2",
        "SELECT k, x FROM t WHERE x IS NOT NULL AND k = 1",
        "SELECT DISTINCT x FROM t ORDER BY x LIMIT 1",
        "SELECT x, count(*) AS n FROM t GROUP BY x",
        "SELECT k, x FROM (SELECT k, x, row_number() OVER (PARTITION BY k ORDER BY x) AS n FROM t) WHERE n = 1",
        "SELECT x FROM t UNION ALL SELECT x FROM u",
        "SELECT * FROM t UNION ALL SELECT * FROM u",
        "SELECT t.x FROM t JOIN u ON t.k = u.k",
        "SELECT CASE WHEN k = 1 THEN x ELSE 0 END AS y FROM t",
        "SELECT x FROM t WHERE EXISTS (SELECT * FROM u WHERE u.k = t.k)",
        "SELECT k, max(x) AS x2 FROM t GROUP BY k HAVING count(*) > 1",
    ],
)
def test_what_is_only_shown_or_added_up_is_not_compared(sql: str) -> None:
    found = names_of(sql)
    assert found is not None
    assert "x" not in found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k FROM t NATURAL JOIN u",
        "SELECT k FROM t AS v(k, y) WHERE y > 1",
        "SELECT k FROM t WHERE k IN (SELECT * FROM u)",
        "SELECT k FROM (SELECT * FROM t UNION ALL SELECT * FROM u) WHERE k > 1",
        "SELECT * FROM t EXCEPT SELECT * FROM u",
        "SELECT * FROM t PIVOT (sum(x) FOR k IN (1, 2)) WHERE `1` > 2",
    ],
)
def test_any_column_may_be_compared_where_places_count(sql: str) -> None:
    assert names_of(sql) is None


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT k FROM t WHERE x > 1", ["x"]),
        ("SELECT k FROM ns.t WHERE ns.t.x > 1", []),
        ("SELECT k FROM t TABLESAMPLE (10 ROWS) WHERE x > 1", []),
        ("SELECT k, _file FROM t WHERE x > 1", []),
    ],
)
def test_a_reference_says_so_if_a_subquery_may_take_its_place(sql: str, expected: list[str]) -> None:
    (reference,) = find_references(parse_expression(sql), "ns").tables
    assert reference.compared == frozenset(expected)
