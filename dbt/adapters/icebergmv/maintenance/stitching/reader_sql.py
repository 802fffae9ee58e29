"""The SQL of a view that does not only read its storage table: what its readers get is decided when they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyiceberg.types import IcebergType

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import splice
from dbt.adapters.icebergmv.maintenance.definition.hidden_keys import taken_back
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list, select_from
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, qualified, string_literal
from dbt.adapters.icebergmv.maintenance.sql.snapshots import table_at
from dbt.adapters.icebergmv.maintenance.sql.spark_types import reader_type
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.stitching.base_reads import gated, in_place_of, named_by, needed_by
from dbt.adapters.icebergmv.maintenance.stitching.change_detection import (
    Relation,
    WatchedTable,
    changed,
    everything,
    file_lists,
    first_looks,
    gates,
    last_looks,
    spec_looks,
)
from dbt.adapters.icebergmv.maintenance.stitching.key_groups import KeyGroup, found_query, is_in_every_spec
from dbt.adapters.icebergmv.maintenance.stitching.stored_types import as_stored

_WHOLE = "icebergmv_whole"
"""The relation that has a row where everything is computed, and none otherwise."""
_CHECKED = "icebergmv_checked"


@dataclass(frozen=True)
class Reader:
    """What a view shows: columns (name, type) of its storage table at a snapshot, of a view by that name.

    `guard` is a condition on the reader's session under which the stored rows mean the same as the definition's; None
    when they always do. `types` are the Spark types of all stored columns, hidden ones too. `never_null` are columns of
    which the stored rows are known to hold no NULL.
    """

    view: TableName
    storage: TableName
    snapshot_id: int
    columns: tuple[tuple[str, IcebergType], ...]
    refreshed_at: str
    guard: str | None
    types: Mapping[str, str]
    never_null: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Watched:
    """The definition, over base tables that can be watched. `by_reference` has a table for every live reference."""

    definition: ViewDefinition
    tables: tuple[WatchedTable, ...]
    by_reference: Mapping[int, WatchedTable]

    def live(self) -> list[tuple[TableReference, WatchedTable]]:
        """Return the references that are read as they are now, with their tables."""
        known = self.by_reference
        return [(r, known[r.index]) for r in self.definition.references if r.index in known]


def watched(
    definition: ViewDefinition,
    bases: BaseTables,
    recorded: Sequence[BaseTableState],
    groups: Sequence[KeyGroup] = (),
    *,
    apart: bool = True,
) -> Watched:
    """Return the base tables of a definition as a view watches them; those of `recorded` alone can be.

    A view that does not read its base tables is not `apart`: it names only some of what the others name.
    """
    known = {b.name: b for b in recorded}
    tables: dict[TableName, WatchedTable] = {}
    by_reference: dict[int, TableName] = {}
    for reference in definition.live:
        base = bases.of(reference)
        state = known.get(base.name)
        if base.source is None or state is None:
            raise AssertionError("only Iceberg tables that a refresh read can be watched")
        by_reference[reference.index] = base.name
        tables.setdefault(base.name, WatchedTable(len(tables), base.source, state, apart=apart))
    for group in groups:
        for source in group.sources:
            name = by_reference[source.occurrence.index]
            fields = dict.fromkeys((*tables[name].fields, *(v.field for v in source.values)))
            tables[name] = replace(tables[name], fields=tuple(fields))
    return Watched(definition, tuple(tables.values()), {i: tables[n] for i, n in by_reference.items()})


def view_query_text(reader: Reader, found: Watched) -> str:
    """Return the SQL of `use_view_query`: storage while no base table moved, the definition otherwise."""
    relations = [*_looks(found.tables), *gates(found.tables, reader.guard), _whole(found.tables)]
    live = found.live() if found.definition.rewritable else []
    reads = {r: in_place_of(found.definition, r, t.source, [gated(t.base, _WHOLE)]) for r, t in live}
    return (
        f"{_with(relations)}\n{_stored(reader)} LEFT ANTI JOIN {_WHOLE}\nUNION ALL\n"
        f"{_recomputed(reader, _shown(found.definition, splice(found.definition.sql, reads)))} "
        f"LEFT SEMI JOIN {_WHOLE}"
    )


def definition_text(reader: Reader, definition: ViewDefinition, bases: BaseTables) -> str:
    """Return the SQL of a view that shows its definition: over small tables, or where storage may never be right.

    It names the tables as the definition does. A name that stitched texts use would be loaded with theirs, before the
    first of their looks.
    """
    sources = bases.sources(definition.references) if definition.rewritable else {}
    reads = {r: named_by(definition, r, source) for r, source in sources.items()}
    return _recomputed(reader, _shown(definition, splice(definition.sql, reads)))


def fail_text(reader: Reader, found: Watched) -> str:
    """Return the SQL of `fail`: storage while no base table moved, an error otherwise.

    The error is raised below an aggregate without groups, where no condition, limit or join of the reader's on the rows
    can come before it. The arm with it gives no row, nor anything but NULL, though Spark does not know that: what an
    aggregate gives is not known before it runs. A LIMIT is content with the rows of the first arm, so that has none
    when the view is stale.
    """
    message = (
        f"{show(reader.view)} is stale: its base tables have changed since its last refresh at {reader.refreshed_at}. "
        "Refresh it with dbt run, or set another stale_read_behavior."
    )
    passes = f"assert_true(count(*) = 0, {string_literal(message)}) IS NULL"
    types = [reader_type(type_) for _, type_ in reader.columns]
    nulls = "".join(f", any_value(CAST(NULL AS {ddl})) AS c{n}" for n, ddl in enumerate(types))
    relations = [
        *(*first_looks(found.tables), *last_looks(found.tables), *gates(found.tables, None), _whole(found.tables)),
        (_CHECKED, f"SELECT count(*) AS n{nulls} FROM (SELECT count(*) AS n FROM {_WHOLE} HAVING {passes})"),
    ]
    nothing = ", ".join(f"c{n} AS {identifier(c)}" for n, (c, _) in enumerate(reader.columns))
    stored = f"{_stored(reader)} LEFT ANTI JOIN {_WHOLE}"
    return f"{_with(relations)}\n{stored}\nUNION ALL\nSELECT {nothing} FROM {_CHECKED} WHERE n < 0"


def stitched_text(reader: Reader, found: Watched, groups: Sequence[KeyGroup]) -> str:
    """Return the SQL of `use_stitching`.

    Stored rows whose key no changed partition has, the definition over what those keys need, and, where partitions do
    not show what changed, the definition over everything.
    """
    tables, untold = found.tables, _untold(groups, found)
    relations = [
        *_looks(tables),
        *gates(tables, reader.guard),
        *changed(t for t in tables if t.fields),
        *((_found(n), found_query(group, found.by_reference)) for n, group in enumerate(groups)),
        _whole(tables, *untold),
        *((_keys(n), _keys_query(n, among_others=bool(untold) and len(groups) > 1)) for n in range(len(groups))),
    ]
    arms = [fresh_arm(reader, groups), *(_stale_arm(reader, found, groups, n) for n in range(len(groups)))]
    return f"{_with(relations)}\n" + "\nUNION ALL\n".join(arms)


def _whole(tables: Sequence[WatchedTable], *more: str) -> Relation:
    return _WHOLE, " UNION ALL ".join([f"SELECT 1 AS one WHERE {everything(tables)}", *more])


def _found(number: int) -> str:
    return f"icebergmv_found_{number}"


def _keys(number: int) -> str:
    return f"icebergmv_keys_{number}"


def _untold(groups: Sequence[KeyGroup], found: Watched) -> list[str]:
    """Return the SELECTs of a row when a changed file is of a partition spec that gives no key.

    Specs that the refresh did not know are seen by the gate.
    """
    asked = [n for n, group in enumerate(groups) if not is_in_every_spec(group, found.by_reference)]
    return [f"SELECT 1 AS one FROM {_found(n)} WHERE found IS NULL" for n in asked]


def _keys_query(number: int, *, among_others: bool) -> str:
    """Return the stale keys of a group: none while some partition does not give its key.

    `among_others`: a partition of another group may not either.
    """
    others = f" LEFT ANTI JOIN {_WHOLE}" if among_others else ""
    return f"SELECT v.* FROM (SELECT inline((SELECT found FROM {_found(number)}))) AS v{others}"


def within_window(reader: Reader, text: str, until: str) -> str:
    """Return SQL that reads storage up to a moment (ISO 8601, UTC), and as `text` says from then on."""
    limit = f"TIMESTAMP '{until}'"
    columns = column_list([c for c, _ in reader.columns])
    return (
        f"{_stored(reader)} WHERE current_timestamp() < {limit}\nUNION ALL\n"
        f"{select_from(text, columns)} WHERE current_timestamp() >= {limit}"
    )


def fresh_arm(reader: Reader, groups: Sequence[KeyGroup]) -> str:
    """Return the SELECT of the stored rows that are still right: those with no stale key of any group."""
    joins = "".join(without_keys(reader, group, n) for n, group in enumerate(groups))
    return f"{_stored(reader)}{joins} LEFT ANTI JOIN {_WHOLE}"


def without_keys(reader: Reader, group: KeyGroup, number: int) -> str:
    """Return the joins that leave out the stored rows with a stale key of a group.

    Spark looks up one plain key much faster than a null-safe one, so NULL is asked for by itself; and a number several
    times faster than a date or a timestamp, whose rows it hashes (HashJoin.scala).
    """
    keys = _keys(number)
    if len(group.columns) > 1:
        return f" LEFT ANTI JOIN {keys} ON {_same_key(group, number)}"
    column = group.columns[0].column
    row = group.columns[0].row.of(f"v.{identifier(column)}")
    key_type = group.type_of(0)
    same_type = key_type if key_type is not None and key_type == reader.types.get(column) else ""
    stored, key = (internal_form(same_type, value) or value for value in (row, f"{keys}.k0"))
    without = f" LEFT ANTI JOIN {keys} ON {stored} = {key}"
    if column in reader.never_null:
        return without
    null_key = f"(SELECT 1 AS one FROM {keys} WHERE k0 IS NULL) AS n{number}"
    return f"{without} LEFT ANTI JOIN {null_key} ON {row} IS NULL"


def _stale_arm(reader: Reader, found: Watched, groups: Sequence[KeyGroup], number: int) -> str:
    """Return the rows of the keys of one group that no group before it has; of the first group also all of them.

    The definition is here once, over the rows that the keys need or over everything; one of the two is empty.
    """
    group, whole = groups[number], [_WHOLE] if number == 0 else []
    definition, reads = found.definition, {}
    for r, t in found.live():
        needed = needed_by(_keys(number), t.base, group.filters.get(r.index, ()))
        reads[r] = in_place_of(definition, r, t.source, [*needed, *(gated(t.base, w) for w in whole)])
    text = _recomputed(reader, splice(definition.sql, reads))
    if _is_told_by_reads(found, groups):
        return text
    before = "".join(f" LEFT ANTI JOIN {_keys(n)} ON {_same_key(groups[n], n)}" for n in range(number))
    inside = f"EXISTS (SELECT 1 FROM {_keys(number)} WHERE {_same_key(group, number)})"
    inside += "".join(f" OR EXISTS (SELECT 1 FROM {w})" for w in whole)
    return f"{text}{before} WHERE {inside}"


def _is_told_by_reads(found: Watched, groups: Sequence[KeyGroup]) -> bool:
    """Return whether the rows read of the base tables make the stale rows of the view and no others."""
    if len(groups) != 1 or not found.definition.needs_tables:
        return False
    (group,) = groups
    filters = [group.filters.get(r.index, ()) for r, _ in found.live()]
    return len(filters) == len(found.definition.references) and all(
        len(of_reference) == len(group.columns) and not any(f.may_be_null for f in of_reference)
        for of_reference in filters
    )


def _same_key(group: KeyGroup, number: int) -> str:
    keys = _keys(number)
    pairs = (f"{key.row.of('v.' + identifier(key.column))} <=> {keys}.k{n}" for n, key in enumerate(group.columns))
    return " AND ".join(pairs)


def _stored(reader: Reader) -> str:
    listed = ", ".join(f"v.{identifier(c)}" for c, _ in reader.columns)
    return f"SELECT {listed} FROM {table_at(qualified(*reader.storage), reader.snapshot_id)} AS v"


def _recomputed(reader: Reader, sql: str) -> str:
    """Select from the definition, under the types of the storage table: those of base columns may be others by now."""
    listed = ", ".join(f"{as_stored(c, type_)} AS {identifier(c)}" for c, type_ in reader.columns)
    return f"SELECT {listed} FROM (\n{sql}\n) AS v"


def _shown(definition: ViewDefinition, sql: str) -> str:
    """Return the text of a definition without hidden keys: their columns may be renamed, and readers need none."""
    return taken_back(sql, definition.keys)


def _looks(tables: Sequence[WatchedTable]) -> list[Relation]:
    """Return the relations over base tables, the same in every view that reads them, in the order that makes a cut."""
    bases = [(t.base, f"SELECT * FROM {t.main}") for t in tables]
    return [*first_looks(tables), *bases, *file_lists(tables), *spec_looks(tables), *last_looks(tables)]


def _with(relations: Sequence[Relation]) -> str:
    return "WITH " + ",\n".join(f"{name} AS ({query})" for name, query in relations)
