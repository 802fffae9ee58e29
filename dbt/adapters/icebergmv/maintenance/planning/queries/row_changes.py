"""The rows of a table that changed between two snapshots, as what stands for the table in a SELECT. Text in, text out.

What both snapshots hold cancels: a row of a file that was written again is no change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.catalog.reader import schema_columns
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import SIGN
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import rows_to_ask
from dbt.adapters.icebergmv.maintenance.planning.queries.pinned_queries import read_appended, read_pinned
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list, in_one_task
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction, identifier, string_literal
from dbt.adapters.icebergmv.maintenance.sql.spark_types import ddl_type, is_comparable, is_float, is_primitive
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import IcebergSource, at_snapshot
from dbt.adapters.icebergmv.maintenance.status.tables.listed_rows import ListedRows

_FEW_ROWS, _FEW_BYTES = 500_000, 16 * 1024 * 1024
"""So many rows may be sent to every task that joins them. Spark does not know how few are left when it plans a join."""

_ROWS_OF_A_TASK, _BYTES_OF_A_TASK = 500_000, 64 * 1024 * 1024
"""One task compares so many rows of two versions in less time than several tasks do, which need a shuffle."""

_Than: TypeAlias = Literal["<>", ">", "<"]

_CHANGED = "icebergmv_changed"
_PIECE, _ROW = "icebergmv_piece", "icebergmv_row"
_ROWS_OF_A_PIECE = 10_000
"""A row is repeated by way of an array, which has to fit into memory however often the row is there."""


def columns_read(definition: ViewDefinition, source: IcebergSource, references: Iterable[int]) -> dict[str, str]:
    """Return the columns that the texts of some references name, with their types; none if not to be compared.

    Types are as a CAST names them: fields of structs may have any name.
    Of those that are `unread` no values are compared, so these may have any type. Where rows are only counted, one
    column stands for all.
    """
    in_full = definition.read_in_full is None or not definition.read_in_full.isdisjoint(references)
    every = {f.name: ddl_type(f.field_type) for f in source.table_schema.fields}
    named = {name: of for name, of in every.items() if in_full or name.lower() in definition.mentions}
    if not named:
        return dict([(name, of) for name, of in every.items() if is_comparable(of) and not is_float(of)][:1])
    others = unread(definition, named)
    return named if all(is_comparable(of) for name, of in named.items() if name not in others) else {}


def unread(definition: ViewDefinition, columns: Mapping[str, str]) -> dict[str, str]:
    """Return those of some columns of a table that are named, or meant by `*`, for nothing.

    A staging model lists them, and no query reads them from it: changed rows that differ in them alone are no change.
    """
    words = definition.read_words
    return {} if words is None else {name: of for name, of in columns.items() if name.lower() not in words}


def columns_used(definition: ViewDefinition, source: IcebergSource, references: Iterable[int]) -> dict[str, str]:
    """Return the columns that `columns_read` names, without those that are named for nothing."""
    named = columns_read(definition, source, references)
    others = unread(definition, named)
    return {name: of for name, of in named.items() if name not in others}


def primitive_columns(source: IcebergSource) -> dict[str, str]:
    """Return the columns of single values by which rows of a table can be compared, with their types."""
    return {c.name: c.type for c in schema_columns(source.table_schema) if is_primitive(c.type)}


def are_few(base: BaseTableStatus) -> bool:
    """Return whether the changed rows of a base table are few enough to be sent to every task, whatever cancels."""
    return rows_to_ask(base) <= _FEW_ROWS and base.change.changed_bytes <= _FEW_BYTES


def is_sent_to_every_task(definition: ViewDefinition, base: BaseTableStatus) -> bool:
    """Return whether Spark is told to send the changed rows of a base table to every task that joins them.

    Not where commas join several tables: Spark puts these in the order in which a WHERE connects them, but not across a
    join with a hint (ReorderJoin, ExtractFiltersAndInnerJoins). The tables before it would be multiplied.
    """
    return are_few(base) and not definition.joins_by_where


def can_be_cancelled(definition: ViewDefinition, source: IcebergSource, reference: int) -> bool:
    """Return whether `that_came` and `that_went` can be had: equal values of every column that is read are the same."""
    used = columns_used(definition, source, [reference]).values()
    return bool(columns_read(definition, source, [reference])) and not any(map(is_float, used))


def reaches_a_group(definition: ViewDefinition, base: BaseTableStatus) -> bool:
    """Return whether a change reaches the groups of a view for all that is known of it, so nobody need be asked.

    Every row of the table is in a group; and changed rows are listed, or metrics of files show that a column that is
    read has other values than before.
    """
    merging, source = definition.merging, base.base.source
    if merging is None or merging.compared is not None or source is None or [*base.references] != [merging.whole]:
        return False
    if base.listed is not None:
        return bool(base.listed.rows)
    return not base.change.differing.isdisjoint(columns_used(definition, source, base.references))


def before_change(base: BaseTableStatus, now: IcebergSource) -> IcebergSource | None:
    """Return a table as the last refresh read it, under the columns of today; None if that cannot be shown."""
    return None if base.recorded is None else at_snapshot(now, base.recorded.version.snapshot_id)


def is_appended(base: BaseTableStatus) -> bool:
    """Return whether rows were only added to a base table, and these can be read alone."""
    source = base.base.source
    return base.change.appended_since is not None and source is not None and not source.has_other_columns_now


def rows_touched(base: BaseTableStatus) -> tuple[TupleDomain, ...] | None:
    """Return the rows to which a change is cut down; new rows are read alone anyway, unless their values are known."""
    is_known = base.listed is not None or not is_appended(base)
    return base.change.constraints.narrowed if is_known else None


def changed_rows(
    definition: ViewDefinition, reference: TableReference, base: BaseTableStatus, now: IcebergSource, dialect: Dialect
) -> str | None:
    """Return the rows that one of two snapshots of a stale table has more often, each once.

    After nothing but appends these are the rows that came, with columns of any type. None if the snapshots cannot be
    compared.
    """
    listed, literals = base.listed, _literals(definition, base, now)
    if listed is not None and literals is not None:
        others = unread(definition, columns_read(definition, now, base.references))
        return reference.named(_as_written(listed, literals, others, dialect))
    since = base.change.appended_since
    if since is not None and is_appended(base):
        return read_appended(reference, now, since, rows_touched(base), dialect)
    changes = _row_changes(definition, reference, base, now)
    return None if changes is None else changes.each_once(dialect)


def compared_rows(
    definition: ViewDefinition, reference: TableReference, base: BaseTableStatus, now: IcebergSource
) -> RowChanges | None:
    """Return both versions of the rows of a stale table that may have changed, to be compared.

    None if there is nothing to compare, because rows were only added or are listed, or if the snapshots cannot be
    compared.
    """
    is_written = _literals(definition, base, now) is not None
    return None if is_written or is_appended(base) else _row_changes(definition, reference, base, now)


def counted_rows(
    columns: Mapping[str, str], reference: TableReference, base: BaseTableStatus, now: IcebergSource, dialect: Dialect
) -> str | None:
    """Return the rows that one of two snapshots of a stale table has more often, each once, with its SIGN added up.

    Rows are told apart by some columns. None if the snapshots cannot be compared.
    """
    before, since = before_change(base, now), base.change.appended_since
    if not columns or before is None:
        return None
    changes = RowChanges(reference, before, now, columns, rows_touched(base))
    if since is None or not is_appended(base):
        return changes.counted(dialect)
    new = read_appended(replace(reference, has_alias=True), now, since, changes.wanted, dialect)
    return changes.counted_in(f"SELECT *, 1 AS {SIGN} FROM {new}")


def _literals(definition: ViewDefinition, base: BaseTableStatus, now: IcebergSource) -> Sequence[Sequence[str]] | None:
    """Return the listed rows of a base table as literals; None if they cannot be, or lack a column that is read.

    What is below a SELECT may read more columns than the SELECT does, for which rows are listed.
    """
    listed = base.listed
    if listed is None or not columns_used(definition, now, base.references).keys() <= {*listed.columns}:
        return None
    return listed.literals


def _as_written(listed: ListedRows, rows: Sequence[Sequence[str]], others: Mapping[str, str], dialect: Dialect) -> str:
    """Return listed rows as a relation of literals; `others` are columns besides, whose values nobody reads.

    The predicate says nothing new of them. From an equality of a join Spark infers it for the other side, which it does
    not from VALUES: a predicate of these it evaluates before.
    """
    if not rows:
        return f"(SELECT {_nulls({**listed.columns, **others})} WHERE false)"
    names = [*map(string_literal, listed.columns)]
    structs = (", ".join(f"{n}, {v}" for n, v in zip(names, row, strict=True)) for row in rows)
    values = f"SELECT inline(array({', '.join(f'named_struct({struct})' for struct in structs)}))"
    where = disjunction([listed.values], listed.columns, dialect)
    items = f"*, {_nulls(others)}" if others else "*"
    return f"(SELECT {items} FROM ({values}) AS {_CHANGED} WHERE {where})"


def _nulls(columns: Mapping[str, str]) -> str:
    return ", ".join(f"CAST(NULL AS {of}) AS {identifier(name)}" for name, of in columns.items())


def _row_changes(
    definition: ViewDefinition, reference: TableReference, base: BaseTableStatus, now: IcebergSource
) -> RowChanges | None:
    columns, before = columns_read(definition, now, base.references), before_change(base, now)
    if not columns or before is None:
        return None
    few = is_sent_to_every_task(definition, base)
    return RowChanges(reference, before, now, columns, rows_touched(base), few, unread(definition, columns))


def that_differ(columns: Mapping[str, str], qualifier: str = "", than: _Than = "<>") -> str:
    """Return what keeps, of a SELECT over rows with a SIGN, those whose signs do not add up to nothing.

    `than`: those of which more came, or more went. Rows are compared by some columns, given with their types: floats as
    texts, for the sake of -0.0.
    """
    named = ((f"{qualifier}{identifier(name)}", of) for name, of in columns.items())
    groups = [f"CAST({column} AS string)" if is_float(of) else column for column, of in named]
    # Without a column to compare all rows are alike.
    groups = groups or [f"{qualifier}{SIGN} IS NULL"]
    return f"GROUP BY {', '.join(groups)} HAVING sum({qualifier}{SIGN}) {than} 0"


@dataclass(frozen=True)
class RowChanges:
    """What changed of the table behind a reference: its versions, and the rows that may have changed (None: any).

    `few`: Spark sends them to every task. `columns` are those that are named, with their types. Those that are `unread`
    are NULL: rows are compared by the others alone.
    """

    reference: TableReference
    before: IcebergSource
    now: IcebergSource
    columns: Mapping[str, str]
    wanted: tuple[TupleDomain, ...] | None = None
    few: bool = False
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def _compared(self) -> dict[str, str]:
        return {name: of for name, of in self.columns.items() if name not in self.unread}

    def each_once(self, dialect: Dialect) -> str:
        """Return the rows that one of the versions has more often, each once."""
        both = self._both_to_compare(dialect, self.few)
        return self._in_place(f"SELECT {self._items()} FROM ({both}) {that_differ(self._compared)}")

    def counted(self, dialect: Dialect) -> str:
        """Return the same with how many more of each row the later version has."""
        return self.counted_in(self._both_to_compare(dialect))

    def counted_in(self, signed: str, than: _Than = "<>") -> str:
        """Return the same of a query that gives rows with a SIGN; see `that_differ` for `than`."""
        differ = that_differ(self._compared, than=than)
        return f"(SELECT {self._items()}, sum({SIGN}) AS {SIGN} FROM ({signed}) {differ})"

    def _items(self, qualifier: str = "") -> str:
        def item(name: str, of: str) -> str:
            column = f"{qualifier}{identifier(name)}"
            if name in self.unread:
                return _nulls({name: of})
            if is_float(of):
                return f"max({column}) AS {identifier(name)}"
            return f"{column} AS {identifier(name)}" if qualifier else column

        return ", ".join(item(name, of) for name, of in self.columns.items())

    def each_once_of(self, with_: str, read: str, name: str) -> str:
        """Return the rows that a FROM and WHERE make more often of one version; they read both under a name.

        `with_` goes in front of the SELECT.
        """
        items = self._items(f"{identifier(name)}.")
        return self._in_place(f"{with_} SELECT {items} {read} {self.differing_under(name)}".lstrip())

    def both_versions(self, dialect: Dialect) -> str:
        """Return the rows of both versions, which `differing_under` compares behind the FROM and WHERE around them."""
        return self.reference.named(f"({self._both(dialect)})")

    def differing_under(self, name: str) -> str:
        """Return what keeps, of a SELECT over both versions under a name, what one of the versions gives more often."""
        return that_differ(self._compared, f"{identifier(name)}.")

    def _both(self, dialect: Dialect) -> str:
        return " UNION ALL ".join(
            f"SELECT {self._values()}, {sign} AS {SIGN} FROM {self._read(source, dialect)}"
            for source, sign in ((self.now, 1), (self.before, -1))
        )

    def _both_to_compare(self, dialect: Dialect, may_be_together: bool = True) -> str:
        """Return the rows of both versions, if these are small in one task, where to compare them needs no shuffle.

        What the rows are joined to afterwards would be joined in that task, too: they have to be sent to others for it.
        """
        both = self._both(dialect)
        return in_one_task(both) if may_be_together and self._are_small else both

    @property
    def _are_small(self) -> bool:
        """Return whether one task reads both versions, as a whole, in less time than a shuffle takes."""
        limits = {"total-records": _ROWS_OF_A_TASK, "total-files-size": _BYTES_OF_A_TASK}
        counts = [(version.count(what), most) for what, most in limits.items() for version in (self.before, self.now)]
        return all(count is not None and 2 * count <= most for count, most in counts)

    def that_came(self, dialect: Dialect) -> str:
        """Return the rows that are there more often now, each as often as it came. Not for columns of floats."""
        return self._in_place(f"SELECT {column_list([*self.columns])} FROM ({self._repeated('>', dialect)})")

    def that_went(self, dialect: Dialect) -> str:
        """Return the rows that were there more often before, each as often as it went. Not for columns of floats."""
        return self._in_place(f"SELECT {column_list([*self.columns])} FROM ({self._repeated('<', dialect)})")

    def that_moved(self, dialect: Dialect) -> str:
        """Return both of these with their SIGN."""
        items = f"{column_list([*self.columns])}, CASE WHEN {SIGN} > 0 THEN 1 ELSE -1 END AS {SIGN}"
        return self._in_place(f"SELECT {items} FROM ({self._repeated('<>', dialect)})")

    def _repeated(self, than: _Than, dialect: Dialect) -> str:
        """Return the rows that the versions do not have equally often, each as often as one of them has more of it.

        So does EXCEPT ALL, with one of the versions in front, but it reads both for each.
        """
        counted = self.counted_in(self._both_to_compare(dialect, self.few), than)
        pieces = f"explode(sequence(0, CAST((abs({SIGN}) - 1) div {_ROWS_OF_A_PIECE} AS int))) AS {_PIECE}"
        left = f"abs({SIGN}) - {_PIECE} * {_ROWS_OF_A_PIECE}L"
        rows = f"explode(sequence(1, CAST(least({_ROWS_OF_A_PIECE}, {left}) AS int))) AS {_ROW}"
        return f"SELECT *, {rows} FROM (SELECT *, {pieces} FROM {counted})"

    def _values(self) -> str:
        return ", ".join(
            _nulls({name: of}) if name in self.unread else identifier(name) for name, of in self.columns.items()
        )

    def _read(self, source: IcebergSource, dialect: Dialect) -> str:
        return read_pinned(replace(self.reference, has_alias=True), source, self.wanted, dialect)

    def _in_place(self, query: str) -> str:
        inner = f"SELECT /*+ BROADCAST({_CHANGED}) */ * FROM ({query}) AS {_CHANGED}" if self.few else query
        return self.reference.named(f"({inner})")
