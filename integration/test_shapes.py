"""Every shape of a SELECT, with a change in one partition of many: right, incremental, and reading little."""

from __future__ import annotations

DAYS = 100
BASES = ("orders", "returns", "prices")
CHANGED_DAY = "2026-02-10"

# name -> SELECT. o and r are partitioned by day; both have (d, id, region, v), p has region and xs besides.
SHAPES = {
    "inner_join": "SELECT o.d, o.id, r.v FROM {o} o JOIN {r} r ON o.d = r.d AND o.id = r.id",
    "comma_join": "SELECT o.d, r.v FROM {o} o, {r} r WHERE o.d = r.d AND o.id = r.id",
    "join_using": "SELECT d, id, r.v FROM {o} o JOIN {r} r USING (d, id)",
    "natural_join": "SELECT d, id, v FROM {o} NATURAL JOIN {r}",
    "three_tables": "SELECT o.d, count(*) AS c FROM {o} o JOIN {r} r ON o.d = r.d JOIN {p} p ON p.d = r.d GROUP BY o.d",
    "left_join": "SELECT o.d, o.id, r.v FROM {o} o LEFT JOIN {r} r ON o.d = r.d AND o.id = r.id + 1",
    "right_join": "SELECT r.d, r.id, o.v FROM {o} o RIGHT JOIN {r} r ON o.d = r.d AND o.id = r.id + 1",
    "full_join": "SELECT coalesce(o.d, r.d) AS d, o.v, r.v AS w FROM {o} o FULL JOIN {r} r ON o.d = r.d AND o.id = r.id + 1",
    "full_join_using": "SELECT d, o.v, r.v AS w FROM {o} o FULL JOIN {r} r USING (d, id)",
    "left_join_grouped": "SELECT o.d, count(r.id) AS c FROM {o} o LEFT JOIN {r} r ON o.d = r.d GROUP BY o.d",
    "semi_join": "SELECT d, id FROM {o} o LEFT SEMI JOIN {r} r ON o.d = r.d AND o.v = r.v",
    "anti_join": "SELECT d, id FROM {o} o LEFT ANTI JOIN {r} r ON o.d = r.d AND o.v = r.v",
    "exists": "SELECT d, id FROM {o} o WHERE EXISTS (SELECT 1 FROM {r} r WHERE r.d = o.d AND r.v > o.v)",
    "not_exists": "SELECT d, id FROM {o} o WHERE NOT EXISTS (SELECT 1 FROM {r} r WHERE r.d = o.d AND r.v > o.v)",
    "in_subquery": "SELECT d, id FROM {o} WHERE d IN (SELECT d FROM {r} WHERE v > 2)",
    "not_in_required": "SELECT k, id FROM {o} WHERE k NOT IN (SELECT k FROM {r} WHERE v > 5)",
    "self_join": "SELECT a.d, a.id, b.id AS other FROM {o} a JOIN {o} b ON a.d = b.d AND a.v < b.v",
    "distinct": "SELECT DISTINCT d, region FROM {o}",
    "having": "SELECT d, sum(v) AS s FROM {o} GROUP BY d HAVING sum(v) > 10",
    "window": "SELECT d, id, sum(v) OVER (PARTITION BY d ORDER BY id) AS s FROM {o}",
    "window_first": "SELECT * FROM (SELECT d, id, row_number() OVER (PARTITION BY d ORDER BY v, id) AS n FROM {o}) WHERE n = 1",
    "union_all": "SELECT d, v FROM {o} UNION ALL SELECT d, v FROM {r}",
    "union": "SELECT d, v FROM {o} UNION SELECT d, v FROM {r}",
    "intersect": "SELECT d, v FROM {o} INTERSECT SELECT d, v FROM {r}",
    "except": "SELECT d, v FROM {o} EXCEPT SELECT d, v FROM {r}",
    "cte_used_twice": "WITH c AS (SELECT d, sum(v) AS s FROM {o} GROUP BY d) SELECT a.d, a.s, b.s AS t FROM c a JOIN c b ON a.d = b.d",
    "explode": "SELECT d, x FROM {p} LATERAL VIEW explode(xs) e AS x",
    "pivot": "SELECT * FROM (SELECT d, region, v FROM {o}) PIVOT (sum(v) FOR region IN ('a' AS a, 'b' AS b))",
    "rollup": "SELECT d, region, sum(v) AS s FROM {o} GROUP BY d, ROLLUP (region)",
    "grouping_sets": "SELECT d, region, sum(v) AS s FROM {o} GROUP BY GROUPING SETS ((d, region), (d))",
    "group_by_all": "SELECT d, region, sum(v) AS s FROM {o} GROUP BY ALL",
    "ordinals": "SELECT d, region, sum(v) AS s FROM {o} GROUP BY 1, 2",
    "scalar_subquery": "SELECT d, id, (SELECT max(r.v) FROM {r} r WHERE r.d = o.d) AS m FROM {o} o",
    "uncorrelated_subquery": "SELECT d, id FROM {o} WHERE v >= (SELECT min(price) FROM {fixed})",
    "values": "SELECT o.d, o.id, x.name FROM {o} o JOIN VALUES ('a', 'Anna'), ('b', 'Bea') AS x(region, name) ON o.region = x.region",
    "star": "SELECT * FROM {o} WHERE v > 1",
    "computed_key": "SELECT date_add(d, 7) AS k, count(*) AS c FROM {o} GROUP BY date_add(d, 7)",
    "case_key": "SELECT CASE WHEN month(d) = 2 THEN date_add(d, 1000) ELSE d END AS k, count(*) AS c FROM {o} GROUP BY 1",
    "coalesce_key": "SELECT coalesce(d, DATE '1900-01-01') AS k, count(*) AS c FROM {o} GROUP BY 1",
    "arithmetic_key": "SELECT k + 1 AS k, count(*) AS c FROM {k} GROUP BY k + 1",
    "cast_key": "SELECT cast(d AS string) AS k, sum(v) AS s FROM {o} GROUP BY 1",
    "substr_key": "SELECT substr(name, 1, 4) AS k, count(*) AS c FROM {names} GROUP BY 1",
    "date_trunc_key": "SELECT date_trunc('day', d) AS k, sum(v) AS s FROM {o} GROUP BY 1",
}
