"""A lake in files, without Spark: a JDBC catalog on SQLite in the product's own layout, read by the product's reader.

Refreshes run on RecordingSpark, which computes nothing; the views that it publishes are filed as Iceberg files them.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, StringType
from pyiceberg.view.metadata import (
    SQLViewRepresentation,
    ViewHistoryEntry,
    ViewMetadata,
    ViewRepresentation,
    ViewVersion,
)
from sqlalchemy import text

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings, catalog_settings
from dbt.adapters.icebergmv.maintenance.catalog.opening import open_catalog
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo
from tests.support.lake_views import add_view
from tests.support.recording_spark import LocalCatalog


class FiledViews(MutableMapping[str, ViewInfo]):
    """The views of one namespace, in the catalog's database and metadata files."""

    def __init__(self, catalog: SqlCatalog, folder: Path, settings: CatalogSettings) -> None:
        self._catalog = catalog
        self._folder = folder
        self.reader = open_catalog(settings.name, settings.pyiceberg)

    def __getitem__(self, name: str) -> ViewInfo:
        found = self.reader.view("ns", name)
        if found is None:
            raise KeyError(name)
        return found

    def __setitem__(self, name: str, view: ViewInfo) -> None:
        self.pop(name, None)
        add_view(self._catalog, ("ns", name), _metadata(view), self._folder)

    def __delitem__(self, name: str) -> None:
        statement = "delete from iceberg_tables where table_name = :t and iceberg_type = 'VIEW'"
        with self._catalog.engine.begin() as connection:
            if connection.execute(text(statement), {"t": name}).rowcount == 0:
                raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (entry.name for entry in self.reader.entries("ns") if entry.kind == "view")

    def __len__(self) -> int:
        return sum(1 for _ in self)


class FiledLake(LocalCatalog):
    """The catalog of a warehouse folder, as a profile with nothing but `warehouse` has it."""

    def __init__(self, folder: Path) -> None:
        self.settings = catalog_settings("lake", str(folder), {}, str(folder))
        folder.mkdir(parents=True, exist_ok=True)
        iceberg = SqlCatalog("lake", **self.settings.pyiceberg)
        with iceberg.engine.begin() as connection:
            columns = {row[1] for row in connection.execute(text("pragma table_info(iceberg_tables)"))}
            if "iceberg_type" not in columns:
                connection.execute(text("alter table iceberg_tables add column iceberg_type varchar(5)"))
        iceberg.create_namespace_if_not_exists("ns")
        super().__init__(iceberg)
        self.filed = FiledViews(iceberg, folder, self.settings)
        self.views = self.filed  # type: ignore[assignment]

    def entries(self, namespace: str) -> list[CatalogEntry]:
        return self.filed.reader.entries(namespace)

    def close(self) -> None:
        """Close the catalog."""
        self.iceberg.close()


def _metadata(view: ViewInfo) -> ViewMetadata:
    fields = (NestedField(n, c.name, StringType(), required=False) for n, c in enumerate(view.columns, start=1))
    version = ViewVersion(
        version_id=1,
        schema_id=0,
        representations=[ViewRepresentation(SQLViewRepresentation(type="sql", sql=view.sql, dialect="spark"))],
        default_catalog="lake",
        default_namespace=("ns",),
    )
    return ViewMetadata(
        view_uuid=view.uuid,
        format_version=1,
        location="nowhere",
        schemas=[Schema(*fields, schema_id=0)],
        current_version_id=1,
        versions=[version],
        version_log=[ViewHistoryEntry(timestamp_ms=version.timestamp_ms, version_id=1)],
        properties=dict(view.properties),
    )
