"""Asks Spark which output rows the changed rows of a base table reach, where no output column follows its partitions.

The question is the definition over the changed rows alone (see definition/rules/answers.py); the distinct values of its
answered columns are the region. Where several tables changed, each reference is a step: those before it in the text of
the view are read as they are now, those after it as they were, so that the steps lead from the old rows to the new. As
no step needs the answer of another one, several are asked at the same time.
A table that only a scalar subquery reads reaches nothing as long as the value of that is the same.

The clock is asked before all tables (see definition/clock/moved_clock.py). Its questions read every table as it was,
and lead from the old rows to those that the SELECT gave over the same tables at the clock of today. The tables are
asked in the SELECT of today's clock, which is the one that is analysed, so that they go on from there. Each step covers
the rows in which its two ends differ; a row in which the old and the new rows differ does so in some step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from time import monotonic
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import rows_to_ask
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import is_appended
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import Asker
from dbt.adapters.icebergmv.maintenance.planning.questions.emptiness import Blocks
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import (
    MOST_KEYS,
    NEARLY_ALL,
    TOO_DEAR,
    TOO_LATE,
    Answer,
    NotListed,
    ask,
    count_keys,
    described,
    none_of,
)
from dbt.adapters.icebergmv.maintenance.planning.questions.own_keys import FollowedColumns, join_keys
from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import QuestionTexts
from dbt.adapters.icebergmv.maintenance.planning.questions.scalar_values import SAME, moved_rows
from dbt.adapters.icebergmv.maintenance.planning.regions import to_output
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.queries import select_from
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus, by_reference
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables

_AskOne: TypeAlias = Callable[[int, Asker], Answer | None]

MANY_COMPARED = 20_000
"""To compare more rows takes longer than to ask first whether FROM and WHERE leave any."""


@dataclass(frozen=True)
class Questions:
    """What is asked: of a definition and its text, its base tables and their status, and the columns Spark gives it.

    `preferred` are columns by which fewer and larger parts of the view are replaced; they are asked for where all
    answered columns have too many values. For references in `own_keys_first` it is dear to run the definition, so keys
    are first looked for in the changed rows themselves. After `until`, a moment of `time.monotonic`, nothing more is
    asked. `many_compared`: of so many rows that are compared it is first asked whether FROM and WHERE leave any. From
    `nearly_all` keys of stored rows, to compute everything costs less. `most_of_one`: so many values of one column may
    be listed.
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
    nearly_all: float = inf
    most_of_one: int = MOST_KEYS

    def answers(self, to_ask: ToAsk, run: Asker) -> dict[int, Answer]:
        """Return what the references reach. Of the needed ones none is asked after one that cannot say it."""
        asking = replace(self, only_whether=True, own_keys_first=frozenset()) if to_ask.only_whether else self
        needed = sorted(to_ask.needed, key=self._is_in_reach)
        found = asking._answered(needed, asking._answer_of, run)
        if not all(isinstance(found.get(origin), tuple) for origin in needed):
            return found
        # Without an answer as much would be overwritten.
        narrowing = replace(asking, nearly_all=inf)
        found |= narrowing._answered_in_time(to_ask.narrower, narrowing._answer_of, run)
        return found | self._answered_in_time(to_ask.own_keys, self._followed.own_keys, run)

    def _answered(self, needed: Sequence[int], ask_one: _AskOne, run: Asker) -> dict[int, Answer]:
        """Return what references reach, up to one that cannot say it."""
        answers = zip(needed, run.each(ask_one, needed, is_known), strict=False)
        return {origin: answer for origin, answer in answers if answer is not None}

    def _answered_in_time(self, origins: Sequence[int], ask_one: _AskOne, run: Asker) -> dict[int, Answer]:
        """Return what references reach, as far as they can say it."""

        def in_time(origin: int, run: Asker) -> Answer | None:
            return None if self._takes_too_long else ask_one(origin, run)

        answers = zip(origins, run.each(in_time, origins), strict=True)
        return {origin: answer for origin, answer in answers if isinstance(answer, tuple)}

    @property
    def _takes_too_long(self) -> bool:
        return monotonic() > self.until

    def cheap_answers(self, to_ask: ToAsk, run: Asker) -> dict[int, Answer]:
        """Return what references reach as far as little is read for it, up to a needed one that fails.

        That is nothing, where FROM and WHERE around them give no row, or else the keys in the changed rows alone.
        """
        blocks = Blocks(self._texts, reads_little=True, until=self.until)

        def answer_of(origin: int, run: Asker) -> Answer:
            answer: Answer | None = () if blocks.reach_nothing(origin, run) else None
            if answer is None and not to_ask.only_whether and not self._takes_too_long:
                answer = self._followed.own_keys(origin, run)
            dear = TOO_LATE if self._takes_too_long else TOO_DEAR
            return answer if isinstance(answer, tuple) else dear

        found = self._answered(to_ask.needed, answer_of, run)
        if not all(isinstance(found.get(origin), tuple) for origin in to_ask.needed):
            return found
        return found | self._answered_in_time(to_ask.own_keys, self._followed.own_keys, run)

    def no_row_changed(self, run: Asker) -> bool:
        """Return whether no row of any table changed in a column that is read, as far as is known."""
        return all(run.each(self._blocks.no_row_changed, sorted(by_reference(self.status.reaching)), bool))

    def _is_in_reach(self, origin: int) -> bool:
        return all(copy in self.asked.reach for copy in self.asked.copies_of(origin))

    def _answer_of(self, origin: int, run: Asker) -> Answer | None:
        """Return what a reference reaches: by the keys in its changed rows, or by the definition over these rows."""
        if self._takes_too_long:
            return TOO_LATE
        own = self._followed.own_keys(origin, run) if origin in self.own_keys_first else None
        if isinstance(own, tuple):
            return own
        answer = self._through_cte(origin, run)
        if answer is None:
            answer = self._reached_by(origin, run)
        if isinstance(answer, tuple) or answer is NEARLY_ALL:
            return answer
        if origin not in self.own_keys_first and not self.only_whether:
            own = self._followed.own_keys(origin, run)
        return own if isinstance(own, tuple) else answer

    def _through_cte(self, origin: int, run: Asker) -> Answer | None:
        """Return what a reference reaches by the rows of an expression around it that is used several times.

        The expression is asked by itself which of its own rows change. Columns of the view follow these, in each of its
        uses. None where there is none.
        """
        cte = None if self.only_whether else self.asked.shared.get(origin)
        if cte is None:
            return None
        inside = replace(self, asked=cte.asked, columns=(), own_keys_first=frozenset())
        columns = described(inside._texts.as_now, run)
        if columns is None:
            unknown = NotListed("cannot be asked: the columns of an expression around it are not known")
            return TOO_LATE if self._takes_too_long else unknown
        wanted = {t.column for use in cte.uses for name in self.preferred for t in use.get(name, ())}
        keys = [c for c in columns if c.name in cte.columns]
        inside = replace(inside, columns=keys, preferred=frozenset(wanted), nearly_all=inf)
        answer = inside._reached_by(origin, run)
        if not isinstance(answer, tuple):
            return answer
        names = {c.name.lower(): c.name for c in self.definition.columns or ()}
        uses = [
            {names[name.lower()]: found for name, found in use.items() if name.lower() in names} for use in cte.uses
        ]
        partitioning = [(name, "identity") for name in self.preferred]
        rows = [to_output(row, use, partitioning) for row in answer for use in uses]
        return NotListed("reach more than can be listed") if any(r.is_all for r in rows) else tuple(rows)

    def _reached_by(self, origin: int, run: Asker) -> Answer | None:
        """Return what all copies of a reference reach together; None if one of them cannot say it."""
        copies = self.asked.copies_of(origin)
        if len(copies) > 1 and self._blocks.reach_nothing(origin, run):
            return ()
        some_pass = False
        if len(copies) == 1 and self._is_asked_first(copies[0]):
            is_empty = self._blocks.is_empty(copies[0], run)
            if is_empty:
                return ()
            some_pass = is_empty is False
            if some_pass and self.only_whether and not self._texts.is_read_by_a_part(copies[0]):
                return None

        def answer_of(copy: int, run: Asker) -> Answer | None:
            return TOO_LATE if self._takes_too_long else self._answer(copy, run, that_pass=some_pass)

        reached: tuple[TupleDomain, ...] = ()
        for answer in run.each(answer_of, copies, is_known):
            if not isinstance(answer, tuple):
                return answer
            reached += answer
        return reached if copies else None

    @cached_property
    def _texts(self) -> QuestionTexts:
        return QuestionTexts(self.definition, self.asked, self.bases, self.status)

    @property
    def _blocks(self) -> Blocks:
        return Blocks(self._texts, reads_little=False, until=self.until)

    @property
    def _followed(self) -> FollowedColumns:
        return FollowedColumns(self._texts, self.preferred, self.most_of_one)

    def _answer(self, index: int, run: Asker, *, that_pass: bool) -> Answer | None:
        """Return what a reference reaches, `that_pass` as in QuestionTexts; None where nobody can say it.

        A reference whose changed rows reach no column that is known reaches nothing if no row of it changed.
        """
        moved = moved_rows(self._texts, index, run)
        if moved is not None:
            return () if moved == SAME else self._keys_of(moved, index, run)
        if index in self.asked.reach:
            return self.reached(index, run, that_pass=that_pass)
        return () if self._blocks.has_no_row(index, run) else None

    def _is_new(self, index: int) -> bool:
        base = self._texts.stale.get(index)
        return base is not None and is_appended(base)

    def _is_asked_first(self, index: int) -> bool:
        """Return whether FROM and WHERE around a reference are asked before the whole text, which takes longer."""
        base, block = self._texts.stale[index], self.asked.blocks.get(index)
        is_long = rows_to_ask(base) >= self.many_compared and not is_appended(base)
        is_cut_down = is_long and block is not None and block.filters
        return self.only_whether or is_cut_down or self._texts.is_read_by_a_part(index)

    def reached(self, index: int, run: Spark, *, that_pass: bool = False) -> Answer | None:
        """Ask what is in reach: all answered columns; if that is too much, fewer of them; in the end one of few values.

        Those that the table is joined by come first, then the preferred ones; last of all columns that show literals.
        If no column is answered, ask for any row. None where nobody can say it.
        """
        question = self._texts.over_changed_rows(index, that_pass=that_pass)
        return None if question is None else self._keys_of(question, index, run)

    def _keys_of(self, question: str, index: int, run: Spark) -> Answer | None:
        """Return the keys that a question about a reference gives."""
        types = {c.name.lower(): c for c in self.columns}
        reach = self.asked.reach[index]
        keys, literals = (
            [c for c in (types.get(name.lower()) for name in names) if c and internal_form(c.type, "") is not None]
            for names in (reach.columns, reach.literals)
        )
        if self.only_whether or not (keys or literals):
            return none_of(select_from(question, "1"), run)
        joined = join_keys(self.definition, self.asked.origins.get(index, index))
        fewer = ([c for c in keys if c.name in names] for names in (joined, self.preferred))
        answer = ask(question, [keys, *fewer], run, literals, self.most_of_one)
        # Where something was left out of the text, there are keys among them that the view does not have; new rows may
        # have keys that it does not have yet.
        if not isinstance(answer, tuple) or reach.edits or self._is_new(index):
            return answer
        return NEARLY_ALL if count_keys(answer) >= self.nearly_all else answer


def is_known(answer: Answer | None) -> bool:
    """Return whether it is known what is reached."""
    return isinstance(answer, tuple)


def clock_answer(terms: Sequence[Questions] | None, run: Spark) -> Answer:
    """Return what a clock that moved reaches: all terms that read it together. None: it is read in other places too."""
    if terms is None:
        return NotListed("cannot be asked: not only conditions on rows read it")
    found: tuple[TupleDomain, ...] = ()
    for term in terms:
        answer = term.reached(CLOCK.index, run)
        if not isinstance(answer, tuple):
            return answer or NotListed("have no column in common that can be asked")
        found += answer
    return found
