"""Which computed keys a view may evaluate itself: on every stale partition, also on those that its WHERE drops.

There an expression must neither fail nor give what cannot be a key, so only what is known to do well is let through. A
refresh asks Spark first (see evaluation.py) and needs no such list.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.icebergmv.maintenance.definition.definition import DIALECT
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed

_ARGUMENT = "icebergmv_argument"
_VALUES = (exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.DataType)
_CHOICES = (exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least)
_CONDITIONS = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.In, exp.Between, exp.Is, exp.Like),
    *(exp.And, exp.Or, exp.Not),
)
_NUMBERS = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs)
_TEXTS = (
    *(exp.Upper, exp.Lower, exp.Initcap, exp.Trim, exp.Substring, exp.Left, exp.Right, exp.Concat, exp.DPipe),
    *(exp.Pad, exp.Replace, exp.Reverse, exp.ConcatWs, exp.Length),
)
_STEPS = (exp.TsOrDsAdd, exp.DateAdd, exp.DateSub)
_DATES = (
    *(*_STEPS, exp.AddMonths, exp.LastDay, exp.TsOrDsToDate, exp.TimeToStr, exp.TimeStrToTime),
    *(exp.Year, exp.Quarter, exp.Month, exp.Day, exp.WeekOfYear, exp.DayOfWeek, exp.DayOfYear),
)
_KNOWN = (*_VALUES, *_CHOICES, *_CONDITIONS, *_NUMBERS, *_TEXTS, *_DATES)
_CAN_BE_CAST_TO = {"string": None, "date": ("date", "timestamp"), "bigint": ("tinyint", "smallint", "int", "bigint")}
"""Types, and the types of the column from which a cast to them always works; None for all."""


def is_safe(step: Computed) -> bool:
    """Return whether a computed key is one value, and never an error, for every value of its column."""
    if not step.text:
        return False
    try:
        expression = sqlglot.parse_one(_ARGUMENT.join(step.text), dialect=DIALECT)
    except SqlglotError:
        return False
    return all(_is_known(node, step.argument_type) for node in expression.walk())


def _is_known(node: exp.Expr, argument_type: str) -> bool:
    match node:
        case exp.Column():
            return node.name == _ARGUMENT and not node.table
        case exp.Cast() | exp.TryCast():
            wanted = node.to.sql(dialect=DIALECT).lower()
            sources = _CAN_BE_CAST_TO.get(wanted, ())
            return sources is None or argument_type in sources
        case exp.Mod() | exp.IntDiv():
            is_zero = not isinstance(node.expression, exp.Literal) or node.expression.name.strip("0.") == ""
            return argument_type != "string" and not is_zero
        case exp.Var():
            return isinstance(node.parent, _STEPS)
    if argument_type == "string" and (isinstance(node, (*_NUMBERS, *_DATES)) or _meets_a_number(node)):
        return False
    return isinstance(node, _KNOWN)


def _meets_a_number(node: exp.Expr) -> bool:
    """Return whether a condition has a number beside a text, which ANSI mode turns into a number."""
    literals = (v for v in node.iter_expressions() if isinstance(v, exp.Literal))
    return isinstance(node, _CONDITIONS) and any(not v.is_string for v in literals)
