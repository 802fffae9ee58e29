"""Does the storage table keep the hidden columns of the definition, and should it?"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.definition.clock.clock import at_any_moment
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden
from dbt.adapters.icebergmv.maintenance.definition.partitioning import shows_longer_periods, spec_fields
from dbt.adapters.icebergmv.maintenance.planning.queries.merged_groups import can_merge
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column, Columns
from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.status.hidden_keys import KEYS_KEY, keys_of_today
from dbt.adapters.icebergmv.maintenance.status.inspection import View
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import PREFIX
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import IcebergSource

STATES_KEY = f"{PREFIX}hidden-columns"
"""The property of a storage table that says what its hidden columns hold."""


def as_far_as_of_use(view: View) -> View:
    """Return the view without merging that would need hidden columns which are neither stored nor of use.

    They are of use where some base table has partitions that no output column follows, or that are parts of what one
    shows: days of a month.
    """
    definition, bases = view.definition, view.bases
    if definition.merging is None or not definition.merging.hidden:
        return view
    if not view.request.config.keeps_hidden_columns:
        return _without_merging(view)
    if stored_hidden(view.storage):
        return view
    is_of_use = any(_are_of_use(definition, r.index, s) for r, s in bases.sources(definition.references).items())
    return view if is_of_use else _without_merging(view)


def _are_of_use(definition: ViewDefinition, index: int, source: IcebergSource) -> bool:
    schema = source.table_schema
    fields = spec_fields(source.table.spec(), schema)
    # A column that is hidden, or that the schema does not have yet, has no name: nobody follows it.
    return definition.tracked_columns(index).isdisjoint(f.column for f in fields) or any(
        shows_longer_periods(definition, index, field, str(schema.find_type(field.column)))
        for field in fields
        if field.column
    )


def with_states(view: View, columns: Columns) -> tuple[View, Columns]:
    """Return the view, and its columns; both without merging, and its hidden columns, where groups cannot be merged."""
    merging = view.definition.merging
    if view.definition.keys:
        return view, columns
    every = (*columns.output, *columns.hidden)
    if merging is not None and len(columns.hidden) == len(merging.hidden) and can_merge(merging, every):
        is_exact = columns.widened.isdisjoint(merging.read_back([c.name for c in every]))
        return (view, columns) if is_exact else (_without_merging(view), replace(columns, hidden=()))
    return _without_merging(view), replace(columns, hidden=())


def wants_more(view: View) -> bool:
    """Return whether the definition should have hidden keys or tie-breakers that it does not have."""
    if view.definition.ties:
        return True
    return view.request.config.keeps_hidden_columns and bool(keys_of_today(view.definition, view.bases))


def keeps(storage: Table | None, hidden: tuple[Column, ...], definition: ViewDefinition) -> bool:
    """Return whether the hidden columns of a storage table are just these, and hold what the definition says."""
    if stored_hidden(storage) != hidden:
        return False
    if storage is None or not hidden:
        return True
    return hidden_properties(definition).items() <= storage.properties.items()


def hidden_properties(definition: ViewDefinition) -> dict[str, str]:
    """Return what is recorded with a storage table of the texts of its hidden columns."""
    if definition.keys:
        return {KEYS_KEY: json.dumps(definition.keys, ensure_ascii=False)}
    texts = () if definition.merging is None else definition.merging.hidden
    if definition.clock is not None:
        # Where a condition that they hold says something else at another moment, their rows are written again.
        texts = tuple(at_any_moment(text, definition.clock.values) for text in texts)
    return {STATES_KEY: hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]}


def stored_hidden(storage: Table | None) -> tuple[Column, ...]:
    """Return the hidden columns of a storage table."""
    fields = () if storage is None else storage.schema().fields
    return tuple(Column(f.name, spark_type(f.field_type)) for f in fields if is_hidden(f.name))


def _without_merging(view: View) -> View:
    return replace(view, definition=replace(view.definition, merging=None))
