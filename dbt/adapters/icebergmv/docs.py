"""The rows of `dbt docs generate`: one per column, read from the catalog, with what is known of each refresh."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pyiceberg.table import Table

from dbt.adapters.icebergmv.listing import ListedRelation, list_relations, storage_table_name
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ColumnInfo, ViewInfo, table_columns
from dbt.adapters.icebergmv.names import join_name

Row = dict[str, Any]


def catalog_rows(reader: CatalogReader, schema: str) -> Iterator[Row]:
    """Yield the docs rows of one schema. Raises CatalogUnavailable."""
    for relation in list_relations(reader, schema):
        yield from _relation_rows(reader, schema, relation)


def _relation_rows(reader: CatalogReader, schema: str, relation: ListedRelation) -> Iterator[Row]:
    columns: tuple[ColumnInfo, ...]
    if relation.view is not None:
        columns, properties, comment = relation.view.columns, relation.view.properties, relation.view.comment
        stats = _refresh_stats(reader, schema, relation.view) if relation.kind == "materialized_view" else {}
    else:
        table = reader.table(schema, relation.name)
        if table is None:
            return
        columns, properties, comment = table_columns(table), table.properties, table.properties.get("comment")
        stats = _size_stats(table)
    for index, column in enumerate(columns):
        yield {
            "table_database": reader.name,
            "table_schema": schema,
            "table_name": relation.name,
            "table_type": relation.kind,
            "table_comment": comment,
            "table_owner": properties.get("icebergmv.owner") or properties.get("owner"),
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
        stats |= _stat("bytes", "Bytes", int(summary["total-files-size"]), "Size of the current snapshot's files")
    return stats


def _refresh_stats(reader: CatalogReader, schema: str, view: ViewInfo) -> Row:
    known = (
        ("last_refresh", "Last refresh", "refreshed-at", "When the materialized view was last refreshed"),
        ("refresh_kind", "Refresh", "refresh-kind", "What the last refresh did"),
        ("refresh_reason", "Reason", "refresh-reason", "Why it did that"),
        (
            "stale_read_behavior",
            "Stale reads",
            "stale-read-behavior",
            "What readers get when base tables move on",
        ),
    )
    stats: Row = {}
    for name, label, key, description in known:
        value = view.properties.get(f"icebergmv.{key}")
        if value:
            stats |= _stat(name, label, value, description)
    storage = storage_table_name(reader, schema, view.name)
    if storage is not None:
        stats |= _stat("storage_table", "Storage table", join_name(storage), "The Iceberg table that holds the rows")
        stats |= _storage_totals(reader, storage, view.properties)
    bases = _base_snapshots(view.properties.get("icebergmv.base-tables"))
    if bases:
        stats |= _stat("base_snapshots", "Base snapshots", bases, "The snapshot of each base table that the view shows")
    return stats


def _storage_totals(reader: CatalogReader, storage: tuple[str, str, str], properties: Mapping[str, str]) -> Row:
    """Return rows and bytes of the snapshot that the view shows, which need not be the table's newest."""
    table = reader.table(storage[1], storage[2])
    pinned = properties.get("icebergmv.storage-snapshot-id", "")
    snapshot = table.snapshot_by_id(int(pinned)) if table is not None and pinned.isdigit() else None
    summary = snapshot.summary if snapshot is not None else None
    return _totals(summary.additional_properties if summary is not None else {})


def _base_snapshots(text: str | None) -> str:
    """Return the recorded base tables as one line, empty when nothing readable is recorded."""
    try:
        recorded = json.loads(text or "[]")
    except ValueError:
        return ""
    bases = [base for base in recorded if isinstance(base, dict)] if isinstance(recorded, list) else []
    names = ((base.get("identifier") or base.get("name"), base.get("snapshot-id")) for base in bases)
    return ", ".join(f"{_plain(name)} @ {snapshot}" for name, snapshot in names if name)


def _plain(name: object) -> str:
    return ".".join(map(str, name)) if isinstance(name, list) else str(name)


def _stat(name: str, label: str, value: str | int, description: str) -> Row:
    prefix = f"stats:{name}"
    return {
        f"{prefix}:label": label,
        f"{prefix}:value": value,
        f"{prefix}:description": description,
        f"{prefix}:include": True,
    }
