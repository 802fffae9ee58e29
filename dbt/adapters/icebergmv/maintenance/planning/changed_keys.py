"""Asks Spark which output rows the changed rows of a base table reach, where no output column follows its partitions.

The question is the definition over the changed rows alone (see definition/rules/answers.py); the distinct values of its
answered columns are the region. Where several tables changed, the references are asked one after the other: those
before it are read as they are now, those after it as they were, so that the steps lead from the old rows to the new.
A table that only a scalar subquery reads reaches nothing as long as the value of that is the same.

The clock is asked before all tables (see definition/moved_clock.py). Its questions read every table as it was, and lead
from the old rows to those that the SELECT gave over the same tables at the clock of today. The tables are asked in the
SELECT of today's clock, which is the one that is analysed, so that they go on from there. Each step covers the rows in
which its two ends differ; a row in which the old and the new rows differ does so in some step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import takewhile
from math import inf
from time import monotonic
from typing import Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.catalog.reader import schema_columns
from dbt.adapters.icebergmv.maintenance.definition.asking import Asked
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.parts import Part
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import CLOCK, Occurrence, Track
from dbt.adapters.icebergmv.maintenance.definition.table_references import TableReference, part_of, splice
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.cost import is_compared_behind, rows_to_ask
from dbt.adapters.icebergmv.maintenance.planning.key_queries import (
    TOO_DEAR,
    TOO_LATE,
    Answer,
    NotListed,
    ask,
    none_of,
    rows_of,
    values_of,
)
from dbt.adapters.icebergmv.maintenance.planning.pinned_queries import read_pinned
from dbt.adapters.icebergmv.maintenance.planning.row_changes import (
    SIGN,
    RowChanges,
    before_change,
    changed_rows,
    compared_rows,
    is_appended,
)
from dbt.adapters.icebergmv.maintenance.planning.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import OrNull, image
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, identifier
from dbt.adapters.icebergmv.maintenance.sql.spark_types import internal_form
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTables, IcebergSource
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus

_Version = Literal["now", "before", "changed", "both"]
_AskOne: TypeAlias = Callable[[int, Spark], Answer | None]
_VERSIONS: tuple[_Version, _Version] = ("now", "before")

_AS_TEXT = "CAST(icebergmv_now AS string) <=> CAST(icebergmv_before AS string)"
SAME_VALUE = f"SELECT icebergmv_now <=> icebergmv_before AND {_AS_TEXT}"
"""Whether two values are one, -0.0 and 0.0 apart. Where a subquery reads a row around it, Spark refuses to say it."""

MANY_COMPARED = 20_000
"""To compare more rows takes longer than to ask first whether FROM and WHERE leave any."""

_FEW_PLACES = 2
"""Ways in which a table is read, up to which each is asked at once."""

A_ROW = "SELECT 1 AS icebergmv_row"
"""Whether FROM and WHERE give one. Where what is asked still reads a row around its SELECT, Spark refuses to say it."""


@dataclass(frozen=True)
class ToAsk:
    """The references whose changed rows should say what they reach.

    Without an answer about each of the `needed` ones the refresh is full. Of the `narrower` ones it is known roughly
    what they may reach, and an answer can only be less. Those in `own_keys` only got rows, of which it is known between
    which bounds they are; no more is read for their keys than these rows. `only_whether`: if anything is reached,
    groups are merged, whichever they are.
    """

    needed: tuple[int, ...] = ()
    narrower: tuple[int, ...] = ()
    own_keys: tuple[int, ...] = ()
    only_whether: bool = False


@dataclass(frozen=True)
class Questions:
    """What is asked: of a definition and its text, its base tables and their status, and the columns Spark gives it.

    `preferred` are columns by which fewer and larger parts of the view are replaced; they are asked for where all
    answered columns have too many values. For references in `own_keys_first` it is dear to run the definition, so keys
    are first looked for in the changed rows themselves. After `until`, a moment of `time.monotonic`, nothing more is
    asked. `many_compared`: of so many rows that are compared it is first asked whether FROM and WHERE leave any.
    """

    definition: ViewDefinition
    asked: Asked
    bases: BaseTables
    status: MaterializedViewStatus
    columns: Sequence[Column]
    preferred: frozenset[str] = frozenset()
    own_keys_first: frozenset[int] = frozenset()
    only_whether: bool = False
    until: float = inf
    many_compared: int = MANY_COMPARED

    def answers(self, to_ask: ToAsk, run: Spark) -> dict[int, Answer]:
        """Return what the references reach. Of the needed ones none is asked after one that cannot say it."""
        if to_ask.only_whether and not self.only_whether:
            return replace(self, only_whether=True, own_keys_first=frozenset()).answers(to_ask, run)
        found: dict[int, Answer] = {}
        run = cache(run)
        for origin in sorted(to_ask.needed, key=self._is_in_reach):
            answer = self._answer_of(origin, run)
            if answer is not None:
                found[origin] = answer
            if not isinstance(answer, tuple):
                return found
        found |= self._answered_in_time(to_ask.narrower, self._answer_of, run)
        return found | self._answered_in_time(to_ask.own_keys, self._own_keys, run)

    def _answered_in_time(self, origins: Sequence[int], ask_one: _AskOne, run: Spark) -> dict[int, Answer]:
        in_time = takewhile(lambda _: not self._takes_too_long, origins)
        answers = ((origin, ask_one(origin, run)) for origin in in_time)
        return {origin: answer for origin, answer in answers if isinstance(answer, tuple)}

    @property
    def _takes_too_long(self) -> bool:
        return monotonic() > self.until

    def cheap_answers(self, to_ask: ToAsk, run: Spark) -> dict[int, Answer]:
        """Return what references reach as far as little is read for it, up to a needed one that fails.

        That is nothing, where FROM and WHERE around them give no row, or else the keys in the changed rows alone.
        """
        found: dict[int, Answer] = {}
        run = cache(run)
        for origin in to_ask.needed:
            answer: Answer | None = () if self._reaches_nothing(origin, run) else None
            if answer is None and not to_ask.only_whether and not self._takes_too_long:
                answer = self._own_keys(origin, run)
            if not isinstance(answer, tuple):
                return {**found, origin: TOO_LATE if self._takes_too_long else TOO_DEAR}
            found[origin] = answer
        return found | self._answered_in_time(to_ask.own_keys, self._own_keys, run)

    def _is_in_reach(self, origin: int) -> bool:
        return all(copy in self.asked.reach for copy in self.asked.copies_of(origin))

    def _answer_of(self, origin: int, run: Spark) -> Answer | None:
        """Return what a reference reaches: by the keys in its changed rows, or by the definition over these rows."""
        if self._takes_too_long:
            return TOO_LATE
        own = self._own_keys(origin, run) if origin in self.own_keys_first else None
        if isinstance(own, tuple):
            return own
        answer = self._reached_by(origin, run)
        if not isinstance(answer, tuple) and origin not in self.own_keys_first and not self.only_whether:
            own = self._own_keys(origin, run)
        return own if isinstance(own, tuple) else answer

    def _own_keys(self, origin: int, run: Spark) -> Answer | None:
        """Return the output rows that columns say which are tracked: those with the values that changed rows have.

        Every output row depends only on base rows that lead to its value of such a column. None where some use of the
        reference has no such column, or its values cannot be listed.
        """
        copies = self.asked.copies_of(origin)
        source = self.bases.of(self.asked.references[copies[0]]).source if copies else None
        changed = None if source is None else self._changed_rows(self.asked.references[copies[0]], source)
        if source is None or changed is None:
            return None
        types = {c.name: c.type for c in schema_columns(source.table_schema)}
        keys = [self._key_of(use, types) for use in self.definition.uses_of(origin)]
        followed = [key for key in keys if key is not None]
        if len(followed) < len(keys):
            return None
        values: dict[str, Domain] = {}
        for column in dict.fromkeys(track.column for _, track in followed):
            value = internal_form(types[column], identifier(column))
            found = values_of(f"SELECT DISTINCT {value} FROM {changed}", run)
            if isinstance(found, NotListed):
                return None
            values[column] = found
        regions = [(name, image(track.function, values[track.column])) for name, track in followed]
        return tuple(TupleDomain.where({ColumnKey(name): domain}) for name, domain in regions if not domain.is_none)

    def _key_of(self, use: Occurrence, types: Mapping[str, str]) -> tuple[str, Track] | None:
        """Return the column by which a use of a table is followed best, of those whose values can be listed."""
        tracks = [(k, t) for k, found in self.definition.tracks_of(use).items() for t in found]
        keys = [(k, t) for k, t in tracks if all(step.only_adds_null for step in t.function)]
        listed = [(k, t) for k, t in keys if internal_form(types.get(t.column, ""), "") is not None]
        joined = self._join_keys(use.index)

        def order(key: tuple[str, Track]) -> tuple[bool, bool, bool, str]:
            name, track = key
            return OrNull() in track.function, name not in self.preferred, name not in joined, name

        return min(listed, key=order, default=None)

    def _join_keys(self, origin: int) -> frozenset[str]:
        """Return the columns that follow a reference and others, which it is joined to: few rows have their values."""
        followed = {c.name: {t.occurrence.index for t in c.tracks} for c in self.definition.columns or ()}
        return frozenset(name for name, found in followed.items() if origin in found and len(found) > 1)

    def _reached_by(self, origin: int, run: Spark) -> Answer | None:
        """Return what all copies of a reference reach together; None if one of them cannot say it."""
        reached: tuple[TupleDomain, ...] = ()
        copies = self.asked.copies_of(origin)
        if len(copies) > 1 and self._reaches_nothing(origin, run):
            return ()
        if len(copies) == 1 and self._is_asked_first(copies[0]):
            is_empty = self._is_block_empty(copies[0], run)
            if is_empty:
                return ()
            if is_empty is not None and self.only_whether and not self._is_read_by_a_part(copies[0]):
                return None
        for copy in copies:
            answer = TOO_LATE if self._takes_too_long else self._answer(copy, run)
            if not isinstance(answer, tuple):
                return answer
            reached += answer
        return reached if copies else None

    def question(self, index: int) -> str | None:
        """Return the definition over the changed rows of a reference; None where these cannot be read."""
        reach = self.asked.reach[index]
        texts = self._texts(index, "changed", reach.emptied)
        return None if texts is None else splice(self.asked.sql, texts, reach.edits)

    def _texts(self, asked: int, wanted: _Version, emptied: Collection[int] = ()) -> dict[TableReference, str] | None:
        """Return what stands for each reference while one is asked; None if one of them cannot be read."""
        texts = {reference: self._read(reference, asked, wanted, emptied) for reference in self._live}
        read = {reference: text for reference, text in texts.items() if text is not None}
        return read if len(read) == len(texts) else None

    @cached_property
    def _live(self) -> tuple[TableReference, ...]:
        """Return the references that are read at a snapshot."""
        return tuple(r for r in self.asked.references if not r.pinned and self.bases.of(r).source is not None)

    @cached_property
    def _stale(self) -> dict[int, BaseTableStatus]:
        by_origin = {index: base for base in self.status.stale for index in base.occurrences}
        return {copy: by_origin[origin] for copy, origin in self.asked.origins.items() if origin in by_origin}

    @property
    def _dialect(self) -> Dialect:
        return Dialect(self.bases.catalog_name, pushable=False)

    def _read(self, reference: TableReference, asked: int, wanted: _Version, emptied: Collection[int]) -> str | None:
        """Return what stands for a reference while another, or the same, is asked; None if it cannot be read.

        Of the one that is asked, `wanted` is read.
        """
        source = self.bases.of(reference).source
        if source is None:
            return None
        if reference.index == asked and wanted == "changed":
            return self._changed_rows(reference, source)
        if reference.index == asked and wanted == "both":
            compared = self._compared_rows(reference)
            return None if compared is None else compared.both_versions(self._dialect)
        if reference.index in emptied:
            return read_pinned(reference, source, (), self._dialect)
        is_now = wanted == "now" if reference.index == asked else reference.index < asked
        if is_now or reference.index not in self._stale:
            return read_pinned(reference, source, None, self._dialect)
        before = before_change(self._stale[reference.index], source)
        return None if before is None else read_pinned(reference, before, None, self._dialect)

    def _changed_rows(self, reference: TableReference, now: IcebergSource) -> str | None:
        return changed_rows(self.definition, reference, self._stale[reference.index], now, self._dialect)

    def _compared_behind(self, index: int, block: Part) -> RowChanges | None:
        """Return the versions to compare behind a WHERE; None where the changed rows are what it is asked over.

        Nothing in FROM and WHERE may see the sign that both versions have beside their columns.
        """
        beside = [r for r in self.asked.references if block.start <= r.start < block.end and r.index != index]
        origins, bases = (self.asked.origins[r.index] for r in beside), self.status.by_occurrence
        joined = [bases[origin] for origin in origins if origin in bases]
        is_seen = block.name is None or SIGN in self.definition.mentions
        if is_seen or not block.filters or not is_compared_behind(self._stale[index], joined):
            return None
        return self._compared_rows(self.asked.references[index])

    def _compared_rows(self, reference: TableReference) -> RowChanges | None:
        now = self.bases.of(reference).source
        stale = self._stale[reference.index]
        return None if now is None else compared_rows(self.definition, reference, stale, now)

    def _answer(self, index: int, run: Spark) -> Answer | None:
        """Return what a reference reaches; None where nobody can say it.

        A reference whose changed rows reach no column that is known reaches nothing if no row of it changed.
        """
        if any(self._is_same(subquery, index, run) for subquery in self.asked.scalars.get(index, ())):
            return ()
        if index in self.asked.reach:
            return self.reached(index, run)
        return self._without_rows(index, run)

    def _without_rows(self, index: int, run: Spark) -> Answer | None:
        """Return that a reference reaches nothing if no row of its table changed."""
        base, source = self._stale[index], self.bases.of(self.asked.references[index]).source
        named = self.definition.references[base.occurrences[0]]
        changed = None if source is None else changed_rows(self.definition, named, base, source, self._dialect)
        return None if changed is None else none_of(f"SELECT 1 FROM {changed}", run)

    def _reaches_nothing(self, origin: int, run: Spark) -> bool:
        """Return whether no copy of a reference gives a row to the SELECT that reads it, as far as that can be asked.

        Where its table is read in many places it is asked first whether any row of it changed.
        """
        copies = self.asked.copies_of(origin)
        if not copies:
            return False
        places = self._places_of(self._stale[copies[0]])
        if places > _FEW_PLACES and self._without_rows(copies[0], run) == ():
            return True
        return all(not self._takes_too_long and self._gives_no_row(copy, run) for copy in copies)

    def _places_of(self, base: BaseTableStatus) -> int:
        """Return in how many ways the SELECTs read a table: copies of one read it in the same way."""
        copies = [copy for origin in base.occurrences for copy in self.asked.copies_of(origin)]
        blocks = [(copy, self.asked.blocks.get(copy)) for copy in copies]
        return len({copy if b is None else self.asked.sql[b.start : b.end] for copy, b in blocks})

    def _gives_no_row(self, index: int, run: Spark) -> bool:
        """Return whether FROM and WHERE give no row; where they cannot be asked alone, whether no row changed."""
        is_empty = self._is_block_empty(index, run)
        return self._without_rows(index, run) == () if is_empty is None else is_empty

    def _is_block_empty(self, index: int, run: Spark) -> bool | None:
        """Return whether FROM and WHERE around a reference give no row; None where they cannot be asked alone.

        Where rows are compared, that is done behind WHERE, which mostly leaves few of them.
        """
        block = self.asked.blocks.get(index)
        if block is None:
            return None
        compared = self._compared_behind(index, block)
        texts = self._texts(index, "changed" if compared is None else "both")
        if texts is None:
            return None
        with_, text = self._part(block, texts)
        that_differ = "" if compared is None or block.name is None else f" {compared.that_differ(block.name)}"
        found = none_of(f"{with_}{A_ROW} {text}{that_differ}", run)
        return None if isinstance(found, NotListed) else found == ()

    def _is_asked_first(self, index: int) -> bool:
        """Return whether FROM and WHERE around a reference are asked before the whole text, which takes longer."""
        base, block = self._stale[index], self.asked.blocks.get(index)
        is_long = rows_to_ask(base) >= self.many_compared and not is_appended(base)
        is_cut_down = is_long and block is not None and block.filters
        return self.only_whether or is_cut_down or self._is_read_by_a_part(index)

    def _is_read_by_a_part(self, index: int) -> bool:
        """Return whether FROM and WHERE around a reference read less than the whole text does."""
        block = self.asked.blocks.get(index)
        return block is not None and any(not block.start <= r.start < block.end for r in self.asked.references)

    def _part(self, part: Part, texts: Mapping[TableReference, str]) -> tuple[str, str]:
        """Return the WITH that a part of the text needs, and the part, with what stands for the references in them."""
        sql = self.asked.sql
        return part_of(sql, texts, 0, part.with_end), part_of(sql, texts, part.start, part.end, part.left_out)

    def _is_same(self, subquery: Part, index: int, run: Spark) -> bool:
        """Return whether a scalar subquery has one value before and after the changes of a reference that it reads."""
        values: list[str] = []
        for version in _VERSIONS:
            texts = self._texts(index, version)
            if texts is None:
                return False
            with_, text = self._part(subquery, texts)
            values.append(f"({with_}{text})")
        now, before = values
        rows = rows_of(f"{SAME_VALUE} FROM (SELECT {now} AS icebergmv_now, {before} AS icebergmv_before)", run)
        return not isinstance(rows, NotListed) and bool(rows[0][0])

    def reached(self, index: int, run: Spark) -> Answer | None:
        """Ask what is in reach: all answered columns; if that is too much, fewer of them; in the end one of few values.

        Those that the table is joined by come first, then the preferred ones; last of all columns that show literals.
        If no column is answered, ask for any row. None where nobody can say it.
        """
        question = self.question(index)
        types = {c.name.lower(): c for c in self.columns}
        reach = self.asked.reach[index]
        keys, literals = (
            [c for c in (types.get(name.lower()) for name in names) if c and internal_form(c.type, "") is not None]
            for names in (reach.columns, reach.literals)
        )
        if question is None:
            return None
        if self.only_whether or not (keys or literals):
            return none_of(f"SELECT 1 FROM (\n{question}\n)", run)
        joined = self._join_keys(self.asked.origins.get(index, index))
        fewer = ([c for c in keys if c.name in names] for names in (joined, self.preferred))
        return ask(question, [keys, *fewer], run, last=literals)


def clock_answer(terms: Sequence[Questions] | None, run: Spark) -> Answer:
    """Return what a clock that moved reaches: all terms that read it together. None: it is read in other places too."""
    if terms is None:
        return NotListed("cannot be asked: not only terms of a WHERE read it")
    found: tuple[TupleDomain, ...] = ()
    for term in terms:
        answer = term.reached(CLOCK.index, run)
        if not isinstance(answer, tuple):
            return answer or NotListed("have no column in common that can be asked")
        found += answer
    return found
