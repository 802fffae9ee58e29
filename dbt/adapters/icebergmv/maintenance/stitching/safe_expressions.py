"""Which computed keys a view may evaluate itself: on every stale partition, also on those that its WHERE drops.

There an expression must neither fail nor give what cannot be a key, so only what is known to do well is let through. A
refresh asks Spark first (see planning/questions/key_evaluation.py) and needs no such list.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.determinism.ansi_mode import ansi_matters
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import NotParsed, cast_type, parse
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed

_ARGUMENT = "icebergmv_argument"
_VALUES = (exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.DataType)
_CONDITIONS = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.In, exp.Between, exp.Is, exp.Like),
    *(exp.And, exp.Or, exp.Not),
)
_NUMBERS = (exp.Add, exp.Sub, exp.Mul, exp.Neg)
_STEPS = (exp.TsOrDsAdd, exp.DateAdd, exp.DateSub)
"""Here the parser adds the unit of days."""

_OPERATORS = (*_VALUES, *_CONDITIONS, *_NUMBERS, exp.DPipe)
_NO_ERROR_IN_ANSI_MODE = (
    *("coalesce", "nvl", "ifnull", "nullif", "upper", "ucase", "lower", "lcase", "initcap", "trim", "ltrim", "rtrim"),
    *("concat", "reverse", "replace", "translate", "year", "quarter", "month", "day", "dayofmonth", "dayofweek"),
    *("dayofyear", "weekday", "weekofyear", "last_day"),
)
"""Functions that keep to one kind of value, and have no value that they refuse."""

_CAN_BE_CAST_TO = {"string": None, "date": ("date", "timestamp"), "bigint": ("tinyint", "smallint", "int", "bigint")}
"""Types, and the types of the column from which a cast to them always works; None for all."""


def is_safe(step: Computed) -> bool:
    """Return whether a computed key is one value, and never an error, for every value of its column."""
    if not step.text:
        return False
    text = _ARGUMENT.join(step.text)
    parsed = parse(text)
    if isinstance(parsed, NotParsed):
        return False
    return all(_is_known(node, step.argument_type, text) for node in parsed.tree.walk())


def fails_in_ansi_mode(step: Computed, given: str | None) -> bool:
    """Return whether a safe key may be an error in ANSI mode, of values of the Spark type `given`.

    A value of another type than the argument's is cast to it first, and that may fail. So may arithmetic, most
    functions, and values of several kinds where they meet.
    """
    text = _ARGUMENT.join(step.text)
    parsed = parse(text)
    if isinstance(parsed, NotParsed) or given != step.argument_type:
        return True
    nodes = Nodes(parsed.tree)
    if not all(_is_plain(node, text) for node in parsed.tree.walk()):
        return True
    if step.argument_type != "string" and any(literal.is_string for literal in nodes.of(exp.Literal)):
        return True
    words = frozenset(token.text.lower() for token in parsed.tokens)
    return ansi_matters(nodes, {_ARGUMENT: [step.argument_type]}, words)


def _is_plain(node: exp.Expr, text: str) -> bool:
    """Return whether a node of a safe key does no more than choose, compare, or change letters and dates."""
    match node:
        case exp.If() | exp.Not():
            return _is_condition(node.this)
        case exp.And() | exp.Or():
            return _is_condition(node.left) and _is_condition(node.right)
        case exp.Is():
            return isinstance(node.expression, exp.Null)
        case exp.Case():
            return True
    if isinstance(node, exp.Func):
        return written_name(node, text) in _NO_ERROR_IN_ANSI_MODE
    return isinstance(node, (*_VALUES, *_CONDITIONS, exp.DPipe, exp.Mod, exp.IntDiv))


def _is_condition(node: exp.Expr) -> bool:
    """Return whether a node is true or false by itself; a text in its place is cast."""
    return isinstance(node.unnest(), (exp.Predicate, exp.Connector, exp.Not, exp.Boolean, exp.Null))


def _is_known(node: exp.Expr, argument_type: str, text: str) -> bool:
    match node:
        case exp.Column():
            return node.name == _ARGUMENT and not node.table
        case exp.Cast() | exp.TryCast():
            sources = _CAN_BE_CAST_TO.get(cast_type(node.to), ())
            return sources is None or argument_type in sources
        case exp.Mod() | exp.IntDiv():
            return argument_type != "string" and _is_whole_number(node.expression)
        case exp.Var():
            return isinstance(node.parent, _STEPS)
    is_text = argument_type == "string"
    if is_text and (isinstance(node, _NUMBERS) or _meets_a_number(node)):
        return False
    if isinstance(node, _OPERATORS):
        return True
    function = known_of(written_name(node, text)) if isinstance(node, exp.Func) else known_of("")
    return function.never_fails or (function.never_fails_but_on_text and not is_text)


def _is_whole_number(node: exp.Expr) -> bool:
    """Return whether a node is a whole number written out, and not 0."""
    return isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal() and int(node.name) != 0


def _meets_a_number(node: exp.Expr) -> bool:
    """Return whether a condition has a number beside a text, which ANSI mode turns into a number."""
    literals = (v for v in node.iter_expressions() if isinstance(v, exp.Literal))
    return isinstance(node, _CONDITIONS) and any(not v.is_string for v in literals)
