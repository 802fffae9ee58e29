"""The statements that write: storage table, branches, rows, view. Text in, text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal, TypeAlias

from typing_extensions import assert_never

from dbt.adapters.icebergmv.maintenance.definition.partitioning import PartitionField
from dbt.adapters.icebergmv.maintenance.planning.write import (
    DELETE_MODE_KEY,
    AddRows,
    ReplaceAll,
    ReplacePartitions,
    ReplaceRows,
    Rows,
    Write,
)
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, qualified, string_literal
from dbt.adapters.icebergmv.maintenance.status.configured.clustering import SortColumn

MAIN = "main"
_FOR_EVER_DAYS = 36_500


@dataclass(frozen=True)
class View:
    """A view to publish; `query` is its SQL, `properties` its state."""

    name: TableName
    columns: tuple[str, ...]
    query: str
    comment: str | None
    column_comments: Mapping[str, str]
    properties: Mapping[str, str]


def create_table(
    table: TableName, rows: Rows, partitioning: Sequence[PartitionField], tblproperties: Mapping[str, str]
) -> str:
    """Return the statement that makes a table of rows, in place of another one if there is one. It is one commit."""
    partitioned = f" PARTITIONED BY ({', '.join(f.ddl() for f in partitioning)})" if partitioning else ""
    return (
        f"CREATE OR REPLACE TABLE {qualified(*table)} USING iceberg{partitioned}"
        f" TBLPROPERTIES ({_properties(tblproperties)}) AS {rows.sql}"
    )


def set_table_properties(storage: TableName, properties: Mapping[str, str]) -> str:
    """Return the statement that sets properties of the storage table."""
    return f"ALTER TABLE {qualified(*storage)} SET TBLPROPERTIES ({_properties(properties)})"


def unset_table_properties(storage: TableName, keys: Sequence[str]) -> str:
    """Return the statement that removes properties of the storage table."""
    return f"ALTER TABLE {qualified(*storage)} UNSET TBLPROPERTIES ({', '.join(string_literal(k) for k in keys)})"


Spread: TypeAlias = Literal["by partition", "by range", "as told"]
_ORDERED: Mapping[Spread, str] = {
    "by partition": "DISTRIBUTED BY PARTITION LOCALLY ORDERED BY",
    "by range": "ORDERED BY",
    "as told": "LOCALLY ORDERED BY",
}


def order_rows(storage: TableName, order: Sequence[SortColumn], spread: Spread) -> str:
    """Return the statement that orders the rows that are written from now on; by nothing: they come as they are.

    Rows are spread over the tasks that sort them by partition, by ranges of the order, so that no file of a task has
    values of another's, or as the table is told otherwise.
    """
    how = f"{_ORDERED[spread]} {', '.join(sort.ddl() for sort in order)}" if order else "UNORDERED"
    return f"ALTER TABLE {qualified(*storage)} WRITE {how}"


def create_branch(storage: TableName, branch: str, snapshot_id: int) -> str:
    """Return the statement that starts a branch at a snapshot."""
    # Without RETAIN a table property (history.expire.max-ref-age-ms) could expire what a view reads.
    at = f"AS OF VERSION {snapshot_id} RETAIN {_FOR_EVER_DAYS} DAYS"
    return f"ALTER TABLE {qualified(*storage)} CREATE BRANCH {identifier(branch)} {at}"


def drop_branch(storage: TableName, branch: str) -> str:
    """Return the statement that drops a branch."""
    return f"ALTER TABLE {qualified(*storage)} DROP BRANCH IF EXISTS {identifier(branch)}"


# A procedure takes the first part of a name for a catalog, and logs a stack trace where there is none of that name.
def set_main(storage: TableName, snapshot_id: int) -> str:
    """Return the statement that sets main to a snapshot, whatever it was before."""
    return (
        f"CALL {identifier(storage[0])}.system.set_current_snapshot("
        f"table => {string_literal(qualified(*storage))}, snapshot_id => {snapshot_id})"
    )


def fast_forward_main(storage: TableName, branch: str) -> str:
    """Return the statement that moves main to the head of a branch, if main is an ancestor of it."""
    return (
        f"CALL {identifier(storage[0])}.system.fast_forward(table => {string_literal(qualified(*storage))}, "
        f"branch => '{MAIN}', to => {string_literal(branch)})"
    )


def rewrite_files(storage: TableName, branch: str, min_input_files: int) -> str:
    """Return the statement that compacts small files, and files with deletes, on a branch.

    Iceberg 1.11 would remove dangling deletes from main, whatever the branch, so it is not asked to.
    """
    return (
        f"CALL {identifier(storage[0])}.system.rewrite_data_files(table => {string_literal(qualified(*storage))}, "
        f"branch => {string_literal(branch)}, "
        f"options => map('min-input-files', '{min_input_files}', 'delete-file-threshold', '1'))"
    )


def expire_snapshots(storage: TableName, before: datetime) -> str:
    """Return the statement that expires the snapshots of before a moment that no branch or tag names."""
    moment = before.astimezone(timezone.utc).replace(tzinfo=None).isoformat(" ", "milliseconds")
    return (
        f"CALL {identifier(storage[0])}.system.expire_snapshots(table => {string_literal(qualified(*storage))}, "
        f"older_than => TIMESTAMP '{moment}Z', retain_last => 1)"
    )


def write_rows(storage: TableName, branch: str, write: Write, write_options: Mapping[str, str]) -> list[str]:
    """Return the statements that carry out a write on a branch; `write_options` are Iceberg's, for the rows added.

    Partitions are replaced in one commit (OverwriteFiles by filter), other regions by DELETE and INSERT, of which
    readers see only the end. The predicate is on the SELECT too: Iceberg does not refuse rows outside it.
    """
    target = qualified(*storage, f"branch_{branch}")
    options = ", ".join(f"{identifier(key)} = {string_literal(value)}" for key, value in write_options.items())
    insert = f"INSERT INTO {target} WITH ({options})"
    rows = write.rows.sql
    match write:
        case AddRows():
            return [f"{insert} {rows}"]
        case ReplaceAll():
            return [f"{insert} REPLACE WHERE true {rows}"]
        case ReplacePartitions():
            return [f"{insert} REPLACE WHERE {write.where} {rows}"]
        case ReplaceRows():
            mode = {} if write.delete_mode is None else {DELETE_MODE_KEY: write.delete_mode}
            told = [set_table_properties(storage, mode)] if mode else []
            return [*told, f"DELETE FROM {target} WHERE {write.where}", f"{insert} {rows}"]
        case _:
            assert_never(write)


def create_view(view: View) -> str:
    """Return the statement that publishes SQL and state in one commit."""
    comments = {k.lower(): v for k, v in view.column_comments.items()}
    listed = ", ".join(
        identifier(c) + (f" COMMENT {string_literal(comments[c.lower()])}" if c.lower() in comments else "")
        for c in view.columns
    )
    return (
        f"CREATE OR REPLACE VIEW {qualified(*view.name)} ({listed}) COMMENT {string_literal(view.comment or '')}"
        f" TBLPROPERTIES ({_properties(view.properties)}) AS {view.query}"
    )


def set_view_properties(view: TableName, properties: Mapping[str, str]) -> str:
    """Return the statement that changes properties of a view; its SQL stays."""
    return f"ALTER VIEW {qualified(*view)} SET TBLPROPERTIES ({_properties(properties)})"


def unset_view_properties(view: TableName, keys: Sequence[str]) -> str:
    """Return the statement that removes properties of a view, those of them that it has."""
    listed = ", ".join(string_literal(key) for key in keys)
    return f"ALTER VIEW {qualified(*view)} UNSET TBLPROPERTIES IF EXISTS ({listed})"


def drop_table(table: TableName, purge: bool) -> str:
    """Return the statement that drops a table, with its files if `purge`."""
    return f"DROP TABLE IF EXISTS {qualified(*table)}{' PURGE' if purge else ''}"


def drop_view(view: TableName) -> str:
    """Return the statement that drops a view."""
    return f"DROP VIEW IF EXISTS {qualified(*view)}"


def set_table_comment(table: TableName, comment: str) -> str:
    """Return the statement that describes a table."""
    return f"COMMENT ON TABLE {qualified(*table)} IS {string_literal(comment)}"


def set_column_comment(table: TableName, column: str, comment: str) -> str:
    """Return the statement that describes a column."""
    return f"ALTER TABLE {qualified(*table)} ALTER COLUMN {identifier(column)} COMMENT {string_literal(comment)}"


def rename_table(table: TableName, to: TableName) -> str:
    """Return the statement that renames a table inside its catalog."""
    return f"ALTER TABLE {qualified(*table)} RENAME TO {qualified(*to[1:])}"


def create_namespace(storage: TableName) -> str:
    """Return the statement that makes sure that the namespace of the storage table exists."""
    return f"CREATE NAMESPACE IF NOT EXISTS {qualified(*storage[:2])}"


def _properties(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{string_literal(k)} = {string_literal(v)}" for k, v in properties.items())
