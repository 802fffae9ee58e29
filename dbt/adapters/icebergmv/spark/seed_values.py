"""Putting values into SQL text: Spark's `sql()` takes no parameters from dbt, so seeds become literals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

from dbt.adapters.icebergmv.maintenance.sql.rendering import string_literal
from dbt.adapters.icebergmv.spark.errors import StatementInvalid

PLACEHOLDER = "%s"
_MOST_DIGITS = 38


def statement_of(sql: str, values: Sequence[object] | None) -> str:
    """Return what dbt wants to run as Spark takes it: without the semicolon, with values in place of `%s`."""
    statement = sql.strip().removesuffix(";")
    return statement if values is None else bind(statement, values)


def bind(sql: str, values: Sequence[object]) -> str:
    """Return `sql` with each `%s` replaced by the literal of one value, in order.

    Raises StatementInvalid when their numbers differ. A `%s` inside a value stays what it is.
    """
    pieces = sql.split(PLACEHOLDER)
    if len(pieces) != len(values) + 1:
        raise StatementInvalid(
            f"Cannot bind the statement: {len(pieces) - 1} placeholders, {len(values)} values. "
            "Give one value for each `%s`."
        )
    tail = (literal(value) + piece for value, piece in zip(values, pieces[1:], strict=True))
    return pieces[0] + "".join(tail)


def literal(value: object) -> str:
    """Return a value as a Spark SQL literal, to be cast to the column's type by the statement around it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Decimal():
            return format(value, "f") if _is_spark_decimal(value) else string_literal(str(value))
        case int():
            return str(value)
        case float():
            return string_literal(repr(value))
        case dt.datetime():
            return string_literal(value.isoformat(sep=" "))
        case dt.date():
            return string_literal(value.isoformat())
        case _:
            return string_literal(str(value))


def _is_spark_decimal(value: Decimal) -> bool:
    """Return whether Spark takes the digits of a number for a decimal, which has 38 of them at most."""
    if not value.is_finite():
        return False
    _, digits, exponent = value.as_tuple()
    return max(len(digits) + max(int(exponent), 0), -int(exponent)) <= _MOST_DIGITS
