"""Asks Spark which output rows the changed rows of a base table reach, where no output column follows its partitions.

The question is the definition over the changed rows alone (see definition/rules/answers.py); the distinct values of its
answered columns are the region. Where several tables changed, the references are asked one after the other: those
before it are read as they are now, those after it as they were, so that the steps lead from the old rows to the new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.catalog.reader import schema_columns
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.table_references import TableReference, splice
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.pinned_queries import read_appended, read_pinned
from dbt.adapters.icebergmv.maintenance.planning.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.predicates.simplification import simplify
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, identifier
from dbt.adapters.icebergmv.maintenance.sql.spark_types import internal_form
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTables, IcebergSource, at_snapshot
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus

MOST_KEYS = 1000
_MOST_TERMS = 2000
"""Beyond this many terms Spark takes seconds to plan the predicate of a region."""

_SIGN = "icebergmv_sign"
_FLOATS = frozenset(["float", "double"])
_COUNTED = frozenset(["boolean", "int", "bigint", "string", "binary", "date", "timestamp", "timestamp_ntz", *_FLOATS])
"""Types of which GROUP BY keeps apart what can be kept apart (floats as texts, for the sake of -0.0)."""


@dataclass(frozen=True)
class NotListed:
    """The keys that the changed rows reach are not known; `reason` goes on a sentence that names the table."""

    reason: str


Answer: TypeAlias = tuple[TupleDomain, ...] | NotListed
"""The output rows that the changed rows of a reference reach."""


@dataclass(frozen=True)
class Questions:
    """What is asked about: a definition, its base tables and their status, and the columns that Spark gives it.

    `preferred` are columns by which fewer and larger parts of the view are replaced; they are asked for where all
    answered columns have too many values.
    """

    definition: ViewDefinition
    bases: BaseTables
    status: MaterializedViewStatus
    columns: Sequence[Column]
    preferred: frozenset[str] = frozenset()

    def answers(self, references: Iterable[int], run: Spark) -> dict[int, Answer]:
        """Return what each of the references reaches, up to the first one that cannot be asked.

        A reference whose changed rows reach no column that is known reaches nothing if no row of it changed.
        """
        found: dict[int, Answer] = {}
        for index in sorted(references, key=lambda i: (i in self.definition.reach, i)):
            answer = self._answer(index, run) if index in self.definition.reach else self._nothing(index, run)
            if answer is None:
                break
            found[index] = answer
        return found

    def question(self, index: int) -> str | None:
        """Return the definition over the changed rows of a reference; None where these cannot be read."""
        replacements: dict[TableReference, str] = {}
        for reference in self.definition.references:
            source = None if reference.pinned else self.bases.of(reference).source
            text = None if source is None else self._read(reference, source, index)
            if text is not None:
                replacements[reference] = text
            elif source is not None:
                return None
        return splice(self.definition.sql, replacements, self.definition.reach[index].edits)

    @cached_property
    def _stale(self) -> dict[int, BaseTableStatus]:
        stale = (b for b in self.status.base_tables if b.change.status == "stale")
        return {index: base for base in stale for index in base.occurrences}

    @property
    def _dialect(self) -> Dialect:
        return Dialect(self.bases.catalog_name, pushable=False)

    def _read(self, reference: TableReference, source: IcebergSource, asked: int) -> str | None:
        """Return what stands for one reference while another, or the same, is asked; None if it cannot be read."""
        if reference.index == asked:
            return self._changed_rows(reference, source)
        if reference.index in self.definition.reach[asked].emptied:
            return read_pinned(reference, source, (), self._dialect)
        if reference.index not in self._stale or reference.index < asked:
            return read_pinned(reference, source, None, self._dialect)
        before = _before(self._stale[reference.index], source)
        return None if before is None else read_pinned(reference, before, None, self._dialect)

    def _changed_rows(self, reference: TableReference, now: IcebergSource) -> str | None:
        """Return the rows that one of two snapshots of a stale table has more often, each once."""
        base, columns = self._stale[reference.index], self._columns_read(now)
        before, since = _before(base, now), base.change.appended_since
        if not columns or before is None:
            return None
        if since is not None and not now.has_other_columns_now:
            return read_appended(reference, now, since)
        disjuncts = base.change.constraints.data_disjuncts
        wanted = None if any(d.is_all for d in disjuncts) else disjuncts
        named = replace(reference, has_alias=True)
        names = ", ".join(columns)
        both = " UNION ALL ".join(
            f"SELECT {names}, {sign} AS {_SIGN} FROM {read_pinned(named, source, wanted, self._dialect)}"
            for source, sign in ((now, 1), (before, -1))
        )
        items = ", ".join(f"max({c}) AS {c}" if of in _FLOATS else c for c, of in columns.items())
        groups = ", ".join(f"CAST({c} AS string)" if of in _FLOATS else c for c, of in columns.items())
        alias = "" if reference.has_alias else f" AS {identifier(reference.name)}"
        return f"(SELECT {items} FROM ({both}) GROUP BY {groups} HAVING sum({_SIGN}) <> 0){alias}"

    def _columns_read(self, source: IcebergSource) -> dict[str, str]:
        """Return the columns that the definition reads, quoted, with their types; none if they cannot be compared."""
        definition = self.definition
        read = {
            identifier(c.name): c.type
            for c in schema_columns(source.table_schema)
            if definition.reads_every_column or c.name.lower() in definition.mentions
        }
        comparable = all(t in _COUNTED or t.startswith("decimal(") for t in read.values())
        return read if comparable else {}

    def _nothing(self, index: int, run: Spark) -> Answer | None:
        """Return that a reference reaches nothing, if it has no changed row."""
        reference = self.definition.references[index]
        source = self.bases.of(reference).source
        changed = None if source is None else self._changed_rows(reference, source)
        if changed is None:
            return None
        rows = _rows(f"SELECT 1 FROM {changed} LIMIT 1", run)
        return rows if isinstance(rows, NotListed) else None if rows else ()

    def _answer(self, index: int, run: Spark) -> Answer | None:
        """Ask for all answered columns; for the preferred ones if that is too much."""
        question = self.question(index)
        types = {c.name.lower(): c for c in self.columns}
        answered = [types[name.lower()] for name in self.definition.reach[index].columns if name.lower() in types]
        keys = [c for c in answered if internal_form(c.type, "") is not None]
        coarse = [c for c in keys if c.name in self.preferred]
        if question is None or not keys:
            return None
        found: Answer = NotListed("")
        for asked in (keys, coarse):
            if asked and isinstance(found, NotListed):
                found = _ask(question, asked, run)
        return found


def _before(base: BaseTableStatus, now: IcebergSource) -> IcebergSource | None:
    """Return the table as the last refresh read it, under the columns of today; None if that cannot be shown."""
    return None if base.recorded is None else at_snapshot(now, base.recorded.version.snapshot_id)


def _ask(question: str, keys: Sequence[Column], run: Spark) -> Answer:
    most = max(1, min(MOST_KEYS, _MOST_TERMS // len(keys)))
    values = ", ".join(f"{internal_form(c.type, identifier(c.name))} AS k{n}" for n, c in enumerate(keys))
    rows = _rows(f"SELECT DISTINCT {values} FROM (\n{question}\n) LIMIT {most + 1}", run)
    if isinstance(rows, NotListed):
        return rows
    if len(rows) > most:
        return NotListed(f"its changed rows reach more than {most} keys")
    if any(isinstance(value, str) and "\ufffd" in value for row in rows for value in row):
        return NotListed("its changed rows reach a key that may not be UTF-8")
    names = [ColumnKey(c.name) for c in keys]
    return simplify([_region(dict(zip(names, row, strict=True))) for row in rows], MOST_KEYS)


def _rows(query: str, run: Spark) -> Sequence[Sequence[object]] | NotListed:
    try:
        return run(query)
    except Exception as error:
        # A clause that is left out may have kept an expression from failing.
        return NotListed(f"its changed rows cannot be asked ({str(error).splitlines()[0][:200]})")


def _region(values: Mapping[ColumnKey, object]) -> TupleDomain:
    return TupleDomain.where({key: Domain.of(_value(value)) for key, value in values.items()})


def _value(value: object) -> Value | None:
    if value is None or isinstance(value, bool | int | str):
        return value
    raise TypeError(f"Cannot use a {type(value).__name__} as a key")
