"""Key functions and partition transforms as SQL, for views that find their stale partitions when they are read."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.predicates.key_functions import (
    Computed,
    Constant,
    Evaluated,
    Inverse,
    KeyFunction,
    Monotone,
    OrNull,
    Prefix,
    Step,
)
from dbt.adapters.icebergmv.maintenance.predicates.local_time import LocalTime
from dbt.adapters.icebergmv.maintenance.stitching.safe_expressions import is_safe

_HOLE = "\0"


@dataclass(frozen=True)
class Expression:
    """SQL of one argument: the pieces of text around each naming of it."""

    around: tuple[str, ...]

    def of(self, argument: str) -> str:
        """Return the SQL for an argument."""
        return argument.join(self.around)

    def then(self, outer: Expression) -> Expression:
        """Return the expression that applies `outer` to this one."""
        return Expression(tuple(outer.of(self.of(_HOLE)).split(_HOLE)))


def template(text: str) -> Expression:
    """Return the expression of a text with `{}` for the argument."""
    return Expression(tuple(text.split("{}")))


IDENTITY = template("{}")


def expression_of(function: KeyFunction) -> Expression | None:
    """Return the steps as SQL, None when one of them cannot be written so.

    `or NULL` keeps values as they are: who follows it has to think of NULL too. So what comes after it has to leave
    NULL as it is, which is not known of what a user wrote, such as coalesce(c, 'none').
    """
    expression, may_be_null = IDENTITY, False
    for step in function:
        may_be_null = may_be_null or isinstance(step, OrNull)
        if may_be_null and isinstance(step, Computed):
            return None
        found = _step(step)
        if found is None:
            return None
        expression = expression.then(found)
    return expression


def _step(step: Step) -> Expression | None:
    match step:
        case OrNull():
            return IDENTITY
        case LocalTime():
            return template("CAST({} AS TIMESTAMP_NTZ)")
        case Prefix():
            return template(f"SUBSTRING({{}}, 1, {step.length})")
        case Computed() if is_safe(step):
            # Through an equality the value may come from a column of another type: 5000 * 1000000 is no int.
            typed = template(f"CAST({{}} AS {step.argument_type})")
            return typed.then(Expression(("(" + step.text[0], *step.text[1:-1], step.text[-1] + ")")))
        case Monotone():
            return template(step.sql)
        case Computed() | Constant() | Evaluated() | Inverse():
            return None
