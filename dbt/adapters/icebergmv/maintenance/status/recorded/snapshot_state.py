"""The state of a refresh in the summary of the snapshot that it leaves: one text, whatever the layout of the view.

With the layout `table` it is the state of the view. With the layout `view`, where a view keeps its earlier SQL but not
its earlier properties, it is what a rollback needs. A state names the table of its rows, so in a table of another name
it counts for nothing: the state of a storage table that was given the name of its view is not that of a view.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot

from dbt.adapters.icebergmv.maintenance.catalog.append_window import operation
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.errors import StateUnreadable
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import (
    FORMAT_KEY,
    PREFIX,
    ViewState,
    read_state,
    storage_table_of,
)

STATE_KEY = f"{PREFIX}state"
"""In the summary of a snapshot, or among the properties of a table: the state of a refresh (JSON)."""

_FORM = "storage-form"
SPARK_KEY = "spark-release"
"""Key of a recorded configuration: the release of Spark that computed the rows, if it was known."""

_OF_ROWS = frozenset({"partition-by", SPARK_KEY})


@dataclass(frozen=True)
class SnapshotState:
    """The state of the refresh that wrote a snapshot. `table_is_same`: the table was not given another form since."""

    state: ViewState
    table_is_same: bool


def state_text(state: ViewState, form: Mapping[str, object] | None = None) -> str:
    """Return a state as it is recorded in one text, with the form of the table that its rows are written into."""
    return json.dumps({**state.to_properties(), **({} if form is None else {_FORM: form})}, ensure_ascii=False)


def text_below_a_view(state: ViewState, storage: Table) -> str:
    """Return what is recorded with rows that a view reads: not the texts that the view itself keeps."""
    return state_text(replace(state, definition="", config=config_of_rows(state)), _form(storage))


def config_of_rows(state: ViewState) -> dict[str, object]:
    """Return the part of a recorded configuration that says how the rows were stored and computed."""
    return {key: value for key, value in state.config.items() if key in _OF_ROWS}


def recorded_text(snapshot: Snapshot | None) -> str | None:
    """Return the text that stands in the summary of a snapshot, if one does."""
    summary = None if snapshot is None else snapshot.summary
    return None if summary is None else summary.additional_properties.get(STATE_KEY)


def properties_in(text: str, table: TableName) -> dict[str, str] | None:
    """Return the properties of a recorded state, for `read_state` to check; None if it is of rows of another table."""
    found = _properties_in(text)
    return found if storage_table_of(found) in (None, table) else None


def table_of_rows(text: str) -> TableName | None:
    """Return the name that a table had when the rows of a recorded state were written; None if it is not readable."""
    return storage_table_of(_properties_in(text))


def _properties_in(text: str) -> dict[str, str]:
    try:
        return {key: str(value) for key, value in json.loads(text).items() if key.startswith(PREFIX)}
    except (ValueError, AttributeError):
        return {FORMAT_KEY: ""}


def state_of_snapshot(name: TableName, table: Table, snapshot_id: int) -> SnapshotState | None:
    """Return what was recorded with the rows of a snapshot, below a view; None if nothing readable.

    Compaction keeps the rows, so its snapshots have the state of those before them.
    """
    text = recorded_text(writer_of(table, snapshot_id))
    found = None if text is None else properties_in(text, name)
    if text is None or found is None:
        return None
    try:
        state = read_state(show(name), found)
    except StateUnreadable:
        return None
    return SnapshotState(state, json.loads(text).get(_FORM) == _form(table))


def writer_of(table: Table, snapshot_id: int) -> Snapshot | None:
    """Return the snapshot that wrote the rows of one: not a compaction. None if it is not kept any more."""
    return next((s for s in ancestry(table.metadata, snapshot_id) if not is_compaction(s)), None)


def is_compaction(snapshot: Snapshot) -> bool:
    """Return whether a snapshot has the rows of the one before it, in other files."""
    return operation(snapshot) == Operation.REPLACE


def _form(storage: Table) -> dict[str, object]:
    """Return what says how rows stand in a storage table: columns, partitioning, what hidden columns hold."""
    hidden = {k: v for k, v in storage.properties.items() if k.startswith(f"{PREFIX}hidden-")}
    metadata = storage.metadata
    return {"schema-id": metadata.current_schema_id, "spec-id": metadata.default_spec_id, **hidden}
