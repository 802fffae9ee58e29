"""What `dbt debug` finds out about the catalog before it asks Spark."""

from __future__ import annotations

from collections.abc import Iterator

from dbt.adapters.icebergmv.reader_choice import ChosenReader


def catalog_report(chosen: ChosenReader, schema: str, supports_views: bool) -> Iterator[str]:
    """Yield lines on a catalog that was opened and listed; one view is read. Raises CatalogUnavailable."""
    reader = chosen.reader
    yield f"catalog_reader: {chosen.how}"
    yield f"schemas: {len(reader.namespaces())}"
    entries = reader.entries(schema)
    views = [entry.name for entry in entries if entry.kind == "view"]
    if views:
        reader.view(schema, views[0])
    yield f"in the schema {schema}: {len(entries) - len(views)} tables, {len(views)} views"
    if not (supports_views and reader.has_views):
        yield "The catalog has no views: materialized views are tables (layout: table)"
