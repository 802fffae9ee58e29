"""Columns that a SELECT reads and does not list. To list them besides changes no row, and shows what the rows follow.

A SELECT gives a row for each row of its FROM that its filters let pass; what its list has more makes no difference. Not
so where rows are compared (DISTINCT) or counted (LIMIT). Where they are grouped, the list may name what they are
grouped by.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.rules.grouping import grouping_of
from dbt.adapters.icebergmv.maintenance.definition.rules.windows import behind_windows, window_partitions
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import (
    aggregates_all_rows,
    has_grouping_sets,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Key, Names
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn, Unlisted
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence
from dbt.adapters.icebergmv.maintenance.definition.tracking.written_columns import named_slot

_MORE_THAN_ROWS = ("distinct", "limit", "offset", "sample", "pivots", "connect", "match", "kind")


def unlisted(select: exp.Select, names: Names) -> tuple[Unlisted, ...]:
    """Return the columns of FROM that its list could name; of `SELECT * FROM x` those that the query x could name."""
    if any(select.args.get(a) for a in _MORE_THAN_ROWS) or aggregates_all_rows(select):
        return ()
    if select.args.get("group") is not None:
        return tuple(_grouped_by(select, names))
    windows = window_partitions(select, names, None)
    if passes_on(select):
        # What a window of this SELECT is partitioned by, it lists; a column of x's own is followed through none.
        return () if windows else names.sources.relation.unlisted
    found: list[tuple[str, str, TrackedColumn]] = []
    for number, slot in enumerate(names.sources.slots):
        text = named_slot(number, names.sources) if slot.column.name else None
        if text is not None:
            found.append((slot.alias, text, behind_windows(slot.column, Key(number), windows, names)))
    if windows:
        return tuple(Unlisted(text, column, _followed(column)) for _, text, column in found)
    by_all: dict[str, frozenset[Occurrence]] = {}
    for alias, _, column in found:
        followed = _followed(column)
        by_all[alias] = by_all.get(alias, followed) & followed
    if select.args.get("joins"):
        # Which columns without an alias are of one relation is not known.
        by_all[""] = names.sources.relation.occurrences
    return tuple(Unlisted(text, column, _followed(column) - by_all[alias]) for alias, text, column in found)


def _grouped_by(select: exp.Select, names: Names) -> Iterator[Unlisted]:
    """Yield the columns of FROM by which rows are grouped; none where a group has several rows, or is in a window."""
    grouping, group = grouping_of(select, names), select.args["group"]
    is_plain = not group.args.get("all") and not has_grouping_sets(group) and not select.args.get("qualify")
    if grouping is None or not is_plain or any(item.find(exp.Window) for item in select.expressions):
        return
    for key in grouping.always:
        slot = names.sources.resolve(key) if isinstance(key, exp.Column) else None
        text = None if slot is None else named_slot(slot, names.sources)
        if slot is not None and text is not None:
            column = names.sources.slots[slot].column
            yield Unlisted(text, column, _followed(column))


def _followed(column: TrackedColumn) -> frozenset[Occurrence]:
    return frozenset(track.occurrence for track in column.tracks)


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
