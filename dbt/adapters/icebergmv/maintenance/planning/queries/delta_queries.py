"""The definition over rows that came, and over rows that went. Text in, text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, splice
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import SIGN
from dbt.adapters.icebergmv.maintenance.definition.merging.row_signs import with_sign
from dbt.adapters.icebergmv.maintenance.definition.merging.rows_below import column_name
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, BaseFilters, Delta, ReachedRows
from dbt.adapters.icebergmv.maintenance.planning.queries.pinned_queries import (
    bases_can_prune,
    read_appended,
    read_pinned,
)
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import RowChanges, columns_read, unread
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.key_lists import in_lists
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list, select_from
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables, IcebergSource, at_snapshot

CAME, WENT = "1", "-1"

_Part: TypeAlias = Literal["came", "went", "moved"]
"""What of a change is read: the rows that came, those that went, or both with their SIGN."""


def appended_query(
    definition: ViewDefinition, bases: BaseTables, plan: Append, columns: Sequence[str], edits: Sequence[TextEdit] = ()
) -> str:
    """Return these columns of the rows that the deltas of a plan bring, as one query."""
    dialect = Dialect(bases.catalog_name, bases_can_prune(definition, bases, plan.base_filters))
    reader = _Reader(definition, bases, dialect, plan.base_filters)
    queries = [reader.query(delta, edits) for delta in plan.deltas]
    return "\nUNION ALL\n".join(select_from(query, column_list(columns)) for query in queries)


@dataclass(frozen=True)
class SignedQuery:
    """A query of rows, or groups, that a change brings or takes away. `sign` is SQL: 1 for what came, -1 for the other.

    In a query of both it is a column.
    """

    text: str
    sign: str


def signed_queries(
    definition: ViewDefinition, bases: BaseTables, delta: Delta | ReachedRows, edits: Sequence[TextEdit]
) -> tuple[SignedQuery, ...]:
    """Return the definition, edited, over the rows of a change that came, and over those that went.

    For a signed delta one query has both, and reads the other tables once; `edits` are `Merging.ungrouped` then.
    """
    if isinstance(delta, ReachedRows):
        return _reached_queries(definition, bases, delta, edits)
    reader = _Reader(definition, bases, Dialect(bases.catalog_name, pushable=False), {})
    if delta.appended:
        return (SignedQuery(reader.query(delta, edits), CAME),)
    if delta.signed:
        handed_on = () if definition.merging is None else definition.merging.signed[delta.changed]
        return (SignedQuery(reader.query(delta, with_sign(edits, handed_on), "moved"), SIGN),)
    return SignedQuery(reader.query(delta, edits), CAME), SignedQuery(reader.query(delta, edits, "went"), WENT)


def _reached_queries(
    definition: ViewDefinition, bases: BaseTables, reached: ReachedRows, edits: Sequence[TextEdit]
) -> tuple[SignedQuery, ...]:
    """Return the definition over the reached rows below its aggregate, as they are now and as they were."""
    below = definition.rows_below
    if below is None:
        raise AssertionError("only of definitions with rows below them some are reached")
    written = {column_name(n): text for n, text in enumerate(below.columns)}
    in_region = Dialect(bases.catalog_name, pushable=False, columns=written)
    term = below.limited_to(in_lists(reached.region, reached.types, in_region))
    in_bases = Dialect(bases.catalog_name, bases_can_prune(definition, bases, reached.base_filters))
    sources = bases.sources(definition.references)

    def query(before: Mapping[int, int | None]) -> str:
        shown = ((r, _shown(now, before[r.index]) if r.index in before else now) for r, now in sources.items())
        texts = {r: read_pinned(r, then, reached.base_filters.get(r.index), in_bases) for r, then in shown}
        # The term comes behind the WHERE, and so before what an edit takes away there: the GROUP BY.
        return splice(definition.sql, texts, (*term, *edits))

    return SignedQuery(query({}), CAME), SignedQuery(query(reached.before), WENT)


class _Reader:
    """Puts what is read in place of the names of tables. Of references in `filters` no other rows are read."""

    def __init__(self, definition: ViewDefinition, bases: BaseTables, dialect: Dialect, filters: BaseFilters) -> None:
        self._definition, self._bases, self._dialect = definition, bases, dialect
        self._filters: Mapping[int, tuple[TupleDomain, ...]] = filters

    def query(self, delta: Delta, edits: Sequence[TextEdit], part: _Part = "came") -> str:
        """Return the definition over a part of a change."""
        sources = self._bases.sources(self._definition.references)
        texts = {r: self._read(r, source, delta, part) for r, source in sources.items()}
        return splice(self._definition.sql, texts, edits)

    def _read(self, reference: TableReference, now: IcebergSource, delta: Delta, part: _Part) -> str:
        index, then = reference.index, now
        wanted = () if index in delta.empty else self._filters.get(index)
        if index == delta.changed:
            if delta.appended and delta.since is not None:
                return read_appended(reference, now, delta.since, delta.touched, self._dialect)
            if delta.cancelled or part == "moved":
                return self._changed(self._changes(reference, now, delta), delta, part)
            then, wanted = _shown(now, delta.since) if part == "went" else now, delta.touched
        elif index in delta.before and index not in delta.empty:
            then = _shown(now, delta.before[index])
        return read_pinned(reference, then, wanted, self._dialect)

    def _changed(self, changes: RowChanges, delta: Delta, part: _Part) -> str:
        """Return the rows of a change by comparing both versions of the table, or the rows of both with their sign."""
        match part:
            case "came":
                return changes.that_came(self._dialect)
            case "went":
                return changes.that_went(self._dialect)
            case "moved":
                return changes.that_moved(self._dialect) if delta.cancelled else changes.both_versions(self._dialect)

    def _changes(self, reference: TableReference, now: IcebergSource, delta: Delta) -> RowChanges:
        columns = columns_read(self._definition, now, [reference.index])
        return RowChanges(
            reference,
            _shown(now, delta.since),
            now,
            columns,
            delta.touched,
            delta.few,
            unread(self._definition, columns),
        )


def _shown(source: IcebergSource, snapshot_id: int | None) -> IcebergSource:
    then = at_snapshot(source, snapshot_id)
    if then is None:
        raise AssertionError("only tables that can be shown as they were are read so")
    return then
