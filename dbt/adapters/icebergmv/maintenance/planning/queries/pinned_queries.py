"""The definition over pinned snapshots, whole or with base filters. Text in, text out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pyiceberg.schema import Schema
from pyiceberg.types import UUIDType

from dbt.adapters.icebergmv.maintenance.catalog.reader import column_types
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, splice
from dbt.adapters.icebergmv.maintenance.definition.partitioning import spec_fields
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.transform_lattice import in_terms_of
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction, identifier, qualified
from dbt.adapters.icebergmv.maintenance.sql.snapshots import table_at
from dbt.adapters.icebergmv.maintenance.sql.spark_types import ddl_type
from dbt.adapters.icebergmv.maintenance.sql.unpushed import is_compared_otherwise, unpushed
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables, IcebergSource
from dbt.adapters.icebergmv.maintenance.status.tables.column_shapes import are_of_one_type, is_shown, shape


def pinned_query(
    definition: ViewDefinition,
    bases: BaseTables,
    filters: Mapping[int, tuple[TupleDomain, ...]],
    edits: Iterable[TextEdit] = (),
    *,
    long_lists: bool = False,
) -> str:
    """Return the definition with every base table at its recorded snapshot, reading only what `filters` leave.

    Tables that have no recorded snapshot (foreign tables, plain views) stay as they are written. `edits` are those of
    other parts of the text; `long_lists` is as in Dialect.
    """
    dialect = Dialect(bases.catalog_name, bases_can_prune(definition, bases, filters), long_lists=long_lists)
    sources = bases.sources(definition.references)
    replacements = {r: read_pinned(r, source, filters.get(r.index), dialect) for r, source in sources.items()}
    return splice(definition.sql, replacements, edits)


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
    sources = [bases.source_of(r) for r in definition.references]
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
    return all(
        transform == t or types.get(column) != types.get(str(c)) for column, transform in used for c, t in partitioned
    )


def _in_own_terms(source: IcebergSource, wanted: tuple[TupleDomain, ...] | None) -> tuple[TupleDomain, ...] | None:
    return None if wanted is None else tuple(in_terms_of(d, _partitioned_by(source)) for d in wanted)


def read_pinned(
    reference: TableReference, source: IcebergSource, wanted: tuple[TupleDomain, ...] | None, dialect: Dialect
) -> str:
    """Return what stands for a reference: its table at the snapshot of the source, cut down to the rows wanted."""
    if source.version.snapshot_id is None:
        # Nothing of the table itself, whose columns may be others when the text is read.
        types = {identifier(f.name): ddl_type(f.field_type) for f in source.table_schema.fields}
        empty = ", ".join(f"CAST(NULL AS {type_}) AS {column}" for column, type_ in types.items())
        return reference.named(f"(SELECT {empty} WHERE false)")
    pinned = table_at(qualified(*source.storage), source.version.snapshot_id)
    is_current = source.version.snapshot_id == source.table.metadata.current_snapshot_id
    columns = _bridge(reference, source.table_schema, source.snapshot_schema, wanted, hides_renamed=is_current)
    if wanted is None and columns is None:
        return pinned if source.storage[2] == reference.name else reference.named(pinned)
    return reference.named(_selected(pinned, columns, _in_own_terms(source, wanted), source, dialect))


def read_appended(
    reference: TableReference,
    source: IcebergSource,
    since: int,
    wanted: tuple[TupleDomain, ...] | None,
    dialect: Dialect,
) -> str:
    """Return an incremental append scan: the rows wanted that came after a snapshot, under the columns of today."""
    window = f"`start-snapshot-id` = '{since}', `end-snapshot-id` = '{source.version.snapshot_id}'"
    columns = _bridge(reference, source.table_schema, source.table.schema(), wanted)
    new = f"{qualified(*source.storage)} WITH ({window})"
    return reference.named(_selected(new, columns, wanted, source, dialect))


def _selected(
    table: str,
    columns: str | None,
    wanted: tuple[TupleDomain, ...] | None,
    source: IcebergSource,
    dialect: Dialect,
) -> str:
    """Return the wanted rows (None: all) of a FROM item, under a list of columns (None: its own)."""
    if wanted is None:
        return f"(SELECT {columns or '*'} FROM {table})"
    types = column_types(source.table_schema)
    inner = table if columns is None else f"(SELECT {columns} FROM {table})"
    if dialect.long_lists and are_pruned_by_values(wanted, _partitioned_by(source)):
        dialect = replace(dialect, long_lists=False)
    return f"(SELECT * FROM {inner} WHERE {disjunction(wanted, types, dialect)})"


def are_pruned_by_values(wanted: Iterable[TupleDomain], partitioning: Iterable[tuple[str, str]]) -> bool:
    """Return whether a long list of values says which partitions have the rows wanted. It is in all buckets."""
    columns = {column for column, transform in partitioning if not transform.startswith("bucket")}
    return any(key.column in columns for rows in wanted for key, _ in rows.constraints)


def _partitioned_by(source: IcebergSource) -> list[tuple[str, str]]:
    return [(f.column, f.transform) for f in spec_fields(source.table.spec(), source.table_schema)]


def _bridge(
    reference: TableReference,
    wanted: Schema,
    stored: Schema | None,
    rows: tuple[TupleDomain, ...] | None,
    *,
    hides_renamed: bool = False,
) -> str | None:
    """Return a select list that shows a snapshot of an older schema under the current one; None when they are equal.

    Reading VERSION AS OF gives the columns of that snapshot; a live read gives today's, matched by field id. Columns
    that no select list can show are NULL: nobody reads them (status/tables/base_tables.py, leave_unpinned). At the
    current snapshot Iceberg looks for the columns of filters among those of today: `hides_renamed` keeps it from seeing
    filters on others. Nor may it see those on floats and UUIDs that the SELECT compares, or on UUIDs by which `rows`
    are wanted (sql/unpushed.py).
    """
    named = {key.column for some in rows or () for key, _ in some.constraints}
    compared = {
        f.field_id
        for f in wanted.fields
        if is_compared_otherwise(f, reference.compared) or (f.name in named and isinstance(f.field_type, UUIDType))
    }
    is_equal = stored is None or [shape(f) for f in wanted.fields] == [shape(f) for f in stored.fields]
    if is_equal and not compared:
        return None
    before = {f.field_id: f for f in (wanted if stored is None else stored).fields}
    items = []
    for field in wanted.fields:
        old, name = before.get(field.field_id), identifier(field.name)
        old = None if old is None or not is_shown(field, old) else old
        value = "NULL" if old is None else identifier(old.name)
        if old is None or not are_of_one_type(old, field):
            value = f"CAST({value} AS {ddl_type(field.field_type)})"
        if hides_renamed and old is not None and old.name != field.name:
            value = f"element_at(array({value}), 1)"
        elif field.field_id in compared and old is not None:
            value = unpushed(value, field)
        items.append(f"{value} AS {name}")
    return ", ".join(items)
