"""The SQL that a materialized view holds, and whether a view still holds it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.sql.snapshots import table_at
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import TableView, found_view


def view_query(storage: TableName, columns: Sequence[str], snapshot_id: int) -> str:
    """Return the SELECT that the view holds: the storage table at one snapshot."""
    return f"SELECT {column_list(columns)} FROM {table_at(qualified(*storage), snapshot_id)}"


def sql_hash(sql: str) -> str:
    """Return a hash of the SQL of a view, as text."""
    return hashlib.sha256(sql.strip().encode()).hexdigest()[:16]


def view_hash(sql: str, columns: Sequence[str]) -> str:
    """Return a hash of the SQL of a view and the names of its columns, as text."""
    return sql_hash("\n".join([column_list(columns), sql.strip()]))


def has_moved(catalog: CatalogReader, name: TableName, expected: ViewInfo | None) -> bool:
    """Return whether a view is no longer what was read before (None: absent)."""
    now = found_view(catalog, name)
    if now is None or expected is None:
        return now is not expected
    return (now.uuid, now.properties) != (expected.uuid, expected.properties)


def is_published(view: ViewInfo, state: ViewState) -> bool:
    """Return whether the SQL of the view is what its state describes; CREATE OR REPLACE VIEW keeps the properties."""
    if isinstance(view, TableView):
        return view.foreign is None
    names = [c.name for c in view.columns]
    if state.view_sql_hash:
        # Former versions recorded a hash of the SQL alone.
        return state.view_sql_hash in (view_hash(view.sql, names), sql_hash(view.sql))
    return view.sql.strip() == view_query(state.storage_table, names, state.storage_snapshot_id)
