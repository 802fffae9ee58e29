"""Does the storage table keep what groups are merged by, and should it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.definition.partitioning import spec_fields
from dbt.adapters.icebergmv.maintenance.planning.merged_groups import can_merge
from dbt.adapters.icebergmv.maintenance.planning.spark_columns import Column, Columns
from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.status.hidden_columns import is_hidden
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection

V = TypeVar("V", bound=Inspection)


def with_states(view: V, columns: Columns) -> tuple[V, tuple[Column, ...]]:
    """Return the view, and the hidden columns by which its groups can be merged; without merging where they cannot."""
    merging = view.definition.merging
    if merging is None:
        return view, ()
    is_known = len(columns.hidden) == len(merging.hidden)
    if is_known and can_merge(merging, (*columns.output, *columns.hidden)):
        return view, columns.hidden
    return replace(view, definition=replace(view.definition, merging=None)), ()


def stored_hidden(storage: Table | None) -> tuple[Column, ...]:
    """Return the hidden columns of a storage table."""
    fields = () if storage is None else storage.schema().fields
    return tuple(Column(f.name, spark_type(f.field_type)) for f in fields if is_hidden(f.name))


def wanted_hidden(view: Inspection, hidden: Sequence[Column]) -> tuple[Column, ...]:
    """Return the hidden columns that a new storage table gets.

    They are of use where some base table has partitions that no output column follows.
    """
    definition, bases = view.definition, view.bases
    sources = [(r.index, bases.of(r).source) for r in definition.references if not r.pinned]
    is_of_use = any(
        s is not None
        and definition.tracked_columns(i).isdisjoint(f.column for f in spec_fields(s.table.spec(), s.table_schema))
        for i, s in sources
    )
    return tuple(hidden) if is_of_use else ()
