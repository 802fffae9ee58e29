"""Questions and answers: which columns of a changed output row does the query over the changed rows show?

Each function is the rule of one operator, for every occurrence below it that a question is asked of. Let A be the
answer below the operator. It holds, for each row that changed there, a row with the same values in the answered
columns.

- Filter: a term of the condition that reads answered columns is as true of the answer as of the changed row. Any other
  is left out, and so are HAVING and QUALIFY. A subquery in it that does not read the occurrence is a function of the
  columns that it names outside itself.
- A term that reads the clock, which moved: FROM stays what it is, so all its columns are answered for CLOCK. The term
  stands for the rows that one value of the clock lets pass and the other may not (see moved_clock.py).
  So it does in an ON, where the rows of one side may be kept: see `asked_about_join` in join_answers.py.
- Join: see join_answers.py.
- Projection: an expression of answered columns is answered. GROUP BY and PARTITION BY: a group, or a window partition,
  changes when a row in it does, so behind these only what they are made by. DISTINCT keeps what is answered. An
  aggregate of all rows changes when one of them does: it answers nothing, but has no row where no row changed.
- Set operation: a row changes when it does in the branch of the occurrence; the union with the other branch empty.
- Generator: gives the same rows for the same arguments, so these must be answered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import picks_values, tied_below
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conjuncts
from dbt.adapters.icebergmv.maintenance.definition.tracking.exactness import told_apart
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Sources
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names, first_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Question, Questions, TrackedRelation
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK, Occurrence

_NOT_OF_ONE_ROW = (exp.AggFunc, exp.Window, exp.UDTF, exp.Star, exp.Lambda)
_TAKES_A_UNIT = (exp.DateTrunc, exp.TimestampTrunc)

Answered = Mapping[Occurrence, frozenset[int]]
"""The slots of FROM that are answered, by occurrence."""


def slots_read(expression: exp.Expr, names: Names) -> frozenset[int] | None:
    """Return the slots that an expression is made of; None when it is made of more than the columns of one row.

    That is more, too, where it can tell equal values of a slot apart: rows with the same values are known by these.
    Columns of an outer query, and tables in subqueries, do not change while an occurrence in FROM is asked about. A
    slot that an equality makes the same is another slot here: the answer may hold rows for which it does not hold.
    """
    return None if told_apart(expression, names) else slots_named(expression, names)


def slots_named(expression: exp.Expr, names: Names) -> frozenset[int] | None:
    """Return the slots that an expression reads, equal values told apart or not; None as in `slots_read`."""
    merged = _merged_slot(expression, names)
    if merged is not None:
        return frozenset({merged})
    if isinstance(expression, exp.Query):
        return _slots_inside(expression, names)
    if isinstance(expression, exp.Column):
        slot = names.sources.read_by(expression)
        return frozenset({slot}) if slot is not None else frozenset() if names.is_outer(expression) else None
    if isinstance(expression, _TAKES_A_UNIT) and not names.scope.units_are_literals:
        return None  # A column that gives the unit is not in the tree.
    if isinstance(expression, _NOT_OF_ONE_ROW) or (isinstance(expression, exp.Func) and not is_of_one_row(expression)):
        return None
    return _union(slots_named(part, names) for part in expression.iter_expressions())


def _merged_slot(expression: exp.Expr, names: Names) -> int | None:
    """Return the slot of a column, or of coalesce(a.k, b.k) behind a FULL join on a.k = b.k, as CASE or not."""
    if isinstance(expression, exp.Paren):
        return _merged_slot(expression.this, names)
    if isinstance(expression, exp.Column):
        return names.sources.resolve(expression)
    slot: int | None = None
    for part in first_of(expression):
        found = _merged_slot(part, names)
        if found is None:
            return None
        pair = frozenset({found} if slot is None else {slot, found})
        slot = found if slot is None else names.sources.merged.get(pair)
        if slot is None or (slot in pair and len(pair) > 1):
            return None
    return slot


def _slots_inside(query: exp.Query, names: Names) -> frozenset[int] | None:
    """Return the slots that a subquery may read by a name from outside itself, whatever its own FROM makes of it."""
    if names.sources.unknown:
        return None
    slots: set[int] = set()
    aliases = {slot.alias for slot in names.sources.slots}
    for column in query.find_all(exp.Column):
        *around, name = [part.name.lower() for part in column.parts]
        qualifier = column.table.lower()
        is_star_of_slots = isinstance(column.this, exp.Star) and qualifier in aliases
        if is_star_of_slots or column.parts[0].name.lower() in names.aliases:
            return None  # An alias can only be meant by the first part of a name.
        for i, slot in enumerate(names.sources.slots):
            of_slot = slot.column.name.lower()
            if of_slot in around or (of_slot == name and qualifier in ("", slot.alias)):
                slots.add(i)
    return frozenset(slots)


def answered_slots(sources: Sources) -> Answered:
    """Return the slots that are answered for each occurrence that a question is asked of."""
    return {
        o: frozenset(i for i, s in enumerate(sources.slots) if o in s.column.answered)
        for o in sources.relation.questions
    }


def filtered(sources: Sources, where: exp.Where, names: Names) -> Sources:
    """Return FROM after a WHERE, without what subqueries in it read."""
    terms = list(conjuncts(where.this))
    if names.scope.moved in terms and not sources.relation.has_ties:
        sources = _asked_about_the_clock(sources)
    if any(picks_values(term, sources) and CLOCK not in tied_below(term, sources) for term in terms):
        # It would name single rows of those that tie, and leave the others as they are.
        kept = {o: question for o, question in sources.relation.questions.items() if o != CLOCK}
        sources = with_questions(sources, kept)
    answered, questions = answered_slots(sources), dict(sources.relation.questions)
    for term in terms:
        if term == names.scope.moved:
            continue
        read = slots_read(term, names)
        for o in questions if read is None else (o for o in questions if not read <= answered[o]):
            questions[o] = questions[o].with_edit("all rows", term)
    return with_questions(sources, questions)


def _asked_about_the_clock(sources: Sources) -> Sources:
    every = frozenset(range(len(sources.slots)))
    answered = {**answered_slots(sources), CLOCK: every}
    return with_answers(sources, answered, {**sources.relation.questions, CLOCK: Question()})


def filtered_by(sources: Sources, query: exp.Query, inside: TrackedRelation, rows: Collection[Occurrence]) -> Sources:
    """Return FROM after a term of WHERE that holds a subquery, with the questions of what the subquery reads.

    While these change, FROM does not. The term has another outcome only for those rows of it for which the subquery
    gives other rows. `rows`: the occurrences for which these rows are those that `x IN (...)` finds x among; for all
    others the rows are those for which there is any such row.
    """
    asked = {o: q.with_edit("in" if o in rows else "exists", query) for o, q in inside.questions.items()}
    return _asked_of_rows(sources, asked)


def listed_by(sources: Sources, query: exp.Query, questions: Questions, rows: Collection[Occurrence]) -> Sources:
    """Return FROM below a SELECT list that holds a subquery, with these questions of what the subquery reads.

    The list says something else of those rows that a term with the subquery would let pass or not. One more term asks
    for them. `rows` as in `filtered_by`.
    """
    asked = {o: q.with_edit("where in" if o in rows else "where exists", query) for o, q in questions.items()}
    found = _asked_of_rows(sources, asked)
    return replace(found, listed=found.listed | frozenset(asked))


def _asked_of_rows(sources: Sources, questions: Questions) -> Sources:
    """Return FROM with questions whose answers are rows of it, while none of these changes."""
    every = frozenset(range(len(sources.slots)))
    answered = {**answered_slots(sources), **dict.fromkeys(questions, every)}
    return with_answers(sources, answered, {**sources.relation.questions, **questions})


def without_term(sources: Sources, term: exp.Expr) -> Sources:
    """Return FROM with a term of WHERE left out of every question."""
    questions = {o: question.with_edit("all rows", term) for o, question in sources.relation.questions.items()}
    return with_questions(sources, questions)


def generated(sources: Sources, call: exp.Expr, names: Names) -> Sources:
    """Return FROM after a generator, which leaves the questions of those occurrences that answer its arguments."""
    return answering(sources, call.iter_expressions(), names)


def answering(sources: Sources, expressions: Iterable[exp.Expr], names: Names) -> Sources:
    """Return FROM with the questions of those occurrences that answer all that some expressions read."""
    read = list(expressions)
    slots, inside = _union(slots_read(expression, names) for expression in read), _listed_in(read, sources)
    answered, questions = answered_slots(sources), sources.relation.questions
    kept = {o: q for o, q in questions.items() if slots is not None and slots <= answered[o] and o not in inside}
    return with_questions(sources, kept)


def _listed_in(expressions: Iterable[exp.Expr], sources: Sources) -> frozenset[Occurrence]:
    """Return the occurrences that subqueries in these items of a SELECT list may read."""
    return sources.listed if any(e.find(exp.Query) for e in expressions) else frozenset()


def with_answers(sources: Sources, answered: Answered, questions: Questions) -> Sources:
    """Return the sources with these slots answered, but for tied ones, and these questions left."""

    def answering_to(slot: int) -> frozenset[Occurrence]:
        return frozenset(o for o, found in answered.items() if slot in found)

    slots = tuple(
        replace(s, column=replace(s.column, answered=frozenset() if s.column.has_ties else answering_to(i)))
        for i, s in enumerate(sources.slots)
    )
    return with_questions(replace(sources, slots=slots), questions)


def with_questions(sources: Sources, questions: Questions) -> Sources:
    """Return the sources with these questions left."""
    return replace(sources, relation=replace(sources.relation, questions=questions))


@dataclass(frozen=True)
class Made:
    """What the items of a SELECT are made of. `levels`: what each GROUP BY and PARTITION BY puts rows together by."""

    names: Names
    levels: tuple[tuple[exp.Expr, ...], ...] = ()

    @property
    def all_answers(self) -> frozenset[Occurrence]:
        """Return the occurrences that a column answers which follows from answered ones in each row."""
        return frozenset() if self.levels else frozenset(self.names.sources.relation.questions)

    def answers(self, item: exp.Expr) -> frozenset[Occurrence]:
        """Return the occurrences whose question an item of the SELECT list answers."""
        expression = item.unalias()
        slots = slots_read(expression, self.names)
        if not slots or not all(self._is_made_by(expression, level) for level in self.levels):
            return frozenset()
        inside = _listed_in([expression], self.names.sources)
        return frozenset(o for o, found in answered_slots(self.names.sources).items() if slots <= found) - inside

    def slot_answers(self, slot: int) -> frozenset[Occurrence]:
        """Return the same for a column that `*` shows."""
        asked = frozenset(self.names.sources.relation.questions)
        is_kept = all(self.names.sources.same(slot) in self._slots(level) for level in self.levels)
        return self.names.sources.slots[slot].column.answered & asked if is_kept else frozenset()

    def _is_made_by(self, expression: exp.Expr, level: Sequence[exp.Expr]) -> bool:
        if any(expression == made.unalias() for made in level):
            return True
        slots = slots_read(expression, self.names)
        return slots is not None and {self.names.sources.same(s) for s in slots} <= self._slots(level)

    def _slots(self, level: Iterable[exp.Expr]) -> frozenset[int]:
        """Return the slots that are members of a level by themselves, the first of equal ones for all of them."""
        columns = (e for e in (made.unalias() for made in level) if isinstance(e, exp.Column))
        found = (self.names.sources.resolve(column) for column in columns)
        return frozenset(self.names.sources.same(slot) for slot in found if slot is not None)


def set_questions(node: exp.SetOperation, left: TrackedRelation, right: TrackedRelation) -> Questions:
    """Return the questions behind a set operation: those of a branch while the other one can be read as empty."""
    questions: dict[Occurrence, Question] = {}
    for branch, other in ((left, right), (right, left)):
        emptied, edits = other.deltas.emptied_by, other.deltas.emptied_with
        if emptied is None:
            continue
        for o, question in branch.questions.items():
            asked = replace(question, edits=question.edits | edits, emptied=question.emptied | emptied)
            questions[o] = asked if isinstance(node, exp.Union) else asked.with_edit("union", node)
    return questions


def is_of_one_row(call: exp.Func) -> bool:
    """Return whether a call gives one value for the columns of a row alone.

    A user-defined function does, or the view is refreshed in full at every run (user_functions.py).
    """
    if isinstance(call, exp.Connector):
        return True
    known = known_of(written_name(call))
    return not (known.aggregate or known.generator or known.volatile or known.time_window or known.order_dependent)


def _union(found: Iterable[frozenset[int] | None]) -> frozenset[int] | None:
    every = list(found)
    return None if None in every else frozenset(slot for slots in every if slots is not None for slot in slots)
