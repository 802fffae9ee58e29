"""One tree of a SELECT in which its steps move one after the other as the clock does (see moved_clock.py).

The questions of a SELECT differ in a few places. What is tracked of a common table expression stays as it is until one
of these places is in it, or in one that it reads; and a question is checked against its text in outline. So a question
takes the time that its own place does, not that of the whole text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked, Known, reach_of, scope_of
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock, literals, with_literals
from dbt.adapters.icebergmv.maintenance.definition.clock.clock_places import ClockText
from dbt.adapters.icebergmv.maintenance.definition.clock.moved_steps import MovedStep, edits_of, passing_once
from dbt.adapters.icebergmv.maintenance.definition.edits.added_terms import add_term
from dbt.adapters.icebergmv.maintenance.definition.edits.outlines import outline_around
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import (
    TableReference,
    cte_of,
    find_references,
)
from dbt.adapters.icebergmv.maintenance.definition.rules import track
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse, parses_to
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedRelation
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK


class MovingTree:
    """Gives the questions of a text, in the order of its steps; `known` has the columns of its references."""

    def __init__(self, text: ClockText, known: Known, before: Clock, now: Clock) -> None:
        self.known = known
        self._text = text
        parsed = parse(text.sql)
        is_certain = all(_means_the_same(text, clock) for clock in (before, now))
        self._parsed = parsed if is_certain and isinstance(parsed, ParsedSql) else None
        if self._parsed is None:
            return
        self._references = find_references(self._parsed.tree, known.default_namespace).tables
        self._scope = scope_of(self._parsed, known)
        self._readers = _readers(self._parsed.tree)
        self._nodes = [*self._parsed.nodes]
        self._moved: dict[int, Clock] = {}

    def asked(self, question: MovedStep) -> Asked | None:
        """Return a question; None where it is not certain that its answer shows what the step reaches."""
        if self._parsed is None:
            return None
        edits = edits_of(question)
        if edits is None or not _is_same_by_outline(question, edits):
            return None
        either, moved = passing_once(question)
        select, where = self._select_of(question), None
        for number, step in enumerate(self._text.steps):
            if number != question.number or step.select is not None:
                self._move(number, question.clock_of(number))
        if select is None:
            self._replace(question.number, [either])
        else:
            where = select.args.get("where")
            add_term(select, exp.Paren(this=either))
        self._forget(question.number)
        relation = track(self._parsed.tree, replace(self._scope, moved=moved))
        is_one = sum(node == moved for node in self._parsed.tree.find_all(type(moved))) == 1
        if select is not None:
            select.set("where", where)
            if where is not None:
                # The condition has been put into parentheses, which were its parent meanwhile.
                where.set("this", where.this)
        self._forget(question.number)
        return self._reached(relation, with_edits(self._text.sql, edits), edits) if is_one else None

    def _reached(self, relation: TrackedRelation, sql: str, edits: Sequence[TextEdit]) -> Asked | None:
        question = relation.questions.get(CLOCK)
        # The places of edits are those of a text that is parsed by itself.
        if question is None or question.edits:
            return None
        references = tuple(_behind(reference, edits) for reference in self._references)
        reach = reach_of(relation, references, self._text.parsed)
        return Asked(sql, references, reach={CLOCK.index: reach[CLOCK.index]}) if CLOCK.index in reach else None

    def _select_of(self, question: MovedStep) -> exp.Select | None:
        select = question.step.select
        node = None if select is None else self._nodes[self._text.parsed.numbers[id(select)]]
        return node if isinstance(node, exp.Select) else None

    def _move(self, number: int, clock: Clock) -> None:
        """Give the conditions of a step the values of a clock, unless they have them."""
        if self._moved.get(number) is not clock:
            self._replace(number, [with_literals(c.node, clock) for c in self._text.steps[number].conditions])
            self._moved[number] = clock

    def _replace(self, number: int, nodes: Iterable[exp.Expr]) -> None:
        self._moved.pop(number, None)
        for condition, node in zip(self._text.steps[number].conditions, nodes, strict=True):
            at = self._text.parsed.numbers[id(condition.node)]
            self._nodes[at].replace(node)
            self._nodes[at] = node
        self._forget(number)

    def _forget(self, number: int) -> None:
        """Forget what is tracked of all expressions that a step is in, or that read one."""
        ctes = [id(cte) for node in self._places(number) for cte in _ctes_around(node)]
        while ctes:
            found = ctes.pop()
            if self._scope.tracked.pop(found, None) is not None:
                ctes += self._readers.get(found, ())

    def _places(self, number: int) -> Iterator[exp.Expr]:
        for condition in self._text.steps[number].conditions:
            yield self._nodes[self._text.parsed.numbers[id(condition.node)]]


def _means_the_same(text: ClockText, clock: Clock) -> bool:
    return parses_to(with_edits(text.sql, literals(text.calls, clock)), with_literals(text.parsed.tree, clock))


def _is_same_by_outline(question: MovedStep, edits: Sequence[TextEdit]) -> bool:
    """Return whether the text of a question parses to its tree, as the outline around its conditions shows."""
    text, step = question.text, question.step
    outline = outline_around(text.parsed, [condition.node for condition in step.conditions])
    if outline is None:
        return False
    either, _ = passing_once(question)
    for number, other in enumerate(text.steps):
        for condition in other.conditions:
            is_term = number == question.number and step.select is None
            copy = outline.copies.get(id(condition.node))
            if copy is not None:
                copy.replace(either if is_term else with_literals(condition.node, question.clock_of(number)))
    select = None if step.select is None else outline.copies[id(step.select)]
    if isinstance(select, exp.Select):
        add_term(select, exp.Paren(this=either))
    return parses_to(with_edits(text.sql, [*edits, *outline.edits]), outline.tree.this)


def _readers(tree: exp.Expr) -> dict[int, list[int]]:
    """Return, by the id() of each common table expression, those that read it."""
    found: dict[int, list[int]] = {}
    for table in tree.find_all(exp.Table):
        cte = cte_of(table)
        if cte is not None:
            found.setdefault(id(cte), []).extend(map(id, _ctes_around(table)))
    return found


def _ctes_around(node: exp.Expr) -> Iterator[exp.CTE]:
    around = node.find_ancestor(exp.CTE)
    while around is not None:
        yield around
        around = around.find_ancestor(exp.CTE)


def _behind(reference: TableReference, edits: Iterable[TextEdit]) -> TableReference:
    """Return a reference as it is in the edited text."""
    before = (edit for edit in edits if edit.start <= reference.start)
    moved = sum(len(edit.text) + len(edit.behind) - (edit.end - edit.start) for edit in before)
    return replace(reference, start=reference.start + moved, end=reference.end + moved)
