"""stale_read_behavior and staleness_window as words, and what a definition must be like to be stitched."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import (
    DEFINITION_BELOW_ROWS,
    definition_below_rows,
    stale_read_behavior,
    staleness_window,
)
from tests.support.analysis import analysed_in

COLUMNS = (
    *(ColumnInfo("k", "int", None), ColumnInfo("v", "int", None), ColumnInfo("xs", "array<int>", None)),
    *(ColumnInfo("name", "string", None), ColumnInfo("d", "date", None), ColumnInfo("price", "decimal(38,18)", None)),
)
PLACE = ColumnInfo("place", "struct<lat:decimal(20,10),h:float>", None)


def analysed(sql: str) -> ViewDefinition:
    return analysed_in(sql, "ns", lambda _: COLUMNS, session_is_utc=True)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15 minutes", 900),
        ("1 hour", 3600),
        (" 2 DAYS ", 172_800),
        ("90 seconds", 90),
        ("1 week", 604_800),
        (None, None),
    ],
)
def test_words_of_a_staleness_window(text: str | None, seconds: int | None) -> None:
    assert staleness_window(text) == seconds


@pytest.mark.parametrize("text", ["15", "minutes", "-1 minute", "1.5 hours", "1 fortnight", 15, "1 day and 2 hours"])
def test_words_that_are_no_window(text: object) -> None:
    with pytest.raises(InvalidConfig, match="such as '15 minutes'"):
        staleness_window(text)


def test_below_how_many_rows_the_definition_is_read() -> None:
    assert [definition_below_rows(value) for value in (None, 0, 500)] == [DEFINITION_BELOW_ROWS, 0, 500]
    for value in (-1, True, "many", 1.5):
        with pytest.raises(InvalidConfig, match="Give a number of rows"):
            definition_below_rows(value)


def test_words_that_are_no_behavior() -> None:
    with pytest.raises(InvalidConfig, match="Choose one of use_data_table, use_stitching, use_view_query, fail"):
        stale_read_behavior("stitch")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, sum(v) AS s FROM t GROUP BY k",
        "SELECT k, v FROM t WHERE v > 1",
        "WITH a AS (SELECT * FROM t), b AS (SELECT k, count(*) AS n FROM a GROUP BY k) SELECT * FROM b",
        "SELECT t.k, u.v FROM t LEFT JOIN u ON t.k = u.k",
        "SELECT k FROM t UNION ALL SELECT k FROM u",
        "SELECT k, v FROM t WHERE v > (SELECT max(v) FROM u)",
        "SELECT k, x FROM t LATERAL VIEW OUTER explode(xs) e AS x",
        "SELECT k, sum(v) OVER (PARTITION BY k) AS s FROM t",
    ],
)
def test_over_empty_tables_the_query_is_empty(sql: str) -> None:
    assert analysed(sql).needs_tables


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(v) AS s FROM t",
        "SELECT 1 AS one FROM t HAVING true",
        "SELECT k FROM t UNION ALL SELECT 1",
        "SELECT k FROM (SELECT count(*) AS k FROM t) AS c",
        "SELECT t.k FROM t UNION ALL SELECT * FROM VALUES (1) AS x(k)",
        "SELECT k FROM t UNION ALL SELECT id FROM range(3)",
        "SELECT x.k, t.v FROM VALUES (1) AS x(k) LEFT JOIN t ON x.k = t.k",
        "WITH c AS (SELECT 7 AS k) SELECT c.k, t.v FROM c LEFT JOIN t ON c.k = t.k",
        "SELECT explode(array(1, 2)) AS k UNION SELECT k FROM t",
        "SELECT my_aggregate(v) AS s FROM t",
        "SELECT sum(v) FILTER (WHERE v > 1) AS s FROM t",
        "SELECT sum(sum(v)) OVER () AS s FROM t",
    ],
)
def test_rows_may_come_out_of_nothing(sql: str) -> None:
    assert not analysed(sql).needs_tables


@pytest.mark.parametrize(
    ("sql", "selects"),
    [
        ("SELECT k, (SELECT max(v) FROM u WHERE u.k = t.k) AS m FROM t", True),
        ("SELECT k, k IN (SELECT k FROM u) AS known FROM t", True),
        ("SELECT k FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k)", False),
        ("SELECT k FROM (SELECT k FROM t) AS x", False),
    ],
)
def test_subqueries_in_a_select_list(sql: str, selects: bool) -> None:
    assert analysed(sql).selects_subquery == selects


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name, count(*) AS n, sum(v) AS s FROM t GROUP BY name",
        "SELECT k, v FROM t WHERE v > 1 AND name = 'x' AND d >= '2024-01-01'",
        "SELECT k, CASE WHEN v > 1 THEN 'many' ELSE 'few' END AS c FROM t",
        "SELECT k, coalesce(v, 0) AS v, v * 2 + 1 AS w FROM t WHERE k IN (1, 2)",
        "WITH c AS (SELECT k, sum(v) AS s FROM t GROUP BY k) SELECT k FROM c WHERE s > 10",
        "SELECT a.k FROM t a JOIN t b ON a.k = b.k AND a.name = upper(b.name)",
        "SELECT k, upper(name) AS name, v FROM t WHERE d BETWEEN '2024-01-05' AND '2024-01-06' OR d = '2023-01-01'",
        "SELECT k FROM (SELECT k, u AS w FROM (SELECT k, v AS u FROM t) AS x) AS y WHERE w = 1",
        "SELECT k, v IS DISTINCT FROM 1 AS x, name <=> 'a' AS y, d IS NOT DISTINCT FROM '2024-01-05' AS z FROM t",
        "SELECT k, sum(price) * 2 AS total, max(round(price, 2)) AS m FROM t WHERE price > 0.5 AND v > 1 GROUP BY k",
    ],
)
def test_values_of_one_kind_are_the_same_in_ansi_mode(sql: str) -> None:
    assert not analysed(sql).ansi_matters


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k FROM t WHERE name = 5",
        "SELECT k, coalesce(name, 0) AS c FROM t",
        "SELECT k, size(xs) AS s FROM t",
        "SELECT k, name + 1 AS n FROM t",
        "SELECT k, CASE WHEN v > 1 THEN 'many' ELSE v END AS c FROM t",
        "SELECT k, CASE name WHEN 1 THEN 2 END AS c FROM t",
        "SELECT k FROM t UNION ALL SELECT name FROM t",
        "SELECT k FROM t WHERE my_function(v) = 1",
        "SELECT a.k FROM t a JOIN u b USING (k)",
        "SELECT k FROM t WHERE name IN (SELECT k FROM u)",
        "SELECT k FROM t WHERE name BETWEEN 1 AND 2",
        "SELECT k FROM (SELECT k, name AS v FROM t) AS x WHERE v = 1",
        "SELECT k, CAST(v AS float) + 1 AS f FROM t",
        "SELECT k, to_json(array(v, name)) AS a FROM t",
        "SELECT k, to_json(map(1, v, 2, name)) AS m FROM t",
        "SELECT k, nvl2(v, name, k) AS n FROM t",
        "SELECT k, pmod(name, 2) AS p FROM t",
        "SELECT k, concat(xs, xs) AS c FROM t",
        "SELECT k, CAST(price AS string) AS p FROM t",
        "SELECT k, price || ' EUR' AS p FROM t",
        "SELECT k, upper(price) AS p FROM t",
        "SELECT k FROM t WHERE d IN ('2024-01-05', '2024-01-06')",
        "SELECT k, coalesce(d, '1970-01-01') AS d FROM t",
        "SELECT k, if(v > 1, d, '1970-01-01') AS d FROM t",
        "SELECT k, CASE WHEN v > 1 THEN d ELSE '1970-01-01' END AS d FROM t",
        "SELECT a, CAST(p AS string) AS p FROM (SELECT k, price FROM t) AS x(a, p)",
        "SELECT k, CAST(0.0000001 AS string) AS p FROM t",
        "SELECT k, CAST(CAST(v AS decimal(38, 18)) AS string) AS p FROM t",
        "SELECT k FROM (SELECT k, v AS w FROM (SELECT k, name AS v FROM t) AS x) AS y WHERE w = 1",
        "SELECT k FROM (SELECT k, v + 0 AS w, name AS v FROM t) AS y WHERE v = 1",
        "SELECT k, name IS DISTINCT FROM v AS x FROM t",
        "SELECT k, v IS NOT DISTINCT FROM '3000000000' AS x FROM t",
        "SELECT k, equal_null(name, v) AS x FROM t",
        "SELECT k, decode(v, '3000000000', 'big', 'other') AS x FROM t",
        "SELECT k, zeroifnull(name) AS x FROM t",
        "SELECT k, try_multiply(v, name) AS x FROM t",
    ],
)
def test_values_of_several_kinds_may_differ_in_ansi_mode(sql: str) -> None:
    assert analysed(sql).ansi_matters


@pytest.mark.parametrize(
    "item", ["CAST(o.place.lat AS string)", "place.lat || ' N'", "o.place.h + v", "upper(o.place)"]
)
def test_values_inside_a_struct_may_differ_too(item: str) -> None:
    sql = f"SELECT k, {item} AS p FROM t AS o"
    assert analysed_in(sql, "ns", lambda _: (*COLUMNS, PLACE), session_is_utc=True).ansi_matters
    without = "SELECT k, v FROM t AS o"
    assert not analysed_in(without, "ns", lambda _: (*COLUMNS, PLACE), session_is_utc=True).ansi_matters
