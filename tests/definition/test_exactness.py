"""Values that are equal and yet can be told apart: what is shown of floats and of collated texts answers nothing."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from tests.support.analysis import analysed_in

COLUMNS = tuple(
    ColumnInfo(name, spark, None)
    for name, spark in {
        **{"k": "string", "v": "int", "w": "double", "f": "float", "d": "date", "p": "decimal(10,2)"},
        **{"s": "struct<city:string,zip:int>", "g": "struct<x:double>", "a": "array<string>"},
    }.items()
)
ANSWERED = {
    # Nothing but comparisons, choices and numbers is made of the floats.
    "CASE WHEN w > 1 THEN 'a' ELSE 'b' END": True,
    "CAST(w AS int)": True,
    "floor(w)": True,
    "coalesce(w, 0) > f": True,
    "w BETWEEN 0 AND 1": True,
    "w IS NULL": True,
    "round(w * 2, 1) = abs(f)": True,
    "CAST(w AS decimal(10, 2))": True,
    "w = 0 AND NOT f < 1": True,
    "t.g.x > 1": True,
    # Texts and quotients can tell both zeros apart; of a function nothing is known.
    "CAST(w AS string)": False,
    "concat(k, w)": False,
    "k || f": False,
    "1 / w > 0": False,
    "hash(w)": False,
    "w IN (0, 1)": False,
    "CAST(CAST(w AS float) AS string)": False,
    "to_json(g)": False,
    "CAST(t.g.x AS string)": False,
    "format_number(w, 2)": False,
    "coalesce(w, 'none')": False,
    "CASE WHEN v > 1 THEN w ELSE 'none' END": False,
    "if(w IS NULL, '', w)": False,
    "map('0.0', 'plus')[w]": False,
    "CASE w WHEN 1 THEN 'one' ELSE 'other' END": True,
    "coalesce(w, f, 0)": True,
    "if(w > 1, k, 'small')": True,
    # Of other types whatever is made.
    "hash(v, k, d, p)": True,
    "CAST(v / 3 AS string)": True,
    "upper(t.s.city)": True,
    "a[0]": True,
    "concat(CAST(p AS string), date_format(d, 'yyyy'))": True,
}
FROM_BELOW = {
    "upper(concat(k, 'x'))": True,
    "CAST(year(d) AS string)": True,
    "CAST(v + p AS string)": True,
    "CAST(CASE WHEN w > 1 THEN v ELSE 2 END AS string)": True,
    "CAST(v / 3 AS string)": False,
    "CAST(coalesce(w, v) AS string)": False,
    "CAST(sqrt(v) AS string)": False,
    # Of a text Spark makes a double where it is computed with, or beside a decimal.
    "CAST(-k AS string)": False,
    "CAST(k * 2 AS string)": False,
    "CAST(k % 2 AS string)": False,
    "CAST(coalesce(k, 1.0) AS string)": False,
    "CAST(CASE WHEN v > 1 THEN k ELSE 1.5 END AS string)": False,
    "CAST(a || a AS string)": False,
    "CAST(map(k, v) AS string)": False,
    **{
        f"upper({item})": True
        for item in [
            *("date_add(d, 1)", "replace(k, '-', '')", "get_json_object(k, '$.x')", "regexp_extract(k, 'a', 0)"),
            *("d - INTERVAL 6 DAYS", "add_months(d, 1)", "last_day(d)", "make_date(v, 1, 1)", "extract(YEAR FROM d)"),
            *("lpad(k, 3, 'x')", "md5(k)", "t.s.city", "a[0]", "v & 1", "hash(k)", "dayofweek(d)", "instr(k, 'a')"),
            *("size(a)", "length(k)", "k || 'x'", "CAST(k AS decimal)"),
            *("CASE WHEN w > 1 THEN 'a' END", "coalesce(k, 'x')", "v * 2 - p", "from_utc_timestamp(d, 'Europe/Rome')"),
        ]
    },
}
"""Items over a column of a SELECT below; the innermost expression is that column."""


def answered(sql: str) -> tuple[str, ...]:
    reach = analysed_in(sql, "ns", lambda _: COLUMNS, session_is_utc=True).asked.reach
    return reach[0].columns if 0 in reach else ()


@pytest.mark.parametrize("item", ANSWERED)
def test_an_item_of_one_row(item: str) -> None:
    assert answered(f"SELECT v, {item} AS x FROM t") == (("v", "x") if ANSWERED[item] else ("v",))


@pytest.mark.parametrize("item", ANSWERED)
def test_a_term_of_where(item: str) -> None:
    sql = f"SELECT v FROM t WHERE {item} IS NOT NULL"
    found = analysed_in(sql, "ns", lambda _: COLUMNS, session_is_utc=True).asked.reach[0]
    assert bool(found.edits) is not ANSWERED[item]


@pytest.mark.parametrize("item", FROM_BELOW)
def test_an_item_over_a_column_of_another_select(item: str) -> None:
    outside, _, inside = item.partition("(")
    value = inside.rpartition(")")[0].removesuffix(" AS string")
    around = f"{outside}(y{' AS string' if outside == 'CAST' else ''})"
    sql = f"SELECT v, {around} AS x FROM (SELECT v, {value} AS y FROM t) q"
    assert answered(sql) == (("v", "x") if FROM_BELOW[item] else ("v",))


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT k, CAST(w AS string) AS x, count(*) AS n FROM t GROUP BY k, w", ("k",)),
        ("SELECT k, w, count(*) AS n FROM t GROUP BY k, w", ("k", "w")),
        ("SELECT k, CAST(w AS string) AS x FROM (SELECT DISTINCT k, w FROM t) q", ("k",)),
        ("SELECT CAST(w AS string) AS x, count(*) OVER (PARTITION BY w) AS n FROM t", ()),
        ("SELECT CAST(w AS string) AS x FROM (SELECT w FROM t UNION ALL SELECT CAST(v AS double) FROM u) q", ()),
        ("SELECT upper(k) AS x FROM (SELECT k FROM t UNION ALL SELECT 'x' FROM u) q", ("x",)),
        ("SELECT CAST(y AS string) AS x FROM (SELECT k AS y FROM t UNION ALL SELECT p FROM u) q", ()),
        ("SELECT w AS x, v FROM t UNION ALL SELECT k, v FROM u", ("v",)),
        ("SELECT k AS x FROM t UNION ALL SELECT NULL FROM u", ("x",)),
        ("SELECT k AS collation FROM t -- to collate by hand", ("collation",)),
        ("SELECT t.k FROM t JOIN (SELECT sqrt(v) AS r, k FROM u) x ON CAST(x.r AS string) = t.k", ("k",)),
        ("SELECT x.k FROM t JOIN (SELECT sqrt(v) AS r, k FROM u) x ON CAST(t.w AS string) = x.k", ()),
        ("SELECT k COLLATE UTF8_LCASE AS c, k FROM t", ()),
        ("SELECT k FROM t WHERE collation(k) IS NOT NULL", ()),
    ],
)
def test_below_what_puts_rows_together(sql: str, columns: tuple[str, ...]) -> None:
    assert answered(sql) == columns


@pytest.mark.parametrize(
    ("join", "columns"),
    [
        ("JOIN LATERAL explode(a) AS x(e) ON x.e < q.k", ("k", "e")),
        ("JOIN LATERAL explode(a) AS x(e) ON x.e < q.n", ()),
        ("LEFT JOIN LATERAL explode(a) AS x(e) ON length(x.e) < q.n", ()),
        ("JOIN LATERAL explode(a) AS x(e) ON x.e < (SELECT max(q.n))", ()),
        ("CROSS JOIN LATERAL explode(a) AS x(e)", ("k", "e")),
    ],
)
def test_a_condition_of_generated_rows(join: str, columns: tuple[str, ...]) -> None:
    groups = "(SELECT k, a, count(*) AS n FROM t GROUP BY k, a)"
    assert answered(f"SELECT q.k, x.e FROM {groups} q {join}") == columns
