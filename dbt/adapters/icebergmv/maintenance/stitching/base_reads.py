"""What a view reads of a base table in place of its name: only the rows that are needed, in reads that can be empty.

Each read is joined with a relation that is empty when nothing of it is needed; adaptive execution then drops it before
its files are opened.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyiceberg.types import NestedField

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier
from dbt.adapters.icebergmv.maintenance.sql.unpushed import is_compared_otherwise, unpushed
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import IcebergSource
from dbt.adapters.icebergmv.maintenance.stitching.key_groups import BaseFilter
from dbt.adapters.icebergmv.maintenance.stitching.key_sql import IDENTITY

_MAX_INT = 2**31 - 1


def in_place_of(
    definition: ViewDefinition, reference: TableReference, source: IcebergSource, reads: Sequence[str]
) -> str:
    """Return the subquery over several reads of a source that takes the place of a reference of a definition."""
    rows, columns = f"({' UNION ALL '.join(reads)})", _unpushed_columns(definition, reference, source)
    return reference.named(rows if columns is None else f"(SELECT {columns} FROM {rows})")


def named_by(definition: ViewDefinition, reference: TableReference, source: IcebergSource) -> str:
    """Return the same over all rows of a table, by the name that the definition has for it."""
    name, columns = definition.sql[reference.start : reference.end], _unpushed_columns(definition, reference, source)
    return name if columns is None else reference.named(f"(SELECT {columns} FROM {name})")


def _unpushed_columns(definition: ViewDefinition, reference: TableReference, source: IcebergSource) -> str | None:
    """Return a select list in which Iceberg sees no comparison of floats and UUIDs; None where that is `*`.

    It names no column but such a one, as others may be renamed before the view is read; they have other places in it.
    Where the places matter, or any column may be compared, it names all.
    """
    every = source.table_schema.fields
    compared = [f for f in every if is_compared_otherwise(f, reference.compared)]
    if not compared:
        return None
    if definition.reads_by_shape or reference.compared is None:
        return ", ".join(_unpushed(f) if f in compared else identifier(f.name) for f in every)
    names = ", ".join(identifier(field.name) for field in compared)
    return f"* EXCEPT ({names}), {', '.join(map(_unpushed, compared))}"


def _unpushed(field: NestedField) -> str:
    name = identifier(field.name)
    return f"{unpushed(name, field)} AS {name}"


def gated(table: str, gate: str) -> str:
    """Return the read of all rows, if the relation `gate` has any."""
    return f"SELECT b.* FROM {table} AS b LEFT SEMI JOIN {gate}"


def needed_by(keys: str, table: str, filters: Sequence[BaseFilter]) -> list[str]:
    """Return the reads of the rows that stale keys need.

    A small table has one read. In a large one keys with NULL have a read of their own: Spark prunes files at run time
    by `=` on a column, not by `<=>`, and looks up such keys faster. So they have behind an outer join, where a NULL key
    needs any row that matches nothing.
    """
    if not filters:
        return [gated(table, keys)]
    may_be_null = any(f.may_be_null for f in filters)
    if not may_be_null and not any(f.is_large for f in filters):
        return [f"SELECT b.* FROM {table} AS b LEFT SEMI JOIN {keys} AS k ON {_same(filters, '<=>', 'k')}"]
    equal = _same(filters, "=", "k")
    missing = " OR ".join(f"k{f.position} IS NULL" for f in filters)
    null_keys = f"(SELECT * FROM {keys} WHERE {missing}) AS n"
    reads = [
        f"SELECT b.* FROM {table} AS b LEFT SEMI JOIN {wanted} AS k ON {equal}{where}"
        for wanted, where in _ranges(keys, filters)
    ]
    if may_be_null:
        others = f"SELECT b.* FROM {table} AS b LEFT ANTI JOIN {keys} AS k ON {equal} LEFT SEMI JOIN {null_keys}"
    else:
        null_rows = " OR ".join(f"{_row(f)} IS NULL" for f in filters)
        on = f" ON {_same(filters, '<=>', 'n')}" if len(filters) > 1 else ""
        others = f"SELECT b.* FROM {table} AS b LEFT SEMI JOIN {null_keys}{on} WHERE {null_rows}"
    return [*reads, others]


def _ranges(keys: str, filters: Sequence[BaseFilter]) -> list[tuple[str, str]]:
    """Return the keys, and the WHERE of the rows, of every range that the first filter with cuts is divided into.

    Spark looks for values to prune files by where a comparison makes the keys seem few, and plans them once more for
    that. It hands on only values of plain columns, so such a column gets a comparison, and others get none.
    """
    plain = next((f for f in filters if f.is_large and f.row == IDENTITY), None)
    divided = next((f for f in filters if f.cuts), None)
    if divided is None:
        if plain is None:
            return [(keys, "")]
        return [(f"(SELECT * FROM {keys} WHERE hash(k{plain.position}) <= {_MAX_INT})", "")]
    key, column = f"k{divided.position}", f"b.{identifier(divided.column)}"
    ranges = []
    for low, high in zip((None, *divided.cuts), (*divided.cuts, None), strict=True):
        of_keys = [f"{key} >= {divided.row.of(low[1])}"] if low is not None else []
        of_keys += [f"{key} <= {divided.row.of(high[0])}"] if high is not None else []
        of_rows = [f"{column} >= {low[1]}"] if low is not None else []
        of_rows += [f"{column} < {high[1]}"] if high is not None else []
        wanted = " AND ".join(of_keys)
        wanted = wanted if plain is not None else f"coalesce({wanted}, false)"
        ranges.append((f"(SELECT * FROM {keys} WHERE {wanted})", f" WHERE {' AND '.join(of_rows)}"))
    return ranges


def _same(filters: Sequence[BaseFilter], operator: str, keys: str) -> str:
    return " AND ".join(f"{_row(f)} {operator} {keys}.k{f.position}" for f in filters)


def _row(found: BaseFilter) -> str:
    return found.row.of(f"b.{identifier(found.column)}")
