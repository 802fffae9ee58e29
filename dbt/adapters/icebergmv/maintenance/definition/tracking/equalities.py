"""Conditions: which columns a WHERE or an ON makes equal on every row that passes."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Equality, are_comparable
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Key, Names, key_of
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import is_computed


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the terms of an AND, parentheses opened."""
    if condition is None:
        return
    if isinstance(condition, exp.Paren):
        yield from conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from conjuncts(condition.this)
        yield from conjuncts(condition.expression)
    else:
        yield condition


def conditions_of(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the conditions that hold for every row: the terms of WHERE, and of the ON of inner joins.

    Not so an ON behind which another join shows NULL in place of the rows that passed.
    """
    where = select.args.get("where")
    yield from conjuncts(where.this if where is not None else None)
    for join in reversed(select.args.get("joins") or ()):
        if not join.side and not join.method and join.kind in ("", "INNER", "CROSS"):
            yield from conjuncts(join.args.get("on"))
        if join.side in ("RIGHT", "FULL"):
            return


def term_around(where: exp.Where, node: exp.Expr) -> exp.Expr:
    """Return the term of a WHERE that holds a node, or is it."""
    return next(terms_with(where.this, node))


def terms_with(condition: exp.Expr | None, node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the term of a condition that holds a node, or is it, if there is one."""
    return (term for term in conjuncts(condition) if any(found is node for found in term.walk()))


def equalities(condition: exp.Expr | None, names: Names) -> list[Equality]:
    """Return the equalities between columns of FROM that hold on every row for which the condition is true."""
    found = []
    for term in conjuncts(condition):
        if isinstance(term, (exp.EQ, exp.NullSafeEQ)):
            equality = equality_of(key_of(term.this, names), key_of(term.expression, names))
            if equality is not None:
                found.append(equality)
    return found


def equality_of(left: Key | None, right: Key | None) -> Equality | None:
    """Return the equality of two keys, or None when it says nothing that can be followed."""
    if left is None or right is None or left.slot == right.slot or not are_comparable(left.type, right.type):
        return None
    if is_computed((*left.steps, *right.steps)):
        return None  # It may make a value of NULL, which an outer join would then not.
    return Equality(left.slot, left.steps, right.slot, right.steps)
