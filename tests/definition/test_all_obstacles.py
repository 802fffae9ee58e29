"""Every obstacle of a SELECT is found, also behind the first one."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.all_obstacles import Obstacles, all_obstacles
from tests.support.bases import analysed, columns_of

GROUP = "GROUP BY without a key of it in the SELECT list"
WINDOW = "a window over all rows"
AGGREGATE = "an aggregate over all rows"
LIST = "a SELECT list without a key of it"
SUBQUERY = "a subquery that no equality ties to the row"
LIMIT = "LIMIT may pick other rows at the next evaluation"
T, U, W = (("lake", "ns", name) for name in "tuw")


def found_in(sql: str) -> Obstacles:
    return all_obstacles(analysed(sql), columns_of, "lake")


@pytest.mark.parametrize(
    ("sql", "of_t"),
    [
        ("SELECT d, v FROM t", ()),
        ("SELECT count(*) AS n FROM t", (AGGREGATE,)),
        ("SELECT count(*) AS n FROM t GROUP BY d", (GROUP,)),
        ("SELECT row_number() OVER (ORDER BY v) AS n FROM t", (WINDOW,)),
        ("SELECT d, rank() OVER (ORDER BY sum(v)) AS n FROM t GROUP BY d", (WINDOW,)),
        ("SELECT sum(n) OVER () AS s FROM (SELECT count(*) AS n FROM t GROUP BY d)", (WINDOW, GROUP)),
        (
            "SELECT d, sum(v) OVER (PARTITION BY d) AS s, max(v) OVER (PARTITION BY region) AS m FROM t",
            ("windows that are partitioned by different columns",),
        ),
        (
            "SELECT max(n) AS m FROM (SELECT sum(n) OVER () AS n FROM (SELECT count(*) n FROM t))",
            (WINDOW, AGGREGATE),
        ),
        ("SELECT n FROM (SELECT count(*) AS n FROM t) ORDER BY n", (AGGREGATE, LIST)),
        ("SELECT u.v FROM u WHERE u.v > (SELECT max(v) FROM t)", (SUBQUERY,)),
        (
            "WITH a AS (SELECT count(*) AS n FROM t GROUP BY d) SELECT sum(n) OVER () AS s FROM a",
            (WINDOW, f"{GROUP} (in the CTE a)"),
        ),
    ],
)
def test_obstacles_of_a_table(sql: str, of_t: tuple[str, ...]) -> None:
    assert found_in(sql).of_table.get(T, ()) == of_t


@pytest.mark.parametrize(
    ("sql", "whole"),
    [
        ("SELECT d FROM t", ()),
        ("SELECT d, rand() AS r FROM t LIMIT 3", ("rand() gives a new value at every run", LIMIT)),
        (
            "SELECT DISTINCT d, collect_list(v) AS l, uuid() AS u, my_own(v) AS m FROM t GROUP BY d",
            (
                "uuid() gives a new value at every run",
                "collect_list() depends on the order in which rows are read",
                "my_own() is a user-defined function, and deterministic_functions does not name it",
            ),
        ),
        (
            "SELECT d, x.y.my_own(v) AS m, rand() AS r FROM t",
            (
                "rand() gives a new value at every run",
                "x.y.my_own() is a user-defined function, and deterministic_functions does not name it",
            ),
        ),
        ("SELECT d FROM t TABLESAMPLE (10 PERCENT)", ("TABLESAMPLE picks other rows at every run",)),
        ("SELECT d FRM t WHERE", None),
    ],
)
def test_obstacles_of_the_whole(sql: str, whole: tuple[str, ...] | None) -> None:
    found = found_in(sql).whole
    if whole is None:
        assert len(found) == 1
        assert "cannot be analysed" in found[0]
    else:
        assert found == whole


def test_each_table_has_its_own() -> None:
    sql = "SELECT t.d, (SELECT count(*) FROM u) AS n FROM t JOIN (SELECT max(v) AS v FROM w) x ON x.v = t.v"
    found = found_in(sql).of_table
    assert T not in found
    assert SUBQUERY in found[U] or AGGREGATE in found[U]
    assert AGGREGATE in found[W]


@pytest.mark.parametrize("followed", ["t", "ns.t", "lake.ns.t"])
def test_a_namesake_in_another_schema_has_its_own(followed: str) -> None:
    sql = f"SELECT a.d, (SELECT count(*) FROM other.t HAVING count(*) > 1) AS n FROM {followed} a"
    assert {*found_in(sql).of_table} == {("lake", "other", "t")}
