"""Lists and texts that are collected and sorted below other queries: no order of rows decides what they are."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.row_order.collected_lists import collected
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import parse_expression
from tests.support.analysis import analysed_in
from tests.support.bases import columns_of as columns_of_bases

TYPES = {
    "k": "int",
    "kind": "string",
    "day": "date",
    "n": "decimal(10,2)",
    "y": "double",
    "s": "struct<a:int>",
    "u": "a type",
    "c": "string collate UTF8_LCASE",
}
COLUMNS = tuple(ColumnInfo(name, of, None) for name, of in TYPES.items())
JOINED = "with g as (select k, {} as v from r group by k) select o.k, o.kind, g.v from o left join g on o.k = g.k"


def _analysed(sql: str) -> ViewDefinition:
    return analysed_in(sql, "s", lambda _: COLUMNS, session_is_utc=True)


SORTED = [
    "array_sort(collect_list(distinct kind))",
    "concat_ws(', ', sort_array(collect_set(kind)))",
    "sort_array(collect_list(day), false)",
    "array_join(array_sort(array_agg(n) filter (where y > 0)), '-')",
    "sort_array(array_distinct(collect_list(k + 1)))",
    "array_distinct(array_sort(collect_list(lower(kind))))",
    "listagg(kind, ', ') within group (order by kind)",
    "listagg(distinct kind) within group (order by kind desc, day)",
    "string_agg(kind, ',') within group (order by kind) filter (where n > 1)",
    "size(sort_array(collect_set(cast(y as int))))",
]
UNSORTED = [
    "collect_list(kind)",
    "concat_ws(', ', collect_list(distinct kind))",
    "array_sort(collect_list(y))",
    "array_sort(collect_list(u))",
    "array_sort(collect_list(s))",
    "array_sort(collect_list(c))",
    "array_sort(collect_list(cast(y as float)))",
    "array_sort(collect_list(kind), (a, b) -> 1)",
    "sort_array(collect_list(kind), k > 1)",
    "sort_array(transform(collect_list(kind), a -> a))",
    "sort_array(filter(collect_list(kind), (a, i) -> i > 1))",
    "sort_array(slice(collect_list(kind), 1, 2))",
    "sort_array(collect_list((select first(kind) from o)))",
    "listagg(kind, ', ')",
    "listagg(kind, ', ') within group (order by day)",
    "listagg(kind, ', ') within group (order by lower(kind), kind)",
    "listagg(y, ', ') within group (order by y)",
    "array_sort(collect_list(kind)) || array(first(kind))",
]


@pytest.mark.parametrize("value", SORTED)
def test_what_is_sorted_by_itself_depends_on_no_order(value: str) -> None:
    definition = _analysed(JOINED.format(value))
    assert definition.depends_on_order is None
    assert definition.full_when_changed is None
    assert definition.asked.names_some(0)
    assert definition.asked.names_some(1)


@pytest.mark.parametrize("value", UNSORTED)
def test_what_may_be_in_another_order(value: str) -> None:
    assert "depends on the order" in (_analysed(JOINED.format(value)).depends_on_order or "")


@pytest.mark.parametrize(
    "sql",
    [
        "select v, count(*) as n from (select k, array_sort(collect_set(kind)) as v from r group by k) g group by v",
        "select k, rank() over (order by array_join(array_sort(collect_set(kind)), '')) as n from r group by k",
        "select k from (select k, array_sort(collect_set(kind)) as v from r group by k) g where v[0] = 'a'",
        "select o.k, (select array_sort(collect_set(kind)) from r where r.k = o.k) as v from o",
        "select array_sort(collect_set(kind)) as v from r union select array_sort(collect_set(kind)) from o",
        "with g as (select k, array_sort(collect_set(kind)) as v from r group by k) "
        "select a.k, b.v from g a join g b on a.v = b.v",
    ],
)
def test_other_rows_may_follow_from_it(sql: str) -> None:
    assert _analysed(sql).depends_on_order is None


@pytest.mark.parametrize(
    "sql",
    [
        "select k from r group by k having array_sort(collect_set(kind))[0] = 'a'",
        "select k, array_sort(collect_set(v)) as vs from (select k, day, first(kind) as v from r group by k, day) q "
        "group by k",
        "select k, array_sort(collect_set(kind) over (partition by k order by day rows 1 preceding)) as v from r",
        "select k, listagg(kind) within group (order by kind) over (partition by k) as v from r",
        "select k, array_sort(collect_set(kind)) as v from r group by k limit 3",
        "select k, array_sort(collect_set(kind)) as v, collation(kind) as c from r group by k, kind",
        "select k, kind || 'x' as z, array_sort(collect_set(z)) as v from r group by k, kind",
    ],
)
def test_elsewhere_it_may_be_another_one(sql: str) -> None:
    assert _analysed(sql).depends_on_order is not None


def test_the_reason_names_what_is_not_sorted() -> None:
    sql = "select k, array_sort(collect_set(kind)) as a, max_by(kind, day) as b from r group by k"
    assert _analysed(sql).depends_on_order == "max_by() depends on the order in which rows are read"
    assert _analysed(sql).shown_alone
    distinct = _analysed(f"select distinct b from ({sql}) q")
    assert distinct.full_when_changed == "max_by() depends on the order in which rows are read"


def test_a_sorted_list_may_be_beside_what_is_only_shown() -> None:
    sql = "select k, max_by(kind, day) as b from ({}) q group by k"
    below = "select k, day, array_join(array_sort(collect_set(kind)), '') as kind from r group by k, day"
    assert _analysed(sql.format(below)).full_when_changed is None


@pytest.mark.parametrize(
    ("item", "call"),
    [
        ("sort_array(collect_set(x))", "COLLECT_SET(x)"),
        ("array_sort(array_distinct(collect_list(x)))", "COLLECT_LIST(x)"),
        ("array_sort(x)", None),
        ("array_sort(collect_set(x), f)", None),
        ("collect_set(x)", None),
    ],
)
def test_the_aggregate_of_a_sorted_list(item: str, call: str | None) -> None:
    found = collected(parse_expression(item))
    assert (None if found is None else found.sql(dialect="databricks").upper()) == (call and call.upper())


def test_columns_of_tables_that_are_not_known_have_no_type() -> None:
    sql = "select k, array_sort(collect_set(kind)) as v from t group by k"
    assert analysed_in(sql, "s", lambda _: None, session_is_utc=True).depends_on_order is not None
    known = analysed_in(sql.replace("kind", "region"), "s", columns_of_bases, session_is_utc=True)
    assert known.depends_on_order is None
