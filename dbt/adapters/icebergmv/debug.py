"""What `dbt debug` finds out about the catalog before it asks Spark, and what is said of one without views."""

from __future__ import annotations

from collections.abc import Iterator

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import count
from dbt.adapters.icebergmv.reader_choice import ChosenReader

OLD_JDBC = "the catalog {} has no views: its jdbc.schema-version is V0. Upgrade it to V1."


def catalog_report(chosen: ChosenReader, schema: str, settings: CatalogSettings) -> Iterator[str]:
    """Yield lines on a catalog that was opened and listed; one view is read. Raises CatalogUnavailable."""
    reader = chosen.reader
    yield f"catalog_reader: {chosen.how}"
    yield f"schemas: {len(reader.namespaces())}"
    entries = reader.entries(schema)
    views = [entry.name for entry in entries if entry.kind == "view"]
    if views:
        reader.view(schema, views[0])
    yield f"in the schema {schema}: {count(len(entries) - len(views), 'table')}, {count(len(views), 'view')}"
    if not (settings.supports_views and reader.has_views):
        yield without_views(settings)


def without_views(settings: CatalogSettings) -> str:
    """Return what follows for materialized views from a catalog that has no views, or does not say that it has."""
    if not settings.supports_views:
        return f"Cannot make materialized views: {OLD_JDBC.format(settings.name)}"
    if settings.pyiceberg.get("type") == "rest":
        return (
            f"The REST server of the catalog {settings.name} does not announce views (`endpoints` of its /v1/config): "
            "materialized views without `layout` are tables (layout: table). If it has views, switch them on there; "
            "for an old server that announces nothing, add `view-endpoints-supported: true` to `catalog_properties`"
        )
    return f"The catalog {settings.name} has no views: materialized views are tables (layout: table)"
