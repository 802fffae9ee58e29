"""A copy for each further use of a common table expression."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.edits.cte_copies import with_copies
from tests.support.shares import one_of

COPIES = {
    "SELECT * FROM t": "SELECT * FROM t",
    "WITH c AS (SELECT 1 AS x) SELECT * FROM c": "WITH c AS (SELECT 1 AS x) SELECT * FROM c",
    # One that nothing uses, and one that hides a table of its name.
    "WITH c AS (SELECT 1 AS x) SELECT * FROM t JOIN t u ON true": (
        "WITH c AS (SELECT 1 AS x) SELECT * FROM t JOIN t u ON true"
    ),
    "WITH c AS (SELECT * FROM t), d AS (SELECT * FROM c) SELECT * FROM d, d AS e": (
        "WITH icebergmv_copy_1 AS (SELECT * FROM t), c AS (SELECT * FROM t), "
        "icebergmv_copy_0 AS (SELECT * FROM c), d AS (SELECT * FROM icebergmv_copy_1 AS c) "
        "SELECT * FROM d, icebergmv_copy_0 AS e"
    ),
    # Three uses, one of them in an expression, and names in quotes.
    "WITH `my c` (`a b`, n) AS (SELECT x, ')' FROM t) SELECT * FROM `my c` WHERE n IN (SELECT n FROM `MY C` b) "
    "AND n > (SELECT max(`my c`.n) FROM `my c`)": (
        "WITH icebergmv_copy_0 (`a b`, n) AS (SELECT x, ')' FROM t), icebergmv_copy_1 (`a b`, n) AS "
        "(SELECT x, ')' FROM t), `my c` (`a b`, n) AS (SELECT x, ')' FROM t) SELECT * FROM `my c` WHERE n IN "
        "(SELECT n FROM icebergmv_copy_0 b) AND n > (SELECT max(`my c`.n) FROM icebergmv_copy_1 AS `my c`)"
    ),
    # One that is called as the table that it reads.
    "WITH t AS (SELECT * FROM t) SELECT * FROM t JOIN t u ON true": (
        "WITH icebergmv_copy_0 AS (SELECT * FROM t), t AS (SELECT * FROM t) "
        "SELECT * FROM t JOIN icebergmv_copy_0 u ON true"
    ),
    # A WITH inside a subquery.
    "SELECT * FROM (WITH c AS (SELECT * FROM t) SELECT * FROM c a JOIN c b ON a.x = b.x) s": (
        "SELECT * FROM (WITH icebergmv_copy_0 AS (SELECT * FROM t), c AS (SELECT * FROM t) "
        "SELECT * FROM c a JOIN icebergmv_copy_0 b ON a.x = b.x) s"
    ),
}


@pytest.mark.parametrize("sql", COPIES)
def test_every_use_has_a_text_of_its_own(sql: str) -> None:
    copies = with_copies(sql)
    assert copies is not None
    assert copies.sql == COPIES[sql]
    taken = [(character, sql[place]) for character, place in zip(copies.sql, copies.origins, strict=True) if place >= 0]
    assert [a for a, _ in taken] == [b for _, b in taken]


NOT_COPIED = [
    "WITH c AS (SELECT 1 AS icebergmv_copy_0) SELECT * FROM c a, c b",
    "SELECT * FROM",
    "WITH c0 AS (SELECT * FROM t), "
    + ", ".join(f"c{i} AS (SELECT * FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 14))
    + " SELECT * FROM c13 x, c13 y",
]


@pytest.mark.parametrize("sql", one_of(2, NOT_COPIED))
def test_nothing_is_copied_where_the_text_would_be_in_doubt_or_too_long(sql: str) -> None:
    assert with_copies(sql) is None


def test_a_recursive_query_is_not_copied() -> None:
    sql = "WITH RECURSIVE c AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM c WHERE x < 3) SELECT * FROM c a, c b"
    copies = with_copies(sql)
    assert copies is not None and copies.sql == sql
