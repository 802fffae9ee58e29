"""Which expressions of a column a view may evaluate itself, on any of its values."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed
from dbt.adapters.icebergmv.maintenance.stitching.safe_expressions import fails_in_ansi_mode, is_safe


def step_of(expression: str, argument_type: str) -> Computed:
    return Computed(expression, tuple(expression.split("?")), argument_type)


def is_known(expression: str, argument_type: str) -> bool:
    return is_safe(step_of(expression, argument_type))


@pytest.mark.parametrize(
    ("expression", "argument_type"),
    [
        ("upper(?)", "string"),
        ("coalesce(?, 'none')", "string"),
        ("CASE WHEN ? IS NULL THEN 'none' WHEN ? IN ('a', 'b') THEN 'ab' ELSE ? END", "string"),
        ("lpad(substr(?, 2), 3, '0') || '-x'", "string"),
        ("length(?)", "string"),
        ("CASE WHEN month(?) = 2 THEN date_add(?, 1000) ELSE ? END", "date"),
        ("coalesce(?, DATE '1900-01-01')", "date"),
        ("year(?) * 100 + month(?)", "date"),
        ("date_format(?, 'yyyy-MM')", "timestamp"),
        ("cast(? AS string)", "date"),
        ("cast(? AS bigint)", "int"),
        ("? + 1", "int"),
        ("? % 10", "bigint"),
        ("? div 10", "int"),
    ],
)
def test_never_an_error(expression: str, argument_type: str) -> None:
    assert is_known(expression, argument_type)


@pytest.mark.parametrize(
    ("expression", "argument_type"),
    [
        ("cast(? AS int)", "string"),
        ("cast(? AS date)", "string"),
        ("cast(? AS int)", "bigint"),
        ("year(?)", "string"),
        ("? + 1", "string"),
        ("? = 5", "string"),
        ("? % 0", "int"),
        ("? % 0e0", "int"),
        ("? div 2.5", "int"),
        ("10 div ?", "int"),
        ("? % other", "int"),
        ("trunc(?, unit)", "date"),
        ("element_at(array(1, 2), ?)", "int"),
        ("my_function(?)", "int"),
        ("raise_error(?)", "string"),
    ],
)
def test_may_be_an_error(expression: str, argument_type: str) -> None:
    assert not is_known(expression, argument_type)


@pytest.mark.parametrize("expression", ["map('r', ?)", "struct(?)", "array(?)", "named_struct('r', ?)"])
def test_not_one_value(expression: str) -> None:
    assert not is_known(expression, "string")


@pytest.mark.parametrize(
    ("expression", "argument_type"),
    [
        ("upper(?)", "string"),
        ("coalesce(?, 'none')", "string"),
        ("CASE WHEN ? IN ('a', 'b') THEN 'ab' ELSE lower(trim(?)) END", "string"),
        ("concat(?, '!')", "string"),
        ("coalesce(?, 3)", "int"),
        ("? % 10", "bigint"),
        ("CASE WHEN ? > 5 THEN 1 ELSE 0 END", "int"),
        ("last_day(?)", "date"),
    ],
)
def test_never_an_error_in_ansi_mode_either(expression: str, argument_type: str) -> None:
    assert is_known(expression, argument_type)
    step = step_of(expression, argument_type)
    assert not fails_in_ansi_mode(step, argument_type)
    assert fails_in_ansi_mode(step, "bigint" if argument_type == "int" else "int")
    assert fails_in_ansi_mode(step, None)


@pytest.mark.parametrize(
    ("expression", "argument_type"),
    [
        ("? + 1", "int"),
        ("-?", "int"),
        ("coalesce(?, 'none')", "int"),
        ("? = 'a'", "int"),
        ("length(?) = 'a'", "string"),
        ("coalesce(length(?), 'none')", "string"),
        ("coalesce(? = 'a', 'b')", "string"),
        ("coalesce(?, '1900-01-01')", "date"),
        ("? > 'a'", "date"),
        ("cast(? AS bigint)", "int"),
        ("abs(?)", "int"),
        ("length(?)", "string"),
        ("lpad('x', ?)", "string"),
        ("not ?", "string"),
        ("? is true", "string"),
        ("CASE WHEN ? THEN 'a' ELSE 'b' END", "string"),
        ("CASE WHEN upper(?) OR ? = 'a' THEN 'a' ELSE 'b' END", "string"),
        ("if(lower(?), 'a', 'b')", "string"),
    ],
)
def test_may_be_an_error_in_ansi_mode(expression: str, argument_type: str) -> None:
    assert fails_in_ansi_mode(step_of(expression, argument_type), argument_type)
