"""Histories of groups that are not merged: the rows below them that a change reaches say which they are."""

from __future__ import annotations

import pytest

from tests.randomised.database import Database
from tests.randomised.mutants import view
from tests.randomised.soak import refreshes_of
from tests.support.shares import one_of

_FIRST = "(SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY d, w) AS n FROM t0) p WHERE n = 1)"
_TOTALS = "(SELECT id, count(*) AS n, sum(v) AS s, max(region) AS r FROM t0 GROUP BY id)"

VIEWS = {
    "HAVING": f"SELECT region, count(*) AS c FROM {_FIRST} q GROUP BY region HAVING count(*) > 1",
    "HAVING of another aggregate": f"SELECT n, count(*) AS c FROM {_TOTALS} q GROUP BY n HAVING max(s) > 2",
    "DISTINCT": f"SELECT DISTINCT region FROM {_FIRST} q",
    "DISTINCT of several": f"SELECT DISTINCT r, n % 2 AS odd FROM {_TOTALS} q WHERE s > -9",
    "an aggregate that is not merged": f"SELECT region, bool_or(v > 0) AS b FROM {_FIRST} q GROUP BY region",
    "of totals": f"SELECT n, bool_or(s > 3) AS b, count(*) AS c FROM {_TOTALS} q GROUP BY n",
    "several counts of different values": f"SELECT r, count(DISTINCT n) AS a, count(DISTINCT s) AS b FROM {_TOTALS} q "
    "GROUP BY r",
    "a computed key": f"SELECT n % 2 AS odd, bool_or(s > 3) AS b FROM {_TOTALS} q GROUP BY n % 2",
    "two keys": f"SELECT n, r, bool_or(s > 3) AS b FROM {_TOTALS} q GROUP BY n, r ORDER BY 1",
    "a join": f"SELECT q.n, b.region, bool_or(b.v > 0) AS o FROM t1 b JOIN {_TOTALS} q ON q.id = b.id "
    "GROUP BY q.n, b.region",
    "a left join": f"SELECT q.region, bool_or(b.v > 0) AS o FROM t1 b LEFT JOIN {_FIRST} q ON q.id = b.id "
    "GROUP BY q.region",
    "a common table expression": f"WITH q AS {_TOTALS} SELECT n, bool_or(s > 0) AS b FROM q "
    "WHERE r IS NOT NULL GROUP BY n",
    "one of two keys that are left out": "SELECT region, sum(v) AS s, bool_or(v > 0) AS b FROM t0 GROUP BY id, region",
    "keys of both sides left out": "SELECT count(*) AS c, min(b.v) AS m FROM t0 a JOIN t1 b ON a.id = b.id "
    "GROUP BY a.id, b.region",
    "a key that is listed last": f"SELECT bool_or(s > 3) AS b, n FROM {_TOTALS} q GROUP BY n HAVING count(*) < 3",
}
OTHERS = {
    "a key that is left out": "SELECT max(v) AS m, count(*) AS c FROM t0 GROUP BY id HAVING count(*) > 0",
    "sessions": "SELECT max(v) AS m, count(*) AS c FROM (SELECT *, sum(w) OVER (PARTITION BY id ORDER BY d "
    "RANGE UNBOUNDED PRECEDING) AS n FROM t0) q GROUP BY id, n",
    "a key of a subquery": f"SELECT n, bool_or(s > 3) AS b FROM {_TOTALS} q GROUP BY n "
    "HAVING count(*) > (SELECT count(*) FROM t1 b WHERE b.v = 3)",
    "DISTINCT of a window": f"SELECT DISTINCT n, rank() OVER (ORDER BY n) AS p FROM {_TOTALS} q",
    "sums of floats": "SELECT s > 1 AS k, bool_or(n > 1) AS b FROM (SELECT id, sum(x) AS s, count(*) AS n FROM t0 "
    "GROUP BY id) q GROUP BY s > 1",
    "one total": f"SELECT bool_or(s > 3) AS b FROM {_TOTALS} q",
    "a float": "SELECT x, bool_or(v > 0) AS b FROM (SELECT id, max(x) AS x, max(v) AS v FROM t0 GROUP BY id) q "
    "GROUP BY x",
    "a window over groups": "SELECT v, count(*) AS c, count(*) OVER () AS m FROM t0 GROUP BY v",
    "a share of groups": "SELECT b.region, bool_or(b.v > 0) AS o, sum(count(*)) OVER () AS s FROM t0 a LEFT JOIN t1 b "
    "ON a.id = b.id GROUP BY b.region",
    "a rank of groups that are merged": "SELECT b.region, count(*) AS c, rank() OVER (ORDER BY count(*) DESC) AS r "
    "FROM t0 a LEFT JOIN t1 b ON a.id = b.id GROUP BY b.region",
    "a window over some groups": f"SELECT r, n, bool_or(s > 0) AS b, max(max(s)) OVER (PARTITION BY r) AS m "
    f"FROM {_TOTALS} q GROUP BY r, n",
    "a window over groups of totals": f"SELECT n, bool_or(s > 3) AS b, rank() OVER (ORDER BY n) AS p FROM {_TOTALS} q "
    "GROUP BY n HAVING count(*) < 3",
    "a key that is not listed": f"SELECT CAST(n AS double) AS k, bool_or(s > 0) AS b FROM {_TOTALS} q "
    "GROUP BY CAST(n AS double)",
    "QUALIFY": f"SELECT n, bool_or(s > 3) AS b FROM {_TOTALS} q GROUP BY n QUALIFY rank() OVER (ORDER BY n) < 3",
}


@pytest.mark.parametrize("name", one_of(16, VIEWS))
def test_groups_are_replaced(name: str, database: Database) -> None:
    found = refreshes_of(view(VIEWS[name], "id"), database, 10)
    assert found.get("overwrite", 0) > found.get("full", 0), found


@pytest.mark.parametrize("name", one_of(9, OTHERS))
def test_views_whose_groups_need_not_be_replaced_are_right(name: str, database: Database) -> None:
    refreshes_of(view(OTHERS[name], "id"), database, 8)


@pytest.mark.long
@pytest.mark.parametrize("name", [*VIEWS, *OTHERS])
def test_in_many_histories(name: str, database: Database) -> None:
    refreshes_of(view({**VIEWS, **OTHERS}[name], "id"), database, 150)
