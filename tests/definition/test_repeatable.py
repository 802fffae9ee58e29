"""Which rows are the same whenever they are read from the same tables."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dbt.adapters.icebergmv.maintenance.definition.determinism.repeatable import Averaged, repeatable
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import find_references
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import NotParsed, parse

TYPES: Mapping[str, list[str | None]] = {
    "k": ["string", "int"],
    "v": ["int"],
    "x": ["double"],
    "y": ["bigint", "float"],
    "p": ["decimal(12,2)"],
    "q": ["decimal(7,2)"],
    "big": ["bigint"],
    "d": ["date"],
    "ts": ["timestamp"],
    "huge": ["decimal(38,0)"],
    "st": ["struct<v:double>"],
    "unknown": [None],
}


def conditions(sql: str, types: Mapping[str, list[str | None]] = TYPES) -> tuple[Averaged, ...] | None:
    parsed = parse(sql)
    assert not isinstance(parsed, NotParsed)
    find_references(parsed.tree, "ns")
    return repeatable(parsed.tree, parsed.tokens, types)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x, y + 1.5D FROM t WHERE x / 3 > 0.1",
        "SELECT k, count(*), count(x), count(DISTINCT x), max(k), min(v), sum(v) FROM t GROUP BY k",
        "SELECT k, sum(CASE WHEN x > 1 THEN v ELSE -v END + coalesce(v, 0) * 2) AS v FROM t GROUP BY k",
        "SELECT k FROM t WHERE p > (SELECT 1.2 * avg(p) FROM t u WHERE u.k = t.k)",
        "SELECT avg(s) FROM (SELECT k, sum(q) AS s FROM t GROUP BY k) z",
        "SELECT avg(a) FROM (SELECT k, avg(p) AS a FROM t GROUP BY k) z",
        "SELECT sum(n) FROM (SELECT k, count(*) AS n FROM t GROUP BY k) z",
        "SELECT sum(CAST(x AS int)), sum(p * (1 - q)), max(if(x > 1, v, NULL)) FROM t",
        "SELECT k, rank() OVER (PARTITION BY k ORDER BY x), sum(v) OVER (ORDER BY k) FROM t",
        "SELECT bool_or(x > 1), bit_xor(v), grouping(k) FROM t GROUP BY CUBE (k)",
        "SELECT k FROM t INTERSECT SELECT k FROM u",
        "SELECT sum(v) FROM (SELECT v FROM t UNION ALL SELECT big FROM t) z",
        # Texts that are not computed with, and functions of one row.
        "SELECT min(k), max(coalesce(k, 'a')), max(upper(k)), min(substr(k, 2)), max(concat_ws('-', k, 'b')) FROM t",
        "SELECT min(year(d)), max(last_day(d)), sum(length(k)), sum(datediff(d, d)) FROM t",
        "SELECT max(date_trunc('MONTH', ts)), sum(quarter(ts)), max(trunc(d, 'MM')) FROM t",
        "SELECT max(trim(k)), max(to_date(ts)), min(replace(k, 'a', 'b')) FROM t",
    ],
)
def test_repeatable(sql: str) -> None:
    assert conditions(sql) == ()


@pytest.mark.parametrize(
    "sql",
    [
        # Sums of texts are sums of doubles.
        "SELECT sum(k) FROM t",
        "SELECT avg(k) FROM t",
        "SELECT sum(v + k) FROM t",
        "SELECT sum(v * '0.1') FROM t",
        "SELECT sum(-k) FROM t",
        "SELECT sum(abs(k)) FROM t",
        "SELECT sum(CAST(x AS string)) FROM t",
        "SELECT sum(upper(k)) FROM t",
        "SELECT sum(m) FROM (SELECT max(k) AS m FROM t) z",
        "SELECT sum(coalesce(v, k)) FROM t",
        "SELECT sum(CASE WHEN v > 1 THEN v ELSE '1' END) FROM t",
        # What a function makes of a float.
        "SELECT max(upper(CAST(s AS string))) FROM (SELECT sum(x) AS s FROM t) z",
        "SELECT sum(length(x)) FROM t",
        "SELECT max(round(p, 1)), max(unknown_function(v)) FROM t",
        # Floats, by whatever name.
        "SELECT sum(x) FROM t",
        "SELECT max(y) FROM t",
        "SELECT sum(1e3 * v), sum(v * 1.5D), sum(v / 2) FROM t",
        "SELECT sum(v / 2) FROM t",
        "SELECT sum(v * CAST(v AS double)) FROM t",
        "SELECT sum(s) FROM (SELECT x AS s FROM t) z",
        "SELECT sum(v) FROM (SELECT x AS v FROM t) z",
        "SELECT sum(v) FROM (SELECT x FROM t) z(v)",
        "SELECT sum(v) FROM t LATERAL VIEW explode(array(x)) e AS v",
        "SELECT sum(st.v) FROM t",
        "SELECT sum(m) FROM (SELECT max(sqrt(v)) AS m FROM t) z",
        "SELECT sum(unknown) FROM t",
        "SELECT sum(nowhere) FROM t",
        "SELECT sum(coalesce(v, x)) FROM t",
        "SELECT sum(CASE WHEN v > 1 THEN v ELSE x END) FROM t",
        # The name is that of the first branch.
        "SELECT sum(v) FROM (SELECT v FROM t UNION ALL SELECT x FROM t) z",
        "SELECT sum(v) FROM (SELECT v FROM t UNION (SELECT v FROM t EXCEPT SELECT x AS v FROM t)) z",
        "SELECT sum(v) FROM (SELECT * FROM t UNION ALL SELECT x FROM t) z",
        "SELECT sum(v) FROM (SELECT explode(array(x)) FROM t) z",
        # Averages of whole numbers, and of decimals of few digits, are of doubles; so are those of their averages.
        "SELECT avg(v + 1) FROM t",
        "SELECT avg(big) FROM t",
        "SELECT avg(coalesce(p, q)) FROM t",
        "SELECT avg(v) FROM (SELECT big AS v FROM t) z",
        "SELECT avg(v) FROM (SELECT v FROM t UNION ALL SELECT big FROM t) z",
        "WITH z AS (SELECT * FROM t) SELECT avg(v) FROM z JOIN z y ON z.k = y.k",
        "SELECT avg(v) FROM t LATERAL VIEW explode(array(1, 2)) e AS n",
        "SELECT sum(a) FROM (SELECT avg(v) AS a FROM t GROUP BY k) z",
        "SELECT sum(v) FROM (SELECT avg(v) AS v FROM t GROUP BY k) z",
        "SELECT sum(huge) FROM t",
        # Order.
        "SELECT row_number() OVER (ORDER BY k) FROM t",
        "SELECT lag(v) OVER (ORDER BY k) FROM t",
        "SELECT first_value(v) OVER (ORDER BY k) FROM t",
        "SELECT sum(v) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
        "SELECT collect_list(v) FROM t",
        "SELECT stddev(v) FROM t",
        "SELECT max_by(v, k) FROM t",
        "SELECT try_sum(v) FROM t",
        "SELECT k FROM t LIMIT 3",
        # Texts that are equal and can be told apart.
        "SELECT k COLLATE UTF8_LCASE FROM t",
        "SELECT collate(k, 'UTF8_LCASE') FROM t",
        "SELECT CAST(k AS string COLLATE UTF8_LCASE) FROM t",
    ],
)
def test_not_repeatable(sql: str) -> None:
    assert conditions(sql) is None


def test_a_column_of_a_collation() -> None:
    assert conditions("SELECT DISTINCT k FROM t", {"k": ["string collate UTF8_LCASE"]}) is None


@pytest.mark.parametrize(
    ("sql", "averaged"),
    [
        ("SELECT avg(v) FROM t", [({0}, 2**22)]),
        ("SELECT avg(z.q) FROM t z", [({0}, 2**53 // 10**7)]),
        ("SELECT k FROM u WHERE v > (SELECT avg(v) FROM t WHERE t.k = u.k)", [({1}, 2**22)]),
        ("SELECT avg(v), avg(q) FROM t, (SELECT k FROM u) z", [({0, 1}, 2**22), ({0, 1}, 2**53 // 10**7)]),
    ],
)
def test_averages_by_doubles_are_exact_of_some_rows(sql: str, averaged: list[tuple[set[int], int]]) -> None:
    assert conditions(sql) == tuple(Averaged(frozenset(references), most) for references, most in averaged)
