"""Windows: what an output column tracks is kept where every PARTITION BY has a key that goes with it.

Either the column is a function of that key, and has one value in a window partition. Or both are functions of the same
column, as in PARTITION BY date_trunc('month', d) beside d: then a changed row reaches all rows of its month, so what
the other one is made of is followed to the month and back first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.rules.grouping import Grouping
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import own_windows
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Key, Names, key_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import KeyFunction, inverse


def window_partitions(select: exp.Select, names: Names, grouping: Grouping | None) -> list[list[Key]]:
    """Return the keys in PARTITION BY of each window of the SELECT list, QUALIFY and ORDER BY."""
    found = []
    for partition in partitions_of_windows(select):
        shown = [e for e in partition if grouping is None or not grouping.shows_null(e, names)]
        found.append([k for k in (key_of(e, names) for e in shown) if k is not None])
    return found


def behind_windows(column: TrackedColumn, key: Key, windows: Sequence[Sequence[Key]], names: Names) -> TrackedColumn:
    """Return the column as it is behind the windows: tracked, perhaps in periods, if each has a key of its slot."""
    same = Key(names.sources.same(key.slot), key.steps, key.type)
    around: KeyFunction = ()
    for window in windows:
        if any(same.is_function_of(partition) for partition in window):
            continue
        period = next((partition.steps for partition in window if partition.slot == same.slot), None)
        if period is None:
            return replace(column, tracks=frozenset())
        around += period + inverse(period)
    if not around:
        return column
    tracks = names.sources.slots[key.slot].column.tracks
    return replace(column, tracks=frozenset(track.then(around + key.steps) for track in tracks))


def partitions_of_windows(select: exp.Select) -> list[list[exp.Expr]]:
    """Return the expressions in PARTITION BY of each window of the SELECT list, QUALIFY and ORDER BY."""
    named = {w.this.name.lower(): w for w in select.args.get("windows") or () if isinstance(w.this, exp.Identifier)}
    return [_partition_by(window, named) for window in own_windows(select, ("qualify", "order"))]


def windows_in_the_way(partitions: Sequence[Sequence[exp.Expr]]) -> str:
    """Return why nothing that a SELECT lists is followed through its windows, of which there is one at least."""
    if not all(partitions):
        return "a window over all rows"
    if not frozenset.intersection(*map(frozenset, partitions)):
        return "windows that are partitioned by different columns"
    return "a window that is not partitioned by a key of it in the SELECT list"


def _partition_by(window: exp.Window, named: dict[str, exp.Window]) -> list[exp.Expr]:
    if window.args.get("partition_by"):
        return list(window.args["partition_by"])
    alias = window.args.get("alias")
    of = named.get(alias.name.lower()) if alias is not None else None
    return list(of.args.get("partition_by") or ()) if of is not None else []
