"""Values of a seed as SQL text."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from dbt.adapters.icebergmv.spark.errors import StatementInvalid
from dbt.adapters.icebergmv.spark.seed_values import bind, literal


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        (Decimal("12345678901234567890.10"), "12345678901234567890.10"),
        (Decimal("1E+3"), "1000"),
        (Decimal("9" * 38), "9" * 38),
        (Decimal("1" + "0" * 38), f"'1{'0' * 38}'"),
        (Decimal("1E+37"), "1" + "0" * 37),
        (Decimal("1E+38"), "'1E+38'"),
        (Decimal("0." + "3" * 38), "0." + "3" * 38),
        (Decimal("0." + "3" * 39), f"'0.{'3' * 39}'"),
        (Decimal("1E-39"), "'1E-39'"),
        (Decimal("-1.5"), "-1.5"),
        (Decimal("NaN"), "'NaN'"),
        (7, "7"),
        (0.1, "'0.1'"),
        (float("-inf"), "'-inf'"),
        ("O'Brien \\n", "'O\\'Brien \\\\n'"),
        ("${env:HOME}", "'\\u0024{env:HOME}'"),
        (dt.date(2024, 1, 2), "'2024-01-02'"),
        (dt.datetime(2024, 1, 2, 3, 4, 5, 6), "'2024-01-02 03:04:05.000006'"),
        (dt.datetime(2024, 1, 2, tzinfo=dt.timezone.utc), "'2024-01-02 00:00:00+00:00'"),
    ],
)
def test_literals(value: object, expected: str) -> None:
    assert literal(value) == expected


def test_placeholder_in_a_value_is_not_bound_again() -> None:
    assert bind("values (%s, %s)", ["100%s", 1]) == "values ('100%s', 1)"


def test_other_number_of_values_is_refused() -> None:
    with pytest.raises(StatementInvalid, match="2 placeholders, 1 values"):
        bind("values (%s, %s)", [1])
