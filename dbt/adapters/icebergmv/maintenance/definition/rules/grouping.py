"""GROUP BY: what an output column tracks is kept when it is a function of a key that is in every grouping set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import (
    ANALYTIC_ARGUMENTS,
    ANALYTICS,
    is_aggregate_call,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.literal_types import type_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Key, Names


@dataclass(frozen=True)
class Grouping:
    """The expressions of a GROUP BY: those of every grouping set, and those that some set shows as NULL."""

    always: tuple[exp.Expr, ...]
    sometimes: tuple[exp.Expr, ...] = ()

    def shows_null(self, expression: exp.Expr, names: Names) -> bool:
        """Return whether the expression may hold a grouping expression that some set leaves out.

        Spark takes `v + 1` for `1 + v`, and `date(ts)` for `CAST(ts AS date)`, so any expression of the same column, or
        of an equal one, counts; a constant may be a part of any but a mere column.
        """
        left_out = {slot for e in self.sometimes for slot in _slots(e, names)}
        constant = any(not _slots(e, names) for e in self.sometimes)
        is_part = constant and not isinstance(expression.unalias(), exp.Column)
        return is_part or bool(left_out & _slots(expression, names))


def grouping_of(select: exp.Select, names: Names) -> Grouping | None:
    """Return what GROUP BY groups by; None without GROUP BY."""
    group = select.args.get("group")
    if group is None:
        return None
    if group.args.get("all"):
        return Grouping(tuple(e for e in select.expressions if not any(map(is_aggregate_call, e.walk()))))
    plain = [e for e in group.expressions if not isinstance(e, ANALYTICS)]
    if group.args.get("rollup") or group.args.get("cube") or group.args.get("totals"):
        return Grouping((), tuple(_resolved(e, select, names) for e in _members_of_all(group)))
    # In `GROUP BY a, b GROUPING SETS (...)` the sets alone say what is grouped.
    sets = group.args.get("grouping_sets") or [e for e in group.expressions if isinstance(e, exp.GroupingSets)]
    always = [] if group.args.get("grouping_sets") else plain
    always += [e for s in sets for e in _in_every_set(s.expressions)]
    sometimes = [e for e in _members_of_all(group) if e not in always]
    return Grouping(
        tuple(_resolved(e, select, names) for e in always), tuple(_resolved(e, select, names) for e in sometimes)
    )


def key_positions(select: exp.Select, names: Names) -> tuple[int, ...] | None:
    """Return where the SELECT list shows each expression of a plain GROUP BY; None when it does not show them all.

    Where FROM has columns that are not known, a name in GROUP BY may be one of those rather than an alias.
    """
    grouping = grouping_of(select, names)
    if grouping is None or not grouping.always or names.sources.unknown:
        return None
    found: list[int] = []
    for key in (e.unalias() for e in grouping.always):
        shown = (i for i, item in enumerate(select.expressions) if _is_same(item.unalias(), key, names))
        position = next(shown, None)
        if position is None:
            return None
        found.append(position)
    return tuple(dict.fromkeys(found))


def set_positions(select: exp.Select, names: Names) -> tuple[int, ...] | None:
    """Return where the SELECT list shows each column of a GROUP BY with ROLLUP, CUBE or GROUPING SETS.

    None when it does not show them all, they are not all columns, or two sets may be one: their rows are there twice.
    """
    sets = _written_sets(select.args["group"])
    if not sets or names.sources.unknown:
        return None
    slots = [[_slot_of(e, select, names) for e in members] for members in sets]
    found = [[slot for slot in members if slot is not None] for members in slots]
    kinds = {frozenset(members) for members in found}
    if found != slots or len(kinds) < len(sets) or any(len(set(members)) < len(members) for members in found):
        return None
    every = dict.fromkeys(slot for members in found for slot in members)
    shown = {_slot_of(item, select, names): i for i, item in reversed([*enumerate(select.expressions)])}
    return tuple(shown[slot] for slot in every) if every and every.keys() <= shown.keys() else None


def _slot_of(expression: exp.Expr, select: exp.Select, names: Names) -> int | None:
    """Return the first of the equal columns of FROM of which a grouping expression, or an item, is one."""
    meant = _resolved(expression, select, names).unalias()
    slot = names.sources.resolve(meant) if isinstance(meant, exp.Column) else None
    return None if slot is None else names.sources.same(slot)


def _written_sets(group: exp.Group) -> list[list[exp.Expr]] | None:
    """Return lists of grouping expressions that are the same if two grouping sets are; None in forms not known here.

    Of ROLLUP and CUBE that is the list of everything, as each set is another choice of its elements.
    """
    with_words = [s for a in ("rollup", "cube") for s in _listed(group.args.get(a))]
    analytics = [e for e in group.expressions if isinstance(e, ANALYTICS)]
    plain = [e for e in group.expressions if e not in analytics]
    if group.args.get("totals") or group.args.get("grouping_sets") or len(with_words) + len(analytics) != 1:
        return None
    if with_words:
        return None if with_words[0].expressions or not plain else [plain]
    elements = [*analytics[0].expressions]
    if any(e.find(*ANALYTICS) for e in elements):
        return None
    if isinstance(analytics[0], exp.GroupingSets):
        return [[*plain, *_members(e)] for e in elements]
    members = [_members(e) for e in elements]
    return [[*plain, *(e for found in members for e in found)]] if all(members) else None


def named_keys(select: exp.Select, positions: Iterable[int], names: Names) -> Iterator[tuple[int, int]]:
    """Yield the columns of the SELECT list that mean a grouping column by the name it has there: id() and its place."""
    items = [(i, select.expressions[i]) for i in positions]
    keys = {
        (names.sources.resolve(e.unalias()), e.output_name): i for i, e in items if isinstance(e.unalias(), exp.Column)
    }
    for column in (c for item in select.expressions for c in item.find_all(exp.Column)):
        slot = names.sources.resolve(column)
        position = None if slot is None else keys.get((slot, column.name))
        if position is not None and column.find_ancestor(exp.Lambda) is None:
            yield id(column), position


def averaged_columns(select: exp.Select, names: Names) -> Iterator[tuple[int, str]]:
    """Yield the averages of columns and casts in the SELECT list, by the id() of the call, with the type of these."""
    for call in (call for item in select.expressions for call in item.find_all(exp.Avg)):
        slot = names.sources.resolve(call.this) if isinstance(call.this, exp.Column) else None
        of = type_of(call.this) if slot is None else names.sources.slots[slot].column.type
        if of is not None:
            yield id(call), of


def _is_same(item: exp.Expr, key: exp.Expr, names: Names) -> bool:
    """Return whether an item shows a grouping expression: the same words, or another name of the same column."""
    if isinstance(item, exp.Column) and isinstance(key, exp.Column):
        slot = names.sources.resolve(item)
        is_field = slot is None and item == key and names.sources.read_by(item) is not None
        return is_field or (slot is not None and slot == names.sources.resolve(key))
    return item == key


def is_kept(key: Key | None, groups: Sequence[Key]) -> bool:
    """Return whether a key has one value in each group."""
    return key is not None and any(key.is_function_of(g) for g in groups)


def _slots(expression: exp.Expr, names: Names) -> set[int]:
    """Return the columns of FROM that the expression names, the first of equal ones for all of them."""
    return {names.sources.same(slot) for slot in names.sources.slots_in(expression)}


def _members_of_all(group: exp.Group) -> list[exp.Expr]:
    """Return every expression that GROUP BY names, those inside ROLLUP, CUBE and GROUPING SETS included."""
    found: list[exp.Expr] = []
    pending = [*group.expressions, *(s for a in ANALYTIC_ARGUMENTS for s in _listed(group.args.get(a)))]
    while pending:
        node = pending.pop(0)
        if isinstance(node, (*ANALYTICS, exp.Tuple)):
            pending += node.expressions
        elif isinstance(node, exp.Paren):
            pending.append(node.this)
        else:
            found.append(node)
    return found


def _listed(value: object) -> list[exp.Expr]:
    return [v for v in value if isinstance(v, exp.Expr)] if isinstance(value, list) else []


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
        if named not in names.sources.column_names:
            aliased = [e for e in select.expressions if isinstance(e, exp.Alias) and e.alias.lower() == named]
            return aliased[0] if len(aliased) == 1 else expression
    return expression
