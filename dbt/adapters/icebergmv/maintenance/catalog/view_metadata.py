"""Iceberg's view metadata as the product needs it. Iceberg view spec, "View Metadata"."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pydantic
import pyiceberg.exceptions
from pydantic import Field
from pyiceberg.io import FileIO
from pyiceberg.types import NestedField, PrimitiveType
from pyiceberg.view.metadata import ViewMetadata

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewInfo, ViewVersion, schema_columns
from dbt.adapters.icebergmv.maintenance.sql.spark_types import ddl_type

_GZIP_MAGIC = b"\x1f\x8b"


def read_view_metadata(io: FileIO, location: str) -> ViewMetadata:
    """Return the content of a metadata file."""
    with io.new_input(location).open() as stream:
        return parsed_view(stream.read())


class NamedType(PrimitiveType):
    """A type that PyIceberg does not know. Of a view no rows are read, so its name is all that is needed."""

    # PyIceberg looks every bare text up among the types that it knows.
    root: tuple[str] = Field()

    def __init__(self, name: str) -> None:
        super().__init__(root=(name,))

    def __str__(self) -> str:
        return self.root[0]


def parsed_view(content: bytes) -> ViewMetadata:
    """Return what a metadata file of a view holds."""
    text = unzipped(content)
    try:
        return ViewMetadata.model_validate_json(text)
    except (pydantic.ValidationError, pyiceberg.exceptions.ValidationError):
        found = json.loads(text)
        if not isinstance(found, dict) or "schemas" not in found:
            raise
        return ViewMetadata.model_validate(found | {"schemas": [_with_named_types(s) for s in found["schemas"]]})


def _with_named_types(kind: Any) -> Any:
    """Return a type, as metadata hold it, in which those that PyIceberg does not know are NamedType."""
    match kind:
        case str():
            return kind if _is_known(kind) else NamedType(kind)
        case {"fields": list(fields)}:
            return kind | {"fields": [field | {"type": _with_named_types(field["type"])} for field in fields]}
        case {"element": element}:
            return kind | {"element": _with_named_types(element)}
        case {"key": key, "value": value}:
            return kind | {"key": _with_named_types(key), "value": _with_named_types(value)}
        case _:
            return kind


def _is_known(word: str) -> bool:
    try:
        NestedField(1, "a", word, required=False)
    except (ValueError, pyiceberg.exceptions.ValidationError):
        return False
    return True


def unzipped(content: bytes) -> bytes:
    """Return the text of a metadata file, which may be compressed."""
    return gzip.decompress(content) if content.startswith(_GZIP_MAGIC) else content


def view_info(namespace: str, name: str, metadata: ViewMetadata) -> ViewInfo:
    """Return a view's metadata as a reader gives it."""
    versions = {v.version_id: v for v in metadata.versions}
    current = versions[metadata.current_version_id]
    schema = next(s for s in metadata.schemas if s.schema_id == current.schema_id)
    spark_sql = {
        v.version_id: r.root.sql for v in metadata.versions for r in v.representations if r.root.dialect == "spark"
    }
    return ViewInfo(
        namespace=namespace,
        name=name,
        uuid=metadata.view_uuid,
        sql=spark_sql.get(current.version_id, ""),
        columns=schema_columns(schema),
        properties=metadata.properties,
        comment=metadata.properties.get("comment"),
        version_id=current.version_id,
        default_catalog=current.default_catalog,
        default_namespace=tuple(current.default_namespace),
        versions=tuple(
            ViewVersion(v.version_id, v.timestamp_ms, spark_sql.get(v.version_id, "")) for v in metadata.versions
        ),
        types=tuple(ddl_type(f.field_type) for f in schema.fields),
    )
