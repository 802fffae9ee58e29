"""Histories of subqueries in a SELECT list: one more term of the WHERE asks of which rows they say something else."""

from __future__ import annotations

import pytest

from tests.randomised.database import Database
from tests.randomised.mutants import view
from tests.randomised.soak import refreshes_of
from tests.support.shares import one_of

_BOUGHT = "EXISTS (SELECT 1 FROM t1 b WHERE b.id = a.id)"
_NOT_BOUGHT = "NOT EXISTS (SELECT 1 FROM t1 b WHERE b.id = a.id AND b.v > 1)"
_LARGEST = "(SELECT max(b.v) FROM t1 b WHERE b.id = a.id)"

VIEWS = {
    "counted": f"SELECT a.region, count_if({_BOUGHT}) AS c FROM t0 a GROUP BY a.region",
    "summed by a flag": f"SELECT a.region, sum(CASE WHEN {_NOT_BOUGHT} THEN a.v ELSE 0 END) AS s FROM t0 a "
    "WHERE a.v > 0 OR a.v IS NULL GROUP BY a.region",
    "IN a condition": "SELECT a.region, sum(CASE WHEN a.id IN (SELECT b.id FROM t1 b WHERE b.v > 1) THEN a.v END) AS s "
    "FROM t0 a GROUP BY a.region HAVING count(*) > 1",
    "a flag in a subquery": f"SELECT region, v FROM (SELECT a.region, a.v, {_NOT_BOUGHT} AS f FROM t0 a) q WHERE f",
    "grouped by a flag": f"SELECT {_BOUGHT} AS f, a.region, count(*) AS c FROM t0 a GROUP BY ALL",
    "a value": f"SELECT a.region, max({_LARGEST}) AS m, count(*) AS c FROM t0 a GROUP BY a.region",
    "a value, computed": f"SELECT a.region, sum(coalesce({_LARGEST}, 0) + a.v) AS m FROM t0 a GROUP BY a.region",
    "of two tables": f"SELECT c.region, count_if({_BOUGHT}) AS n FROM t0 a JOIN t1 c ON c.d = a.d GROUP BY c.region",
    "behind a left join": f"SELECT c.region, count_if({_BOUGHT}) AS n FROM t0 a LEFT JOIN t1 c ON c.d = a.d "
    "GROUP BY c.region",
    "an inner one": "SELECT a.region, count_if(EXISTS (SELECT 1 FROM t1 b WHERE b.id = a.id AND NOT EXISTS "
    "(SELECT 1 FROM t0 c WHERE c.v = b.v AND c.region = a.region))) AS n FROM t0 a GROUP BY a.region",
    "a list in a list": "SELECT a.region, max((SELECT sum(CASE WHEN EXISTS (SELECT 1 FROM t0 c WHERE c.v = b.v) THEN 1 "
    "ELSE 2 END) FROM t1 b WHERE b.id = a.id)) AS n FROM t0 a GROUP BY a.region",
    "two flags": f"SELECT a.region, count_if({_BOUGHT} AND a.v IN (SELECT c.v FROM t0 c WHERE c.d = a.d)) AS n "
    "FROM t0 a GROUP BY a.region",
    "a window": f"SELECT a.region, sum(CASE WHEN {_BOUGHT} THEN a.v END) OVER (PARTITION BY a.region) AS s FROM t0 a",
    "a common table expression": f"WITH q AS (SELECT a.region, a.id, {_BOUGHT} AS f FROM t0 a) "
    "SELECT q.region, count_if(q.f) AS c, count(*) AS n FROM q GROUP BY q.region",
    "joined above": f"WITH q AS (SELECT a.region, a.id, {_NOT_BOUGHT} AS f FROM t0 a) "
    "SELECT c.region, count(*) AS n FROM t1 c JOIN q ON q.id = c.id AND q.f GROUP BY c.region",
}
OTHERS = {
    "one total": f"SELECT count_if({_BOUGHT}) AS c FROM t0 a",
    "a row like any other": "SELECT a.region, a.v > (SELECT max(b.v) FROM t1 b) AS f FROM t0 a",
    "NOT IN as a value": "SELECT a.region, a.v NOT IN (SELECT b.v FROM t1 b) AS f FROM t0 a",
    "IN as a value": "SELECT a.region, count_if((a.v IN (SELECT b.v FROM t1 b)) IS NULL) AS c FROM t0 a GROUP BY 1",
    "a condition of groups": "SELECT a.region, count(*) AS c FROM t0 a GROUP BY a.region "
    "HAVING EXISTS (SELECT 1 FROM t1 b WHERE b.region = a.region)",
    "a partition by a flag": f"SELECT a.region, count(*) OVER (PARTITION BY {_BOUGHT}) AS c FROM t0 a",
    "a flag of windows": "SELECT region, count_if(EXISTS (SELECT 1 FROM t1 b WHERE b.v = q.n)) AS c FROM "
    "(SELECT a.region, row_number() OVER (PARTITION BY a.id ORDER BY a.v) AS n FROM t0 a) q GROUP BY region",
}


@pytest.mark.parametrize("name", one_of(8, VIEWS))
def test_what_a_flag_says_of_groups(name: str, database: Database) -> None:
    found = refreshes_of(view(VIEWS[name], "id"), database, 10)
    assert found.get("overwrite", 0) > found.get("full", 0), found


@pytest.mark.parametrize("name", one_of(9, OTHERS))
def test_views_that_need_not_follow_the_flag_are_right(name: str, database: Database) -> None:
    refreshes_of(view(OTHERS[name], "id"), database, 8)


@pytest.mark.long
@pytest.mark.parametrize("name", [*VIEWS, *OTHERS])
def test_in_many_histories(name: str, database: Database) -> None:
    refreshes_of(view({**VIEWS, **OTHERS}[name], "id"), database, 150)
