"""Does the storage table keep what groups are merged by, and should it?"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.definition.merging import Merging
from dbt.adapters.icebergmv.maintenance.definition.partitioning import spec_fields
from dbt.adapters.icebergmv.maintenance.planning.merged_groups import can_merge
from dbt.adapters.icebergmv.maintenance.planning.spark_columns import Column, Columns
from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.status.hidden_columns import is_hidden
from dbt.adapters.icebergmv.maintenance.status.inspection import View
from dbt.adapters.icebergmv.maintenance.status.recorded_state import PREFIX

STATES_KEY = f"{PREFIX}hidden-columns"
"""The property of a storage table that says what its hidden columns hold."""


def as_far_as_of_use(view: View) -> View:
    """Return the view without merging that would need hidden columns which are neither stored nor of use.

    They are of use where some base table has partitions that no output column follows.
    """
    definition, bases = view.definition, view.bases
    if definition.merging is None or not definition.merging.hidden or stored_hidden(view.storage):
        return view
    sources = [(r.index, bases.of(r).source) for r in definition.references if not r.pinned]
    is_of_use = any(
        s is not None
        and definition.tracked_columns(i).isdisjoint(f.column for f in spec_fields(s.table.spec(), s.table_schema))
        for i, s in sources
    )
    return view if is_of_use else _without_merging(view)


def with_states(view: View, columns: Columns) -> tuple[View, Columns]:
    """Return the view, and its columns; both without merging, and hidden columns, where groups cannot be merged."""
    merging = view.definition.merging
    is_known = merging is not None and len(columns.hidden) == len(merging.hidden) and not columns.widened
    if merging is not None and is_known and can_merge(merging, (*columns.output, *columns.hidden)):
        return view, columns
    return _without_merging(view), replace(columns, hidden=())


def keeps(storage: Table | None, hidden: tuple[Column, ...], merging: Merging | None) -> bool:
    """Return whether the hidden columns of a storage table are just these, and hold what the definition says."""
    if stored_hidden(storage) != hidden:
        return False
    return not hidden or (storage is not None and storage.properties.get(STATES_KEY) == states_property(merging))


def states_property(merging: Merging | None) -> str:
    """Return what is recorded with a storage table of the texts of its hidden columns."""
    texts = () if merging is None else merging.hidden
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def stored_hidden(storage: Table | None) -> tuple[Column, ...]:
    """Return the hidden columns of a storage table."""
    fields = () if storage is None else storage.schema().fields
    return tuple(Column(f.name, spark_type(f.field_type)) for f in fields if is_hidden(f.name))


def _without_merging(view: View) -> View:
    return replace(view, definition=replace(view.definition, merging=None))
