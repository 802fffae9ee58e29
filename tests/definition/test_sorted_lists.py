"""Lists that are collected and sorted: when they are the same in whatever order rows are read."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.row_order.sorted_lists import SortedLists
from tests.support.analysis import analysed_in

COLUMNS = (ColumnInfo("k", "int", None), ColumnInfo("x", "a type", None), ColumnInfo("y", "double", None))
"""Of `x` nothing is known; see test_collected_lists.py for lists of which the tables show the type."""
ORDER = "{}() depends on the order in which rows are read"


def _analysed(sql: str) -> ViewDefinition:
    return analysed_in(sql, "s", lambda _: COLUMNS, session_is_utc=True)


def _reason(items: str, types: dict[str, str], rest: str = "from t group by k") -> str | None:
    return _analysed(f"select k, {items} {rest}").with_types({"k": "int", **types}).depends_on_order


@pytest.mark.parametrize(
    "item",
    [
        "sort_array(collect_set(x))",
        "sort_array(collect_list(x), false)",
        "sort_array(array_agg(distinct x), true)",
        "array_sort(collect_set(x))",
        "sort_array(collect_set(x) filter (where y > 0))",
        "sort_array(collect_set(x * 2 + k))",
    ],
)
def test_a_sorted_list_of_exact_values_does_not_depend_on_an_order(item: str) -> None:
    assert _reason(f"{item} as xs", {"xs": "array<int>"}) is None


@pytest.mark.parametrize(
    "of",
    [
        *("boolean", "tinyint", "smallint", "int", "bigint", "string", "binary", "date", "timestamp"),
        *("timestamp_ntz", "decimal(10,2)"),
    ],
)
def test_lists_of_these_types_are_exact(of: str) -> None:
    assert _reason("sort_array(collect_set(x)) as xs", {"xs": f"array<{of}>"}) is None


@pytest.mark.parametrize(
    "of",
    ["float", "double", "string collate UTF8_LCASE", "array<int>", "struct<a:double>", "map<int,int>", "variant"],
)
def test_equal_values_of_other_types_can_be_told_apart(of: str) -> None:
    assert _reason("sort_array(collect_set(x)) as xs", {"xs": f"array<{of}>"}) == ORDER.format("collect_set")


@pytest.mark.parametrize(
    ("items", "rest"),
    [
        ("collect_set(x) as xs", "from t group by k"),
        ("sort_array(collect_set(x)) as xs, collect_list(x) as ys", "from t group by k"),
        ("sort_array(collect_set(x)) as xs, first(x) as ys", "from t group by k"),
        ("array_sort(collect_list(x), (a, b) -> 1) as xs", "from t group by k"),
        ("sort_array(collect_set(x), x > 3) as xs", "from t group by k, x"),
        ("sort_array(collect_set(x))[0] as xs", "from t group by k"),
        ("sort_array(collect_list(x) over (order by k rows between 1 preceding and current row)) as xs", "from t"),
        ("sort_array(transform(collect_list(x), (a, i) -> i * a)) as xs", "from t group by k"),
        ("sort_array(collect_set((select first(x) from t u))) as xs", "from t group by k"),
        ("sort_array(collect_set(x)) as xs", "from t group by k having element_at(collect_list(x), 1) > 3"),
        ("sort_array(collect_set(x)) as xs", "from (select k, first(x) as x from t group by k) q group by k"),
        ("xs", "from (select k, sort_array(collect_set(x)) as xs from t group by k) q"),
        ("sort_array(collect_set(x)) as xs", "from t group by k union all select 1, array(1) from t"),
        ("sort_array(collect_set(x)) as xs", "from (select * from t limit 3) q group by k"),
        ("sort_array(collect_list(x collate UTF8_LCASE)) as xs", "from t group by k"),
        ("sort_array(collect_list(collate(x, 'UTF8_LCASE'))) as xs", "from t group by k"),
    ],
)
def test_what_may_depend_on_an_order(items: str, rest: str) -> None:
    assert _reason(items, {"xs": "array<int>", "ys": "array<int>"}, rest) is not None


@pytest.mark.parametrize("items", ["k, x", "k, sort_array(collect_set(x)) as xs"])
@pytest.mark.parametrize("picked", ["(select {} from t group by k, x) limit 3", "((select {} from t) offset 3)"])
def test_a_limit_picks_other_rows_wherever_it_is(items: str, picked: str) -> None:
    definition = _analysed(picked.format(items))
    assert definition.sorted_lists is None
    assert (definition.with_types({"xs": "array<int>"}).depends_on_order or "").startswith("LIMIT")


def test_where_nothing_is_collected_there_are_no_lists() -> None:
    assert _analysed("select k, first(x) as xs from t group by k").sorted_lists is None
    assert _analysed("select k, max(x) as xs from t group by k").sorted_lists is None


def test_every_list_has_to_be_exact() -> None:
    items = "sort_array(collect_set(x)) as xs, sort_array(collect_set(y)) as Ys"
    assert _reason(items, {"xs": "array<int>", "Ys": "array<double>"}) == ORDER.format("collect_set")
    assert _reason(items, {"xs": "array<int>", "Ys": "array<int>"}) is None


def test_types_that_are_known_later_are_believed() -> None:
    definition = _analysed("select k, sort_array(collect_set(x)) as xs from t group by k")
    assert definition.sorted_lists == SortedLists(frozenset({"xs"}), ORDER.format("collect_set"))
    assert definition.depends_on_order == ORDER.format("collect_set")
    exact = definition.with_types({"xs": "array<int>"})
    assert exact.depends_on_order is None
    assert exact.with_types({"xs": "array<double>"}).depends_on_order == ORDER.format("collect_set")


@pytest.mark.parametrize(("distinct", "is_full"), [("", False), ("distinct", True)])
def test_inexact_lists_are_refreshed_in_full_where_they_are_not_only_shown(distinct: str, is_full: bool) -> None:
    definition = _analysed(f"select {distinct} k, sort_array(collect_set(x)) as xs from t group by k")
    assert definition.with_types({"xs": "array<int>"}).full_when_changed is None
    inexact = definition.with_types({"xs": "array<int>"}).with_types({"xs": "array<double>"})
    assert (inexact.full_when_changed is not None) == is_full


def test_types_do_not_settle_what_is_full_for_another_reason() -> None:
    definition = _analysed("select k, x as xs from t")
    assert definition.with_types({"xs": "array<int>"}) == definition
    assert _reason("rand() as r, sort_array(collect_set(x)) as xs", {"xs": "array<int>"}) is None
    assert _analysed("select k, rand() as r, sort_array(collect_set(x)) as xs from t group by k").always_full
