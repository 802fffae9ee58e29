"""Which output columns say what the changed rows of a base table reach, and the query that is asked."""

from __future__ import annotations

import pytest

from tests.support.reach import assert_reaches
from tests.support.rule_tables import analysed

T = "SELECT region, sum(v) AS s FROM t GROUP BY region"
REACHES = {
    # A scan answers with whole rows; a condition over them stays.
    "SELECT d, v FROM t WHERE v > 1 OR d IS NULL": {0: ("d, v", "", "{sql}")},
    "SELECT d, upper(region) AS u, 1 AS one, v + id AS w FROM t": {0: ("d, u, w", "", "{sql}")},
    "SELECT d, rank() OVER (PARTITION BY region ORDER BY v) AS r, region FROM t": {0: ("region", "", "{sql}")},
    "SELECT DISTINCT region FROM t": {0: ("region", "", "{sql}")},
    "SELECT * FROM t x": {0: ("id, ts, n, d, region, v, s, xs", "", "{sql}")},
    # Of groups only what they are made by; conditions on them are left out.
    T: {0: ("region", "", "{sql}")},
    f"{T} HAVING sum(v) > 1 OR count(*) = 2": {0: ("region", "", f"{T} HAVING (true OR sum(v) > 1 OR count(*) = 2)")},
    "SELECT upper(region) AS u, count(*) AS c FROM t GROUP BY 1": {0: ("u", "", "{sql}")},
    "SELECT upper(region) AS u, count(*) AS c FROM t GROUP BY region": {0: ("u", "", "{sql}")},
    "SELECT v % 3 AS k, count(*) AS c FROM t GROUP BY v % 3": {0: ("k", "", "{sql}")},
    "SELECT d, region, count(*) AS c FROM t GROUP BY ROLLUP (d, region)": {0: ("d, region", "", "{sql}")},
    "SELECT bit_xor(id) AS x, max(region) AS m FROM t GROUP BY id": {0: ("", "", "{sql}")},
    # The view is full at every run, unless the model says that the function is one of one row.
    "SELECT my_function(region) AS m FROM t GROUP BY region": {0: ("m", "", "{sql}")},
    f"SELECT x.s, count(*) AS c FROM ({T}) x GROUP BY x.s": {0: ("", "", "{sql}")},
    # An aggregate of all rows answers nothing, but has no row where nothing is reached.
    "SELECT sum(v) AS s FROM t": {0: ("", "", "{sql} HAVING count(1) > 0")},
    "SELECT max(v) AS m FROM t WHERE d > '2024-01-01' -- not so": {
        0: ("", "", "SELECT max(v) AS m FROM t WHERE d > '2024-01-01' HAVING count(1) > 0 -- not so")
    },
    "SELECT max(v) AS m FROM t HAVING max(v) > 1 AND min(v) > 0": {
        0: ("", "", "SELECT max(v) AS m FROM t HAVING count(1) > 0 AND (true OR max(v) > 1 AND min(v) > 0)")
    },
    "SELECT u.id, x.s FROM (SELECT sum(v) AS s FROM t) x CROSS JOIN u": {
        0: ("id", "", "SELECT u.id, x.s FROM (SELECT sum(v) AS s FROM t HAVING count(1) > 0) x CROSS JOIN u"),
        1: ("id, s", "", "{sql}"),
    },
    "SELECT region, sum(v) OVER () AS s FROM t": {0: ("", "", "{sql}")},
    # any() is an aggregate, also where the parser knows no name of it.
    "SELECT any(v > 1) AS f FROM t": {0: ("", "", "{sql} HAVING count(1) > 0")},
    "SELECT every(v > 1) AS f FROM t": {0: ("", "", "{sql} HAVING count(1) > 0")},
    "SELECT region, any(v > 1) AS f FROM t GROUP BY ALL": {0: ("region", "", "{sql}")},
    "SELECT region, every(v > 1) AS f FROM t GROUP BY ALL": {0: ("region", "", "{sql}")},
    "SELECT DISTINCT any(v > 1) AS f FROM t": {0: ("", "", "{sql} HAVING count(1) > 0")},
    # A column that is the unit of a period is not in the tree.
    "SELECT t.id, date_trunc(u.id, t.ts) AS p FROM t LEFT JOIN u ON t.d = u.d": {
        0: ("id", "", "{sql}"),
        1: ("id", "", "SELECT t.id, date_trunc(u.id, t.ts) AS p FROM t INNER JOIN u ON t.d = u.d"),
    },
    "SELECT t.id FROM t JOIN u ON t.d = u.d WHERE trunc(t.d, region) = t.d": {
        0: ("id", "", "SELECT t.id FROM t JOIN u ON t.d = u.d WHERE (true OR trunc(t.d, region) = t.d)"),
        1: ("id", "", "SELECT t.id FROM t JOIN u ON t.d = u.d WHERE (true OR trunc(t.d, region) = t.d)"),
    },
    # Spark pivots all of a join; the parser, its right side.
    "SELECT * FROM t JOIN u ON t.d = u.d PIVOT (sum(w) FOR region IN ('x', 'y'))": {},
    "SELECT d, x FROM (SELECT id, d FROM t) a JOIN (SELECT id AS i, region, w FROM u, odd) c ON a.id = c.i "
    "PIVOT (sum(w) FOR region IN ('x' AS x))": {},
    # Only the terms are left out that see more than what is answered.
    f"SELECT region FROM ({T}) x WHERE s > 3 AND region > 'a'": {
        0: ("region", "", f"SELECT region FROM ({T}) x WHERE (true OR s > 3) AND region > 'a'")
    },
    "SELECT region, v FROM t QUALIFY row_number() OVER (PARTITION BY region ORDER BY v) = 1": {
        0: (
            "region",
            "",
            "SELECT region, v FROM t QUALIFY (true OR row_number() OVER (PARTITION BY region ORDER BY v) = 1)",
        )
    },
    # Joins: the other side did not change.
    "SELECT t.region, u.w FROM t JOIN u ON t.d < u.d WHERE w > v": {
        0: ("region, w", "", "{sql}"),
        1: ("region, w", "", "{sql}"),
    },
    "SELECT t.region, u.w FROM t LEFT OUTER JOIN u ON t.d = u.d": {
        0: ("region, w", "", "{sql}"),
        1: ("region", "", "SELECT t.region, u.w FROM t INNER JOIN u ON t.d = u.d"),
    },
    "SELECT t.region, u.w FROM u RIGHT JOIN (SELECT * FROM t) t ON t.d = u.d": {
        0: ("region", "", "SELECT t.region, u.w FROM u INNER JOIN (SELECT * FROM t) t ON t.d = u.d"),
        1: ("region, w", "", "{sql}"),
    },
    "SELECT t.region, coalesce(t.d, u.d) AS d, u.w FROM t FULL JOIN u ON t.d = u.d": {
        0: ("d, w", "", "SELECT t.region, coalesce(t.d, u.d) AS d, u.w FROM t LEFT JOIN u ON t.d = u.d"),
        1: ("region, d", "", "SELECT t.region, coalesce(t.d, u.d) AS d, u.w FROM t RIGHT JOIN u ON t.d = u.d"),
    },
    "SELECT d FROM t FULL JOIN u USING (d)": {
        0: ("d", "", "SELECT d FROM t LEFT JOIN u USING (d)"),
        1: ("d", "", "SELECT d FROM t RIGHT JOIN u USING (d)"),
    },
    "SELECT region FROM t LEFT ANTI JOIN u ON t.d = u.d": {
        0: ("region", "", "{sql}"),
        1: ("region", "", "SELECT region FROM t LEFT SEMI JOIN u ON t.d = u.d"),
    },
    "SELECT region FROM t LEFT SEMI JOIN u ON t.d = u.d": {0: ("region", "", "{sql}"), 1: ("region", "", "{sql}")},
    f"SELECT u.id, x.region FROM ({T}) x JOIN u ON x.s = u.w": {1: ("id, region", "", "{sql}")},
    f"SELECT u.id, x.s FROM ({T}) x JOIN u ON x.region = u.id": {0: ("id", "", "{sql}"), 1: ("id, s", "", "{sql}")},
    # Terms of ON that see more than what is answered are left out, as long as an equality is left.
    f"SELECT u.id, x.region FROM ({T}) x JOIN u ON (x.s > u.w OR x.s IS NULL) AND x.region = u.id AND w > 1": {
        0: (
            "id, region",
            "",
            f"SELECT u.id, x.region FROM ({T}) x JOIN u "
            "ON ((true OR x.s > u.w OR x.s IS NULL)) AND x.region = u.id AND w > 1",
        ),
        1: ("id, region", "", "{sql}"),
    },
    f"SELECT u.id, x.region FROM ({T}) x JOIN u ON x.region < u.id AND x.s = u.w JOIN odd": {
        1: ("id, region", "", "{sql}"),
        2: ("id, region", "", "{sql}"),
    },
    f"SELECT u.id, x.region, odd.month FROM u LEFT JOIN ({T}) x ON x.region = u.id AND x.s = u.w, odd "
    "WHERE month = 'a'": {
        0: ("id, region, month", "", "{sql}"),
        1: (
            "id, month",
            "",
            f"SELECT u.id, x.region, odd.month FROM u INNER JOIN ({T}) x ON x.region = u.id AND (true OR x.s = u.w), "
            "odd WHERE month = 'a'",
        ),
        2: ("id, region, month", "", "{sql}"),
    },
    f"SELECT u.id, x.region FROM ({T}) x LEFT JOIN u ON x.region = u.id AND x.s = u.w": {
        0: ("region", "", "{sql}"),
        1: ("region", "", f"SELECT u.id, x.region FROM ({T}) x INNER JOIN u ON x.region = u.id AND x.s = u.w"),
    },
    # A join that shows every row of the asked side stays as it is, also without an equality of answered columns.
    f"SELECT x.region, u.id FROM ({T}) x LEFT OUTER JOIN u ON x.s < u.w": {
        0: ("region", "", "{sql}"),
        1: ("region", "", f"SELECT x.region, u.id FROM ({T}) x INNER JOIN u ON x.s < u.w"),
    },
    f"SELECT x.region, u.id FROM u RIGHT JOIN ({T}) x ON x.s = u.w": {
        0: ("region", "", f"SELECT x.region, u.id FROM u INNER JOIN ({T}) x ON x.s = u.w"),
        1: ("region", "", "{sql}"),
    },
    f"SELECT x.region, s FROM ({T}) x LEFT JOIN (SELECT w AS s, id FROM u) y USING (s)": {
        0: ("region", "", "{sql}"),
        1: ("region, s", "", f"SELECT x.region, s FROM ({T}) x INNER JOIN (SELECT w AS s, id FROM u) y USING (s)"),
    },
    "SELECT u.id, max(odd.month) AS m FROM u LEFT JOIN t ON t.id = u.id LEFT JOIN odd ON odd.d = t.d GROUP BY u.id": {
        0: ("id", "", "{sql}"),
        1: (
            "id",
            "",
            "SELECT u.id, max(odd.month) AS m FROM u INNER JOIN t ON t.id = u.id LEFT JOIN odd ON odd.d = t.d "
            "GROUP BY u.id",
        ),
        2: (
            "id",
            "",
            "SELECT u.id, max(odd.month) AS m FROM u LEFT JOIN t ON t.id = u.id INNER JOIN odd ON odd.d = t.d "
            "GROUP BY u.id",
        ),
    },
    f"SELECT region FROM ({T}) x LEFT SEMI JOIN u ON x.region = u.id AND x.s = u.w": {
        0: ("region", "", f"SELECT region FROM ({T}) x LEFT SEMI JOIN u ON x.region = u.id AND (true OR x.s = u.w)"),
        1: ("region", "", "{sql}"),
    },
    f"SELECT region FROM ({T}) x LEFT ANTI JOIN u ON x.region = u.id AND x.s = u.w": {
        1: ("region", "", f"SELECT region FROM ({T}) x LEFT SEMI JOIN u ON x.region = u.id AND x.s = u.w"),
    },
    f"SELECT u.id FROM u LEFT ANTI JOIN ({T}) x ON x.region = u.id AND x.s = u.w": {
        0: ("id", "", "{sql}"),
        1: ("id", "", f"SELECT u.id FROM u LEFT SEMI JOIN ({T}) x ON x.region = u.id AND (true OR x.s = u.w)"),
    },
    # Behind a FULL join such a term says nothing of the rows without a partner, so its columns are not answered.
    "SELECT coalesce(x.d, u.d) AS d, CASE WHEN x.id IS NULL THEN u.id ELSE x.id END AS id, u.w FROM "
    "(SELECT d, id, count(*) OVER (PARTITION BY d) AS c FROM t) x FULL JOIN u ON x.d = u.d AND x.id = u.id": {
        0: (
            "d",
            "",
            "SELECT coalesce(x.d, u.d) AS d, CASE WHEN x.id IS NULL THEN u.id ELSE x.id END AS id, u.w FROM "
            "(SELECT d, id, count(*) OVER (PARTITION BY d) AS c FROM t) x LEFT JOIN u "
            "ON x.d = u.d AND (true OR x.id = u.id)",
        ),
        1: (
            "d, id",
            "",
            "SELECT coalesce(x.d, u.d) AS d, CASE WHEN x.id IS NULL THEN u.id ELSE x.id END AS id, u.w FROM "
            "(SELECT d, id, count(*) OVER (PARTITION BY d) AS c FROM t) x RIGHT JOIN u ON x.d = u.d AND x.id = u.id",
        ),
    },
    # Set operations: the union with the other branch empty.
    "SELECT d FROM t UNION ALL SELECT d FROM u": {0: ("d", "1", "{sql}"), 1: ("d", "0", "{sql}")},
    "SELECT d FROM t MINUS SELECT d FROM u": {
        0: ("d", "1", "SELECT d FROM t UNION SELECT d FROM u"),
        1: ("d", "0", "SELECT d FROM t UNION SELECT d FROM u"),
    },
    "SELECT d FROM t INTERSECT ALL SELECT d FROM u": {
        0: ("d", "1", "SELECT d FROM t UNION ALL SELECT d FROM u"),
        1: ("d", "0", "SELECT d FROM t UNION ALL SELECT d FROM u"),
    },
    # A total has a row where its table is read as empty, too.
    "SELECT d FROM t UNION ALL SELECT max(d) AS d FROM u": {
        0: ("d", "1", "{sql} HAVING count(1) > 0"),
        1: ("", "0", "{sql} HAVING count(1) > 0"),
    },
    "SELECT 'a' AS k, count(*) AS n FROM t UNION ALL SELECT 'b', max(v) FROM u HAVING max(v) IS NULL OR min(v) > 1": {
        i: (
            "",
            other,
            "SELECT 'a' AS k, count(*) AS n FROM t HAVING count(1) > 0 UNION ALL "
            "SELECT 'b', max(v) FROM u HAVING count(1) > 0 AND (true OR max(v) IS NULL OR min(v) > 1)",
        )
        for i, other in ((0, "1"), (1, "0"))
    },
    # A join is empty where one of its sides is; that of a total takes an edit.
    "SELECT d FROM t UNION ALL SELECT q.m FROM (SELECT max(d) AS m FROM u) q JOIN v ON q.m = v.d": {
        0: ("d", "2", "{sql}")
    },
    # Generators give the same rows for the same arguments.
    "SELECT region, e FROM t LATERAL VIEW explode(xs) AS e": {0: ("region, e", "", "{sql}")},
    "SELECT region, explode(xs) AS e FROM t": {0: ("region, e", "", "{sql}")},
    f"SELECT region, e FROM ({T}) x LATERAL VIEW explode(array(s)) AS e": {},
    # A column that a condition makes equal to an answered one is not answered itself: the condition may be left out.
    "SELECT x.m AS k FROM u JOIN (SELECT d, max(id) AS m FROM t GROUP BY d) x ON u.d = x.d WHERE u.id = x.m": {
        0: ("k", "", "{sql}"),
        1: (
            "",
            "",
            "SELECT x.m AS k FROM u JOIN (SELECT d, max(id) AS m FROM t GROUP BY d) x ON u.d = x.d "
            "WHERE (true OR u.id = x.m)",
        ),
    },
    "SELECT x.region FROM (SELECT region, max(id) AS m FROM t GROUP BY region) x, u WHERE x.m = u.id AND u.w > 1": {
        0: (
            "region",
            "",
            "SELECT x.region FROM (SELECT region, max(id) AS m FROM t GROUP BY region) x, u "
            "WHERE (true OR x.m = u.id) AND u.w > 1",
        ),
        1: ("region", "", "{sql}"),
    },
    # Every use of a common table expression has a text of its own.
    "WITH c AS (SELECT * FROM t) SELECT a.d FROM c a JOIN c b ON a.id = b.id": dict.fromkeys(
        (0, 1),
        (
            "d",
            "",
            "WITH icebergmv_copy_0 AS (SELECT * FROM t), c AS (SELECT * FROM t) "
            "SELECT a.d FROM c a JOIN icebergmv_copy_0 b ON a.id = b.id",
        ),
    ),
    "WITH `C` (k) AS (SELECT d FROM t), e AS (SELECT k FROM c UNION ALL SELECT c.k FROM `c`) SELECT k FROM e, u": {
        i: (
            "k",
            other,
            "WITH icebergmv_copy_0 (k) AS (SELECT d FROM t), `C` (k) AS (SELECT d FROM t), "
            "e AS (SELECT k FROM c UNION ALL SELECT c.k FROM icebergmv_copy_0 AS `c`) SELECT k FROM e, u",
        )
        for i, other in ((1, "2"), (2, "1"), (0, ""))
    },
    # Nothing is asked where rows may be others.
    "SELECT region FROM t LIMIT 3": {},
    "SELECT a.d FROM t a JOIN t b ON a.id = b.id": {0: ("d", "", "{sql}"), 1: ("d", "", "{sql}")},
    "SELECT region FROM t VERSION AS OF 5": {},
    # The answer is a value that a row has, so a literal is none.
    "SELECT 'a' AS k, v FROM t": {0: ("v", "", "{sql}")},
}


def test_a_total_beside_a_branch_is_not_added_again_with_its_rows() -> None:
    assert analysed("SELECT d FROM t UNION ALL SELECT max(d) AS d FROM u").additive == {}
    assert analysed("SELECT d FROM t UNION ALL SELECT d FROM u").additive.keys() == {0, 1}


def test_a_pivot_is_read_as_empty_only_where_it_has_groups() -> None:
    """Without a column to group by it gives a row for no rows, as an aggregate over all rows does."""
    pivot = "SELECT d FROM t UNION ALL SELECT one FROM (SELECT {} FROM u) PIVOT (max(d) FOR id IN (1 AS one))"
    assert analysed(pivot.format("id, d")).asked.reach.keys() == set()
    assert analysed(pivot.format("id, d, w")).asked.reach.keys() == {0}


_PLACES = "(SELECT id, v, row_number() OVER w AS place FROM t WINDOW w AS (PARTITION BY id ORDER BY region))"


@pytest.mark.parametrize(
    "rows",
    [
        *[f"SELECT place, max(v) AS c FROM {_PLACES} z GROUP BY {group}" for group in ("place", "1", "ALL")],
        f"SELECT place AS p, max(v) AS c FROM {_PLACES} z GROUP BY p",
        f"SELECT DISTINCT * FROM (SELECT place, v AS c FROM {_PLACES} y) z",
        f"SELECT DISTINCT z.* FROM (SELECT place, v AS c FROM {_PLACES} y) z",
    ],
)
def test_groups_of_rows_that_tie_are_others_at_every_look(rows: str) -> None:
    """What is joined to them may have been joined to other groups, so that nothing is asked of it."""
    sql = f"SELECT b.d, max(q.c) AS m FROM ({rows}) q JOIN u b ON b.w = q.c GROUP BY b.d"
    assert dict(analysed(sql).asked.reach) == {}


@pytest.mark.parametrize("sql", REACHES)
def test_what_the_changed_rows_of_each_reference_reach(sql: str) -> None:
    assert_reaches(sql, REACHES[sql])


EDITED_TO = ("(true OR", ")", "HAVING count(1) > 0", "count(1) > 0 AND")
HARD_TO_EDIT = (
    "SELECT count(*) AS c FROM (SELECT 1) HAVING count(*) > 1",
    "SELECT region FROM t WHERE region IN (SELECT region FROM t WHERE v > 1 GROUP BY region HAVING count(*) > 1)",
    "SELECT a.region FROM (t a LEFT JOIN u b ON a.d = b.d) LEFT JOIN u c ON a.d = c.d WHERE b.w > 1",
    "SELECT CASE WHEN v > 1 THEN region END k, sum(v) s FROM t GROUP BY 1 HAVING max(CASE WHEN v > 1 THEN 1 END) > 0",
    "SELECT region, count(*) FILTER (WHERE v > 1) AS c FROM t GROUP BY region HAVING count(*) FILTER (WHERE v > 2) > 0",
    "SELECT region FROM t /* WHERE */ GROUP BY region HAVING sum(v) > 1 -- HAVING",
    "SELECT * EXCEPT (d) FROM t EXCEPT SELECT * EXCEPT (d) FROM t",
    "WITH x AS (SELECT region, sum(v) AS w FROM t GROUP BY region) SELECT region FROM x WHERE w > 1 OR w < 0",
)


@pytest.mark.parametrize("sql", HARD_TO_EDIT)
def test_an_edited_text_changes_nothing_but_the_keywords(sql: str) -> None:
    for reach in analysed(sql).asked.reach.values():
        for edit in reach.edits:
            assert edit.text.strip() in {*EDITED_TO, "INNER", "LEFT", "RIGHT", "SEMI", "UNION"}
            assert sql[edit.start : edit.end].upper() in {"", "LEFT", "RIGHT", "FULL", "ANTI", "EXCEPT", "INTERSECT"}
