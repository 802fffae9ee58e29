"""Plan -> SQL: the statements of a refresh. Everything here is text in, text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyiceberg.schema import Schema

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.partitioning import PartitionField, can_prune, spec_fields
from dbt.adapters.icebergmv.maintenance.definition.table_references import TableReference, splice
from dbt.adapters.icebergmv.maintenance.planning.planner import Delta, RefreshPlan
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.transform_lattice import in_terms_of
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction, identifier, qualified, string_literal
from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTables, IcebergSource, at_snapshot, shape

MAIN = "main"
SHOW_SETTINGS = "SET"
_FOR_EVER_DAYS = 36_500


@dataclass(frozen=True)
class Write:
    """Rows to replace: those where `where` holds, by those of the query where `query_where` holds.

    Both say the same, each as the tables behind it need it. `aligned`: the region is whole partitions. Where both are
    None no row is replaced, only added.
    """

    columns: tuple[str, ...]
    query: str
    where: str | None
    query_where: str | None
    aligned: bool
    summary: Mapping[str, str]


@dataclass(frozen=True)
class View:
    """A view to publish; `query` is its SQL, `properties` its state."""

    name: TableName
    columns: tuple[str, ...]
    query: str
    comment: str | None
    column_comments: Mapping[str, str]
    properties: Mapping[str, str]


def pinned_query(
    definition: ViewDefinition, bases: BaseTables, filters: Mapping[int, tuple[TupleDomain, ...]], catalog: str
) -> str:
    """Return the definition with every base table at its recorded snapshot, reading only what `filters` leave.

    Tables that have no recorded snapshot (foreign tables, plain views) stay as they are written.
    """
    replacements: dict[TableReference, str] = {}
    dialect = Dialect(catalog, bases_can_prune(definition, bases, filters))
    for reference in definition.references:
        source = None if reference.pinned else bases.of(reference).source
        if source is not None:
            replacements[reference] = _read(reference, source, filters.get(reference.index), dialect)
    return splice(definition.sql, replacements)


def bases_can_prune(
    definition: ViewDefinition,
    bases: BaseTables,
    filters: Mapping[int, tuple[TupleDomain, ...]],
    region: tuple[TupleDomain, ...] = (),
) -> bool:
    """Return whether Iceberg may see the bucket and truncate predicates of the filters and of the region around them.

    From an equality in a join Spark infers the predicate of one side for the other. Where that one is partitioned by
    another transform of the column, Iceberg compares unlike values and silently loses rows. So several tables have to
    agree, whatever their columns are called.
    """
    sources = [None if r.pinned else bases.of(r).source for r in definition.references]
    wanted = [
        _in_own_terms(source, filters.get(r.index))
        for r, source in zip(definition.references, sources, strict=True)
        if source is not None
    ]
    if len(sources) == 1:
        reaching = (*(wanted[0] or region if wanted else region), *filters.get(definition.references[0].index, ()))
        return all(s is None or _alone_can_prune(s, reaching) for s in sources)
    used = {
        key.transform
        for disjuncts in (*wanted, *filters.values(), region)
        for disjunct in disjuncts or ()
        for key, _ in disjunct.constraints
        if key.transform is not None
    }
    return not used or all(
        s is not None and {str(f.transform) for spec in s.table.specs().values() for f in spec.fields} == used
        for s in sources
    )


def _alone_can_prune(source: IcebergSource, reaching: tuple[TupleDomain, ...]) -> bool:
    """Return whether no column that Spark may find equal to a bucketed one is partitioned in another way."""
    types = {f.name: f.field_type for f in source.table_schema.fields}
    used = {(key.column, key.transform) for d in reaching for key, _ in d.constraints if key.transform is not None}
    partitioned = {
        (source.table_schema.find_column_name(f.source_id), str(f.transform))
        for spec in source.table.specs().values()
        for f in spec.fields
    }
    return can_prune(source.table, source.table_schema, reaching) and all(
        column == c or transform == t or types.get(column) != types.get(str(c))
        for column, transform in used
        for c, t in partitioned
    )


def _in_own_terms(source: IcebergSource, wanted: tuple[TupleDomain, ...] | None) -> tuple[TupleDomain, ...] | None:
    return None if wanted is None else tuple(in_terms_of(d, _partitioned_by(source)) for d in wanted)


def _read(
    reference: TableReference, source: IcebergSource, wanted: tuple[TupleDomain, ...] | None, dialect: Dialect
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
    wanted = _in_own_terms(source, wanted)
    inner = pinned if columns is None else f"(SELECT {columns} FROM {pinned})"
    where = "" if wanted is None else f" WHERE {disjunction(wanted, types, dialect)}"
    return f"(SELECT * FROM {inner}{where}){alias}"


def _read_appended(reference: TableReference, source: IcebergSource, since: int) -> str:
    """Return an incremental append scan: the rows that came after a snapshot, under the columns of today."""
    window = f"`start-snapshot-id` = '{since}', `end-snapshot-id` = '{source.recorded.snapshot_id}'"
    alias = "" if reference.has_alias else f" AS {identifier(reference.name)}"
    return f"(SELECT * FROM {qualified(*source.storage)} WITH ({window})){alias}"


def _partitioned_by(source: IcebergSource) -> list[tuple[str, str]]:
    return [(f.column, f.transform) for f in spec_fields(source.table.spec(), source.table_schema)]


def _bridge(wanted: Schema, stored: Schema | None) -> str | None:
    """Return a select list that shows a snapshot of an older schema under the current one; None when they are equal.

    Reading VERSION AS OF gives the columns of that snapshot; a live read gives today's, matched by field id. Schemas
    that no select list can bridge are never read at a snapshot (bases.can_bridge).
    """
    if stored is None or [shape(f) for f in wanted.fields] == [shape(f) for f in stored.fields]:
        return None
    before = {f.field_id: f for f in stored.fields}
    items = []
    for field in wanted.fields:
        old, name = before.get(field.field_id), identifier(field.name)
        value = "NULL" if old is None else identifier(old.name)
        if old is None or old.field_type != field.field_type:
            value = f"CAST({value} AS {spark_type(field.field_type)})"
        items.append(f"{value} AS {name}")
    return ", ".join(items)


def appended_query(
    definition: ViewDefinition, bases: BaseTables, plan: RefreshPlan, columns: Sequence[str], catalog: str
) -> str:
    """Return the rows that the deltas of a plan bring, as one query."""
    dialect = Dialect(catalog, bases_can_prune(definition, bases, plan.base_filters))
    queries = [_delta_query(definition, bases, plan, delta, dialect) for delta in plan.deltas]
    return "\nUNION ALL\n".join(_select(query, _names(columns)) for query in queries)


def _delta_query(
    definition: ViewDefinition, bases: BaseTables, plan: RefreshPlan, delta: Delta, dialect: Dialect
) -> str:
    replacements: dict[TableReference, str] = {}
    for reference in definition.references:
        source = None if reference.pinned else bases.of(reference).source
        if source is None:
            continue
        if reference.index == delta.added:
            replacements[reference] = _read_appended(reference, source, delta.since)
        elif reference.index in delta.empty:
            replacements[reference] = _read(reference, source, (), dialect)
        else:
            earlier = delta.before.get(reference.index)
            then = source if earlier is None else at_snapshot(source, earlier)
            if then is None:
                raise AssertionError("only tables that can be shown as they were take part in an append")
            replacements[reference] = _read(reference, then, plan.base_filters.get(reference.index), dialect)
    return splice(definition.sql, replacements)


def describe_query(query: str) -> str:
    """Return the statement that shows the columns of a query."""
    return f"DESCRIBE QUERY {_select(query, '*')}"


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
        f" TBLPROPERTIES ({_properties(tblproperties)}) AS {_select(query, _names(columns))} WHERE false"
    )


def set_table_properties(storage: TableName, properties: Mapping[str, str]) -> str:
    """Return the statement that sets properties of the storage table."""
    return f"ALTER TABLE {qualified(*storage)} SET TBLPROPERTIES ({_properties(properties)})"


def unset_table_properties(storage: TableName, keys: Sequence[str]) -> str:
    """Return the statement that removes properties of the storage table."""
    return f"ALTER TABLE {qualified(*storage)} UNSET TBLPROPERTIES ({', '.join(string_literal(k) for k in keys)})"


def create_branch(storage: TableName, branch: str, snapshot_id: int) -> str:
    """Return the statement that starts a branch at a snapshot."""
    # Without RETAIN a table property (history.expire.max-ref-age-ms) could expire what a view reads.
    at = f"AS OF VERSION {snapshot_id} RETAIN {_FOR_EVER_DAYS} DAYS"
    return f"ALTER TABLE {qualified(*storage)} CREATE BRANCH {identifier(branch)} {at}"


def drop_branch(storage: TableName, branch: str) -> str:
    """Return the statement that drops a branch."""
    return f"ALTER TABLE {qualified(*storage)} DROP BRANCH IF EXISTS {identifier(branch)}"


def set_main(storage: TableName, snapshot_id: int) -> str:
    """Return the statement that sets main to a snapshot, whatever it was before."""
    return (
        f"CALL {identifier(storage[0])}.system.set_current_snapshot("
        f"table => {string_literal(qualified(*storage[1:]))}, snapshot_id => {snapshot_id})"
    )


def fast_forward_main(storage: TableName, branch: str) -> str:
    """Return the statement that moves main to the head of a branch, if main is an ancestor of it."""
    return (
        f"CALL {identifier(storage[0])}.system.fast_forward(table => {string_literal(qualified(*storage[1:]))}, "
        f"branch => '{MAIN}', to => {string_literal(branch)})"
    )


def write_rows(storage: TableName, branch: str, write: Write) -> list[str]:
    """Return the statements that replace the rows where `where` holds by those of the query, on a branch.

    Whole partitions are replaced in one commit (OverwriteFiles by filter); other regions by DELETE and INSERT, of which
    readers see only the end. The predicate stands on the SELECT too: Iceberg does not refuse rows outside it.
    """
    target = qualified(*storage, f"branch_{branch}")
    options = ", ".join(
        f"{identifier(f'snapshot-property.{k}')} = {string_literal(v)}" for k, v in write.summary.items()
    )
    insert = f"INSERT INTO {target} WITH ({options})"
    rows = _select(write.query, _names(write.columns))
    if write.where is None:
        return [f"{insert} {rows}"]
    rows = f"{rows} WHERE {write.query_where}"
    if write.aligned:
        return [f"{insert} REPLACE WHERE {write.where} {rows}"]
    return [f"DELETE FROM {target} WHERE {write.where}", f"{insert} {rows}"]


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


def drop_table(table: TableName, purge: bool) -> str:
    """Return the statement that drops a table, with its files if `purge`."""
    return f"DROP TABLE IF EXISTS {qualified(*table)}{' PURGE' if purge else ''}"


def rename_table(table: TableName, to: TableName) -> str:
    """Return the statement that renames a table inside its catalog."""
    return f"ALTER TABLE {qualified(*table)} RENAME TO {qualified(*to[1:])}"


def create_namespace(storage: TableName) -> str:
    """Return the statement that makes sure that the namespace of the storage table exists."""
    return f"CREATE NAMESPACE IF NOT EXISTS {qualified(*storage[:2])}"


def _select(query: str, columns: str) -> str:
    """Select from the query; the line breaks keep a comment at its end from swallowing the parenthesis."""
    return f"SELECT {columns} FROM (\n{query}\n)"


def _names(columns: Sequence[str]) -> str:
    return ", ".join(identifier(c) for c in columns)


def _properties(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{string_literal(k)} = {string_literal(v)}" for k, v in properties.items())
