"""Columns of a storage table that its view does not show: by them groups are merged."""

from __future__ import annotations

from pyiceberg.schema import Schema

from dbt.adapters.icebergmv.maintenance.definition.merging import HIDDEN


def is_hidden(name: str) -> bool:
    """Return whether a column of a storage table is one that the view does not show."""
    return name.lower().startswith(HIDDEN)


def shown(schema: Schema) -> Schema:
    """Return the schema of a storage table without its hidden columns."""
    if not any(is_hidden(f.name) for f in schema.fields):
        return schema
    return Schema(*(f for f in schema.fields if not is_hidden(f.name)), schema_id=schema.schema_id)
