"""The text and the tree of a question about one step of a clock that moved (see moved_clock.py)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.asking.moved_values import passes_once
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock, literals, with_literals
from dbt.adapters.icebergmv.maintenance.definition.clock.clock_places import ClockText, Condition, Step
from dbt.adapters.icebergmv.maintenance.definition.edits.added_terms import add_term, edits_for_term
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conjuncts


@dataclass(frozen=True)
class MovedStep:
    """One step of a text, between two values of the clock; what the SELECT of the step shows is as of `own`."""

    text: ClockText
    number: int
    before: Clock
    now: Clock
    own: Clock

    @property
    def step(self) -> Step:
        """Return what moves."""
        return self.text.steps[self.number]

    def clock_of(self, number: int) -> Clock:
        """Return the clock of a step, which may have moved, or be to move."""
        return self.own if number == self.number else self.now if number < self.number else self.before


def edits_of(question: MovedStep) -> list[TextEdit] | None:
    """Return the edits that make the text of a question; None where a place in the text is not known."""
    text, step = question.text, question.step
    edits: list[TextEdit] = []
    for number, other in enumerate(text.steps):
        if number != question.number or step.select is not None:
            own = [call for call in text.calls if any(c.holds(call) for c in other.conditions)]
            edits += literals(own, question.clock_of(number))
    differences = [_difference(question, condition) for condition in step.distinct]
    if step.select is None:
        (term,) = step.conditions
        return [*edits, TextEdit(term.start, term.end, differences[0])]
    any_of = TextEdit(0, 0, f"({' OR '.join(differences)})")
    passes = edits_for_term(step.select, any_of, text.parsed.tokens)
    return None if passes is None else [*passes, *edits]


def _difference(question: MovedStep, condition: Condition) -> str:
    sql = question.text.sql[condition.start : condition.end]
    own = [c for c in question.text.calls if condition.holds(c)]
    moved = [replace(c, start=c.start - condition.start, end=c.end - condition.start) for c in own]
    old, new = (with_edits(sql, literals(moved, clock)) for clock in (question.before, question.now))
    return passes_once(new, old) if condition.is_plain else f"(NOT (({new}) <=> ({old})))"


def asked_tree(question: MovedStep) -> tuple[exp.Expr, exp.Expr]:
    """Return the tree that the text of a question must have, and the term in it that says which rows move."""
    text, step = question.text, question.step
    numbers = text.parsed.numbers
    copy = exp.Paren(this=text.parsed.tree.copy())
    nodes = list(copy.this.walk())
    either, moved = passing_once(question)
    for number, other in enumerate(text.steps):
        for condition in other.conditions:
            is_term = number == question.number and step.select is None
            changed = either if is_term else with_literals(condition.node, question.clock_of(number))
            nodes[numbers[id(condition.node)]].replace(changed)
    if step.select is not None:
        select = nodes[numbers[id(step.select)]]
        if isinstance(select, exp.Select):
            add_term(select, exp.Paren(this=either))
    return copy.this, moved


def passing_once(question: MovedStep) -> tuple[exp.Expr, exp.Expr]:
    """Return the condition that holds for the rows that move, and the node of its AND by which the rules know it.

    Of one condition that is the second half, of several all of them.
    """
    first, *others = (_difference_tree(question, condition) for condition in question.step.distinct)
    either = reduce(lambda left, right: exp.Or(this=left, expression=right), others, first)
    *_, moved = conjuncts(either)
    return either, moved


def _difference_tree(question: MovedStep, condition: Condition) -> exp.Expr:
    clocks = (question.before, question.now)
    old, new = (exp.Paren(this=with_literals(condition.node, clock)) for clock in clocks)
    moved = exp.Not(this=exp.Paren(this=exp.NullSafeEQ(this=new.copy(), expression=old.copy())))
    if not condition.is_plain:
        return exp.Paren(this=moved)
    return exp.Paren(this=exp.And(this=exp.Paren(this=exp.Or(this=new, expression=old)), expression=moved))
