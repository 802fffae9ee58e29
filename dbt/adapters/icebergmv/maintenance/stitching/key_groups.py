"""Key columns: they separate fresh rows from stale ones, and select the base rows needed to recompute a stale key.

A group of key columns serves one or several base occurrences: for a stale partition of any of them, the rows of the
view with the same key are stale. Several groups are needed where occurrences are tracked by different columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyiceberg.partitioning import PartitionField
from pyiceberg.types import UUIDType

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import (
    Computed,
    Monotone,
    OrNull,
    Step,
    is_computed,
    may_add_null,
    without_round_trips,
)
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable, BaseTables, IcebergSource
from dbt.adapters.icebergmv.maintenance.stitching.change_detection import WatchedTable, everything
from dbt.adapters.icebergmv.maintenance.stitching.grains import ORDERED, Grain, grain_of, is_period_in_utc
from dbt.adapters.icebergmv.maintenance.stitching.key_sql import IDENTITY, Expression, expression_of
from dbt.adapters.icebergmv.maintenance.stitching.safe_expressions import fails_in_ansi_mode
from dbt.adapters.icebergmv.maintenance.stitching.small_tables import pays_to_prune
from dbt.adapters.icebergmv.maintenance.stitching.time_ranges import cuts

_MOST_GROUPS = 3
"""Every group recomputes a part of the view of its own, so the SQL grows with them."""

_OUTSIDE_UTC = "outside of UTC readers follow no hours, and no days, months or years of a timestamp"

_BACK_FROM_PERIODS = "readers do not follow a column to a period, as in PARTITION BY date_trunc('month', d), and back"


@dataclass(frozen=True)
class KeyColumn:
    """An output column, brought to the grain at which keys are compared."""

    column: str
    row: Expression


@dataclass(frozen=True)
class PartitionValue:
    """What a key column gets from a field of a base's partition: `value` of the field, and NULL if `adds_null`.

    `is_computed`: by an expression of the user's, which makes keys of many types and costs more; `fails_in_ansi_mode`:
    it may be an error there. `type` is the Spark type of what the column itself is compared with, where that is known.
    """

    field: str
    value: Expression
    adds_null: bool
    is_computed: bool
    fails_in_ansi_mode: bool
    type: str | None = None


@dataclass(frozen=True)
class StaleSource:
    """A base occurrence whose stale partitions give keys: for each column of the group, from where."""

    occurrence: Occurrence
    values: tuple[PartitionValue, ...]


@dataclass(frozen=True)
class BaseFilter:
    """The rows of a base reference that a key needs: those with `row` equal to column number `position` of the group.

    `may_be_null`: behind an outer join; for a NULL key any of its rows may matter. `is_large`: the table is, so files
    without such rows are to be left out. `cuts` divide it by the column for that (see time_ranges.py); there are none
    where `row` does not keep the order. `fails_in_ansi_mode`: `row` may be an error there.
    """

    position: int
    column: str
    row: Expression
    may_be_null: bool
    is_large: bool
    cuts: tuple[tuple[str, str], ...] = ()
    fails_in_ansi_mode: bool = False


@dataclass(frozen=True)
class KeyGroup:
    """Key columns, the occurrences that give keys, and per base reference which of its rows a key needs."""

    columns: tuple[KeyColumn, ...]
    sources: tuple[StaleSource, ...]
    filters: Mapping[int, tuple[BaseFilter, ...]]

    def type_of(self, position: int) -> str | None:
        """Return the Spark type of all keys of a column, if they are of one type that is known."""
        types = {s.values[position].type for s in self.sources}
        return types.pop() if len(types) == 1 else None

    @property
    def is_computed(self) -> bool:
        """Return whether an expression of the user's makes its keys."""
        return any(v.is_computed for s in self.sources for v in s.values)

    @property
    def fails_in_ansi_mode(self) -> bool:
        """Return whether its keys may be an error in ANSI mode, on partitions and rows that the SELECT never sees."""
        made = [v.fails_in_ansi_mode for s in self.sources for v in s.values]
        return any(made) or any(f.fails_in_ansi_mode for filters in self.filters.values() for f in filters)


@dataclass(frozen=True)
class NotStitched:
    """Why fresh rows cannot be separated from stale ones."""

    reason: str


_Found = dict[Occurrence, dict[KeyColumn, PartitionValue]]


def key_groups(
    definition: ViewDefinition, bases: BaseTables, session_is_utc: bool
) -> tuple[KeyGroup, ...] | NotStitched:
    """Return the groups by which a view is stitched, at least one; or why it cannot be.

    Of a table that gives no keys every change makes everything stale.
    """
    found = _found(definition, bases, session_is_utc)
    if not found:
        tables = " or ".join(dict.fromkeys(_partitions(bases.of(r)) for r in definition.live))
        reason = f"no output column follows the partitions of {tables} through all its uses"
        if not session_is_utc and _follows_periods_in_utc(definition, bases):
            reason += f"; {_OUTSIDE_UTC}"
        return NotStitched(f"{reason}; {_BACK_FROM_PERIODS}" if _leads_back(definition) else reason)
    groups = _grouped(found)
    if len(groups) > _MOST_GROUPS:
        return NotStitched(f"its base tables are tracked by more than {_MOST_GROUPS} different sets of columns")
    read = {r.index: source for r, source in bases.sources(definition.references).items()}
    made = []
    for columns, members in groups:
        sources = tuple(StaleSource(o, tuple(found[o][c] for c in columns)) for o in members)
        group = KeyGroup(tuple(columns), sources, {})
        wanted = {index: _wanted(definition, index, s, columns, group.is_computed) for index, s in read.items()}
        made.append(replace(group, filters={index: filters for index, filters in wanted.items() if filters}))
    return tuple(made)


def _partitions(base: BaseTable) -> str:
    """Return the name of a base table, and by what it is partitioned."""
    name, source = show(base.name), base.source
    if source is None or source.table.spec().is_unpartitioned():
        return f"{name} (which has none)"
    named = [(str(f.transform), source.table_schema.find_column_name(f.source_id)) for f in source.table.spec().fields]
    return f"{name} ({', '.join(str(c) if t == 'identity' else f'{t} of {c}' for t, c in named)})"


def _follows_periods_in_utc(definition: ViewDefinition, bases: BaseTables) -> bool:
    """Return whether an output column follows a column whose partitions are periods that Spark shows in UTC alone."""
    for reference, source in bases.sources(definition.references).items():
        columns = {c for c, transform, type_ in _partition_columns(source) if is_period_in_utc(transform, type_)}
        uses = definition.uses_of(reference.index)
        if any(t.column in columns for use in uses for ts in definition.tracks_of(use).values() for t in ts):
            return True
    return False


def _leads_back(definition: ViewDefinition) -> bool:
    """Return whether an output column is followed to a function of it and back."""
    uses = definition.uses_of_all(reference.index for reference in definition.live)
    tracks = (track for use in uses for found in definition.tracks_of(use).values() for track in found)
    return any(len(without_round_trips(track.function)) < len(track.function) for track in tracks)


def _partition_columns(source: IcebergSource) -> list[tuple[str, str, str]]:
    """Return the column, the transform and the Spark type of every field of the current spec whose column is there."""
    schema = source.table_schema
    named = ((f, schema.find_column_name(f.source_id)) for f in source.table.spec().fields)
    return [(n, str(f.transform), spark_type(schema.find_type(f.source_id))) for f, n in named if n is not None]


def _found(definition: ViewDefinition, bases: BaseTables, session_is_utc: bool) -> _Found:
    """Return the keys of every base occurrence of the tables that give some.

    A table gives none unless every occurrence of it does: whether it moved is known of the table, not of one use.
    """
    found: _Found = {}
    untold: set[TableName] = set()
    named = {r.index: bases.of(r).name for r in definition.references}
    for reference, source in bases.sources(definition.references).items():
        for occurrence in definition.uses_of(reference.index):
            candidates = _candidates(definition, occurrence, source, session_is_utc, bases.catalog_name)
            if candidates:
                found[occurrence] = candidates
            else:
                untold.add(named[reference.index])
    return {o: candidates for o, candidates in found.items() if named[o.index] not in untold}


def _grouped(found: _Found) -> list[tuple[list[KeyColumn], list[Occurrence]]]:
    """Return the key columns that occurrences have in common, with these; computed ones where there is no other."""
    groups: list[tuple[list[KeyColumn], list[Occurrence]]] = []
    for occurrence, candidates in found.items():
        for columns, members in groups:
            shared = [c for c in columns if c in candidates]
            if shared:
                columns[:] = shared
                members.append(occurrence)
                break
        else:
            groups.append(([*candidates], [occurrence]))
    for columns, members in groups:
        columns[:] = [c for c in columns if not any(found[o][c].is_computed for o in members)] or columns
    return groups


def _candidates(
    definition: ViewDefinition, occurrence: Occurrence, source: IcebergSource, session_is_utc: bool, catalog: str
) -> dict[KeyColumn, PartitionValue]:
    """Return the key columns that the partitions of an occurrence can give, by the current partition spec."""
    fields = union_names(source)
    found: dict[KeyColumn, PartitionValue] = {}
    for name, tracks in definition.tracks_of(occurrence).items():
        for track in sorted(tracks, key=lambda t: (may_add_null(t.function), len(t.function))):
            for field, field_name in fields:
                grain = common_grain(source, field, track, session_is_utc, catalog)
                if grain is not None:
                    key_type = _type_of(track, source) if grain.row == IDENTITY else None
                    computed, fails = is_computed(track.function), _fails_in_ansi_mode(track, source)
                    value = PartitionValue(field_name, grain.value, grain.adds_null, computed, fails, key_type)
                    found.setdefault(KeyColumn(name, grain.row), value)
    return found


def _type_of(track: Track, source: IcebergSource) -> str | None:
    """Return the Spark type of what a track makes of the column that it begins with; None where no step says it."""
    steps = [step for step in track.function if not isinstance(step, OrNull)]
    return steps[-1].result_type if steps else spark_type(source.table_schema.find_type(track.column))


def union_names(source: IcebergSource) -> list[tuple[PartitionField, str]]:
    """Return the fields of the current partition spec, with their names in the `partition` of metadata tables.

    That is a struct of the fields of all specs whose column is there; a field has the name that the newest spec with it
    gave it (org.apache.iceberg.Partitioning.partitionType).
    """
    specs, schema = source.table.specs(), source.table.schema()
    names: dict[int, str] = {}
    for spec_id in sorted(specs, reverse=True):
        for field in specs[spec_id].fields:
            if schema.find_column_name(field.source_id) is not None:
                names.setdefault(field.field_id, field.name)
    taken = list(names.values())
    return [(f, names[f.field_id]) for f in source.table.spec().fields if taken.count(names.get(f.field_id, "")) == 1]


def common_grain(
    source: IcebergSource, field: PartitionField, track: Track, session_is_utc: bool, catalog: str
) -> Grain | None:
    """Return how partitions by a field meet the output column of a track; None if it tracks another column."""
    schema = source.table_schema
    if schema.find_column_name(field.source_id) != track.column:
        return None
    type_ = spark_type(schema.find_type(field.source_id))
    if isinstance(schema.find_type(field.source_id), UUIDType):
        return None
    return grain_of(str(field.transform), type_, track.function, session_is_utc, catalog)


def _wanted(
    definition: ViewDefinition, index: int, source: IcebergSource, columns: Sequence[KeyColumn], computed: bool
) -> tuple[BaseFilter, ...]:
    """Return the filters of a reference. Several uses of one reference read the same rows, so they must agree.

    Keys that are not `computed` are not sought by a computed expression either, which may fail where they do not.
    """
    wanted = [_filters(definition, use, source, columns, computed) for use in definition.uses_of(index)]
    return wanted[0] if wanted and all(w == wanted[0] for w in wanted) else ()


def _filters(
    definition: ViewDefinition,
    occurrence: Occurrence,
    source: IcebergSource,
    columns: Sequence[KeyColumn],
    computed: bool,
) -> tuple[BaseFilter, ...]:
    """Return, per key column that an occurrence gives, the rows that a key needs: the preimage of the key."""
    tracks = definition.tracks_of(occurrence)
    found = []
    for position, key in enumerate(columns):
        for track in sorted(tracks.get(key.column, ()), key=lambda t: (len(t.function), t.column)):
            expression = expression_of(track.function)
            if expression is not None and (computed or not is_computed(track.function)):
                row = expression.then(key.row)
                in_order = row != IDENTITY and key.row in ORDERED and all(map(_keeps_order, track.function))
                large, fails = pays_to_prune(source), _fails_in_ansi_mode(track, source)
                divided, nulls = cuts(source, track.column) if large and in_order else (), may_add_null(track.function)
                found.append(BaseFilter(position, track.column, row, nulls, large, divided, fails))
                break
    return tuple(found)


def _fails_in_ansi_mode(track: Track, source: IcebergSource) -> bool:
    """Return whether a computed step may be an error in ANSI mode; behind other steps its value is of any type."""
    given: str | None = spark_type(source.table_schema.find_type(track.column))
    for step in track.function:
        if isinstance(step, Computed) and fails_in_ansi_mode(step, given):
            return True
        given = given if isinstance(step, OrNull) else None
    return False


def _keeps_order(step: Step) -> bool:
    return isinstance(step, (Monotone, OrNull))


def found_query(group: KeyGroup, tables: Mapping[int, WatchedTable]) -> str:
    """Return the SELECT for one row: the array `found` of stale keys, NULL when some partition does not give its key.

    Where everything is computed for another reason there are none: the gate of a single followed table leaves no
    change, and of several each knows of its own table alone, so this asks them all.

    An aggregate without groups is one row, so it can be a scalar subquery. What is unpacked of it counts as few rows
    when Spark plans, so that Spark broadcasts it to what joins with the keys; a view cannot hold hints, which Spark
    resolves before views.
    """
    is_told = is_in_every_spec(group, tables)
    queries = (_source_query(source, tables[source.occurrence.index], is_told) for source in group.sources)
    keys = f"collect_set(struct({', '.join(f'k{n}' for n in range(len(group.columns)))}))"
    watched = list({t.number: t for t in tables.values()}.values())
    none = [] if is_told else ["bool_or(other_spec)"]
    none += [everything(watched)] if sum(bool(t.fields) for t in watched) > 1 else []
    found = f"CASE WHEN {' OR '.join(none)} THEN NULL ELSE {keys} END" if none else keys
    return f"SELECT {found} AS found FROM ({' UNION ALL '.join(queries)})"


def is_in_every_spec(group: KeyGroup, tables: Mapping[int, WatchedTable]) -> bool:
    """Return whether files of all specs that the refresh knew give the keys of a group; the gate sees other specs."""
    found = ((s, tables[s.occurrence.index].source) for s in group.sources)
    return all(len(_specs_with(t, [v.field for v in s.values])) == len(t.table.specs()) for s, t in found)


def _source_query(source: StaleSource, table: WatchedTable, is_told: bool) -> str:
    items, views = [], []
    for n, found in enumerate(source.values):
        value = found.value.of(f"p{table.fields.index(found.field)}")
        if found.adds_null:
            views.append(f" LATERAL VIEW explode(array({value}, NULL)) t{n} AS e{n}")
        items.append(f"{f'e{n}' if found.adds_null else value} AS k{n}")
    if not is_told:
        specs = ", ".join(map(str, _specs_with(table.source, [found.field for found in source.values])))
        items.append(f"spec_id NOT IN ({specs}) AS other_spec")
    return f"SELECT {', '.join(items)} FROM {table.changed}{''.join(views)}"


def _specs_with(source: IcebergSource, names: Sequence[str]) -> list[int]:
    """Return the specs whose files have values of these fields of the current one, given as in `union_names`.

    A field that is added or dropped leaves the ids of the others; in format version 1 a dropped one keeps its id, and
    its transform becomes void (Iceberg spec, "Partition Evolution").
    """

    def meant(field: PartitionField) -> tuple[int, int, str]:
        return field.field_id, field.source_id, str(field.transform)

    wanted = {meant(field) for field, name in union_names(source) if name in names}
    specs = source.table.specs()
    return sorted(spec_id for spec_id, spec in specs.items() if wanted <= set(map(meant, spec.fields)))
