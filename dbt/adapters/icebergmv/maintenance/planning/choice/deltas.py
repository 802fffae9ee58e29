"""Which changes can be read by themselves: rows that were appended, and both versions of rows that changed otherwise.

The references are taken one after the other. Those before the one whose change is read are read as they are now, those
after it as they were, so that the deltas lead from the old rows to the new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import cancelling_pays
from dbt.adapters.icebergmv.maintenance.planning.plan import Delta
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import (
    before_change,
    can_be_cancelled,
    columns_read,
    is_appended,
    is_sent_to_every_task,
    rows_touched,
)
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus, by_reference
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import at_snapshot


def appended_deltas(
    definition: ViewDefinition, stale: Sequence[BaseTableStatus], others: Sequence[BaseTableStatus] = ()
) -> tuple[Delta, ...] | None:
    """Return the deltas that make the new output rows, where rows were only appended and the definition adds up.

    `others` changed, too, and are no part of it. They are read in the order of the references, as questions about their
    changes read them: the answer to one of these need not hold where another table is as it was, or is not.
    """
    bases = by_reference(stale)
    since = {
        index: base.change.appended_since
        for index, base in bases.items()
        if base.change.appended_since is not None and definition.uses_of(index)
    }
    indexes = _read(definition, stale)
    if (
        not indexes
        or not _can_be_read_alone(definition, definition.additive, indexes)
        or not since.keys() >= {*indexes}
    ):
        return None
    if len(indexes) > 1 and not all(_can_be_read_as_before(b) for b in stale):
        return None
    if not all(map(has_former_version, others)):
        return None
    if any(b.base.source is not None and b.base.source.has_other_columns_now for b in stale):
        return None
    beside = {index: recorded_snapshot(base) for index, base in by_reference(others).items()}
    steps = _in_steps(indexes, {**since, **beside}, definition.additive)
    return tuple(replace(delta, touched=rows_touched(bases[delta.changed])) for delta in steps)


def signed_deltas(definition: ViewDefinition, stale: Sequence[BaseTableStatus]) -> tuple[Delta, ...] | None:
    """Return the deltas that change the stored groups, if these can be merged and both versions can be read."""
    indexes = _read(definition, stale)
    additive = {} if definition.merging is None else definition.merging.additive
    if not indexes or not _can_be_read_alone(definition, additive, indexes):
        return None
    bases = by_reference(stale)
    since = {i: recorded_snapshot(bases[i]) for i in indexes}
    if not all(has_former_version(base) for base in stale):
        return None
    steps = [(delta, bases[delta.changed]) for delta in _in_steps(indexes, since, additive)]
    return tuple(_signed(definition, replace(d, appended=is_appended(b), touched=rows_touched(b)), b) for d, b in steps)


def _signed(definition: ViewDefinition, delta: Delta, base: BaseTableStatus) -> Delta:
    """Return a delta as signed if the definition can give the sign of each row of both versions."""
    merging, source = definition.merging, base.base.source
    if delta.appended or merging is None or source is None or delta.changed not in merging.signed:
        return delta
    return replace(delta, signed=bool(columns_read(definition, source, [delta.changed])))


def without_what_cancels(
    definition: ViewDefinition, deltas: Sequence[Delta], status: MaterializedViewStatus
) -> tuple[Delta, ...]:
    """Return the deltas, without the rows that both versions of a table have where it pays to find these.

    An extreme that is in what went, and in what came of one change, was not lost: there all rows have to be seen.
    """
    has_extremes = definition.merging is not None and any(c.kind in ("min", "max") for c in definition.merging.calls)
    if has_extremes and len(deltas) == 1:
        return tuple(deltas)
    bases = status.by_reference
    return tuple(_without(definition, delta, bases[delta.changed], status) for delta in deltas)


def _without(definition: ViewDefinition, delta: Delta, base: BaseTableStatus, status: MaterializedViewStatus) -> Delta:
    source = base.base.source
    if source is None or not can_be_cancelled(definition, source, delta.changed) or not cancelling_pays(delta, status):
        return delta
    return replace(delta, cancelled=True, few=is_sent_to_every_task(definition, base))


def _in_steps(
    indexes: Sequence[int], since: Mapping[int, int | None], additive: Mapping[int, frozenset[int]]
) -> tuple[Delta, ...]:
    """Return a delta for each of some references; `since` are the snapshots before the change of all that changed."""
    return tuple(
        Delta(i, since[i], {index: then for index, then in since.items() if index > i}, additive[i]) for i in indexes
    )


def _read(definition: ViewDefinition, stale: Iterable[BaseTableStatus]) -> list[int]:
    """Return the stale references that something reads, in order: a CTE that nothing uses is read by nobody."""
    return sorted(i for i in by_reference(stale) if definition.uses_of(i))


def _can_be_read_alone(
    definition: ViewDefinition, additive: Mapping[int, frozenset[int]], indexes: Iterable[int]
) -> bool:
    return definition.rewritable and all(i in additive for i in indexes)


def _can_be_read_as_before(base: BaseTableStatus) -> bool:
    source, since = base.base.source, base.change.appended_since
    return source is None or (since is not None and at_snapshot(source, since) is not None)


def has_former_version(base: BaseTableStatus) -> bool:
    """Return whether a base table can be read as the last refresh read it."""
    source = base.base.source
    return source is not None and before_change(base, source) is not None


def recorded_snapshot(base: BaseTableStatus) -> int | None:
    """Return the snapshot that the last refresh read."""
    return None if base.recorded is None else base.recorded.version.snapshot_id
