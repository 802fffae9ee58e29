"""Plan -> SQL: the statements of a refresh. Everything here is text in, text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyiceberg.schema import Schema

from dbt.adapters.icebergmv.maintenance.bases import BaseTables, IcebergSource
from dbt.adapters.icebergmv.maintenance.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.names import TableName
from dbt.adapters.icebergmv.maintenance.partitioning import PartitionField
from dbt.adapters.icebergmv.maintenance.references import TableReference, splice
from dbt.adapters.icebergmv.maintenance.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.sql import disjunction, identifier, qualified, string_literal

MAIN = "main"


def pinned_query(
    definition: ViewDefinition, bases: BaseTables, filters: Mapping[int, tuple[TupleDomain, ...]], catalog: str
) -> str:
    """Return the definition with every base table read at its recorded snapshot, and only the rows that `filters` leave.

    Tables that have no recorded snapshot (foreign tables, plain views) stay as they are written.
    """
    replacements: dict[TableReference, str] = {}
    for reference in definition.references:
        source = None if reference.pinned else bases.of(reference).source
        if source is not None:
            replacements[reference] = _read(reference, source, filters.get(reference.index), catalog)
    return splice(definition.sql, replacements)


def _read(
    reference: TableReference, source: IcebergSource, wanted: tuple[TupleDomain, ...] | None, catalog: str
) -> str:
    alias = "" if reference.has_alias else f" AS {identifier(reference.name)}"
    name = qualified(*source.storage)
    if source.recorded.snapshot_id is None:
        return f"(SELECT * FROM {name} WHERE false){alias}"
    pinned = f"{name} VERSION AS OF {source.recorded.snapshot_id}"
    columns = _bridge(source.table_schema, source.snapshot_schema)
    if wanted is None and columns is None:
        return pinned if source.storage[2] == reference.name else pinned + alias
    types = {f.name: spark_type(f.field_type) for f in source.table_schema.fields}
    inner = pinned if columns is None else f"(SELECT {columns} FROM {pinned})"
    where = "" if wanted is None else f" WHERE {disjunction(wanted, types, catalog)}"
    return f"(SELECT * FROM {inner}{where}){alias}"


def _bridge(wanted: Schema, stored: Schema | None) -> str | None:
    """Return a select list that shows a snapshot of an older schema under the current one; None when they are equal.

    Reading VERSION AS OF gives the columns of that snapshot; a live read gives today's, matched by field id.
    """
    if stored is None or wanted.fields == stored.fields:
        return None
    before = {f.field_id: f for f in stored.fields}
    items = []
    for field in wanted.fields:
        old = before.get(field.field_id)
        target = spark_type(field.field_type)
        if old is None:
            items.append(f"CAST(NULL AS {target}) AS {identifier(field.name)}")
        elif spark_type(old.field_type) == target or not field.field_type.is_primitive:
            items.append(f"{identifier(old.name)} AS {identifier(field.name)}")
        else:
            items.append(f"CAST({identifier(old.name)} AS {target}) AS {identifier(field.name)}")
    return ", ".join(items)


def describe_query(query: str) -> str:
    return f"DESCRIBE QUERY {_columns_of(query, '*')}"


def create_storage(
    storage: TableName,
    columns: Sequence[str],
    query: str,
    partitioning: Sequence[PartitionField],
    tblproperties: Mapping[str, str],
) -> str:
    """Return the statement that creates the storage table, or gives it new columns and partitioning, without rows.

    Old snapshots stay readable, so a view that pins one is not disturbed.
    """
    partitioned = f" PARTITIONED BY ({', '.join(f.ddl() for f in partitioning)})" if partitioning else ""
    return (
        f"CREATE OR REPLACE TABLE {qualified(*storage)} USING iceberg{partitioned}"
        f" TBLPROPERTIES ({_properties(tblproperties)}) AS {_columns_of(query, _names(columns))} WHERE false"
    )


def set_table_properties(storage: TableName, properties: Mapping[str, str]) -> str:
    return f"ALTER TABLE {qualified(*storage)} SET TBLPROPERTIES ({_properties(properties)})"


def unset_table_properties(storage: TableName, keys: Sequence[str]) -> str:
    return f"ALTER TABLE {qualified(*storage)} UNSET TBLPROPERTIES ({', '.join(string_literal(k) for k in keys)})"


def create_branch(storage: TableName, branch: str, snapshot_id: int) -> str:
    return f"ALTER TABLE {qualified(*storage)} CREATE BRANCH {identifier(branch)} AS OF VERSION {snapshot_id}"


def drop_branch(storage: TableName, branch: str) -> str:
    return f"ALTER TABLE {qualified(*storage)} DROP BRANCH IF EXISTS {identifier(branch)}"


def set_main(storage: TableName, snapshot_id: int) -> str:
    return (
        f"CALL {identifier(storage[0])}.system.set_current_snapshot("
        f"table => {string_literal(qualified(*storage[1:]))}, snapshot_id => {snapshot_id})"
    )


def fast_forward_main(storage: TableName, branch: str) -> str:
    return (
        f"CALL {identifier(storage[0])}.system.fast_forward(table => {string_literal(qualified(*storage[1:]))}, "
        f"branch => '{MAIN}', to => {string_literal(branch)})"
    )


def replace_rows(
    storage: TableName, branch: str, columns: Sequence[str], query: str, where: str, summary: Mapping[str, str]
) -> str:
    """Return the statement that replaces the rows where `where` holds by those of the query, in one commit.

    The predicate stands on both sides: Iceberg does not refuse rows outside it.
    """
    return (
        f"INSERT INTO {qualified(*storage)} WITH ({_write_options(branch, summary)}) REPLACE WHERE {where}"
        f" {_columns_of(query, _names(columns))} WHERE {where}"
    )


def delete_rows(storage: TableName, branch: str, where: str) -> str:
    return f"DELETE FROM {qualified(*storage, 'branch_' + branch)} WHERE {where}"


def insert_rows(
    storage: TableName, branch: str, columns: Sequence[str], query: str, where: str, summary: Mapping[str, str]
) -> str:
    return (
        f"INSERT INTO {qualified(*storage)} WITH ({_write_options(branch, summary)})"
        f" {_columns_of(query, _names(columns))} WHERE {where}"
    )


def view_query(storage: TableName, columns: Sequence[str], snapshot_id: int) -> str:
    """Return the SELECT that the view holds: the storage table at one snapshot."""
    return f"SELECT {_names(columns)} FROM {qualified(*storage)} VERSION AS OF {snapshot_id}"


def create_view(
    view: TableName,
    columns: Sequence[str],
    comments: Mapping[str, str],
    comment: str | None,
    properties: Mapping[str, str],
    query: str,
) -> str:
    """Return the statement that publishes SQL and state in one commit."""
    by_name = {k.lower(): v for k, v in comments.items()}
    listed = ", ".join(
        identifier(c) + (f" COMMENT {string_literal(by_name[c.lower()])}" if c.lower() in by_name else "")
        for c in columns
    )
    return (
        f"CREATE OR REPLACE VIEW {qualified(*view)} ({listed}) COMMENT {string_literal(comment or '')}"
        f" TBLPROPERTIES ({_properties(properties)}) AS {query}"
    )


def set_view_properties(view: TableName, properties: Mapping[str, str]) -> str:
    return f"ALTER VIEW {qualified(*view)} SET TBLPROPERTIES ({_properties(properties)})"


def drop_table(table: TableName, purge: bool) -> str:
    return f"DROP TABLE IF EXISTS {qualified(*table)}{' PURGE' if purge else ''}"


def drop_view(view: TableName) -> str:
    return f"DROP VIEW IF EXISTS {qualified(*view)}"


def rename_table(table: TableName, to: TableName) -> str:
    return f"ALTER TABLE {qualified(*table)} RENAME TO {qualified(*to[1:])}"


def create_namespace(storage: TableName) -> str:
    return f"CREATE NAMESPACE IF NOT EXISTS {qualified(*storage[:2])}"


def _columns_of(query: str, columns: str) -> str:
    """Select from the query; the line breaks keep a comment at its end from swallowing the parenthesis."""
    return f"SELECT {columns} FROM (\n{query}\n)"


def _names(columns: Sequence[str]) -> str:
    return ", ".join(identifier(c) for c in columns)


def _properties(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{string_literal(k)} = {string_literal(v)}" for k, v in properties.items())


def _write_options(branch: str, summary: Mapping[str, str]) -> str:
    options = {"branch": branch, **{f"snapshot-property.{k}": v for k, v in summary.items()}}
    return ", ".join(f"{identifier(k)} = {string_literal(v)}" for k, v in options.items())
