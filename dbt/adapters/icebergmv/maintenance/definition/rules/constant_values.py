"""The values of constants, as far as they are the same in every session: what a condition compares a column with."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import datetime, timezone
from decimal import Decimal

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Scope
from dbt.adapters.icebergmv.maintenance.predicates.date_functions import truncate_date
from dbt.adapters.icebergmv.maintenance.predicates.domain import Value
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import (
    MICROS_PER_DAY,
    civil_from_days,
    days_from_civil,
)
from dbt.adapters.icebergmv.maintenance.sql.spark_types import decimal_of

MOMENTS = frozenset({"timestamp", "timestamp_ntz"})
"""The types of moments: what a text means as one depends on the session."""

_INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})
_WIDEST_SCALE = 18
"""Beside a bigint, which is decimal(20,0) there, a decimal of this scale fits into 38 digits. Others are rounded."""

_INT, _BIGINT = 2**31, 2**63
_DAYS = range(-719_162, 2_932_897)
"""The days of the years 1 to 9999."""

_MINUS_ONE = exp.Neg(this=exp.Literal.number(1))
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?")
_MOMENT_TYPES = (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.TIMESTAMPNTZ)


def value_of(constant: exp.Expr, spark_type: str, scope: Scope) -> Value | None:
    """Return the value that a column of a type is compared with, in the internal form; None if it is not known.

    A moment is that of its text in UTC.
    """
    if not scope.has_plain_literals:
        return None
    constant = constant.unnest()
    decimal = decimal_of(spark_type)
    if spark_type in _INTEGERS:
        return _whole_number(constant)
    if decimal is not None and decimal[1] <= _WIDEST_SCALE:
        number = _whole_number(constant)
        return None if number is None else Decimal(number)
    match spark_type:
        case "string":
            return constant.this if isinstance(constant, exp.Literal) and constant.is_string else None
        case "date":
            return _days(constant, scope) if not isinstance(constant, exp.Literal) else _day(constant)
        case _ if spark_type in MOMENTS:
            return _micros(constant)
    return None


def _whole_number(constant: exp.Expr) -> int | None:
    """Return a literal, with its sign. What is computed of others may overflow; one beyond bigint is another type."""
    match constant.unnest():
        case exp.Literal() as literal if not literal.is_string and literal.this.isdecimal():
            return int(literal.this) if int(literal.this) < _BIGINT else None
        case exp.Neg() as negative if isinstance(negative.this.unnest(), exp.Literal):
            number = _whole_number(negative.this)
            return None if number is None else -number
        case exp.Cast() as cast if cast.to.is_type(exp.DataType.Type.BIGINT) and isinstance(cast.this, exp.Literal):
            return _whole_number(cast.this)
    return None


def _distance(constant: exp.Expr) -> int | None:
    """Return a number of days or months. That of date_sub is the parser's product with -1."""
    match constant.unnest():
        case exp.Mul() as product if product.expression.unnest() == _MINUS_ONE:
            number = _distance(product.this)
            return None if number is None else -number
        case other:
            number = _whole_number(other)
            return number if number is not None and abs(number) < _INT else None


def _days(constant: exp.Expr, scope: Scope) -> int | None:
    """Return the day of a date, and of what functions make of one."""
    match constant.unnest():
        case exp.Cast() as cast if cast.to.is_type(exp.DataType.Type.DATE):
            return _day(cast.this)
        case exp.TsOrDsAdd() as added if added.text("unit").upper() == "DAY":
            return _sum(_days(added.this, scope), _distance(added.expression), 1)
        case exp.AddMonths() as added:
            return _months_later(_days(added.this, scope), _distance(added.expression))
        case exp.DateTrunc() as truncated if scope.units_are_literals:
            step, day = truncate_date(truncated.args["unit"].name), _days(truncated.this, scope)
            return None if step is None or day is None else step.apply(day)
        case exp.Add() | exp.Sub() as sum_:
            sign = 1 if isinstance(sum_, exp.Add) else -1
            return _later(_days(sum_.this, scope), sum_.expression.unnest(), sign)
    return None


def _later(day: int | None, distance: exp.Expr, sign: int) -> int | None:
    if not isinstance(distance, exp.Interval):
        return _sum(day, _distance(distance), sign)
    text = distance.text("this")
    if not re.fullmatch(r"-?\d{1,6}", text):
        return None
    match distance.text("unit").upper().removesuffix("S"):
        case "DAY":
            return _sum(day, int(text), sign)
        case "WEEK":
            return _sum(day, 7 * int(text), sign)
        case "MONTH":
            return _months_later(day, sign * int(text))
        case "YEAR":
            return _months_later(day, sign * 12 * int(text))
    return None


def _sum(day: int | None, distance: int | None, sign: int) -> int | None:
    if day is None or distance is None:
        return None
    found = day + sign * distance
    return found if found in _DAYS else None


def _months_later(day: int | None, months: int | None) -> int | None:
    """Return the day so many months later; of a month that has no such day, its last one."""
    if day is None or months is None:
        return None
    year, month, day_of_month = civil_from_days(day)
    years, month = divmod(year * 12 + month - 1 + months, 12)
    if not 1 <= years <= 9999:
        return None
    return days_from_civil(years, month + 1, min(day_of_month, monthrange(years, month + 1)[1]))


def _day(literal: exp.Expr) -> int | None:
    micros = _read(literal, _DAY)
    return None if micros is None else micros // MICROS_PER_DAY


def _micros(constant: exp.Expr) -> int | None:
    if isinstance(constant, exp.Cast) and constant.to.is_type(*_MOMENT_TYPES):
        return _read(constant.this, _MOMENT)
    if isinstance(constant, exp.Cast) and constant.to.is_type(exp.DataType.Type.DATE):
        return _read(constant.this, _DAY)
    return _read(constant, _MOMENT)


def _read(literal: exp.Expr, form: re.Pattern[str]) -> int | None:
    if not isinstance(literal, exp.Literal) or not literal.is_string or not form.fullmatch(literal.this):
        return None
    try:
        whole, _, fraction = literal.this.partition(".")
        moment = datetime.fromisoformat(whole).replace(tzinfo=timezone.utc, microsecond=int(fraction.ljust(6, "0")))
    except ValueError:
        # No such day, or no such time: an error or NULL for Spark.
        return None
    since = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return since.days * MICROS_PER_DAY + since.seconds * 1_000_000 + since.microseconds
