"""Histories of views that call user-defined functions, of which only is known that they are deterministic."""

from __future__ import annotations

import pytest

from tests.randomised.database import Database
from tests.randomised.mutants import view
from tests.randomised.soak import refreshes_of
from tests.support.shares import one_of

VIEWS = {
    "grouped by": "SELECT own_text(region) AS k, count(*) AS c, sum(v) AS s FROM t0 GROUP BY own_text(region)",
    "not to be added": "SELECT own_int(v) AS k, max(region) AS m, count(DISTINCT id) AS n FROM t0 GROUP BY 1",
    "summed": "SELECT region, sum(own_int(v)) AS s, count(own_text(region)) AS c FROM t0 GROUP BY region",
    "a filter": "SELECT id, own_int(v) AS w FROM t0 WHERE own_text(region) = 'B' OR own_date(d) IS NULL",
    "joined by": "SELECT a.id, own_text(a.region) AS k, b.v FROM t0 a JOIN t1 b ON own_text(a.region) = b.region",
    "outer join by": "SELECT a.id, b.region, b.v FROM t0 a LEFT JOIN t1 b ON own_int(a.v) = own_int(b.v) AND b.v > 0",
    "a window": "SELECT id, own_int(v) AS k, count(*) OVER (PARTITION BY own_int(v)) AS c FROM t0",
    "the last of each": "SELECT k, id, d FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY d DESC, id) AS n "
    "FROM (SELECT own_text(region) AS k, id, d FROM t0)) WHERE n = 1",
    "distinct": "SELECT DISTINCT own_date(d) AS m, own_text(region) AS k FROM t0",
    "of its value": "SELECT own_text(own_text(region)) AS k, count(*) AS c FROM t0 GROUP BY ALL HAVING count(*) > 1",
    "a subquery": "SELECT id, region FROM t0 a WHERE EXISTS (SELECT 1 FROM t1 b WHERE own_int(b.v) = own_int(a.v))",
    "IN": "SELECT id, own_int(v) AS k FROM t0 WHERE own_int(v) IN (SELECT own_int(v) FROM t1 WHERE region = 'a')",
    "a union": "SELECT own_text(region) AS k, v FROM t0 UNION SELECT region, own_int(v) FROM t1",
    "of a total": "SELECT region, own_int(sum(v)) AS s FROM t0 GROUP BY region",
}


@pytest.mark.parametrize("name", one_of(24, VIEWS))
def test_views_that_call_them(name: str, database: Database) -> None:
    found = refreshes_of(view(VIEWS[name], "id"), database, 12)
    assert found.get("overwrite", 0) + found.get("merge", 0) + found.get("append", 0) > found.get("full", 0), found
