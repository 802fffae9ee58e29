"""Calls that make one row of several, or several of one, whether or not the parser knows their functions as such."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import (
    aggregates_all_rows,
    has_grouping_sets,
    is_aggregate,
    is_aggregate_call,
    is_generator,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import parse_query


def select_of(sql: str) -> exp.Select:
    select = parse_query(sql)
    assert isinstance(select, exp.Select)
    return select


def first_item(sql: str) -> exp.Expr:
    item: exp.Expr = select_of(sql).expressions[0]
    return item


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("sum(v)", True),
        ("regr_r2(v, w)", True),  # One that the parser knows by its name alone.
        ("abs(v)", False),
        ("row_number() OVER (ORDER BY v)", False),
    ],
)
def test_is_aggregate(item: str, expected: bool) -> None:
    assert is_aggregate(first_item(f"SELECT {item} FROM t")) is expected


@pytest.mark.parametrize("over", ["sum(v) OVER (ORDER BY d)", "sum(v) FILTER (WHERE v > 0) OVER (ORDER BY d)"])
def test_over_a_window_a_call_of_an_aggregate_function_is_no_aggregate(over: str) -> None:
    call = first_item(f"SELECT {over} FROM t").find(exp.Sum)
    assert call is not None
    assert (is_aggregate_call(call), is_aggregate(call)) == (True, False)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT sum(v) FROM t", True),
        ("SELECT 1 FROM t HAVING true", True),
        ("SELECT sum(v) FROM t GROUP BY d", False),
        ("SELECT d, (SELECT sum(v) FROM u) FROM t", False),
    ],
)
def test_aggregates_all_rows(sql: str, expected: bool) -> None:
    assert aggregates_all_rows(select_of(sql)) is expected


@pytest.mark.parametrize(
    ("group_by", "expected"),
    [
        ("a, b", False),
        ("a, b WITH ROLLUP", True),
        ("a, b WITH CUBE", True),
        ("ROLLUP (a, b)", True),
        ("GROUPING SETS ((a), (b))", True),
        ("a, b GROUPING SETS ((a), (b))", True),
    ],
)
def test_has_grouping_sets(group_by: str, expected: bool) -> None:
    group = select_of(f"SELECT a, b FROM t GROUP BY {group_by}").find(exp.Group)
    assert group is not None
    assert has_grouping_sets(group) is expected


@pytest.mark.parametrize(
    ("item", "expected"), [("explode(v)", True), ("1 + inline_outer(v)", True), ("stack(2, v, w)", True), ("v", False)]
)
def test_is_generator(item: str, expected: bool) -> None:
    assert is_generator(first_item(f"SELECT {item} FROM t")) is expected
