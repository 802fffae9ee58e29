"""Where clauses and their terms are in a text."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import before_grouping, clause_of, terms_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conjuncts

CONDITIONS = {
    "a = 1": ["a = 1"],
    "a = 1 AND (b OR c) AND NOT (d AND e)": ["a = 1", "b OR c", "NOT (d AND e)"],
    "((a AND b)) AND c": ["a", "b", "c"],
    "a AND b OR c": ["a AND b OR c"],
    "a BETWEEN 1 AND 2 AND b NOT BETWEEN c AND d": ["a BETWEEN 1 AND 2", "b NOT BETWEEN c AND d"],
    "CASE WHEN a AND b THEN c AND d ELSE e OR f END AND g": ["CASE WHEN a AND b THEN c AND d ELSE e OR f END", "g"],
    "a IN (SELECT x FROM u WHERE y AND z OR w) AND f(b, c AND d)": [
        "a IN (SELECT x FROM u WHERE y AND z OR w)",
        "f(b, c AND d)",
    ],
    "(a) = (b) AND /* AND */ c LIKE ' AND (' -- AND\n AND d": ["(a) = (b)", "c LIKE ' AND ('", "d"],
}
AROUND = (
    "SELECT x FROM t WHERE {}",
    "SELECT x, CASE WHEN z THEN y END AS k FROM t WHERE {} GROUP BY x HAVING max(y) > 1 AND true ORDER BY x LIMIT 3",
    "WITH c AS (SELECT x FROM v WHERE n > 1 AND n < 3) SELECT * FROM (SELECT x FROM t WHERE {}) s UNION SELECT 1",
    "SELECT (SELECT max(q) FROM w WHERE q > 2 AND r) AS m, x FROM t JOIN (SELECT * FROM v) b ON b.x = t.x WHERE {}",
)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_terms_of_a_condition(around: str, condition: str) -> None:
    sql = around.format(condition)
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    tokens = parsed.tokens
    selects = (s for s in parsed.tree.find_all(exp.Select) if any(t.name == "t" for t in own_tables(s)))
    where = next(selects).args["where"]
    span = clause_of(where, tokens)
    assert span is not None
    found = [sql[tokens[t.start].start : tokens[t.end - 1].end + 1] for t in terms_of(span, tokens)]
    assert found == CONDITIONS[condition]
    assert len(found) == len(list(conjuncts(where.this)))


def own_tables(select: exp.Select) -> list[exp.Expr]:
    from_ = select.args.get("from_")
    return [] if from_ is None else [from_.this]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT max(x) AS m FROM t|",
        "SELECT max(x) AS m FROM t WHERE a IS DISTINCT FROM b|",
        "SELECT max(x IS DISTINCT FROM y) AS m, extract(YEAR FROM max(d)) AS y FROM t JOIN u ON t.a = u.a| ORDER BY 1",
        "SELECT max(x) AS m FROM (SELECT x FROM t GROUP BY x) s| -- the end",
    ],
)
def test_where_a_having_may_be_put(sql: str) -> None:
    before, _, _ = sql.partition("|")
    parsed = parse(sql.replace("|", ""))
    assert isinstance(parsed, ParsedSql) and isinstance(parsed.tree, exp.Select)
    behind = before_grouping(parsed.tree, parsed.tokens)
    assert behind is not None
    assert parsed.tokens[behind - 1].end + 1 == len(before)
