"""Which views of a catalog read a storage table, or may?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import STORAGE_UUID, storage_table_of


def all_views(catalog: CatalogReader) -> Iterator[tuple[str, ViewInfo | None]]:
    """Yield the views of a catalog; None for one whose metadata file is lost, or cannot be read."""
    for schema in catalog.namespaces():
        for entry in catalog.entries(schema):
            if entry.kind != "view":
                continue
            shown = show((catalog.name, schema, entry.name))
            try:
                view = catalog.view(schema, entry.name)
            except CatalogUnavailable:
                yield shown, None
            else:
                if view is not None:
                    yield shown, view


def may_be_read(catalog: CatalogReader, name: TableName, table: Table, owner: TableName) -> bool:
    """Return whether some view of the catalog but the owner reads a storage table, or cannot be read itself."""
    others = (found for found in all_views(catalog) if found[0] != show(owner))
    return why_needed(others, name, table) is not None


def why_needed(views: Iterable[tuple[str, ViewInfo | None]], name: TableName, table: Table) -> str | None:
    """Return which of some views reads a storage table, or may; None if none does."""
    for shown, view in views:
        if view is None:
            return f"{shown} cannot be read, so it is not known what it reads"
        if not view.sql:
            return f"{shown} has no SQL for Spark, so it is not known what it reads"
        if knows(view, name, table):
            return f"{shown} reads it"
    return None


def view_stored_in(table: Table, catalog: CatalogReader, owner: TableName) -> str | None:
    """Return the name of a view but the owner that records a table as its storage; None if there is none."""
    uuid = str(table.metadata.table_uuid)
    views = ((shown, view) for shown, view in all_views(catalog) if view is not None and shown != show(owner))
    return next((shown for shown, view in views if view.properties.get(STORAGE_UUID) == uuid), None)


def knows(view: ViewInfo, name: TableName, table: Table) -> bool:
    """Return whether a view records a table, under any name, as its storage, or has its name anywhere in its SQL.

    With another schema in front, it is that of another table.
    """
    recorded = storage_table_of(view.properties, (name[0], view.namespace))
    is_recorded = recorded is not None and folded(recorded) == folded(name)
    is_same = view.properties.get(STORAGE_UUID) == str(table.metadata.table_uuid)
    return is_recorded or is_same or _is_written(name, view.sql.lower())


def _is_written(name: TableName, sql: str) -> bool:
    """Return whether a text has the name of a table, but for those with another schema in front."""
    word = re.escape(name[2].lower())
    found = re.finditer(rf"(?:(?:`((?:[^`]|``)+)`|([\w$]+))\.)?`?(?<![\w$]){word}(?![\w$])", sql)
    schemas = ((match[1] or match[2] or "").replace("``", "`") for match in found)
    return any(name[1].lower().endswith(schema) for schema in schemas)


def folded(name: TableName) -> tuple[str, str]:
    """Return schema and name as a catalog may store them."""
    return (name[1].lower(), name[2].lower())
