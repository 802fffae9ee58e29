"""Every shape of a SELECT, over tables of many partitions, and the changes of one partition."""

from __future__ import annotations

FILES_OF_A_PARTITION = 1

TABLES = {
    "o": ("d date, id int, region string, v int", "d"),
    "r": ("d date, id int, region string, v int", "d"),
    "p": ("d date, region string, xs array<int>", "d"),
    "k": ("k int NOT NULL, id int, v int", "k"),
    "l": ("k int NOT NULL, id int, v int", "k"),
    "names": ("name string, v int", "name"),
    "fixed": ("price int", None),
}

ROWS = {
    "o": "SELECT date_add(DATE '2026-01-20', CAST(id % 30 AS int)), CAST(id AS int), elt(1 + id % 3, 'a', 'b', 'c'), "
    "CAST(id % 7 AS int) FROM range(400)",
    "r": "SELECT date_add(DATE '2026-01-20', CAST(id % 30 AS int)), CAST(id AS int), elt(1 + id % 2, 'a', 'c'), "
    "CAST(id % 5 AS int) FROM range(300)",
    "p": "SELECT date_add(DATE '2026-01-20', CAST(id AS int)), 'a', array(1, CAST(id AS int)) FROM range(30)",
    "k": "SELECT CAST(id % 30 AS int), CAST(id AS int), CAST(id % 7 AS int) FROM range(300)",
    "l": "SELECT CAST(id % 30 AS int), CAST(id AS int), CAST(id % 9 AS int) FROM range(200)",
    "names": "SELECT concat('n', lpad(CAST(id AS string), 3, '0'), 'x'), CAST(id AS int) FROM range(30)",
    "fixed": "SELECT 2",
}


# Name -> SELECT over TABLES.
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
    "not_in_required": "SELECT k, id FROM {k} WHERE k NOT IN (SELECT k FROM {l} WHERE v > 5)",
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

_LINEAR = """
    inner_join comma_join join_using natural_join left_join semi_join anti_join exists not_exists in_subquery
    not_in_required self_join union_all star explode values
"""

LINEAR = frozenset(_LINEAR.split())
"""Shapes that an append of any of their bases refreshes by the new rows alone."""

ROUNDS = {
    "update of one row": [
        "UPDATE {o} SET v = v + 10 WHERE id = 40",
        "UPDATE {k} SET v = v + 1 WHERE id = 40",
        "UPDATE {p} SET xs = array(7) WHERE d = DATE '2026-02-10'",
        "UPDATE {names} SET v = v + 1 WHERE v = 20",
    ],
    "delete of one row on the other side": [
        "DELETE FROM {r} WHERE id = 53",
        "DELETE FROM {l} WHERE id = 53",
    ],
    "insert of one row": [
        "INSERT INTO {o} VALUES (DATE '2026-02-13', 1000, 'a', 3)",
        "INSERT INTO {k} VALUES (23, 1000, 3)",
        "INSERT INTO {names} VALUES ('n023y', 3)",
    ],
}


def creation(table: str, name: str) -> str:
    """Return the statement that makes one of the tables under a full name; an insert writes one file a partition."""
    columns, partition = TABLES[table]
    by = f"PARTITIONED BY ({partition}) " if partition else ""
    return f"CREATE TABLE {name} ({columns}) USING iceberg {by}TBLPROPERTIES ('write.distribution-mode' = 'hash')"


def changed_tables(change: str) -> set[str]:
    """Return the tables that the statements of a round name."""
    return {table for table in TABLES for statement in ROUNDS[change] if f"{{{table}}}" in statement}
