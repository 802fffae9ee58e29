"""A materialized view that is a table: what is recorded in its snapshots, and whether its rows are still those.

The state of a refresh stands in the summary of the snapshot that it leaves, so rows and state are one commit.
CREATE OR REPLACE … AS SELECT cannot write a summary. Its state is a property of the table, which the same commit sets;
it holds for the one snapshot whose sequence number it names, and which has no parent. Tables of format 1 have no such
numbers: the state of such a table is recorded after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo, stored_columns, table_columns
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.errors import StateUnreadable
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import (
    PREFIX,
    ViewState,
    is_materialized_view,
    read_state,
    view_of_storage,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import (
    STATE_KEY,
    is_compaction,
    properties_in,
    recorded_text,
    state_text,
)

BUILT_KEY = f"{PREFIX}built-at-sequence-number"
"""Property of a table: the sequence number of the one snapshot that the state among the properties is of."""


@dataclass(frozen=True)
class TableView(ViewInfo):
    """A materialized view that is a table, seen as a view; `properties` are its state, none if none is recorded.

    The state names the snapshot that main is at; `recorded_in` is the one in which it is. `foreign` says what else
    wrote rows, or altered columns, after the refresh (None: nothing). `table` is what state and rows were read from.
    """

    table: Table = field(kw_only=True, compare=False, repr=False)
    foreign: str | None = None
    recorded_in: int | None = None


def found_view(catalog: CatalogReader, name: TableName) -> ViewInfo | None:
    """Return the view of a name, or the table that is a materialized view. Raises CatalogUnavailable."""
    view = catalog.view(name[1], name[2]) if catalog.has_views else None
    if view is not None:
        return view
    table = catalog.table(name[1], name[2])
    return None if table is None else table_as_view(name, table)


def storage_found(catalog: CatalogReader, view: ViewInfo | None, name: TableName) -> Table | None:
    """Return the storage table of some name; where it is the view itself, as it was when the view was found.

    Looked at twice, a table may show the state of one refresh and the rows of the next. Raises CatalogUnavailable.
    """
    if isinstance(view, TableView) and name[1:] == (view.namespace, view.name):
        return view.table
    return catalog.table(*name[1:])


def table_as_view(name: TableName, table: Table) -> TableView | None:
    """Return a table as the materialized view that it is, None of any other table."""
    if not is_view_table(name, table.properties):
        return None
    properties, foreign, recorded_in = _recorded(name, table)
    return TableView(
        namespace=name[1],
        name=name[2],
        uuid=str(table.metadata.table_uuid),
        sql="",
        columns=table_columns(table),
        properties=properties,
        comment=table.properties.get("comment"),
        table=table,
        foreign=foreign,
        recorded_in=recorded_in,
    )


def recorded_view(catalog: CatalogReader, name: TableName) -> tuple[ViewInfo, ViewState] | None:
    """Return a materialized view and what is recorded of it; None where there is none. Raises StateUnreadable."""
    view = found_view(catalog, name)
    if view is None or not is_materialized_view(view.properties):
        return None
    return view, read_state(show(name), view.properties)


def is_view_table(name: TableName, properties: Mapping[str, str]) -> bool:
    """Return whether a table with these properties is the materialized view of its own name."""
    return view_of_storage(properties, name[:2]) == name


def build_properties(state: ViewState, before: Table | None) -> dict[str, str]:
    """Return the properties that record the state of a table which is made anew over another one (None: none)."""
    number = 1 if before is None else int(getattr(before.metadata, "last_sequence_number", 0)) + 1
    return {STATE_KEY: state_text(state), BUILT_KEY: str(number)}


def _recorded(name: TableName, table: Table) -> tuple[dict[str, str], str | None, int | None]:
    """Return the newest state that is recorded on main, what others wrote or altered after it, and where it is.

    A `replace` (compaction) changes no row.
    """
    head, foreign = table.metadata.current_snapshot_id, None
    for snapshot in () if head is None else ancestry(table.metadata, head):
        text = _state_of(table, snapshot)
        found = None if text is None else properties_in(text, name)
        if found is not None:
            return _at_head(name, table, found), foreign or _altered(table, snapshot), snapshot.snapshot_id
        operation = None if snapshot.summary is None else snapshot.summary.operation
        if not is_compaction(snapshot) and foreign is None:
            words = "written" if operation is None else f"written ({operation.value})"
            foreign = f"its table was {words} by something else than a refresh, in the snapshot {snapshot.snapshot_id}"
    return {}, foreign, None


def _altered(table: Table, written: Snapshot) -> str | None:
    """Return that the columns of a table are not those that a snapshot was written with, or None.

    A column that was dropped and added again has another id: the rows show NULL in it. Comments do not matter.
    """
    then = table.schemas().get(-1 if written.schema_id is None else written.schema_id)
    if then is None or stored_columns(then) == stored_columns(table.schema()):
        return None
    return "the columns of its table were altered by something else than a refresh"


def _state_of(table: Table, snapshot: Snapshot) -> str | None:
    summary = snapshot.summary
    if summary is None:
        return None
    text = recorded_text(snapshot)
    if text is not None:
        return text
    # Other ways to a table with these properties and such a snapshot (a copy by the procedure `snapshot`) append.
    is_build = snapshot.parent_snapshot_id is None and summary.operation == Operation.OVERWRITE
    number = snapshot.sequence_number or 0
    if is_build and number and table.properties.get(BUILT_KEY) == str(number):
        return table.properties.get(STATE_KEY)
    return None


def _at_head(name: TableName, table: Table, found: dict[str, str]) -> dict[str, str]:
    """Return the properties of a recorded state, with the snapshot that main is at as the one of its rows.

    A state that cannot be read is returned as it is, for its reader to say so.
    """
    head = table.metadata.current_snapshot_id
    if not is_materialized_view(found) or head is None:
        return found
    try:
        state = read_state(show(name), found)
    except StateUnreadable:
        return found
    uuid = str(table.metadata.table_uuid)
    return replace(state, storage_table=name, storage_uuid=uuid, storage_snapshot_id=head).to_properties()
