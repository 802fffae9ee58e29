"""Views with windows whose rows tie, until they are ordered by all that is read besides; nothing else reads `w`."""

from __future__ import annotations

_ALL = "(SELECT * FROM t0) r"
"""Its changed rows have `w`, too."""
_NUMBERED = "(SELECT *, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t0)"
_FIRST = f"(SELECT * FROM {_NUMBERED} p WHERE n = 1)"

ROWS = {
    "the first": f"SELECT id, region, v FROM {_NUMBERED} q WHERE n = 1",
    "numbers": f"SELECT id, d, v, row_number() OVER (PARTITION BY id ORDER BY d DESC) AS n FROM {_ALL}",
    "QUALIFY": f"SELECT id, region, v FROM {_ALL} QUALIFY row_number() OVER (PARTITION BY id ORDER BY d) = 1",
    "the row before": f"SELECT id, v, lag(region) OVER (PARTITION BY id ORDER BY d) AS p FROM {_ALL}",
    "a frame of rows": f"SELECT id, v, sum(v) OVER (PARTITION BY id ORDER BY d ROWS 1 PRECEDING) AS s FROM {_ALL}",
    "texts of floats": "SELECT id, CAST(x AS string) AS s FROM (SELECT id, x, row_number() OVER "
    f"(PARTITION BY id ORDER BY d) AS n FROM {_ALL}) q WHERE n = 1",
    "the order of a float": "SELECT id, v FROM (SELECT id, v, row_number() OVER "
    f"(PARTITION BY id ORDER BY x) AS n FROM {_ALL}) q WHERE n = 1",
    "the first behind a join": "SELECT k, v FROM (SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY d) AS n FROM "
    "(SELECT a.id AS k, b.v, b.d, 1000 * a.w + b.w AS w FROM t0 a JOIN t1 b ON a.id = b.id) r) q WHERE n = 1",
    "of groups": "SELECT id, v, n FROM (SELECT id, v, c, row_number() OVER (PARTITION BY id ORDER BY c) AS n FROM "
    "(SELECT id, v, count(*) AS c, max(w) AS w FROM t0 GROUP BY id, v) g) q WHERE n < 3",
    "UNION ALL": f"SELECT id, v FROM {_FIRST} q UNION ALL SELECT id, v FROM t1",
}
"""Rows of the view have the key of the window."""

AGGREGATES = {
    "a count": f"SELECT v, count(*) AS c FROM {_FIRST} q GROUP BY v",
    "a sum by a dimension": f"SELECT b.region, sum(a.v) AS s, count(*) AS c FROM t1 a JOIN {_FIRST} b ON a.id = b.id "
    "GROUP BY b.region",
    "a sum by what may be missing": f"SELECT b.region, sum(a.v) AS s, count(*) AS c FROM t1 a LEFT JOIN {_NUMBERED} b "
    "ON a.id = b.id AND b.n = 1 GROUP BY b.region",
    "one total": f"SELECT 'all' AS k, count(*) AS c, sum(v) AS s FROM {_FIRST} q",
    "extremes": f"SELECT region, max(v) AS h, min(d) AS l FROM {_FIRST} q GROUP BY region",
}
"""Groups of what the windows choose."""

OTHERS = {
    "an anti join": f"SELECT a.id, a.v FROM t1 a WHERE NOT EXISTS (SELECT 1 FROM {_FIRST} b WHERE b.id = a.id "
    "AND b.v > 0)",
    "IN": f"SELECT id, region FROM t1 WHERE v IN (SELECT v FROM {_FIRST} q)",
    "DISTINCT": f"SELECT DISTINCT region FROM {_FIRST} q",
    "EXCEPT": f"SELECT id, v FROM t1 EXCEPT SELECT id, v FROM {_FIRST} q",
    "a name that is used twice": f"WITH f AS {_FIRST} SELECT a.id, b.v FROM f a JOIN f b ON a.region = b.region",
    "a scalar subquery": f"SELECT id, region FROM t1 WHERE v >= (SELECT max(q.v) FROM {_FIRST} q)",
    "a dimension": f"SELECT a.id, a.v, b.region FROM t1 a LEFT JOIN {_FIRST} b ON a.id = b.id",
    "joined by what is chosen": f"SELECT b.region, a.d, b.v FROM t1 a JOIN {_FIRST} b ON a.region = b.region",
    "distinct values": f"SELECT region, count(DISTINCT v) AS c FROM {_FIRST} q GROUP BY region",
    "a subquery that is tied": "SELECT a.id, a.v FROM t1 a WHERE coalesce(a.v, 0) + 90 >= "
    f"(SELECT max(q.v) FROM {_FIRST} q WHERE q.id = a.id)",
    "the clock": f"SELECT id, v, d FROM {_FIRST} q WHERE d >= current_date",
    "numbers that are summed up": "SELECT region, sum(n) AS s, count(*) AS c FROM (SELECT region, v, row_number() OVER "
    f"(PARTITION BY id ORDER BY v) AS n FROM {_ALL}) q GROUP BY region",
    "numbers of numbers": f"SELECT region, v FROM (SELECT region, v, w, row_number() OVER (PARTITION BY region "
    f"ORDER BY n) AS m FROM {_NUMBERED} p) q WHERE m = 1",
}
"""What else may become of rows that windows choose."""
