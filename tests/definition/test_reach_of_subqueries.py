"""What the changed rows of tables in subqueries reach, and of those around them."""

from __future__ import annotations

import pytest

from tests.support.reach import assert_reaches

T = "SELECT region, sum(v) AS s FROM t GROUP BY region"
REACHES = {
    # A subquery over other tables follows from the columns that it takes from outside.
    "SELECT d, (SELECT max(w) FROM u) AS m FROM t": {1: ("d", "", "{sql}")},
    "SELECT d, (SELECT max(w) FROM u WHERE u.id = t.id) AS m FROM t": {
        0: (
            "d",
            "",
            "SELECT d, (SELECT max(w) FROM u WHERE u.id = t.id HAVING count(1) > 0) AS m FROM t "
            "WHERE EXISTS (SELECT max(w) FROM u WHERE u.id = t.id HAVING count(1) > 0)",
        ),
        1: ("d", "", "{sql}"),
    },
    f"SELECT region FROM ({T}) x WHERE EXISTS (SELECT 1 FROM u WHERE u.w = x.s)": {
        0: ("region", "", f"SELECT region FROM ({T}) x WHERE (true OR EXISTS (SELECT 1 FROM u WHERE u.w = x.s))"),
        1: ("region", "", "{sql}"),
    },
    # What a subquery reads is asked in the place of the term that holds it.
    "SELECT d FROM t WHERE d IN (SELECT d FROM u)": {0: ("d", "", "{sql}"), 1: ("d", "", "{sql}")},
    "SELECT d FROM t WHERE v > 1 AND d NOT IN (SELECT d FROM u)": {
        0: ("d", "", "{sql}"),
        1: ("d", "", "SELECT d FROM t WHERE v > 1 AND EXISTS (SELECT d FROM u)"),
    },
    "SELECT d FROM t WHERE (d IS NULL OR coalesce(v, 1) IN (SELECT w FROM u)) AND v > 1": {
        0: ("d", "", "{sql}"),
        1: ("d", "", "SELECT d FROM t WHERE (coalesce(v, 1) IN (SELECT w FROM u)) AND v > 1"),
    },
    "SELECT d FROM t WHERE id IN (SELECT id FROM u GROUP BY id HAVING sum(w) > 1)": {
        0: ("d", "", "{sql}"),
        1: ("d", "", "SELECT d FROM t WHERE id IN (SELECT id FROM u GROUP BY id HAVING (true OR sum(w) > 1))"),
    },
    "SELECT d FROM t WHERE v IN (SELECT max(w) FROM u GROUP BY id)": {
        0: ("d", "", "{sql}"),
        1: ("d", "", "SELECT d FROM t WHERE EXISTS (SELECT max(w) FROM u GROUP BY id)"),
    },
    "SELECT region, max(v) AS m FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.d = t.d AND w > v) GROUP BY region": {
        0: ("region", "", "{sql}"),
        1: (
            "region",
            "",
            "SELECT region, max(v) AS m FROM t WHERE EXISTS (SELECT * FROM u WHERE u.d = t.d AND w > v) "
            "GROUP BY region",
        ),
    },
    "SELECT region FROM t WHERE v < (SELECT avg(w) FROM u WHERE u.id = t.id) + 1 OR d IS NULL": {
        0: ("region", "", "{sql}"),
        1: (
            "region",
            "",
            "SELECT region FROM t WHERE EXISTS (SELECT avg(w) FROM u WHERE u.id = t.id HAVING count(1) > 0)",
        ),
    },
    # A subquery of several SELECTs: its set operation is edited, and the term around it.
    "SELECT d FROM t WHERE NOT EXISTS (SELECT w FROM u EXCEPT SELECT v FROM odd)": {
        0: ("d", "", "{sql}"),
        1: ("d", "2", "SELECT d FROM t WHERE EXISTS (SELECT w FROM u UNION SELECT v FROM odd)"),
        2: ("d", "1", "SELECT d FROM t WHERE EXISTS (SELECT w FROM u UNION SELECT v FROM odd)"),
    },
    "SELECT d FROM t WHERE v IN (SELECT w FROM u INTERSECT SELECT id FROM u)": {
        0: ("d", "", "{sql}"),
        1: ("d", "2", "SELECT d FROM t WHERE v IN (SELECT w FROM u UNION SELECT id FROM u)"),
        2: ("d", "1", "SELECT d FROM t WHERE v IN (SELECT w FROM u UNION SELECT id FROM u)"),
    },
    # An alias of the SELECT list hides a column around the subquery; a star may be one of the outer query.
    "SELECT region FROM t WHERE EXISTS (SELECT 1 FROM (SELECT id, max(w) AS v, v + id AS z FROM u GROUP BY id) q "
    "WHERE q.z > 1)": {
        0: ("region", "", "{sql}"),
        1: (
            "region",
            "",
            "SELECT region FROM t WHERE EXISTS (SELECT 1 FROM (SELECT id, max(w) AS v, v + id AS z FROM u GROUP BY id) "
            "q WHERE (true OR q.z > 1))",
        ),
    },
    "SELECT t.region FROM t LEFT JOIN u ON t.id = u.id WHERE (SELECT u.*) IS NULL": {
        0: ("region", "", "SELECT t.region FROM t LEFT JOIN u ON t.id = u.id WHERE (true OR (SELECT u.*) IS NULL)"),
        1: ("region", "", "SELECT t.region FROM t INNER JOIN u ON t.id = u.id WHERE (true OR (SELECT u.*) IS NULL)"),
    },
    # HAVING behind a term that is left out.
    "SELECT count(*) AS c FROM t LEFT JOIN u ON t.id = u.id WHERE u.w IS NULL": {
        0: ("", "", "{sql} HAVING count(1) > 0"),
        1: (
            "",
            "",
            "SELECT count(*) AS c FROM t INNER JOIN u ON t.id = u.id WHERE (true OR u.w IS NULL) HAVING count(1) > 0",
        ),
    },
    "SELECT * EXCEPT (v) FROM (SELECT region, max(v) AS v FROM t GROUP BY region) x WHERE v > 1": {
        0: (
            "region",
            "",
            "SELECT * EXCEPT (v) FROM (SELECT region, max(v) AS v FROM t GROUP BY region) x WHERE (true OR v > 1)",
        )
    },
    # A subquery inside a subquery; a column of the outermost query in the innermost one.
    "SELECT region FROM t WHERE id IN (SELECT id FROM u WHERE NOT EXISTS (SELECT 1 FROM odd WHERE odd.d = t.d))": {
        0: ("region", "", "{sql}"),
        1: ("region", "", "{sql}"),
        2: (
            "region",
            "",
            "SELECT region FROM t WHERE id IN (SELECT id FROM u WHERE EXISTS (SELECT 1 FROM odd WHERE odd.d = t.d))",
        ),
    },
    # A subquery in the list asks for the rows of which it says something else; what it makes is answered by nothing.
    "SELECT region, count_if(NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id)) AS c FROM t GROUP BY region": {
        0: (
            "region",
            "",
            "SELECT region, count_if(NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id)) AS c FROM t "
            "WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id) GROUP BY region",
        ),
        1: ("region", "", "{sql}"),
    },
    "SELECT region, sum((SELECT sum(w) FROM u WHERE u.id = t.id)) AS c FROM t WHERE(v > 1) GROUP BY region": {
        0: (
            "region",
            "",
            "SELECT region, sum((SELECT sum(w) FROM u WHERE u.id = t.id HAVING count(1) > 0)) AS c FROM t WHERE EXISTS "
            "(SELECT sum(w) FROM u WHERE u.id = t.id HAVING count(1) > 0) AND ((v > 1)) GROUP BY region",
        ),
        1: ("region", "", "{sql}"),
    },
    "SELECT region, CASE WHEN t.v + 1 IN (SELECT w FROM u) THEN 1 END AS f, v FROM t": {
        0: (
            "region, v",
            "",
            "SELECT region, CASE WHEN t.v + 1 IN (SELECT w FROM u) THEN 1 END AS f, v FROM t "
            "WHERE t.v + 1 IN (SELECT w FROM u)",
        ),
        1: ("region, v", "", "{sql}"),
    },
    "SELECT v FROM (SELECT v, region, NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id) AS f FROM t) WHERE f AND v > 1": {
        0: (
            "v",
            "",
            "SELECT v FROM (SELECT v, region, NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id) AS f FROM t "
            "WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)) WHERE (true OR f) AND v > 1",
        ),
        1: ("v", "", "{sql}"),
    },
    "SELECT EXISTS (SELECT 1 FROM u WHERE u.id = t.id) AS f, count(*) AS c FROM t GROUP BY ALL HAVING count(*) > 1": {
        0: (
            "",
            "",
            "SELECT EXISTS (SELECT 1 FROM u WHERE u.id = t.id) AS f, count(*) AS c FROM t "
            "WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id) GROUP BY ALL HAVING (true OR count(*) > 1)",
        ),
        1: (
            "",
            "",
            "SELECT EXISTS (SELECT 1 FROM u WHERE u.id = t.id) AS f, count(*) AS c FROM t "
            "GROUP BY ALL HAVING (true OR count(*) > 1)",
        ),
    },
    # Two levels: the copy of the outer one has the term of the inner one.
    "SELECT region, EXISTS (SELECT CASE WHEN EXISTS (SELECT 1 FROM odd WHERE odd.d = u.d) THEN 1 END FROM u "
    "WHERE u.id = t.id) AS f FROM t": {
        0: (
            "region",
            "",
            "SELECT region, EXISTS (SELECT CASE WHEN EXISTS (SELECT 1 FROM odd WHERE odd.d = u.d) THEN 1 END FROM u "
            "WHERE EXISTS (SELECT 1 FROM odd WHERE odd.d = u.d) AND ( u.id = t.id)) AS f FROM t WHERE EXISTS (SELECT "
            "CASE WHEN EXISTS (SELECT 1 FROM odd WHERE odd.d = u.d) THEN 1 END FROM u WHERE EXISTS (SELECT 1 FROM odd "
            "WHERE odd.d = u.d) AND ( u.id = t.id))",
        ),
        1: (
            "region",
            "",
            "SELECT region, EXISTS (SELECT CASE WHEN EXISTS (SELECT 1 FROM odd WHERE odd.d = u.d) THEN 1 END FROM u "
            "WHERE u.id = t.id) AS f FROM t WHERE EXISTS (SELECT CASE WHEN EXISTS (SELECT 1 FROM odd WHERE odd.d = "
            "u.d) THEN 1 END FROM u WHERE u.id = t.id)",
        ),
        2: ("region", "", "{sql}"),
    },
    # The first part of a name is a struct where no relation has its name.
    "SELECT s.month AS m, count(*) AS c FROM t WHERE s.d > '2024-01-01' GROUP BY s.month": {0: ("m", "", "{sql}")},
    "SELECT s.d.x AS m, u.w FROM t JOIN u ON s.month = u.d": {0: ("m, w", "", "{sql}"), 1: ("m, w", "", "{sql}")},
    "SELECT s.month AS m, v FROM t JOIN u s ON s.id = t.id": {0: ("v", "", "{sql}"), 1: ("v", "", "{sql}")},
    "SELECT t.region FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.d = s.d) AND s.month > 'a'": {
        0: ("region", "", "{sql}"),
        1: ("region", "", "{sql}"),
    },
    "SELECT q.k FROM (SELECT region AS k, max(s) AS s FROM t GROUP BY region) q "
    "WHERE EXISTS (SELECT 1 FROM u WHERE u.id = s.d.x)": {
        0: (
            "k",
            "",
            "SELECT q.k FROM (SELECT region AS k, max(s) AS s FROM t GROUP BY region) q "
            "WHERE (true OR EXISTS (SELECT 1 FROM u WHERE u.id = s.d.x))",
        ),
        1: (
            "k",
            "",
            "SELECT q.k FROM (SELECT region AS k, max(s) AS s FROM t GROUP BY region) q "
            "WHERE EXISTS (SELECT 1 FROM u WHERE (true OR u.id = s.d.x))",
        ),
    },
    "SELECT u.w FROM u WHERE EXISTS (SELECT 1 FROM (SELECT id AS i, min(s) AS u FROM t GROUP BY id) b "
    "WHERE b.i = id AND b.u.d.x > 1)": {
        0: ("w", "", "{sql}"),
        1: (
            "w",
            "",
            "SELECT u.w FROM u WHERE EXISTS (SELECT 1 FROM (SELECT id AS i, min(s) AS u FROM t GROUP BY id) b "
            "WHERE b.i = id AND (true OR b.u.d.x > 1))",
        ),
    },
    # An alias of the list is no name behind a point.
    "SELECT region, EXISTS (SELECT 1 FROM u WHERE u.id = t.id) AS id, sum(v) AS w FROM t GROUP BY region, t.id": {
        0: (
            "region",
            "",
            "SELECT region, EXISTS (SELECT 1 FROM u WHERE u.id = t.id) AS id, sum(v) AS w FROM t "
            "WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id) GROUP BY region, t.id",
        ),
        1: ("region", "", "{sql}"),
    },
    # The same rows for all, and what has no such meaning in a WHERE: nothing is asked of the tables inside.
    "SELECT region, (SELECT max(w) FROM u) AS m FROM t": {1: ("region", "", "{sql}")},
    "SELECT region, id NOT IN (SELECT u.id FROM u) AS f FROM t": {1: ("region", "", "{sql}")},
    "SELECT region, t.id AS k, EXISTS (SELECT 1 FROM u WHERE u.id = k) AS f FROM t": {1: ("region, k", "", "{sql}")},
    "SELECT region, (SELECT max(w) FROM u WHERE u.id = t.id LIMIT 1) AS f FROM t": {1: ("region", "", "{sql}")},
    "SELECT region, count(*) AS c FROM t GROUP BY region HAVING EXISTS (SELECT 1 FROM u WHERE u.id = count(*))": {
        0: (
            "region",
            "",
            "SELECT region, count(*) AS c FROM t GROUP BY region HAVING (true OR EXISTS (SELECT 1 FROM u "
            "WHERE u.id = count(*)))",
        )
    },
    "SELECT region, explode(array(EXISTS (SELECT 1 FROM u WHERE u.id = t.id))) AS e FROM t": {
        1: ("region, e", "", "{sql}")
    },
    "SELECT max(d) AS d FROM t HAVING max(v) > (SELECT max(w) FROM u)": {
        0: ("", "", "SELECT max(d) AS d FROM t HAVING count(1) > 0 AND (true OR max(v) > (SELECT max(w) FROM u))")
    },
}


@pytest.mark.parametrize("sql", REACHES)
def test_what_the_changed_rows_of_each_reference_reach(sql: str) -> None:
    assert_reaches(sql, REACHES[sql])
