"""`SELECT * FROM final` around a query, and what is analysed in its place."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.edits.wrapping import without_wrapping
from tests.support.rule_tables import analysed

TAKEN_AWAY = {
    "WITH final AS (SELECT 1 AS x) SELECT * FROM final": "SELECT 1 AS x",
    "WITH a AS (SELECT * FROM t), final AS (SELECT count(*) AS n -- all\n FROM a) SELECT * FROM final": (
        "WITH a AS (SELECT * FROM t)\nSELECT count(*) AS n -- all\n FROM a"
    ),
    "-- a model\nwith a as (select * from t)\n, f as (\n select id from a\n)\nselect * from f": (
        "-- a model\nwith a as (select * from t)\n\n select id from a\n"
    ),
    "WITH f AS (SELECT id FROM t), g AS (SELECT * FROM f) SELECT * FROM g": "SELECT id FROM t",
    "WITH f AS (SELECT id FROM t) SELECT * FROM f AS x": "SELECT id FROM t",
    "WITH f AS (SELECT id FROM t UNION SELECT v FROM t) SELECT * FROM f": "SELECT id FROM t UNION SELECT v FROM t",
    "WITH f AS (SELECT * FROM f) SELECT * FROM f": "SELECT * FROM f",
    "WITH f AS (WITH g AS (SELECT 1 AS x) SELECT x FROM g) SELECT * FROM f": (
        "WITH g AS (SELECT 1 AS x) SELECT x FROM g"
    ),
    "SELECT * FROM (SELECT count(*) AS n FROM t) x": "SELECT count(*) AS n FROM t",
    "WITH a AS (SELECT * FROM t) SELECT * FROM (SELECT id FROM a)": "WITH a AS (SELECT * FROM t) SELECT id FROM a",
}

STAYS = [
    "SELECT * FROM t",
    "SELECT id FROM (SELECT id FROM t)",
    # More than a query in parentheses.
    "WITH f AS (SELECT id FROM t) SELECT * FROM f WHERE id > 0",
    "WITH f AS (SELECT id FROM t) SELECT DISTINCT * FROM f",
    "WITH f AS (SELECT id FROM t) SELECT * FROM f ORDER BY id",
    "WITH f AS (SELECT id FROM t) SELECT * FROM f LIMIT 3",
    "WITH f AS (SELECT id FROM t) SELECT * EXCEPT (id) FROM f",
    "WITH f AS (SELECT id FROM t) SELECT *, 1 AS one FROM f",
    "WITH f AS (SELECT id FROM t) SELECT * FROM f TABLESAMPLE (10 PERCENT)",
    "WITH f AS (SELECT id FROM t) SELECT * FROM f JOIN f AS g",
    "WITH f AS (SELECT id FROM t) SELECT * FROM f, t",
    "WITH f AS (SELECT xs FROM t) SELECT * FROM f LATERAL VIEW explode(xs) e AS x",
    "WITH f AS (SELECT id, v FROM t) SELECT * FROM f PIVOT (sum(v) FOR id IN (1 AS one))",
    "WITH f AS (SELECT id FROM t) SELECT * FROM f UNION ALL SELECT * FROM f",
    "WITH f AS (SELECT id FROM t) SELECT /*+ REPARTITION(3) */ * FROM f",
    # Other names of columns.
    "WITH f(a) AS (SELECT id FROM t) SELECT * FROM f",
    "WITH f AS (SELECT id FROM t) SELECT * FROM f AS x(a)",
    "SELECT * FROM (SELECT id FROM t) AS x(a)",
    "WITH f AS (SELECT count(*) FROM t) SELECT * FROM f",
    # Names that would mean something else.
    "WITH f AS (SELECT id FROM t), t AS (SELECT 1 AS y) SELECT * FROM f",
    "WITH RECURSIVE f AS (SELECT 1 AS n) SELECT * FROM f",
    "WITH t AS (SELECT 1 AS x), f AS (WITH g AS (SELECT 2 AS y) SELECT * FROM t, g) SELECT * FROM f",
    "WITH f AS (SELECT id FROM t) SELECT * FROM ns.f",
    "SELECT * FROM VALUES (1)",
]


@pytest.mark.parametrize("sql", TAKEN_AWAY)
def test_what_is_around_is_taken_away(sql: str) -> None:
    assert without_wrapping(sql) == TAKEN_AWAY[sql]


@pytest.mark.parametrize("sql", STAYS)
def test_what_says_more_stays(sql: str) -> None:
    assert without_wrapping(sql) == sql


def test_groups_are_merged_then() -> None:
    final = "WITH a AS (SELECT * FROM t), final AS (SELECT count(*) AS n FROM a) SELECT * FROM final"
    assert analysed(final).merging is None
    assert analysed(without_wrapping(final)).merging is not None
