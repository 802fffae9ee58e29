"""Which references only scalar subqueries read, and where these are in the text."""

from __future__ import annotations

import pytest

from tests.support.rule_tables import analysed

SCALARS = {
    "SELECT d FROM t WHERE v > (SELECT avg(w) FROM u)": {1: ["(SELECT avg(w) FROM u)"]},
    "SELECT d, (SELECT max(w) FROM u) AS m FROM t": {0: ["(SELECT max(w) FROM u)"]},
    "SELECT region, count(*) AS c FROM t GROUP BY region HAVING sum(v) > (SELECT max(w) FROM u WHERE w IN "
    "(SELECT v FROM t))": {
        1: ["(SELECT max(w) FROM u WHERE w IN (SELECT v FROM t))"],
        2: ["(SELECT max(w) FROM u WHERE w IN (SELECT v FROM t))"],
    },
    # One in another, outer ones first.
    "SELECT d FROM t WHERE v > (SELECT max(w) FROM u WHERE w < (SELECT max(id) FROM odd, u))": {
        1: ["(SELECT max(w) FROM u WHERE w < (SELECT max(id) FROM odd, u))"],
        2: ["(SELECT max(w) FROM u WHERE w < (SELECT max(id) FROM odd, u))", "(SELECT max(id) FROM odd, u)"],
        3: ["(SELECT max(w) FROM u WHERE w < (SELECT max(id) FROM odd, u))", "(SELECT max(id) FROM odd, u)"],
    },
    # Through a common table expression, with the WITH in front.
    "WITH c AS (SELECT max(w) AS m FROM u), e AS (SELECT * FROM t) SELECT d FROM e WHERE v > (SELECT m FROM c)": {
        0: ["WITH c AS (SELECT max(w) AS m FROM u), e AS (SELECT * FROM t)(SELECT m FROM c)"]
    },
    # In a common table expression, with those before it: a later one may hide the table that is meant.
    "WITH c AS (SELECT max(w) AS m FROM u), e AS (SELECT d FROM t WHERE v > (SELECT m FROM c)), "
    "u AS (SELECT 1 AS w) SELECT d FROM e, u": {
        0: ["WITH c AS (SELECT max(w) AS m FROM u)(SELECT m FROM c)"],
    },
    "WITH e AS (SELECT d FROM t WHERE v > (SELECT max(w) FROM u)), u AS (SELECT 1 AS w) SELECT d FROM e, u": {
        1: ["(SELECT max(w) FROM u)"]
    },
    "WITH c AS (SELECT max(w) AS m FROM u), e AS (WITH u AS (SELECT d FROM t WHERE v > (SELECT m FROM c)) "
    "SELECT d FROM u) SELECT d FROM e": {0: ["WITH c AS (SELECT max(w) AS m FROM u)(SELECT m FROM c)"]},
    "WITH c AS (SELECT max(w) AS m FROM u), e AS (WITH c AS (SELECT max(w) AS m FROM u) SELECT d FROM t "
    "WHERE v > (SELECT m FROM c)) SELECT d FROM e": {},
    # A WITH between the whole query and the subquery, a recursive one, and one of the subquery's own.
    "SELECT d FROM (WITH u AS (SELECT id AS w FROM odd) SELECT d FROM t WHERE v > (SELECT max(w) FROM u)) x": {},
    "WITH RECURSIVE c AS (SELECT id, v, d FROM t) SELECT d FROM c WHERE v < (SELECT max(v) FROM c)": {},
    "SELECT d FROM t WHERE v > (WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5) "
    "SELECT max(n) + max(w) FROM c, u)": {
        1: [
            "(WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5) "
            "SELECT max(n) + max(w) FROM c, u)"
        ]
    },
    # What may be rounded in another way at the next evaluation is no value to compare with.
    "SELECT d FROM t WHERE v > (SELECT avg(CAST(w AS double)) FROM u)": {},
    "SELECT d FROM t WHERE v > (SELECT sum(CAST(w AS string)) FROM u)": {},
    "SELECT d FROM t WHERE v > (SELECT stddev(w) FROM u)": {},
    "SELECT d FROM t WHERE v > (SELECT try_sum(w) FROM u)": {},
    "SELECT d FROM t WHERE v > (SELECT var_pop(w) FROM u)": {},
    "WITH c AS (SELECT d, sum(w / 3) AS s FROM u GROUP BY d) SELECT d FROM t WHERE v > (SELECT max(s) FROM c)": {},
    "SELECT d FROM t WHERE v > (SELECT sum(w) / 3 FROM u)": {1: ["(SELECT sum(w) / 3 FROM u)"]},
    "SELECT d FROM t WHERE v > (SELECT max(CAST(w AS double)) FROM u)": {1: ["(SELECT max(CAST(w AS double)) FROM u)"]},
    # Not lists of rows, nor relations.
    "SELECT d FROM t WHERE v IN (SELECT w FROM u) AND EXISTS (SELECT 1 FROM u)": {},
    "SELECT d FROM (SELECT d FROM t) x JOIN (SELECT w FROM u) y ON true UNION (SELECT d FROM t)": {},
}


@pytest.mark.parametrize("sql", SCALARS)
def test_places_of_scalar_subqueries(sql: str) -> None:
    asked = analysed(sql).asked
    found = {
        index: [f"{asked.sql[: s.with_end]}{asked.sql[s.start : s.end]}" for s in scalars]
        for index, scalars in asked.scalars.items()
    }
    assert found == SCALARS[sql]
