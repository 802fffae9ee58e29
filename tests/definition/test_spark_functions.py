"""The table of Spark's functions: its facts agree with each other, with the parser, and with what is made of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax import spark_functions
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import (
    FUNCTIONS,
    SparkFunction,
    known_of,
    written_name,
)
from tests.support.rule_tables import analysed

WINDOW_FUNCTIONS = {"cume_dist", "dense_rank", "lag", "lead", "nth_value", "ntile", "percent_rank", "rank"}


def call_of(name: str) -> str:
    """Return a call with as many arguments as the parser asks for."""
    calls = (f"`{name}`({arguments})" for arguments in ("v", "v, 1", ""))
    return next(call for call in calls if isinstance(parse(f"SELECT {call}"), ParsedSql))


def test_one_row_a_function_in_order() -> None:
    text = Path(spark_functions.__file__).with_name("spark_functions.txt").read_text(encoding="utf-8")
    names = [line.split()[0] for line in text.splitlines() if not line.startswith("#")]
    assert names == sorted(set(names))
    assert len(names) == len(FUNCTIONS) > 500


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda f: f.name)
def test_facts_agree(function: SparkFunction) -> None:
    if function.order_dependent:
        assert function.aggregate
    if function.ordered_by_window:
        assert function.order_dependent
    if function.hidden_by_column:
        assert function.without_parentheses
    if function.without_parentheses:
        assert function.volatile
    assert function.gives_number + function.gives_text + function.gives_time <= 1
    assert not (function.no_text_of_decimal and function.gives_text)
    if function.never_fails or function.never_fails_but_on_text:
        assert not function.volatile
        assert not function.aggregate
        assert not function.generator
        assert not function.ansi_sensitive


def test_what_the_parser_takes_for_an_aggregate_is_one() -> None:
    known = {name: exp.FUNCTION_BY_NAME.get(name.upper()) for name in FUNCTIONS}
    found = {name for name, node in known.items() if node is not None and issubclass(node, exp.AggFunc)}
    assert len(found) > 50
    assert {name for name in found if not FUNCTIONS[name].aggregate} == WINDOW_FUNCTIONS


def test_a_function_that_is_not_spark_s_has_no_facts() -> None:
    assert known_of("my_function") == SparkFunction("")
    reason = "my_function() is a user-defined function, and deterministic_functions does not name it"
    assert analysed("SELECT d, my_function(v) AS x FROM t").always_full == reason


IN_ANY_ORDER = """
    any approx_count_distinct avg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and
    bool_or corr count count_if count_min_sketch covar_pop covar_samp every grouping grouping_id kurtosis max mean
    median min percentile percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2
    regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std stddev stddev_pop stddev_samp sum
    try_avg try_sum var_pop var_samp variance
"""
"""Aggregates of which the order of rows, apart from rounding, changes nothing: Spark's own code adds or compares."""


def test_aggregates_depend_on_the_order_of_rows_unless_it_is_known_that_they_do_not() -> None:
    found = {f.name for f in FUNCTIONS.values() if f.aggregate and not f.order_dependent}
    assert sorted(found) == sorted(IN_ANY_ORDER.split())


@pytest.mark.parametrize("name", [f.name for f in FUNCTIONS.values() if f.volatile])
def test_volatile_functions_are_refreshed_in_full(name: str) -> None:
    definition = analysed(f"SELECT d, {call_of(name)} AS x FROM t")
    assert definition.always_full == f"{name}() gives a new value at every run"


@pytest.mark.parametrize("name", [f.name for f in FUNCTIONS.values() if f.order_dependent])
def test_order_dependent_functions(name: str) -> None:
    definition = analysed(f"SELECT DISTINCT d, {call_of(name)} AS x FROM t GROUP BY d")
    assert definition.full_when_changed == definition.depends_on_order
    assert definition.depends_on_order == f"{name}() depends on the order in which rows are read"


@pytest.mark.parametrize("name", [f.name for f in FUNCTIONS.values() if f.aggregate])
def test_aggregates_are_not_added_up_row_by_row(name: str) -> None:
    assert analysed(f"SELECT {call_of(name)} AS x FROM t").additive == {}


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT nvl(a, substr(b, 1))", {"nvl", "substring"}),
        ("SELECT `Char_Length`(a)", {"char_length"}),
        ("SELECT my_function(a)", {"my_function"}),
        ("SELECT month(d)", {"month", "to_date"}),
        ("SELECT CASE WHEN a AND b THEN 1 END", {"case", "if", "and"}),
    ],
)
def test_the_name_of_a_call_is_the_written_one(sql: str, names: set[str]) -> None:
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    assert {written_name(call, sql) for call in parsed.tree.find_all(exp.Func)} == names
