"""Is the view stale, and where? The RFC's MaterializedViewStatus."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import Wanted
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange, change_since
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState, ViewState
from dbt.adapters.icebergmv.maintenance.status.session.clock import ClockChange, clock_change
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable, BaseTables, IcebergSource
from dbt.adapters.icebergmv.maintenance.status.tables.listed_rows import ListedRows
from dbt.adapters.icebergmv.maintenance.status.tables.schema_change import changed_meaning, read_by_other_names


@dataclass(frozen=True)
class BaseTableStatus:
    """One base table against what the last refresh read. `references` are the indexes of those that read it.

    `listed` are the rows that changed, in the columns that the view reads, if Spark has named them.
    """

    base: BaseTable
    references: tuple[int, ...]
    recorded: BaseTableState | None
    change: TableChange
    listed: ListedRows | None = None

    @property
    def may_reach(self) -> bool:
        """Return whether some row that changed may reach the view."""
        return bool(self.change.constraints.data_disjuncts)

    def is_among(self, references: Collection[int]) -> bool:
        """Return whether one of some references reads the table."""
        return any(index in references for index in self.references)


@dataclass(frozen=True)
class MaterializedViewStatus:
    """The status of every base table, and how the clock moved (None: it did not, or is not read)."""

    base_tables: tuple[BaseTableStatus, ...]
    clock: ClockChange | None = None

    @property
    def stale(self) -> list[BaseTableStatus]:
        """Return the base tables whose rows changed in a way that is known."""
        return [base for base in self.base_tables if base.change.status == "stale"]

    @property
    def stale_references(self) -> list[int]:
        """Return the references that read one of these."""
        return [index for base in self.stale for index in base.references]

    @property
    def reaching(self) -> list[BaseTableStatus]:
        """Return the base tables of which some row that changed in such a way may reach the view."""
        return [base for base in self.stale if base.may_reach]

    def as_if_unchanged(self, references: Collection[int]) -> MaterializedViewStatus:
        """Return the status that it would be if no row of the tables of some references changed."""
        fresh = TableChange("fresh")
        bases = (replace(b, change=fresh) if b.is_among(references) else b for b in self.base_tables)
        return replace(self, base_tables=tuple(bases))

    @property
    def by_reference(self) -> dict[int, BaseTableStatus]:
        """Return the base table of each reference."""
        return by_reference(self.base_tables)

    @property
    def has_moved(self) -> bool:
        """Return whether some recorded id is no longer the current one."""
        return any(b.change.moved for b in self.base_tables)

    @property
    def schema_moved(self) -> bool:
        """Return whether a base whose rows are unchanged has other columns now."""
        return any(
            b.recorded is not None
            and b.base.source is not None
            and b.recorded.version.schema_id != b.base.source.version.schema_id
            for b in self.base_tables
        )


def by_reference(bases: Iterable[BaseTableStatus]) -> dict[int, BaseTableStatus]:
    """Return for each reference that reads one of some base tables which it reads."""
    return {index: base for base in bases for index in base.references}


def status_of(definition: ViewDefinition, bases: BaseTables, state: ViewState | None) -> MaterializedViewStatus:
    """Compare what the definition reads with the state of the last refresh (None: there was none)."""
    references: dict[TableName, list[int]] = {}
    found: dict[TableName, BaseTable] = {}
    for reference in definition.live:
        base = bases.of(reference)
        found[base.name] = base
        references.setdefault(base.name, []).append(reference.index)
    recorded = {b.name: b for b in state.base_tables} if state is not None else {}

    def status(base: BaseTable) -> BaseTableStatus:
        indexes = tuple(references[base.name])
        return _status(definition, base, indexes, recorded.get(base.name), wanted_of(definition, indexes))

    return MaterializedViewStatus(
        tuple(map(status, found.values())),
        None if definition.clock is None or state is None else clock_change(definition.clock.values, state.clock),
    )


def wanted_of(definition: ViewDefinition, references: Sequence[int]) -> Wanted:
    """Return what is of use of the changes of a table that is read by some references.

    Where the clock moved, too, its conditions are those of now: it moves before any table changes.
    """
    return Wanted(tracked_columns(definition, references), definition.rows_that_matter(references))


def tracked_columns(definition: ViewDefinition, references: Iterable[int]) -> frozenset[str]:
    """Return the columns of a base table that some output column tracks through any of some references."""
    return frozenset(column for index in references for column in definition.tracked_columns(index))


def words_read(definition: ViewDefinition) -> frozenset[str]:
    """Return the words of a definition, in lower case, that may be columns which it reads; with `*` any may be.

    What `*` hands on is read by name, if anything says which columns are read.
    """
    words = definition.mentions if definition.read_words is None else definition.read_words - {"*"}
    return words | {"*"} if definition.reads_by_shape else words


def _status(
    definition: ViewDefinition,
    base: BaseTable,
    references: tuple[int, ...],
    known: BaseTableState | None,
    wanted: Wanted,
) -> BaseTableStatus:
    if base.source is None:
        change = TableChange("unknown", moved=True, reason=base.untrackable)
    elif known is None:
        change = TableChange("unknown", moved=True, reason="was not read by the last refresh")
    else:
        change = _change(known, base.source, definition, wanted)
    return BaseTableStatus(base, references, known, change)


def _change(
    known: BaseTableState,
    source: IcebergSource,
    definition: ViewDefinition,
    wanted: Wanted,
) -> TableChange:
    if known.storage != source.storage:
        return TableChange("unknown", moved=True, reason="is now another table")
    if known.version.uuid == source.version.uuid and known.version.schema_id != source.version.schema_id:
        before = source.table.schemas().get(known.version.schema_id)
        reason: str | None = "has lost its former schema"
        if before is not None:
            reason = changed_meaning(before, source.table_schema, words_read(definition), definition.reads_by_shape)
            reason = reason or read_by_other_names(source.table, before, source.table_schema)
        if reason is not None:
            return TableChange("unknown", moved=True, reason=reason)
    try:
        return change_since(known.version, source.version, source.table, source.table_schema, wanted)
    except Exception as error:
        # File systems and the Avro reader fail in many kinds; none may pass for "nothing changed".
        return TableChange("unknown", moved=True, reason=f"has manifests that cannot be read ({type(error).__name__})")
