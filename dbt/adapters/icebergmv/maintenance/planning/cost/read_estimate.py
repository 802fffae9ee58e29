"""What a plan reads of the base tables, in bytes of their files, as far as manifests say it without many being opened.

A partition counts as a whole when a row of it is wanted. Column bounds may let Spark leave out some of its files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from pyiceberg.schema import Schema
from pyiceberg.table import Table
from typing_extensions import assert_never

from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import FileRows, Wanted
from dbt.adapters.icebergmv.maintenance.catalog.manifests import count_files, manifests_of
from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import bytes_by_partition
from dbt.adapters.icebergmv.maintenance.definition.partitioning import spec_fields
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import COUNTED_FILES
from dbt.adapters.icebergmv.maintenance.planning.plan import (
    Append,
    BaseFilters,
    Delta,
    Full,
    Merge,
    Overwrite,
    ReachedRows,
)
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.simplification import within_bounds
from dbt.adapters.icebergmv.maintenance.predicates.transform_lattice import in_terms_of
from dbt.adapters.icebergmv.maintenance.sql.rendering import LONG_LIST
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection

_Wanted: TypeAlias = tuple[TupleDomain, ...] | None

_BYTES: Remembered[int] = Remembered(64)
"""Sizes by what is wanted of a table, which may be thousands of values. Views over a table mostly want the same."""


def bytes_of(view: Inspection, plan: Append | Overwrite | Merge | Full) -> int | None:
    """Return the size of the files that a plan for an inspected view reads of the base tables.

    It is None where that is not cheap to know. A file counts for each place in the SELECT that reads it. Neither the
    stored rows count, nor what was read to plan.
    """
    reads = _Reads(view)
    found: list[int | None]
    match plan:
        case Full():
            found = reads.all_of({})
        case Overwrite():
            found = [*reads.all_of(plan.base_filters), *reads.of_appended(plan.added, {})]
        case Append():
            found = reads.of_appended(plan.deltas, plan.base_filters)
        case Merge():
            found = [size for delta in plan.deltas for size in reads.of_merged(delta)]
        case _:
            assert_never(plan)
    known = [size for size in found if size is not None]
    return sum(known) if len(known) == len(found) else None


class _Reads:
    """The sizes of what is read for each reference, None where one is not known."""

    def __init__(self, view: Inspection) -> None:
        self._sources = {
            r.index: view.bases.source_of(r)
            for r in view.definition.references
            if r.pinned or view.definition.uses_of(r.index)
        }
        self._appended = {i: base.change.changed_bytes for i, base in view.status.by_reference.items()}

    def all_of(self, filters: BaseFilters) -> list[int | None]:
        """Return what is read of every reference where the definition is computed."""
        return [self._at(index, self._now(index), filters.get(index)) for index in self._sources]

    def of_appended(self, deltas: Iterable[Delta], filters: BaseFilters) -> list[int | None]:
        """Return what is read for rows that were only added."""
        return [size for delta in deltas for size in self.of_delta(delta, filters, went=False)]

    def of_merged(self, delta: Delta | ReachedRows) -> list[int | None]:
        """Return what is read for the rows that came, and for those that went."""
        if isinstance(delta, Delta):
            return self.of_delta(delta, {}, went=not delta.appended)
        versions: tuple[Mapping[int, int | None], ...] = ({}, delta.before)
        return [
            self._at(i, before.get(i, self._now(i)), delta.base_filters.get(i))
            for before in versions
            for i in self._sources
        ]

    def of_delta(self, delta: Delta, filters: BaseFilters, went: bool) -> list[int | None]:
        """Return what is read for the rows that came with a change, and for those that `went`, if any did."""
        changed = delta.changed
        others = [
            self._at(i, delta.before.get(i, self._now(i)), filters.get(i))
            for i in self._sources
            if i != changed and i not in delta.empty
        ]
        if delta.appended and delta.since is not None:
            return [*others, self._appended[changed]]
        now, then = (self._at(changed, at, delta.touched) for at in (self._now(changed), delta.since))
        if delta.signed:
            return [*others, now, then]
        if delta.cancelled:
            return 2 * [*others, now, then]
        return [*others, now, *others, then] if went else [*others, now]

    def _now(self, index: int) -> int | None:
        source = self._sources[index]
        return None if source is None else source.version.snapshot_id

    def _at(self, index: int, snapshot_id: int | None, wanted: _Wanted) -> int | None:
        source = self._sources[index]
        return None if source is None else bytes_within(source.table, source.table_schema, snapshot_id, wanted)


def bytes_within(table: Table, schema: Schema, snapshot_id: int | None, wanted: _Wanted) -> int | None:
    """Return the size of the files of a snapshot in the partitions of which rows are wanted (`wanted` None: of all).

    `schema` is the one that names the columns of the rows that are wanted. Without a snapshot there are no files. None
    where so many files are there that it is not cheap to know.
    """
    snapshot = None if snapshot_id is None else table.metadata.snapshot_by_id(snapshot_id)
    if snapshot is None:
        return 0
    if count_files(manifests_of(table.io, snapshot)) > COUNTED_FILES:
        return None
    if wanted is None or not table.metadata_location:
        return _bytes_within(table, schema, snapshot.snapshot_id, wanted)
    key = (table.metadata_location, snapshot.snapshot_id, schema.schema_id, wanted)
    return _BYTES.get(key, lambda: _bytes_within(table, schema, snapshot.snapshot_id, wanted))


def _bytes_within(table: Table, schema: Schema, snapshot_id: int, wanted: _Wanted) -> int:
    sizes = bytes_by_partition(table, snapshot_id)
    if wanted is None:
        return sum(sizes.values())
    fields = [(f.column, f.transform) for f in spec_fields(table.spec(), schema)]
    rows = FileRows(table, schema, Wanted(frozenset()))
    # Each partition is compared with all values of a list, which would take seconds for a long one.
    read = [in_terms_of(within_bounds(d, LONG_LIST), fields) for d in wanted]
    return sum(size for partition, size in sizes.items() if _meet(rows.of_partition(partition), read))


def _meet(held: TupleDomain | None, wanted: Sequence[TupleDomain]) -> bool:
    """Return whether a partition can hold a row that is wanted."""
    return held is None or any(not held.intersect(d).is_none for d in wanted)
