"""Do the changed rows of a reference give any row to the SELECT that reads it? FROM and WHERE around it say that.

This reads less than the definition, and says nothing of the keys that they reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import reads_much
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import Asker
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import NotListed, none_of
from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import QuestionTexts

_FEW_PLACES = 2
"""Ways in which a table is read, up to which each is asked at once."""


@dataclass(frozen=True)
class Blocks:
    """FROM and WHERE around each reference. `until` is as in `Questions`.

    `reads_little`: subqueries that read much are not run.
    """

    texts: QuestionTexts
    reads_little: bool
    until: float

    @property
    def _takes_too_long(self) -> bool:
        return monotonic() > self.until

    def reach_nothing(self, origin: int, run: Asker) -> bool:
        """Return whether no copy of a reference gives a row to the SELECT that reads it, as far as that can be asked.

        Where its table is read in many places it is asked first whether any row of it changed.
        """
        copies = self.texts.asked.copies_of(origin)
        if not copies:
            return False
        places = self.texts.count_places(self.texts.stale[copies[0]])
        if places > _FEW_PLACES and self.has_no_row(copies[0], run):
            return True

        def gives_no_row(copy: int, run: Asker) -> bool:
            return not self._takes_too_long and self._gives_no_row(copy, run)

        return all(run.each(gives_no_row, copies, bool))

    def _gives_no_row(self, index: int, run: Spark) -> bool:
        """Return whether FROM and WHERE give no row; where they cannot be asked alone, whether no row changed."""
        is_empty = self.is_empty(index, run)
        return self.has_no_row(index, run) if is_empty is None else is_empty

    def is_empty(self, index: int, run: Spark) -> bool | None:
        """Return whether FROM and WHERE around a reference give no row; None where they cannot be asked alone."""
        first = self.texts.of_block(index, first=True)
        passed = None if first is None else none_of(first, run)
        if passed is not None:
            # A term with a subquery may have kept another one from failing.
            return None if isinstance(passed, NotListed) else True
        texts = self.texts
        if self.reads_little and first is not None and reads_much(texts.read_by_subqueries(index), texts.status):
            return False
        question = texts.of_block(index)
        found = None if question is None else none_of(question, run)
        return None if question is None or isinstance(found, NotListed) else found == ()

    def no_row_changed(self, origin: int, run: Spark) -> bool:
        """Return whether no row of the table of a reference changed in a column that is read, as far as is known."""
        copies = self.texts.asked.copies_of(origin)
        return bool(copies) and not self._takes_too_long and self.has_no_row(copies[0], run)

    def has_no_row(self, index: int, run: Spark) -> bool:
        """Return whether no row of the table of a reference changed, so that it reaches nothing, as far as is known."""
        listed = self.texts.stale[index].listed
        if listed is not None:
            return not listed.rows
        changed = self.texts.changed_rows_of_table(index)
        return changed is not None and none_of(f"SELECT 1 FROM {changed}", run) == ()
