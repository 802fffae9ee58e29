"""Questions and answers (answers.py) behind a join.

The other side did not change, so all its columns are answered. A term of the condition may see a column which
is not answered. A join that shows every row of the asked side then stays as it is, and only the columns of that side
are answered: which partners a row finds is not known. Of any other join the term is left out, as long as an equality
is left; behind a FULL join only the columns of the equalities that are left are answered then. A row behind an outer
join with NULL in place of the changed side appears or goes as the other row finds a partner among the changed rows:
an inner join shows it, and a semi join those that an anti join shows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from types import NoneType

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import reads_ties
from dbt.adapters.icebergmv.maintenance.definition.rules.answers import (
    Answered,
    answered_slots,
    slots_named,
    with_answers,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.exactness import told_apart
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Sources
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import EditKind, Question, Questions
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK, Occurrence


@dataclass(frozen=True)
class JoinTerm:
    """A term of the condition of a join, and the slots that it reads (None: more than columns); USING has no `node`.

    Equal values of the slots in `apart` make a difference to it. `has_ties`: so does the order of rows.
    """

    slots: frozenset[int] | None
    node: exp.Expr | None = None
    apart: frozenset[int] = frozenset()
    has_ties: bool = False

    def is_known(self, own: frozenset[int], mine: frozenset[int]) -> bool:
        """Return whether it is as true of the answer as of a changed row, of whose side `own` are answered.

        The rows of the other side are those of the answer.
        """
        is_one_row = self.slots is not None and not self.has_ties
        return is_one_row and self.slots & mine <= own and self.apart.isdisjoint(mine)  # type: ignore[operator]


def term_of_join(term: exp.Expr, names: Names) -> JoinTerm:
    """Return a term of the condition of a join."""
    return JoinTerm(slots_named(term, names), term, told_apart(term, names), reads_ties(term, names.sources))


def joined_answers(
    left: Sources, right: Sources, join: exp.Join, terms: Sequence[JoinTerm]
) -> tuple[Answered, Questions]:
    """Return the answered slots of both sides of a join, left ones first, and the questions that are left."""
    side, kind = join.side, join.kind
    offset, width = len(left.slots), len(left.slots) + len(right.slots)
    lefts, rights = frozenset(range(offset)), frozenset(range(offset, width))
    answered: dict[Occurrence, frozenset[int]] = {}
    questions: dict[Occurrence, Question] = {}
    for sources, shift, mine, theirs in ((left, 0, lefts, rights), (right, offset, rights, lefts)):
        other = (right if sources is left else left).relation
        if other.has_ties and (other.loosened is None or side == "FULL" or (kind == "ANTI" and sources is left)):
            continue  # Its rows may be others than those that the stored rows come from.
        for o, slots in answered_slots(sources).items():
            own = frozenset(slot + shift for slot in slots)
            unknown = [t for t in terms if not t.is_known(own, mine)]
            question, is_left = sources.relation.questions[o], sources is left
            if other.has_ties:
                question = replace(question, edits=question.edits | (other.loosened or frozenset()))
            if unknown and kind not in ("SEMI", "ANTI") and side == ("LEFT" if is_left else "RIGHT"):
                answered[o], questions[o] = own, question
                continue
            if unknown and (not _still_joins(terms, unknown, mine, theirs) or (kind == "ANTI" and is_left)):
                continue
            answered[o], edit = _behind(join, is_left, own, theirs, bool(unknown))
            for term in unknown:
                question = question if term.node is None else question.with_edit("all rows", term.node)
            questions[o] = question if edit is None else question.with_edit(edit, join)
    return answered, questions


def _behind(
    join: exp.Join, is_left: bool, own: frozenset[int], theirs: frozenset[int], is_looser: bool
) -> tuple[frozenset[int], EditKind | None]:
    """Return the slots that are answered behind a join, and what it becomes in the question (None: it stays).

    `own` are those answered of the side that is asked, the left one or the right one, `theirs` all of the other.
    `is_looser`: terms of the condition are left out.
    """
    if join.kind in ("SEMI", "ANTI"):
        return (own, None) if is_left else (theirs, "semi join" if join.kind == "ANTI" else None)
    if join.side == "FULL":
        # A row that finds no partner may find one where terms are left out.
        return frozenset() if is_looser else theirs, "left join" if is_left else "right join"
    if join.side == ("RIGHT" if is_left else "LEFT"):
        return theirs, "inner join"
    return own | theirs, None


def _still_joins(
    terms: Iterable[JoinTerm], unknown: Collection[JoinTerm], mine: frozenset[int], theirs: frozenset[int]
) -> bool:
    """Return whether a join without some of its terms is still one by an equality, and not of all pairs of rows."""
    if any(t.node is None for t in unknown):
        return False
    kept = (t for t in terms if t not in unknown and isinstance(t.node, (exp.EQ, exp.NullSafeEQ, NoneType)))
    return any(t.slots and t.slots & mine and t.slots & theirs for t in kept)


def asked_about_join(both: Sources, offset: int, join: exp.Join) -> Sources:
    """Return both sides of a join with what a term of ON answers that other pairs pass when the clock moves.

    The term is read as the pairs that pass once. A row of a side that is kept changes when it is in such a pair; what
    else it shows is not known, so it answers itself alone. In a FULL join neither side does.
    """
    side, kind = join.side, join.kind
    if side == "FULL" or both.relation.has_ties:
        return both
    lefts, rights = range(offset), range(offset, len(both.slots))
    own = {"LEFT": lefts, "RIGHT": rights}.get(side, range(len(both.slots)))
    question = Question()
    if kind == "ANTI":
        question = question.with_edit("semi join", join)
    elif side and kind != "SEMI":
        question = question.with_edit("inner join", join)
    answered = {**answered_slots(both), CLOCK: frozenset(own)}
    return with_answers(both, answered, {**both.relation.questions, CLOCK: question})
