"""The columns of a storage table that its view shows."""

from __future__ import annotations

from pyiceberg.schema import Schema

from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden


def shown(schema: Schema) -> Schema:
    """Return the schema of a storage table without its hidden columns."""
    if not any(is_hidden(f.name) for f in schema.fields):
        return schema
    return Schema(*(f for f in schema.fields if not is_hidden(f.name)), schema_id=schema.schema_id)
