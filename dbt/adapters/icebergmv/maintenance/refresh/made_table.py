"""The table of the layout `table` made anew: its columns, partitioning, rows and state by one statement."""

from __future__ import annotations

from collections.abc import Sequence

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.definition.partitioning import PartitionField
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.planning.storage_fit import order_of, partitioning_of
from dbt.adapters.icebergmv.maintenance.planning.write import Rows, query_of
from dbt.adapters.icebergmv.maintenance.refresh import statements
from dbt.adapters.icebergmv.maintenance.refresh.state_after import Recording, state_of_rows
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import load_storage, lost_race
from dbt.adapters.icebergmv.maintenance.refresh.storage_table import (
    alone,
    gathered,
    inherits_a_transform,
    storage_properties,
)
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.rendering import string_literal
from dbt.adapters.icebergmv.maintenance.status.inspection import NewView
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import PREFIX
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import STATE_KEY
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import build_properties
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import refuse_rows_aside

REPLACES = f"{PREFIX}replaces"
"""Property of a table: the storage table of the layout that the view had before, which is to be dropped."""


def made_table(lake: Lake, settled: Settled, name: TableName, recording: Recording) -> StoredRows:
    """Make a table of some name with the rows of a plan, and the state of the view.

    Raises RefreshConflict when another refresh made it meanwhile, InvalidConfig before anything is written.
    """
    order_of(settled.view.request.config, settled.columns)
    before = lake.catalog.table(name[1], name[2])
    refuse_rows_aside(lake, storage_properties(settled), {} if before is None else before.properties)
    if inherits_a_transform(settled, before):
        # An error of a reader is better than a table without rows, which a replacement in two steps would show.
        lake.spark(statements.drop_table(name, purge=False))
        before = None
    rows = Rows(settled.stored_names, query_of(settled))
    properties = _properties(settled, before, recording)
    return _created(lake, before, statements.create_table(name, rows, partitioning_of(settled), properties), name)


def made_again(
    lake: Lake, settled: Settled, stored: StoredRows, fields: Sequence[PartitionField], recording: Recording
) -> StoredRows:
    """Give a table that was made another partitioning, and write its rows again. Raises RefreshConflict."""
    properties = _properties(settled, stored.table, recording)
    made = statements.create_table(stored.name, gathered(settled, stored, fields), fields, properties)
    return _created(lake, stored.table, made, stored.name)


def _properties(settled: Settled, before: Table | None, recording: Recording) -> dict[str, str]:
    view = settled.view
    state = state_of_rows(settled, view.request.view, recording)
    properties = {**storage_properties(settled), **build_properties(state, before)}
    if not isinstance(view, NewView) and view.state.storage_table != view.request.view:
        properties[REPLACES] = show(view.state.storage_table)
    return properties


def _created(lake: Lake, before: Table | None, made: str, name: TableName) -> StoredRows:
    with alone(lake, name, before):
        lake.spark(made)
    found = load_storage(lake, name)
    head = found.metadata.current_snapshot_id
    # What is recorded in it stands in the statement that made it.
    if head is None or string_literal(found.properties.get(STATE_KEY, "")) not in made:
        raise lost_race(name)
    return StoredRows(name, found, head)
