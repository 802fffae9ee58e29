"""Views with values that depend on the order of rows; the first column of each names the rows that go together."""

from __future__ import annotations

from collections.abc import Mapping

from tests.randomised.mutants import view
from tests.randomised.views import View

_ANY = "SELECT region, any_value(v) AS l FROM t0 GROUP BY region"
_NUMBERED = (
    "SELECT id, region, v, w, row_number() OVER (PARTITION BY region ORDER BY o) AS n FROM "
    "(SELECT *, v IS NULL AS o FROM t0) r"
)

_SHOWN = {
    "a table": "SELECT region, any_value(v) AS l, count(*) AS c FROM t0 GROUP BY region",
    "a join": "SELECT a.region, any_value(b.v) AS l, count(*) AS c FROM t0 a JOIN t1 b ON a.id = b.id "
    "GROUP BY a.region",
    "a filter above": f"SELECT region, l FROM ({_ANY}) q WHERE l > 0 OR region IS NULL",
    "UNION ALL": "SELECT id AS k, any_value(v) AS l FROM t0 GROUP BY id UNION ALL "
    "SELECT v, max_by(id, d) FROM t1 GROUP BY v",
    "HAVING": "SELECT region, any_value(v) AS l, first(d) AS f FROM t0 GROUP BY region HAVING count(*) > 1",
    "the last": "SELECT id, max_by(v, d) AS l FROM t0 WHERE v > -5 GROUP BY id",
    "a derived key": "SELECT id % 2 AS g, any_value(region) AS l, sum(v) AS s FROM t0 GROUP BY 1",
    "a left join": "SELECT a.id, any_value(b.region) AS l FROM t0 a LEFT JOIN t1 b ON a.v = b.v GROUP BY a.id",
    "a computed value": f"WITH c AS ({_ANY}), e AS (SELECT region, coalesce(l, 0) + 1 AS m FROM c WHERE l < 9) "
    "SELECT region, m FROM e WHERE m <> 1",
    "a filter above a join": "SELECT k, l FROM (SELECT a.v AS k, any_value(b.id) AS l FROM t0 a JOIN t1 b "
    "ON a.region = b.region GROUP BY a.v) q WHERE l >= 1",
    "a subquery below": "SELECT region, any_value(v) AS l FROM t0 WHERE id IN (SELECT b.id FROM t1 b WHERE b.v > 0) "
    "GROUP BY region",
}
_CARRIED = {
    "a key of a join": f"SELECT a.region, a.l, b.id FROM ({_ANY}) a JOIN t1 b ON a.l = b.v",
    "values beside a join by two keys": f"SELECT 'all' AS k, b.region, b.id, a.l, c.m FROM t1 b LEFT JOIN ({_ANY}) a "
    "ON a.region = b.region LEFT JOIN (SELECT id, any_value(region) AS m FROM t0 GROUP BY id) c ON c.id = b.id",
    "values of a union beside a join": f"SELECT 'all' AS k, b.id, a.l FROM t1 b JOIN ({_ANY} UNION ALL {_ANY}) a "
    "ON a.region = b.region",
    "a value beside a join that uses it": "SELECT 'all' AS k, b.id, l FROM t1 b "
    "JOIN (SELECT region, any_value(id) AS id FROM t0 GROUP BY region) a USING (id) "
    "CROSS JOIN (SELECT any_value(v) AS l FROM t0) c",
    "one value beside every row": "SELECT 'all' AS k, b.id, a.l FROM t1 b "
    "CROSS JOIN (SELECT any_value(v) AS l FROM t0) a",
    "a value that is filtered by beside a join": f"SELECT b.region, b.id, a.l FROM t1 b JOIN ({_ANY}) a "
    "ON a.region = b.region WHERE a.l > 0",
    "DISTINCT above a join": f"SELECT DISTINCT b.region, a.l FROM t1 b JOIN ({_ANY}) a ON a.region = b.region",
    "DISTINCT": f"SELECT DISTINCT 'all' AS k, l FROM ({_ANY}) q",
    "the clock": "SELECT region, l FROM (SELECT region, any_value(d) AS l FROM t0 GROUP BY region) q "
    "WHERE l >= current_date",
    "a group": f"SELECT 'all' AS k, l, count(*) AS c FROM ({_ANY}) q GROUP BY l",
    "a subquery": "SELECT w, v FROM t0 WHERE v = (SELECT any_value(b.v) FROM t1 b)",
    "a subquery above": f"SELECT region, l FROM ({_ANY}) q WHERE l IN (SELECT b.v FROM t1 b)",
    "a group that HAVING leaves out": "SELECT region, count(*) AS c FROM t0 GROUP BY region HAVING any_value(v) > 0",
    "a rank": f"SELECT 'all' AS k, region, l, rank() OVER (ORDER BY l) AS r FROM ({_ANY}) q",
    "a name that is used twice": f"WITH c AS ({_ANY}) SELECT a.region, a.l FROM c a JOIN c b ON a.l = b.l",
    "a tied subquery": f"SELECT region, l, (SELECT max(b.id) FROM t1 b WHERE b.v = l) AS m FROM ({_ANY}) q",
}
_NUMBERS = {
    "numbers": "SELECT region, w, row_number() OVER (PARTITION BY region ORDER BY d) AS n FROM t0",
    "the first of each": f"SELECT region, w, v FROM ({_NUMBERED}) q WHERE n = 1",
    "numbers behind a join": "SELECT k, w, row_number() OVER (PARTITION BY k ORDER BY d) AS n FROM "
    "(SELECT a.region AS k, b.d, 1000 * a.w + b.w AS w FROM t0 a JOIN t1 b ON a.id = b.id) q",
    "the row before": "SELECT id, w, lag(v) OVER (PARTITION BY id ORDER BY region) AS p FROM t0",
    "running sums": "SELECT id, w, sum(v) OVER (PARTITION BY id ORDER BY d ROWS UNBOUNDED PRECEDING) AS s FROM t0",
    "the first value": "SELECT region, w, first_value(v) OVER (PARTITION BY region ORDER BY id) AS f FROM t0",
    # All rows are numbered and kept; each of these follows some order.
    "numbers that are joined": f"SELECT 1000 * q.w + b.w AS k, q.n, b.v FROM ({_NUMBERED}) q JOIN t1 b ON q.id = b.id",
    "numbers beside a join": f"SELECT CAST(1000 * q.w + b.w AS double) AS k, q.n FROM ({_NUMBERED}) q "
    "JOIN t1 b ON q.id = b.id",
}
_TOGETHER = {
    "a left join": f"WITH g AS ({_ANY}) SELECT b.region, b.id, b.v, g.l FROM t1 b LEFT JOIN g ON g.region = b.region",
    "an inner join": f"SELECT a.region, b.id, b.v, a.l FROM ({_ANY}) a JOIN t1 b ON a.region = b.region",
    "a right join": f"SELECT b.region, b.v, a.l FROM ({_ANY}) a RIGHT JOIN t1 b ON a.region = b.region",
    "USING": f"SELECT region, b.id, b.d, a.l FROM t1 b LEFT JOIN ({_ANY}) a USING (region)",
    "a list": "SELECT b.id, b.region, g.l FROM t1 b LEFT JOIN (SELECT id, array_agg(v) AS l FROM t0 GROUP BY id) g "
    "ON b.id = g.id",
    "a computed value": "WITH g AS (SELECT id, max_by(v, d) AS l, count(*) AS c FROM t0 GROUP BY id) "
    "SELECT b.id, b.region, coalesce(g.l, -1) + b.v AS m, g.c FROM t1 b LEFT JOIN g ON b.id = g.id WHERE b.v > -11",
    "values of two tables": f"WITH g AS ({_ANY}), h AS (SELECT region, first(id) AS m FROM t1 GROUP BY region) "
    "SELECT b.region, b.id, g.l, h.m FROM t1 b LEFT JOIN g ON g.region = b.region JOIN h ON h.region = b.region",
    "a chain of joins": f"SELECT b.region, b.id, c.v, g.l FROM t1 b JOIN t0 c ON c.region = b.region "
    f"LEFT JOIN ({_ANY}) g ON g.region = c.region",
    "rows that find a partner or none": f"SELECT g.region, b.region AS r, c.id, g.l FROM ({_ANY}) g JOIN t0 c "
    "ON c.region = g.region LEFT JOIN t1 b ON b.region = g.region AND b.id = c.id",
    "a subquery beside it": f"SELECT b.region, b.v, a.l FROM t1 b LEFT JOIN ({_ANY}) a ON a.region = b.region "
    "WHERE b.id IN (SELECT c.id FROM t0 c WHERE c.v > 0)",
    "a key that is computed": f"SELECT concat(b.region, '!') AS k, b.id, a.l FROM t1 b JOIN ({_ANY}) a "
    "ON a.region = b.region",
    "a window beside it": "SELECT b.region, b.id, rank() OVER (PARTITION BY b.region ORDER BY b.v) AS n, a.l "
    f"FROM t1 b LEFT JOIN ({_ANY}) a ON a.region = b.region",
}
_LIST = "SELECT region, array_sort(array_agg(DISTINCT v)) AS l FROM t0 GROUP BY region"
_SORTED = {
    "a list beside a join": f"SELECT b.id, a.region, a.l FROM ({_LIST}) a JOIN t1 b ON a.region = b.region",
    "a list beside a left join": f"WITH g AS ({_LIST}) SELECT b.region, b.id, b.v, g.l FROM t1 b "
    "LEFT JOIN g ON g.region = b.region",
    "a list that is grouped by": f"SELECT a.region, a.l, count(*) AS c FROM ({_LIST}) a JOIN t1 b "
    "ON a.region = b.region GROUP BY a.region, a.l",
    "a list that is filtered by": f"SELECT region, l[2] AS n FROM ({_LIST}) q WHERE l[1] > 0",
    "lists that are compared": f"SELECT a.region, b.id FROM ({_LIST}) a JOIN t1 b ON a.region = b.region "
    "AND a.l[1] <= b.v",
}


def _views(texts: Mapping[str, str]) -> Mapping[str, View]:
    return {name: view(sql, "region") for name, sql in texts.items()}


SHOWN = _views(_SHOWN)
"""Each row shows one group, and nothing else depends on the value."""
CARRIED = _views(_CARRIED)
"""Other rows, or the clock, depend on the value: full when a row changed."""
TOGETHER = {f"{name}, by {key}": view(sql, key) for key in ("v", "id") for name, sql in _TOGETHER.items()}
"""Several rows show one group: these are replaced together. Tables are partitioned by a column."""
SORTED = _views(_SORTED)
"""Lists that are sorted: wherever they are, they are one value."""
NUMBERED = _views(_NUMBERS)
"""Windows in whose order rows tie: a partition is refreshed as a whole."""
