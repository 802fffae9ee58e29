"""The rows of `dbt docs generate`: one per column, read from the catalog, with what is known of each refresh."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, StatsItem, TableMetadata
from pyiceberg.table import Table

from dbt.adapters.icebergmv.listing import ListedRelation, list_relations, listed_relation, storage_table_name
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ColumnInfo, ViewInfo, table_columns
from dbt.adapters.icebergmv.maintenance.catalog.understood import understood_table
from dbt.adapters.icebergmv.maintenance.errors import StateUnreadable
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import OWNER_KEY, ViewState, read_state
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import table_as_view
from dbt.adapters.icebergmv.warning import warn

Row = dict[str, Any]


def catalog_rows(reader: CatalogReader, schema: str) -> Iterator[Row]:
    """Yield the docs rows of one schema. Raises CatalogUnavailable."""
    for relation in list_relations(reader, schema):
        yield from _relation_rows(reader, schema, relation)


def warn_of_unknown_catalog(catalog: str) -> None:
    """Warn that a catalog cannot be shown, which only Spark knows."""
    warn(f"The docs show no columns of the catalog `{catalog}`, which the profile does not describe.")


def catalog_table(reader: CatalogReader, schema: str, name: str) -> CatalogTable | None:
    """Return what docs show of one relation, None when it is absent. Raises CatalogUnavailable."""
    rows = list(_relation_rows(reader, schema, listed_relation(reader, schema, name)))
    if not rows:
        return None
    first = rows[0]
    names = ("type", "schema", "name", "database", "comment", "owner")
    columns = {
        row["column_name"]: ColumnMetadata(
            row["column_type"], row["column_index"], row["column_name"], row["column_comment"]
        )
        for row in rows
    }
    return CatalogTable(TableMetadata(**{key: first[f"table_{key}"] for key in names}), columns, _stats_items(first))


def _stats_items(row: Row) -> dict[str, StatsItem]:
    names = [key.split(":")[1] for key in row if key.startswith("stats:") and key.endswith(":value")]
    parts = ("label", "value", "include", "description")
    return {name: StatsItem(name, **{part: row[f"stats:{name}:{part}"] for part in parts}) for name in names}


def _relation_rows(reader: CatalogReader, schema: str, relation: ListedRelation) -> Iterator[Row]:
    columns: tuple[ColumnInfo, ...]
    view, kind, table = relation.view, relation.kind, None
    if view is None:
        # Of a table that PyIceberg does not understand, no column is known.
        table = understood_table(reader, schema, relation.name)
        if table is None:
            return
        view = table_as_view((reader.name, schema, relation.name), table)
        kind = kind if view is None else "materialized_view"
    if view is not None:
        columns, properties, comment = view.columns, view.properties, view.comment
        stats = _refresh_stats(reader, schema, view) if kind == "materialized_view" else {}
    elif table is not None:
        columns, properties, comment = table_columns(table), table.properties, table.properties.get("comment")
        stats = _size_stats(table)
    for index, column in enumerate(columns):
        yield {
            "table_database": reader.name,
            "table_schema": schema,
            "table_name": relation.name,
            "table_type": kind,
            "table_comment": comment,
            "table_owner": properties.get(OWNER_KEY) or properties.get("owner"),
            "column_name": column.name,
            "column_index": index,
            "column_type": column.type,
            "column_comment": column.comment,
            **stats,
        }


def _size_stats(table: Table) -> Row:
    snapshot = table.current_snapshot()
    summary = snapshot.summary if snapshot is not None else None
    return _totals(summary.additional_properties if summary is not None else {})


def _totals(summary: Mapping[str, str]) -> Row:
    stats: Row = {}
    if "total-records" in summary:
        stats |= _stat("rows", "Rows", int(summary["total-records"]), "Rows in the current snapshot")
    if "total-files-size" in summary:
        stats |= _stat("bytes", "Size in bytes", int(summary["total-files-size"]), "Size of its files")
    return stats


def _refresh_stats(reader: CatalogReader, schema: str, view: ViewInfo) -> Row:
    stats: Row = {}
    state = _recorded(reader, schema, view)
    if state is not None:
        stats |= _stat("last_refresh", "Refreshed at", state.refreshed_at, "When the view was last refreshed")
        stats |= _stat("refresh_kind", "Refresh", state.refresh_kind, "What the last refresh did")
        stats |= _stat("refresh_reason", "Refresh reason", state.refresh_reason, "Why it did that")
        behavior = state.stale_read_behavior
        stats |= _stat("stale_read_behavior", "Stale reads", behavior, "What readers get when base tables move on")
    storage = storage_table_name(reader, schema, view.name)
    if storage is not None:
        stats |= _stat("storage_table", "Storage table", qualified(*storage), "The Iceberg table that holds the rows")
    if storage is not None and state is not None:
        stats |= _storage_totals(reader, storage, state.storage_snapshot_id)
    if state is not None and state.base_tables:
        bases = ", ".join(f"{show(base.name)} @ {base.version.snapshot_id}" for base in state.base_tables)
        stats |= _stat("base_snapshots", "Versions of base tables", bases, "Their snapshots that the view shows")
    return stats


def _recorded(reader: CatalogReader, schema: str, view: ViewInfo) -> ViewState | None:
    """Return the recorded state; None when it cannot be read, which the next run reports."""
    try:
        return read_state(show((reader.name, schema, view.name)), view.properties)
    except StateUnreadable:
        return None


def _storage_totals(reader: CatalogReader, storage: TableName, snapshot_id: int) -> Row:
    """Return rows and bytes of the snapshot that the view shows, which need not be the table's newest."""
    table = reader.table(storage[1], storage[2])
    snapshot = table.snapshot_by_id(snapshot_id) if table is not None else None
    summary = snapshot.summary if snapshot is not None else None
    return _totals(summary.additional_properties if summary is not None else {})


def _stat(name: str, label: str, value: str | int, description: str) -> Row:
    """Return a statistic. The page sorts them by label, so what people ask first has to come first by its label."""
    prefix = f"stats:{name}"
    return {
        f"{prefix}:label": label,
        f"{prefix}:value": value,
        f"{prefix}:description": description,
        f"{prefix}:include": True,
    }
