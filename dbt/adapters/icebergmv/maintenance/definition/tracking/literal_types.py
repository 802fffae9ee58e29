"""The Spark types of expressions that need no schema, for set operations that match columns by type."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import cast_type

NULL_TYPE = "void"
_INT_MAX = 2**31 - 1


def type_of(expression: exp.Expr) -> str | None:
    """Return the type of a literal or a cast; None for everything else."""
    match expression:
        case exp.Alias() | exp.Paren():
            return type_of(expression.this)
        case exp.Null():
            return NULL_TYPE
        case exp.Boolean():
            return "boolean"
        case exp.Literal():
            if expression.is_string:
                return "string"
            return "int" if expression.is_int and abs(int(expression.this)) <= _INT_MAX else None
        case exp.Cast():
            return cast_type(expression.to)
        case _:
            return None
