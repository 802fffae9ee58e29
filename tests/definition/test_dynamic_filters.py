"""Which rows of other tables a join with a filtered table keeps."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence
from tests.support.rule_tables import analysed

KEPT = {
    "an inner join": (
        "SELECT t.v FROM t JOIN u ON t.d = u.d WHERE u.w > 3",
        ["1 u.d (u.w > 3): d#0"],
    ),
    "a comma, more than one term, without a qualifier": (
        "SELECT t.v FROM t, odd WHERE odd.d = t.d AND month IS NOT NULL AND (month = 'a' OR odd.ts IS NULL)",
        ["1 odd.d (month IS NOT NULL, month = 'a' OR odd.ts IS NULL): d#0"],
    ),
    "a term of ON": (
        "SELECT a.v FROM t a INNER JOIN u AS b ON b.d = a.d AND b.w > 3 -- of u\n",
        ["1 b.d (b.w > 3): d#0"],
    ),
    "the preserved side of an outer join, by WHERE": (
        "SELECT u.d, t.v FROM u LEFT JOIN t ON t.d = u.d WHERE u.w > 3",
        ["0 u.d (u.w > 3): d#1"],
    ),
    "tables that are filtered both": (
        "SELECT t.v FROM t JOIN u ON t.d = u.d WHERE u.w > 3 AND t.id = 1",
        ["0 t.d (t.id = 1): d#1", "1 u.d (u.w > 3): d#0"],
    ),
    "groups below the join": (
        "SELECT u.d, g.n FROM (SELECT d, count(*) AS n FROM t GROUP BY d) g JOIN u ON u.d = g.d WHERE u.w > 3",
        ["1 u.d (u.w > 3): d#0"],
    ),
    "a join below groups, a window and a LIMIT": (
        "SELECT r, sum(n) OVER () AS s FROM (SELECT t.region AS r, count(*) AS n FROM t JOIN u ON t.d = u.d "
        "WHERE u.w > 3 GROUP BY t.region) LIMIT 3",
        ["1 u.d (u.w > 3): d#0"],
    ),
    "a key that is computed on one side": (
        "SELECT t.v FROM t JOIN u ON date(t.ts) = u.d WHERE u.w > 3",
        ["1 u.d (u.w > 3): ts#0"],
    ),
    "EXISTS in WHERE": (
        "SELECT u.w FROM u WHERE u.w > 3 AND EXISTS (SELECT 1 FROM t WHERE t.d = u.d)",
        ["0 u.d (u.w > 3): d#1"],
    ),
    "inside of EXISTS": (
        "SELECT s.month FROM odd s "
        "WHERE EXISTS (SELECT 1 FROM t JOIN u ON t.d = u.d WHERE u.w > 3 AND t.region = s.month)",
        ["2 u.d (u.w > 3): d#1"],
    ),
    "each use of a common table expression": (
        "WITH c AS (SELECT t.v, t.id FROM t JOIN u ON t.d = u.d WHERE u.w > 3) "
        "SELECT x.v FROM c x JOIN c y ON x.v = y.id",
        ["1 u.d (u.w > 3): d#0", "1 u.d (u.w > 3): d#0'"],
    ),
    "an outer join of which WHERE lets no NULL pass": (
        "SELECT t.v FROM t LEFT JOIN u ON t.d = u.d WHERE u.w > 3 AND coalesce(u.id, 1) = 1",
        ["1 u.d (u.w > 3, coalesce(u.id, 1) = 1): d#0"],
    ),
    "an outer join with an equality that NULL passes, of which another term lets no NULL pass": (
        "SELECT t.v FROM t LEFT JOIN u ON t.d = u.d WHERE u.d <=> t.d AND u.w > 3",
        ["1 u.d (u.w > 3): d#0"],
    ),
    "a term above groups, on what they show": (
        "SELECT q.r, q.s FROM (SELECT t.region AS r, u.w AS year, u.id, sum(t.v) AS s FROM t JOIN u ON t.d = u.d "
        "GROUP BY t.region, u.w, u.id) q WHERE q.year = 2024 AND (id > 3 OR q.year < id) AND s > 3",
        ["1 u.d (`u`.`w` = 2024, `u`.`id` > 3 OR `u`.`w` < `u`.`id`): d#0"],
    ),
    "terms on two uses of a common table expression": (
        "WITH c AS (SELECT t.region, u.w, count(*) AS n FROM t, u WHERE t.d = u.d AND u.id > 0 GROUP BY ALL) "
        "SELECT x.region, x.n, y.n AS before FROM c x JOIN c y ON x.region = y.region AND x.w = 2024 WHERE y.w = 2023",
        ["1 u.d (u.id > 0, `u`.`w` = 2023): d#0'", "1 u.d (u.id > 0, `u`.`w` = 2024): d#0"],
    ),
    "branches of a UNION": (
        "SELECT t.v FROM t JOIN u ON t.d = u.d WHERE u.w > 3 UNION ALL SELECT t.v FROM t",
        ["1 u.d (u.w > 3): d#0"],
    ),
}
NOTHING_KEPT = {
    "the null-supplying side": "SELECT t.v FROM t LEFT JOIN u ON t.d = u.d WHERE coalesce(u.w, 4) > 3 OR u.w IS NULL",
    "the null-supplying side, of which WHERE lets NULL pass": (
        "SELECT t.v FROM t LEFT JOIN u ON t.d = u.d WHERE u.d <=> t.d AND coalesce(u.w, 4) > 3"
    ),
    "the left side of a RIGHT JOIN, of which WHERE lets NULL pass": (
        "SELECT t.v FROM u RIGHT JOIN t ON t.d = u.d WHERE u.d <=> t.d AND coalesce(u.w, 4) > 3"
    ),
    "a term of ON of the null-supplying side": (
        "SELECT t.v FROM t LEFT JOIN u ON t.d = u.d AND u.w > 3 WHERE u.w IS NULL"
    ),
    "a term above on an aggregate, or on what is cast": (
        "SELECT r FROM (SELECT t.region AS r, max(u.w) AS m, CAST(u.id AS string) AS i, u.id + 1 AS j FROM t "
        "JOIN u ON t.d = u.d GROUP BY t.region, u.id) q WHERE m > 3 AND i = '1' AND j = 1"
    ),
    "a term above an outer join": (
        "SELECT q.r, x.month FROM odd x LEFT JOIN (SELECT t.region AS r, u.w AS y, u.d FROM t JOIN u ON t.d = u.d) q "
        "ON x.d = q.d AND q.y > 3"
    ),
    "a term above a LIMIT": (
        "SELECT r FROM (SELECT t.region AS r, u.w AS y FROM t JOIN u ON t.d = u.d ORDER BY 1 LIMIT 3) q WHERE q.y = 3"
    ),
    "a term of ON of an outer join": "SELECT u.d, t.v FROM u LEFT JOIN t ON t.d = u.d AND u.w > 3",
    "a side that a later join may leave out": (
        "SELECT t.v FROM t JOIN u ON t.d = u.d AND u.w > 3 RIGHT JOIN odd ON odd.d = t.d"
    ),
    "a term of both tables": "SELECT t.v FROM t JOIN u ON t.d = u.d WHERE u.w > t.v",
    "a side of an OR": "SELECT t.v FROM t JOIN u ON t.d = u.d WHERE u.w > 3 OR t.v > 3",
    "a subquery in the term": "SELECT t.v FROM t JOIN u ON t.d = u.d WHERE u.w > (SELECT max(w) FROM u)",
    "a row around the subquery": (
        "SELECT s.month FROM odd s WHERE EXISTS (SELECT 1 FROM t JOIN u ON t.d = u.d WHERE u.id > s.month)"
    ),
    "no equality": "SELECT t.v FROM t JOIN u ON t.d < u.d WHERE u.w > 3",
    "other types": "SELECT t.v FROM t JOIN u ON t.region = u.w WHERE u.w > 3",
    "a filter on groups": (
        "SELECT t.v FROM t JOIN (SELECT d, count(*) AS n FROM u GROUP BY d) g ON t.d = g.d WHERE g.n > 3"
    ),
    "a sample": "SELECT t.v FROM t JOIN u TABLESAMPLE (10 ROWS) ON t.d = u.d WHERE u.w > 3",
    "other names of the columns": "SELECT t.v FROM t JOIN u AS u(a, b, d) ON t.d = u.d WHERE u.a > 3",
    "a table that may have the column": "SELECT t.v FROM t, u, elsewhere WHERE t.d = u.d AND w > 3",
}


def shown(sql: str) -> list[str]:
    """Return what each table keeps of others: its reference, key, terms, and what leads to the key."""

    def of(occurrence: Occurrence) -> str:
        return f"{occurrence.index}{chr(39) * len(occurrence.uses)}"

    return sorted(
        f"{one.reference} {one.alias}.{one.column} ({', '.join(one.terms)}): "
        + ", ".join(sorted(f"{t.column}#{of(t.occurrence)}" for t in one.tracks))
        for one in analysed(sql).filters
    )


@pytest.mark.parametrize("case", KEPT)
def test_what_a_join_keeps(case: str) -> None:
    sql, expected = KEPT[case]
    assert shown(sql) == expected


@pytest.mark.parametrize("case", NOTHING_KEPT)
def test_where_a_join_keeps_everything(case: str) -> None:
    assert shown(NOTHING_KEPT[case]) == []
