"""Values that depend on the order of rows, of groups that a join shows: by which columns their rows go together.

`o LEFT JOIN (SELECT k, any_value(v) AS l ... GROUP BY k) g ON o.k = g.k` shows one value of a group in several rows,
and each evaluation may find another one. So the rows of one group have to be replaced together, or none of them: a
region may name only columns that have one value in all rows of a group, as `g.k` has, and `o.k`, which is equal to it
wherever there is a group. What a group is here is a row of the SELECT that groups, by the id() of its node.

Which rows there are must not depend on such a value. A SELECT of which that is sure gets a finding; nothing is taken
for granted of one that has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import depends_on_order
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import (
    aggregates_all_rows,
    has_grouping_sets,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import counts_rows
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import OnlyShown
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Equality, Sources
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn, TrackedRelation

_PASSING = frozenset(["expressions", "from_", "joins", "where", "with_", "order", "hint"])
_GROUPING = _PASSING | {"group", "having"}

Groups = frozenset[int]


def with_groups(column: TrackedColumn, item: exp.Expr, select: exp.Select, names: Names) -> TrackedColumn:
    """Return the column of an item of a SELECT list with the groups that it shows, and in which it has one value."""
    if item.find(exp.Query, exp.Window) is not None:
        return column
    is_grouped, of_groups = groups_rows(select), frozenset({id(select)})
    found = [names.sources.resolve(part) for part in item.find_all(exp.Column)]
    read = [None if slot is None else names.sources.slots[slot].column for slot in found]
    known = [part for part in read if part is not None]
    if is_grouped:
        # Its rows are its groups. What they are made of must not depend on an order below.
        is_own = column.is_tied and depends_on_order(item, names.sources.settled)
        shown = of_groups if is_own and not any(part.is_tied for part in known) else frozenset[int]()
        return replace(column, tied_to=shown, one_in=of_groups)
    one_in = frozenset[int]() if None in read else _in_all([part.one_in for part in known])
    tied = [part.tied_to for part in known if part.is_tied]
    shown = frozenset[int]().union(*tied) if all(tied) and None not in read else frozenset()
    return replace(column, tied_to=shown if column.is_tied else frozenset(), one_in=one_in)


def with_joined_groups(both: Sources, found: Iterable[Equality], offset: int, side: str) -> Sources:
    """Return both sides of a join, for whose pairs of rows these equalities are true, as their rows show groups.

    Where a group of the side that may be missing is shown, the other side was found equal. The other way round it may
    be missing, beside one row of a group and not beside another.
    """
    if side == "FULL":
        lost = tuple(replace(s, column=replace(s.column, tied_to=frozenset(), one_in=frozenset())) for s in both.slots)
        return replace(both, slots=lost)
    groups = [s.column.one_in for s in both.slots]
    kept = {"LEFT": range(offset), "RIGHT": range(offset, len(groups))}.get(side)
    across = (pair for pair in _both_ways(found) if kept is None or (pair[0] not in kept and pair[1] in kept))
    pairs = [*_both_ways(both.equalities), *across]
    grown = True
    while grown:
        grown = False
        for giver, taker in pairs:
            if both.slots[taker].column.exact and not groups[giver] <= groups[taker]:
                groups[taker] |= groups[giver]
                grown = True
    slots = (replace(s, column=replace(s.column, one_in=groups[i])) for i, s in enumerate(both.slots))
    return replace(both, slots=tuple(slots))


def only_shown(select: exp.Select, names: Names, relation: TrackedRelation) -> tuple[OnlyShown, ...]:
    """Return that which rows a SELECT has, and what it shows besides values of groups, depends on no order of rows."""
    if relation.columns is None or relation.has_ties or names.sources.unknown:
        return ()
    is_tied_below = any(slot.column.is_tied for slot in names.sources.slots)
    shown = [column for column in relation.columns if column.is_tied]
    if not is_tied_below and not shown:
        return (OnlyShown(id(select)),)
    known = _PASSING if is_tied_below else _GROUPING
    has_others = any(value for name, value in select.args.items() if name not in known)
    if has_others or not all(column.tied_to for column in shown) or (is_tied_below and groups_rows(select)):
        return ()
    group = select.args.get("group")
    has_sets = group is not None and has_grouping_sets(group)
    return () if has_sets or _may_name_one(select, names, shown) else (OnlyShown(id(select)),)


def groups_rows(select: exp.Select) -> bool:
    """Return whether the rows of a SELECT are groups of rows."""
    return select.args.get("group") is not None or aggregates_all_rows(select)


def _may_name_one(select: exp.Select, names: Names, shown: Sequence[TrackedColumn]) -> bool:
    """Return whether a clause of a SELECT may mean such a value in a way that is not seen.

    That is by the alias of another item, as a struct of which it reads a field, or among all columns together, as in
    `struct(*)`. ORDER BY decides nothing.
    """
    tied = {slot.column.name.lower() for slot in names.sources.slots if slot.column.is_tied}
    tied |= {column.name.lower() for column in shown}
    joins = (join.args.get("on") for join in select.args.get("joins") or ())
    parts = (*select.expressions, *joins, *(select.args.get(name) for name in ("where", "group", "having")))
    nodes = [node for part in parts if part is not None for node in part.find_all(exp.Column, exp.Star)]
    unknown = (node for node in nodes if isinstance(node, exp.Column) and names.sources.resolve(node) is None)
    is_named = any(part.name.lower() in tied for column in unknown for part in column.parts)
    return is_named or any(isinstance(node, exp.Star) and not _is_item_or_counted(node) for node in nodes)


def _is_item_or_counted(star: exp.Star) -> bool:
    """Return whether a star stands for columns of a SELECT list, or for rows that are counted.

    Spark counts rows for `count(*)` alone; beside other arguments, and behind a name, it stands for columns.
    """
    node = star.parent if isinstance(star.parent, exp.Column) else star
    return isinstance(node.parent, exp.Select) or counts_rows(star)


def _both_ways(equalities: Iterable[Equality]) -> Iterator[tuple[int, int]]:
    """Yield pairs of slots of which the second has one value wherever the first has."""
    for e in equalities:
        if not e.right_steps:
            yield e.left, e.right
        if not e.left_steps:
            yield e.right, e.left


def _in_all(groups: Sequence[Groups]) -> Groups:
    return frozenset.intersection(*groups) if groups else frozenset()
