"""Which computed keys a view may evaluate itself: on every stale partition, also on those that its WHERE drops.

There an expression must neither fail nor give what cannot be a key, so only what is known to do well is let through. A
refresh asks Spark first (see planning/key_evaluation.py) and needs no such list.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.ansi_mode import ansi_matters
from dbt.adapters.icebergmv.maintenance.definition.nodes import Nodes
from dbt.adapters.icebergmv.maintenance.definition.parsing import DIALECT, NotParsed, parse
from dbt.adapters.icebergmv.maintenance.definition.spark_functions import known_of, written_name
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


def fails_in_ansi_mode(step: Computed) -> bool:
    """Return whether a safe key may be an error in ANSI mode: where it calculates, or values of several kinds meet."""
    text = _ARGUMENT.join(step.text)
    parsed = parse(text)
    if isinstance(parsed, NotParsed):
        return True
    nodes = Nodes(parsed.tree)
    if nodes.have(*_NUMBERS, exp.Cast, exp.TryCast):
        return True
    if step.argument_type != "string" and any(literal.is_string for literal in nodes.of(exp.Literal)):
        return True
    words = frozenset(token.text.lower() for token in parsed.tokens)
    return ansi_matters(nodes, {_ARGUMENT: [step.argument_type]}, words)


def _is_known(node: exp.Expr, argument_type: str, text: str) -> bool:
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
    is_text = argument_type == "string"
    if is_text and (isinstance(node, _NUMBERS) or _meets_a_number(node)):
        return False
    if isinstance(node, _OPERATORS):
        return True
    function = known_of(written_name(node, text)) if isinstance(node, exp.Func) else known_of("")
    return function.never_fails or (function.never_fails_but_on_text and not is_text)


def _meets_a_number(node: exp.Expr) -> bool:
    """Return whether a condition has a number beside a text, which ANSI mode turns into a number."""
    literals = (v for v in node.iter_expressions() if isinstance(v, exp.Literal))
    return isinstance(node, _CONDITIONS) and any(not v.is_string for v in literals)
