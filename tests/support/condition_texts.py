"""SELECTs in which a word that Spark does not reserve begins a condition, or is an alias of the table before it."""

from __future__ import annotations

ALIASES = [
    "SELECT flag FROM t WHERE (flag)",
    "SELECT 1 AS one FROM t WHERE (false) GROUP BY flag",
    "SELECT a FROM t WHERE (a, `b`)",
    "SELECT a FROM t AS x JOIN u WHERE (flag)",
    "SELECT a FROM t AS x NATURAL JOIN u WHERE (flag)",
    "SELECT flag FROM (SELECT flag FROM t) WHERE (flag)",
    "WITH c AS (SELECT flag FROM t WHERE (flag)) SELECT * FROM c",
    "SELECT a FROM t AS x JOIN (SELECT b FROM u WHERE (b)) AS y ON x.a = y.b",
    "SELECT d, w FROM (SELECT region AS d, id AS a FROM t) WHERE (a, d) JOIN u ON w = 1",
    "SELECT d FROM (SELECT region AS d, id AS a FROM t) WHERE (a, d) LATERAL VIEW explode(array(1)) e AS x",
    "SELECT a FROM (SELECT region AS d, id AS a FROM t) HAVING (a, d)",
    "SELECT a FROM (SELECT region AS d, id AS a FROM t) QUALIFY (a, d)",
]
"""Spark finds no condition in these."""

CONDITIONS = [
    "SELECT flag FROM t WHERE flag",
    "SELECT flag FROM t WHERE ((flag))",
    "SELECT flag FROM t WHERE (t.flag)",
    "SELECT flag FROM t WHERE (flag) AND 1 = 1",
    "SELECT flag FROM t WHERE (coalesce(lower(a), b) = 'x')",
    "SELECT flag FROM t AS x WHERE (flag)",
    "SELECT a FROM t AS x JOIN u USING (a) WHERE (flag)",
    "SELECT a FROM t AS x JOIN u ON x.a = u.a WHERE (flag)",
    "SELECT 1 AS one FROM t LATERAL VIEW explode(a) e WHERE (flag)",
    "SELECT 1 AS one FROM t PIVOT (sum(a) FOR b IN (1)) WHERE (flag)",
    "SELECT flag, count(*) AS n FROM t GROUP BY flag HAVING (flag)",
]
"""Spark finds one in these."""
