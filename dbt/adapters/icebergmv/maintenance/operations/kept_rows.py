"""The rows that are stored for a view, as an operation finds them without a model."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewInfo
from dbt.adapters.icebergmv.maintenance.errors import NotReadable
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.inspection import stored_of
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import TableView, recorded_view, storage_found


@dataclass(frozen=True)
class KeptRows:
    """A view, its state, and the rows that are stored for it."""

    name: TableName
    found: ViewInfo
    state: ViewState
    stored: StoredRows

    @property
    def is_table(self) -> bool:
        """Return whether the view is a table."""
        return isinstance(self.found, TableView)

    @property
    def state_is_below(self) -> bool:
        """Return whether the state of a view that is a table stands in a snapshot below the one that is read."""
        return isinstance(self.found, TableView) and self.found.recorded_in != self.stored.snapshot_id


def kept_rows(lake: Lake, name: TableName) -> KeptRows:
    """Return a view and its stored rows. Raises NotReadable for what has none."""
    found = recorded_view(lake.catalog, name)
    if found is None:
        raise NotReadable("it is not built.")
    view, state = found
    stored = stored_of(view, state, storage_found(lake.catalog, view, state.storage_table))
    if isinstance(stored, str):
        raise NotReadable(f"{stored}. Refresh it.")
    return KeptRows(name, view, state, stored)
