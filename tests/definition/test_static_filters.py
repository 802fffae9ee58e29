"""Which rows of tables the conditions with constants keep."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, conjunction
from tests.support.rule_tables import TABLES, analysed

TYPES = {name: type_ for columns in TABLES.values() for name, type_ in (c.split(" ", 1) for c in columns.split(", "))}
KEPT = {
    "a comparison": ("SELECT v FROM t WHERE v > 3", ["((`v` > 3))"]),
    "a constant on the left": ("SELECT v FROM t WHERE 3 > v", ["((`v` IS NOT NULL AND `v` < 3))"]),
    "several terms on a column": (
        "SELECT v FROM t WHERE (v >= -3 AND v != 5)",
        ["((`v` >= -3 AND `v` < 5) OR (`v` > 5))"],
    ),
    "terms on several columns": (
        "SELECT v FROM t WHERE id <= 7 AND region < 'b'",
        ["((`id` IS NOT NULL AND `id` <= 7L)) AND ((`region` IS NOT NULL AND `region` < 'b'))"],
    ),
    "a list": ("SELECT v FROM t WHERE id IN (1, -2, 3L)", ["(`id` IN (-2L, 1L, 3L))"]),
    "a range, and a text": (
        "SELECT v FROM t WHERE v BETWEEN 1 AND 9 AND region = 'a b'",
        ["(`region` <=> 'a b') AND ((`v` >= 1 AND `v` <= 9))"],
    ),
    "no NULL": ("SELECT v FROM t WHERE v IS NOT NULL AND NOT s IS NULL", ["(`s` IS NOT NULL) AND (`v` IS NOT NULL)"]),
    "an equality that NULL may pass": ("SELECT v FROM t WHERE id <=> 4", ["(`id` <=> 4L)"]),
    "dates": (
        "SELECT v FROM t WHERE d >= DATE '2026-01-31' AND d < '2026-03-01'",
        ["((`d` >= DATE '2026-01-31' AND `d` < DATE '2026-03-01'))"],
    ),
    "days before and after": (
        "SELECT v FROM t WHERE d > date_sub(DATE '2026-01-31', 30) AND d < date_add(DATE '2026-01-01', 60)",
        ["((`d` > DATE '2026-01-01' AND `d` < DATE '2026-03-02'))"],
    ),
    "intervals": (
        "SELECT v FROM t WHERE d >= DATE '2026-01-31' - INTERVAL 30 DAYS "
        "AND DATE '2026-01-31' + INTERVAL '1' MONTH >= d",
        ["((`d` >= DATE '2026-01-01' AND `d` <= DATE '2026-02-28'))"],
    ),
    "longer intervals": (
        "SELECT v FROM t WHERE d >= DATE '2024-02-29' - INTERVAL 1 YEAR AND d <= DATE '2026-01-31' + INTERVAL 2 WEEKS",
        ["((`d` >= DATE '2023-02-28' AND `d` <= DATE '2026-02-14'))"],
    ),
    "months, and the first of one": (
        "SELECT v FROM t WHERE d >= trunc(DATE '2026-01-31', 'MM') - 31 AND d <= add_months(DATE '2024-12-31', 14)",
        ["((`d` >= DATE '2025-12-01' AND `d` <= DATE '2026-02-28'))"],
    ),
    "a moment": ("SELECT v FROM t WHERE ts > '2026-01-31'", ["((`ts` > TIMESTAMP '2026-01-31 00:00:00Z'))"]),
    "the start of a day": (
        "SELECT v FROM t WHERE ts < DATE '2026-01-31'",
        ["((`ts` IS NOT NULL AND `ts` < TIMESTAMP '2026-01-31 00:00:00Z'))"],
    ),
    "many values": (
        f"SELECT v FROM t WHERE id IN ({', '.join(map(str, range(0, 60, 2)))})",
        ["((`id` >= 0L AND `id` <= 58L))"],
    ),
    "a moment without a zone": (
        "SELECT v FROM t WHERE n < TIMESTAMP '2026-01-31 10:00:00.5'",
        ["((`n` IS NOT NULL AND `n` < TIMESTAMP_NTZ '2026-01-31 10:00:00.500000'))"],
    ),
    "functions": (
        "SELECT v FROM t WHERE year(d) = 2025 AND left(region, 2) = 'ab'",
        ["((`d` >= DATE '2025-01-01' AND `d` <= DATE '2025-12-31')) AND ((`region` >= 'ab' AND `region` < 'ac'))"],
    ),
    "the day of a moment": (
        "SELECT v FROM t WHERE date(ts) > DATE '2025-02-03'",
        ["((`ts` >= TIMESTAMP '2025-02-04 00:00:00Z'))"],
    ),
    "above groups": (
        "SELECT x FROM (SELECT d AS x, count(*) AS n FROM t GROUP BY d) q WHERE q.x = DATE '2025-02-03' AND q.n > 1",
        ["(`d` <=> DATE '2025-02-03')"],
    ),
    "below groups that do not show the column": ("SELECT max(v) AS m FROM t WHERE id = 3", ["(`id` <=> 3L)"]),
    "ON of an inner join, and what it equates": (
        "SELECT t.v FROM t JOIN u ON t.d = u.d AND u.w > 3 AND t.d > '2026-01-01'",
        ["((`d` > DATE '2026-01-01'))", "((`d` > DATE '2026-01-01')) AND ((`w` > 3))"],
    ),
    "the null-supplying side": ("SELECT t.v FROM t LEFT JOIN u ON t.d = u.d WHERE u.w > 3", ["true", "((`w` > 3))"]),
    "ON of an outer join, of the side that is not preserved": (
        "SELECT t.v FROM t LEFT JOIN u ON t.d = u.d AND u.w > 3 AND t.v > 3",
        ["true", "((`w` > 3))"],
    ),
    "ON of a RIGHT JOIN of groups": (
        "SELECT u.w FROM (SELECT d AS x, count(*) AS n FROM t GROUP BY d) q RIGHT JOIN u ON q.x = u.d "
        "AND q.x > '2026-01-01' AND u.w > 3",
        ["((`d` > DATE '2026-01-01'))", "true"],
    ),
    "ON of SEMI and ANTI joins": (
        "SELECT t.v FROM t LEFT SEMI JOIN u ON t.d = u.d AND u.w > 3 "
        "LEFT ANTI JOIN odd ON odd.d = t.d AND odd.month = 'a'",
        ["true", "((`w` > 3))", "(`month` <=> 'a')"],
    ),
    "ON, where a later join shows NULL instead": (
        "SELECT t.v FROM t JOIN u ON t.d = u.d AND u.d > '2026-01-01' FULL JOIN odd ON odd.d = t.d",
        ["true", "((`d` > DATE '2026-01-01'))", "true"],
    ),
    "what the preserved side shows": (
        "SELECT t.v FROM t LEFT JOIN u ON t.d = u.d WHERE t.d > '2026-01-01'",
        ["((`d` > DATE '2026-01-01'))", "((`d` > DATE '2026-01-01'))"],
    ),
    "a column that a FULL JOIN merges": (
        "SELECT d FROM t FULL JOIN u USING (d) WHERE d > '2026-01-01'",
        ["((`d` > DATE '2026-01-01'))", "((`d` > DATE '2026-01-01'))"],
    ),
    "in EXISTS, and through it": (
        "SELECT v FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.d = t.d AND w > 3) AND t.d > '2026-01-01'",
        ["((`d` > DATE '2026-01-01'))", "((`d` > DATE '2026-01-01')) AND ((`w` > 3))"],
    ),
    "in a scalar subquery": ("SELECT v, (SELECT max(w) FROM u WHERE w > 3) AS m FROM t", ["((`w` > 3))", "true"]),
    "each use of a common table expression": (
        "WITH c AS (SELECT id, v FROM t WHERE v > 0) "
        "SELECT x.v FROM c x JOIN c y ON x.v = y.v AND x.id > 5 WHERE y.id > 6",
        ["((`id` > 5L)) AND ((`v` > 0))", "((`id` > 6L)) AND ((`v` > 0))"],
    ),
    "branches of a UNION": (
        "SELECT k FROM (SELECT d AS k FROM t UNION ALL SELECT d FROM u WHERE w > 3) WHERE k > '2026-01-01'",
        ["((`d` > DATE '2026-01-01'))", "((`d` > DATE '2026-01-01')) AND ((`w` > 3))"],
    ),
    "two tables of one kind": (
        "SELECT a.v FROM t a JOIN t b ON a.id = b.v WHERE a.v > 3",
        ["((`v` > 3))", "true"],
    ),
}
EVERYTHING_KEPT = {
    "a side of an OR": "SELECT v FROM t WHERE v > 3 OR id = 1",
    "NULL": "SELECT v FROM t WHERE v IS NULL",
    "a negation": "SELECT v FROM t WHERE NOT v > 3 AND v NOT IN (1, 2) AND NOT v BETWEEN 1 AND 2",
    "constants of other types": (
        "SELECT v FROM t WHERE v = '3' AND region = 3 AND v > 1.5 AND id > 1e1 AND d > TIMESTAMP '2026-01-01 00:00:00'"
    ),
    "NULL among constants": "SELECT v FROM t WHERE id = NULL AND v IN (1, NULL) AND v BETWEEN NULL AND 3",
    "what is no constant": "SELECT v FROM t WHERE v > id AND id > (SELECT max(id) FROM u) AND v IN (SELECT w FROM u)",
    "an expression of two columns": "SELECT v FROM t WHERE v + id > 3 AND coalesce(v, id) > 3",
    "an expression that can be anything": "SELECT v FROM t WHERE v % 2 = 1 AND abs(v) < 3 AND coalesce(v, 0) = 0",
    "ON of an outer join, of the preserved side": "SELECT t.v FROM t LEFT JOIN u ON t.d = u.d AND t.v > 3",
    "ON of a FULL JOIN": "SELECT t.v FROM t FULL JOIN u ON t.d = u.d AND t.v > 3 AND u.w > 3",
    "ON of an ANTI JOIN, of the left side": "SELECT t.v FROM t LEFT ANTI JOIN u ON t.d = u.d AND t.v > 3",
    "a LIMIT below": "SELECT v FROM (SELECT * FROM t LIMIT 3) WHERE v > 3",
    "an aggregate": "SELECT m FROM (SELECT max(v) AS m FROM t) WHERE m > 3",
    "a window": "SELECT v FROM (SELECT v, row_number() OVER (ORDER BY id) AS r FROM t) WHERE v > 3",
    "a count of groups": "SELECT n FROM (SELECT region, count(*) AS n FROM t GROUP BY region) WHERE n > 3",
    "a column of the query around": "SELECT v FROM t WHERE EXISTS (SELECT 1 FROM u WHERE v > 3)",
    "intervals of several units": "SELECT v FROM t WHERE d > DATE '2026-01-31' - INTERVAL 1 YEAR 2 MONTHS",
    "intervals of hours": "SELECT v FROM t WHERE d > DATE '2026-01-31' - INTERVAL 3 HOURS",
    "numbers that are computed, which may overflow": (
        "SELECT v FROM t WHERE v > 2147483647 * 2 AND id >= 4 * 1024 AND id > -(-2147483648) "
        "AND v > 1 + 1 AND v > -(-(1))"
    ),
    "numbers beyond bigint": (
        "SELECT v FROM t WHERE id < 9223372036854775808 AND v > -99999999999999999999 "
        "AND id = CAST(99999999999999999999 AS BIGINT)"
    ),
    "distances that overflow, or lead out of the calendar": (
        "SELECT v FROM t WHERE d < date_add(DATE '2026-01-31', 2147483647) "
        "AND d > date_sub(DATE '1960-01-31', 2147483648) "
        "AND d > date_add(DATE '2026-01-31', 2 * 3) AND d > DATE '0001-01-01' - 1 AND d < DATE '9999-12-31' + 1"
    ),
    "a day with a time, of which Spark drops the time": (
        "SELECT v FROM t WHERE ts >= DATE '2026-01-31 10:00:00' AND n < CAST('2026-01-31 10:00:00' AS DATE) "
        "AND d >= DATE '2026-01-31 10:00:00'"
    ),
    "no such day": "SELECT v FROM t WHERE d > DATE '2026-02-31' AND d < add_months(DATE '9999-12-01', 1)",
    "other spellings of a day": (
        "SELECT v FROM t WHERE d > '2026-1-1' AND d > DATE '2026-01-01Z' AND ts > '2026-01-01T00:00Z'"
    ),
    "a text that may be a name": 'SELECT v FROM t WHERE region = "a"',
    "an escape": r"SELECT v FROM t WHERE region = 'a\tb'",
}


def kept(sql: str, *, utc: bool = True) -> list[str]:
    """Return which rows matter, of each use of each table."""
    definition = analysed(sql, utc)
    rows = definition.rows_that_matter(r.index for r in definition.references)
    return [conjunction(one, TYPES, Dialect("lake", False)) for one in rows]


@pytest.mark.parametrize("case", KEPT)
def test_what_a_condition_keeps(case: str) -> None:
    sql, expected = KEPT[case]
    assert kept(sql) == expected


@pytest.mark.parametrize("case", EVERYTHING_KEPT)
def test_where_conditions_keep_everything(case: str) -> None:
    assert set(kept(EVERYTHING_KEPT[case])) == {"true"}


def test_moments_are_known_but_for_the_zone() -> None:
    sql = "SELECT v FROM t WHERE ts = '2026-01-31 12:00:00' AND date(ts) <= DATE '2026-02-03'"
    assert kept(sql, utc=False) == [
        "((`ts` >= TIMESTAMP '2026-01-30 18:00:00Z' AND `ts` <= TIMESTAMP '2026-02-01 06:00:00Z'))"
    ]
