"""When a relation was changed last, as its metadata say: `dbt source freshness` without `loaded_at_field`."""

from __future__ import annotations

from datetime import datetime, timezone

from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.sql.names import show
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import is_materialized_view, read_state
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import TableView, table_as_view


def last_modified(reader: CatalogReader, schema: str, name: str) -> datetime | None:
    """Return when the rows of a table changed last, or a view was refreshed; None for a table never written to.

    Compaction changes no row. Where the snapshots before one are expired, it is the oldest that is left: the rows are
    at least as old. Raises InvalidConfig for what has no such time, CatalogUnavailable.
    """
    relation = show((reader.name, schema, name))
    table = reader.table(schema, name)
    view = reader.view(schema, name) if table is None else table_as_view((reader.name, schema, name), table)
    is_of_others = isinstance(view, TableView) and view.foreign is not None
    if view is not None and is_materialized_view(view.properties) and not is_of_others:
        return datetime.fromisoformat(read_state(relation, view.properties).refreshed_at)
    if table is not None:
        return _last_change(table)
    what = "there is no table of this name" if view is None else "a view does not say when its rows changed"
    raise InvalidConfig(
        f"{what}. Give the source a `loaded_at_field` or `loaded_at_query`, or correct its name.",
        subject=f"Cannot find the freshness of {relation}",
    )


def _last_change(table: Table) -> datetime | None:
    head = table.metadata.current_snapshot_id
    found: Snapshot | None = None
    for snapshot in () if head is None else ancestry(table.metadata, head):
        found = snapshot
        if snapshot.summary is None or snapshot.summary.operation != Operation.REPLACE:
            break
    return None if found is None else datetime.fromtimestamp(found.timestamp_ms / 1000, timezone.utc)
