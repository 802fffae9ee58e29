"""Iceberg views in a SQL catalog, written as Iceberg's JdbcCatalog writes them: PyIceberg makes none there."""

from __future__ import annotations

import gzip
import uuid
from collections.abc import Mapping
from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from pyiceberg.view.metadata import (
    SQLViewRepresentation,
    ViewHistoryEntry,
    ViewMetadata,
    ViewRepresentation,
    ViewVersion,
)
from sqlalchemy import text

SCHEMA = Schema(NestedField(1, "id", LongType(), required=False, doc="the key"), schema_id=0)


def view_metadata(sqls: list[str], dialect: str = "spark", properties: Mapping[str, str] | None = None) -> ViewMetadata:
    """Return the metadata of a view with one version for each SQL, the last one current."""
    versions = [
        ViewVersion(
            version_id=number,
            schema_id=0,
            representations=[ViewRepresentation(SQLViewRepresentation(type="sql", sql=sql, dialect=dialect))],
            default_catalog=None,
            default_namespace=("ns",),
        )
        for number, sql in enumerate(sqls, 1)
    ]
    return ViewMetadata(
        view_uuid=str(uuid.uuid4()),
        format_version=1,
        location="nowhere",
        schemas=[SCHEMA],
        current_version_id=len(sqls),
        versions=versions,
        version_log=[ViewHistoryEntry(timestamp_ms=v.timestamp_ms, version_id=v.version_id) for v in versions],
        properties=dict(properties or {}),
    )


def add_view(catalog: SqlCatalog, name: tuple[str, str], metadata: ViewMetadata, folder: Path) -> Path:
    """Add a view to the catalog, with a folder of its own below `folder`, and return its metadata file."""
    location = folder / str(uuid.uuid4())
    file = location / "metadata" / f"00000-{uuid.uuid4()}.gz.metadata.json"
    file.parent.mkdir(parents=True)
    placed = metadata.model_copy(update={"location": location.as_uri()})
    file.write_bytes(gzip.compress(placed.model_dump_json(by_alias=True).encode()))
    insert = (
        "insert into iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) "
        "values (:c, :n, :t, :l, 'VIEW')"
    )
    with catalog.engine.begin() as connection:
        connection.execute(text(insert), {"c": catalog.name, "n": name[0], "t": name[1], "l": file.as_uri()})
    return file
