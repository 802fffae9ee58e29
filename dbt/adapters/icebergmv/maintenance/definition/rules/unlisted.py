"""Columns that a SELECT reads and does not list. To list them besides changes no row, and shows what the rows follow.

A SELECT gives a row for each row of its FROM that its filters let pass; what its list has more makes no difference. Not
so where rows are grouped, compared (DISTINCT) or counted (LIMIT).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.rules.from_columns import Slot
from dbt.adapters.icebergmv.maintenance.definition.rules.grouping import aggregates_all_rows
from dbt.adapters.icebergmv.maintenance.definition.rules.projection import Key, Names
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import TrackedColumn, Tracks, Unlisted
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier

_MORE_THAN_ROWS = ("group", "having", "distinct", "limit", "offset", "sample", "pivots", "connect", "match", "kind")


def unlisted(select: exp.Select, names: Names, windows: Sequence[Sequence[Key]]) -> tuple[Unlisted, ...]:
    """Return the columns of FROM that its list could name; of `SELECT * FROM x` those that the query x could name.

    `windows` has the keys in PARTITION BY of each window.
    """
    if any(select.args.get(a) for a in _MORE_THAN_ROWS) or aggregates_all_rows(select):
        return ()
    if passes_on(select):
        # What a window of this SELECT is partitioned by, it lists; a column of x's own is followed through none.
        return () if windows else names.sources.relation.unlisted
    return tuple(
        Unlisted(_text(slot), replace(slot.column, tracks=_behind(windows, number, slot, names)))
        for number, slot in enumerate(names.sources.slots)
        if slot.alias and slot.column.name
    )


def passes_on(select: exp.Select) -> bool:
    """Return whether a SELECT lists all columns of one relation, so that it also lists a new last one.

    Nothing else in it looks at all columns, as a condition on `hash(*)` does: a new one would change what it says.
    """
    from_, (item, *more) = select.args.get("from_"), select.expressions
    if from_ is None or more or not isinstance(item, exp.Star) or any(item.args.values()):
        return False
    relation = from_.this
    others = (select.args.get("joins"), select.args.get("laterals"), relation.args.get("joins"))
    if any(others) or relation.args.get("laterals"):
        return False
    clauses = (node for key, node in select.args.items() if key not in ("expressions", "from_", "with_"))
    stars = (star for node in clauses if isinstance(node, exp.Expr) for star in node.find_all(exp.Star))
    return all(isinstance(star.parent, exp.Select | exp.Count) for star in stars)


def _text(slot: Slot) -> str:
    return f"{identifier(slot.alias)}.{identifier(slot.column.name)}"


def _behind(windows: Sequence[Sequence[Key]], number: int, slot: Slot, names: Names) -> Tracks:
    key = Key(names.sources.same(number), (), slot.column.type)
    kept = all(any(key.is_function_of(partition) for partition in window) for window in windows)
    return slot.column.tracks if kept else TrackedColumn("").tracks
