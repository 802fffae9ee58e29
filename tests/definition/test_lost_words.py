"""Texts of which sqlglot loses a name, or joins and groups otherwise than Spark: they are not understood."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import NotParsed, ParsedSql, parse

JOINS = ("LEFT", "LEFT OUTER", "RIGHT", "FULL", "LEFT ANTI", "ANTI", "LEFT SEMI", "SEMI", "NATURAL", "CROSS", "")
LOST = [
    *(f"SELECT d, w FROM (SELECT id, d FROM t) window {kind} JOIN p ON id = i" for kind in JOINS),
    "SELECT * FROM t JOIN u window USING (id)",
    "SELECT * FROM q window WHERE flag",
    "SELECT * FROM t qualify LEFT JOIN u ON a = b",
    "SELECT * FROM t WHERE a LEFT JOIN u ON a = b",
    *(f"SELECT concat(region, interval {rest}) AS c FROM t" for rest in ("- 1", "+ 1", "- k", "* 2", "[0]", "- k day")),
    "SELECT concat(region, time_trunc('HOUR', closed)) AS x FROM t",
    "SELECT time_diff('MINUTE', opened, closed) AS x FROM t",
    "SELECT id FROM t WHERE v BETWEEN symmetric - 1 AND 10",
    "SELECT id FROM t WHERE v BETWEEN asymmetric - 1 AND 10",
    "SELECT +k AS r FROM t; -- c",
    "SELECT k FROM t; SELECT +1",
    "SELECT `k\x1f` AS a, k AS z FROM t",
    "SELECT split('list', w)[0] AS x FROM t",
    "SELECT split('array', w)[0], element_at(m, 'a') AS x FROM t",
    "SELECT t.user-defined AS x, id FROM t",
    "SELECT k, v /* a /*+ x */ FROM t WHERE flag --*/ FROM t",
    "SELECT a = b < c AS x FROM t",
    "SELECT a <> b >= c AS x FROM t",
    "SELECT a <=> b > c AS x FROM t",
    "SELECT a | b & c AS x FROM t",
    "SELECT a ^ b << c AS x FROM t",
    "SELECT a >> b || c AS x FROM t",
    "SELECT round(values - 1), coalesce(values['a'], v) AS x FROM t",
    "SELECT sum(x) OVER (ORDER BY q.all) AS s FROM q",
    "SELECT count(DISTINCT fetch, v) AS n FROM t",
    "SELECT k RLIKE c /*+ x */ + 1 FROM t WHERE a LATERAL + 1",
    "SELECT sum(v) OVER w AS s FROM t WINDOW w AS (PARTITION BY region), W AS (PARTITION BY id)",
    "SELECT 0x1f AS a, id FROM t",
    "SELECT id FROM (TABLE t)",
    "SELECT id FROM STREAM t",
]
UNDERSTOOD = [
    "SELECT sum(v) OVER w AS s FROM t WINDOW w AS (PARTITION BY region), w2 AS (PARTITION BY id)",
    "SELECT X'1f' AS a, x'' AS b, id FROM `table` t JOIN s.stream u",
    "SELECT sum(k) OVER w AS s, window(ts, '1 day') AS p FROM t AS `window` WINDOW w AS (PARTITION BY r)",
    "SELECT window.start AS s, count(*) AS n FROM t GROUP BY window(ts, '1 hour')",
    "SELECT window.k, x.window FROM t AS window LEFT JOIN u AS x ON x.k = window.k",
    "SELECT * FROM t WHERE a IN (SELECT b FROM u LEFT JOIN v ON u.c = v.c) UNION SELECT * FROM w JOIN x USING (k)",
    "SELECT q.interval, x.interval + 1, CAST(a AS INTERVAL DAY) FROM q JOIN x ON q.k = x.k",
    "SELECT d + INTERVAL 1 DAY, d - INTERVAL '2' HOURS, d - INTERVAL -3 days, INTERVAL '1 day 2 hours' FROM t",
    "SELECT v BETWEEN 1 AND 2, extract(dayofweek FROM d), date_add(MONTH, 1, d), trim(BOTH ' ' FROM s) FROM t",
    "SELECT xs[0], m['a'][1], `list`[0], list[0], element_at(m, 'a'), array(1, 2)[0] FROM t",
    "SELECT (a = b) < c, a = (b < c), a < b = c, (a | b) & c, a & b & c FROM t",
    "SELECT first(k) IGNORE NULLS, sum(k) OVER (ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t",
    "SELECT EXISTS (SELECT 1 FROM u), coalesce((SELECT max(k) FROM u), 0), k IN (SELECT k FROM u) FROM t",
    "SELECT k FROM (VALUES (1), (2)) AS t(k) UNION ALL VALUES (3)",
    "SELECT k FROM t ORDER BY k NULLS LAST /* a comment */ -- another",
    "SELECT explode(input => xs), x::int + 1, `user-defined` FROM t",
    "SELECT /*+ BROADCAST(u), REPARTITION(3) */ t.k + 1 FROM t JOIN u ON t.k = u.k",
]


@pytest.mark.parametrize("sql", LOST)
def test_they_are_not_understood(sql: str) -> None:
    assert isinstance(parse(sql), NotParsed)


@pytest.mark.parametrize("sql", UNDERSTOOD)
def test_their_like_are_understood(sql: str) -> None:
    found = parse(sql)
    assert isinstance(found, ParsedSql), found.reason


def test_a_sign_behind_all_is_one() -> None:
    found = parse("SELECT ALL + region AS r, sort_array(xs, 1 + 1 = 2) AS s FROM t")
    assert isinstance(found, ParsedSql)
    assert "POSITIVE(region)" in found.tree.sql(dialect="spark")
