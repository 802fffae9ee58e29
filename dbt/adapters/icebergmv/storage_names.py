"""What the storage table of a model is called, and which names it cannot have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbt.adapters.contracts.relation import RelationConfig

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show

DEFAULT_PREFIX = "__mv_storage__"
_SUBSTITUTED = "${"


def configured_storage(config: Mapping[str, Any], view: TableName) -> TableName:
    """Return the storage table of a model with this configuration, below a view."""
    database, schema, identifier = view
    prefix = config.get("storage_table_prefix") or DEFAULT_PREFIX
    return (database, str(config.get("storage_schema") or schema), f"{prefix}{identifier}")


def refuse_variables(*names: TableName) -> None:
    """Raise InvalidConfig for a name with `${`: Spark puts the value of a variable there, also inside backticks."""
    for name in names:
        if any(_SUBSTITUTED in part for part in name):
            raise InvalidConfig(
                f"the name {show(name)} holds ${{...}}, which Spark replaces in every statement. Use Jinja for it, "
                "such as env_var, or choose another name."
            )


def taken_names(
    views: Sequence[tuple[RelationConfig, Mapping[str, Any]]], nodes: Sequence[RelationConfig]
) -> Iterator[tuple[RelationConfig, str]]:
    """Yield each view whose storage table would have the name of a model, seed or snapshot, and what is wrong.

    So does the second of two views that would have one storage table.
    """
    users = {
        _folded(_relation(node)): node for node in nodes if getattr(node.config, "materialized", None) != "ephemeral"
    }
    for view, config in views:
        if config.get("layout") == "table":
            continue
        storage = configured_storage(config, _relation(view))
        other = users.setdefault(_folded(storage), view)
        if other is not view:
            mend = "Set storage_table_prefix or storage_schema, or rename one of the two"
            yield view, f"its storage table {show(storage)} has a name that {other.name} uses too. {mend}."


def _relation(node: RelationConfig) -> TableName:
    return (str(node.database), str(node.schema), str(node.identifier))


def _folded(name: TableName) -> TableName:
    database, schema, identifier = name
    return (database.lower(), schema.lower(), identifier.lower())
