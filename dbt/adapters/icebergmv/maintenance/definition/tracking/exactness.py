"""Values that are one wherever they are equal, and expressions that give equal values for equal ones.

Spark puts 0.0 and -0.0 into one group, one window partition and one pair of a join, and shows either as a text of its
own. So a row that changed does not say by such a text which rows it reaches; nor may a predicate on it be pushed below
what takes the two for one, as Spark does. Texts of a collation are alike: of a SELECT that names one, nothing is asked.

Spark makes a double of a text that it computes with, and a text of a double beside a text. So an expression is known by
its kind, and only where that follows from the kinds of its parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import choices_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import cast_type
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Kind
from dbt.adapters.icebergmv.maintenance.sql.spark_types import is_exact

FoundKind: TypeAlias = Kind | Literal["null"] | None
"""The kind of an expression; None where it is not known."""

_NESTED = re.compile(r"(struct|array)<(?!.*\b(float|double|variant|map)\b)", re.DOTALL)
_OF_TYPE: Mapping[str, Kind] = {
    **dict.fromkeys(["tinyint", "smallint", "int", "bigint", "decimal"], "number"),
    **dict.fromkeys(["date", "timestamp", "timestamp_ntz"], "time"),
    **dict.fromkeys(["float", "double"], "float"),
    "string": "text",
    "binary": "text",
    "boolean": "boolean",
}
_COMPARE = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.Between, exp.Is, exp.Not)
_COMPUTE = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs, exp.Floor, exp.Ceil, exp.Round)
_KEEP = (exp.Paren, exp.Alias, exp.Connector, exp.Dot, *_COMPARE, *_COMPUTE)
"""What gives equal values for equal ones, whatever their type. Not IN: a long list is looked up by the bits."""

_OF_NUMBERS = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.Neg, exp.Abs, exp.Round, exp.Sum),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot),
)
_BOOLEAN = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)
_WHOLE = (exp.Count, exp.CountIf, exp.IntDiv, exp.Floor, exp.Ceil)
_SAME = (exp.Paren, exp.Alias, exp.Filter, exp.Window, exp.Max, exp.Min, exp.Nullif)


def kind_of_type(spark_type: str | None) -> Kind | None:
    """Return the kind of a Spark type; None for one that is not known, and for nested ones that hold floats or maps.

    Maps with their entries in another order are equal.
    """
    if spark_type is None:
        return None
    if _NESTED.match(spark_type):
        return "other"
    plain = spark_type.partition("(")[0]
    return _OF_TYPE.get(plain) if plain == spark_type or is_exact(spark_type) else None


def kind_of(expression: exp.Expr, names: Names) -> Kind | None:
    """Return the kind of an expression; None where it is not known, be it because it is NULL."""
    found = _kind(expression, names)
    return None if found == "null" else found


def united(kinds: Iterable[FoundKind]) -> Kind | None:
    """Return the kind of what has one of several types. Whole numbers and decimals are decimals together."""
    found = {kind for kind in kinds if kind != "null"}
    return "float" if found == {"number", "float"} else found.pop() if len(found) == 1 else None


def may_become_text(kinds: Iterable[FoundKind]) -> bool:
    """Return whether what is of one of several types may be a text that was a float."""
    found = [kind for kind in kinds if kind != "null"]
    return found.count(None) > 1 or ("text" in found and not {None, "float"}.isdisjoint(found))


def _kind(expression: exp.Expr, names: Names) -> FoundKind:
    match expression:
        case exp.Null():
            return "null"
        case exp.Column():
            slot = names.sources.resolve(expression)
            return None if slot is None else names.sources.slots[slot].column.kind
        case exp.Literal():
            is_number = expression.this.replace(".", "", 1).isdigit()
            return "text" if expression.is_string else "number" if is_number else None
        case exp.Cast():
            return kind_of_type(cast_type(expression.to))
        case exp.Case() | exp.If() | exp.Coalesce() | exp.Greatest() | exp.Least():
            return united(_kind(value, names) for value in choices_of(expression))
        case exp.DPipe() | exp.Concat():
            found = {_kind(part, names) for part in expression.iter_expressions()}
            return "text" if found.isdisjoint({None, "float", "other"}) else None
        case exp.AtTimeZone() | exp.FromTimeZone():
            return "time"
        case exp.Add() | exp.Sub() if isinstance(expression.expression, exp.Interval):
            return "time" if _kind(expression.this, names) == "time" else None
        case exp.Dot() | exp.Bracket():
            return "other" if _kind(expression.this, names) == "other" else None
        case exp.Array() | exp.Struct():
            is_known = all(_kind(part.unalias(), names) not in (None, "float") for part in expression.expressions)
            return "other" if is_known else None
    return _kind_of_call(expression, names)


def _kind_of_call(expression: exp.Expr, names: Names) -> FoundKind:
    """Return the kind of an operator or a function by its class or its name."""
    if isinstance(expression, _BOOLEAN):
        return "boolean"
    if isinstance(expression, _WHOLE):
        return "number"
    if isinstance(expression, _OF_NUMBERS):
        found = {_kind(part, names) for part in expression.iter_expressions()}
        return united(found) if found <= {"number", "float", "null"} else None
    if isinstance(expression, _SAME):
        return _kind(expression.this, names)
    if not isinstance(expression, exp.Func):
        return None
    known = known_of(written_name(expression, names.scope.sql))
    return "text" if known.always_text else "time" if known.always_time else "number" if known.always_number else None


def told_apart(expression: exp.Expr, names: Names) -> frozenset[int]:
    """Return the slots of which rows with equal values may have other values of an expression.

    Columns of a query around it have one value for all of them.
    """
    if isinstance(expression, exp.Column) and names.sources.resolve(expression) is not None:
        return frozenset()
    if _keeps_equal(expression, names):
        return frozenset(slot for part in expression.iter_expressions() for slot in told_apart(part, names))
    read = names.sources.slots_in(expression)
    return frozenset(slot for slot in read if not names.sources.slots[slot].column.exact)


def keeps_equal(expression: exp.Expr, names: Names) -> bool:
    """Return whether an expression, down to columns of tables, is one value for rows with equal values."""
    slots = names.sources.slots
    return not told_apart(expression, names) and all(
        slots[i].column.keeps_equal for i in names.sources.slots_in(expression)
    )


def _keeps_equal(expression: exp.Expr, names: Names) -> bool:
    """Return whether an expression has equal values where each of its parts has."""
    match expression:
        case exp.Cast():
            return kind_of_type(cast_type(expression.to)) in ("number", "time", "float", "boolean")
        case exp.Case() | exp.If() | exp.Coalesce():
            # The branches of a CASE are of the class If, too.
            is_branch = isinstance(expression.parent, exp.Case) and expression.arg_key == "ifs"
            return is_branch or not may_become_text(_kind(value, names) for value in choices_of(expression))
        case exp.Bracket():
            return all(_kind(key, names) not in (None, "float") for key in expression.expressions)
    return isinstance(expression, _KEEP)
