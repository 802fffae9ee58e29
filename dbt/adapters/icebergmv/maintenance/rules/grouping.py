"""GROUP BY: what an output column tracks is kept when it is a function of a key that is in every grouping set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.rules.keys import Key, Names


def grouping_expressions(select: exp.Select, names: Names) -> list[exp.Expr] | None:
    """Return the expressions that every output row has one value of; None without GROUP BY."""
    group = select.args.get("group")
    if group is None:
        return None
    if group.args.get("rollup") or group.args.get("cube") or group.args.get("totals"):
        return []
    if group.args.get("all"):
        return [e for e in select.expressions if not e.find(exp.AggFunc)]
    found: list[exp.Expr] = []
    if group.args.get("grouping_sets"):
        # `GROUP BY a, b GROUPING SETS (...)`: the sets alone say what is grouped.
        for sets in group.args["grouping_sets"]:
            found += _in_every_set(sets.expressions)
    else:
        for expression in group.expressions:
            if isinstance(expression, exp.GroupingSets):
                found += _in_every_set(expression.expressions)
            elif not isinstance(expression, (exp.Rollup, exp.Cube)):
                found.append(expression)
    return [_resolved(e, select, names) for e in found]


def is_kept(key: Key | None, groups: Sequence[Key]) -> bool:
    """Return whether a key has one value in each group."""
    return key is not None and any(key.is_function_of(g) for g in groups)


def _in_every_set(sets: Iterable[exp.Expr]) -> list[exp.Expr]:
    members = [_members(s) for s in sets]
    return [e for e in members[0] if all(e in others for others in members[1:])] if members else []


def _members(grouping_set: exp.Expr) -> list[exp.Expr]:
    if isinstance(grouping_set, exp.Tuple):
        return list(grouping_set.expressions)
    if isinstance(grouping_set, exp.Paren):
        return [grouping_set.this]
    return [] if isinstance(grouping_set, (exp.Rollup, exp.Cube, exp.GroupingSets)) else [grouping_set]


def _resolved(expression: exp.Expr, select: exp.Select, names: Names) -> exp.Expr:
    """Return what a grouping expression means: an ordinal, a column below, else an alias of the SELECT list."""
    if isinstance(expression, exp.Literal) and expression.is_int:
        position = int(expression.this) - 1
        return select.expressions[position] if 0 <= position < len(select.expressions) else expression
    if isinstance(expression, exp.Column) and not expression.table:
        named = expression.name.lower()
        if all(s.column.name.lower() != named for s in names.sources.slots):
            aliased = [e for e in select.expressions if isinstance(e, exp.Alias) and e.alias.lower() == named]
            return aliased[0] if len(aliased) == 1 else expression
    return expression
