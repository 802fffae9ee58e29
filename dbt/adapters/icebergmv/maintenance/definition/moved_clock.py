"""Which output rows does another value of the clock reach? It is asked of each place of a SELECT that reads the clock.

The rows of FROM stay what they are. A term of a WHERE passes other rows where one value of the clock makes it true and
the other does not. So the question is the SELECT with this difference in place of the term:

    (new OR old) AND NOT (new <=> old)

Each row that passes with one value alone is among the rows for which this is true, whatever is NULL in it; the first
half is there for Iceberg, which prunes files by it. A condition in the list of a SELECT, as in
`sum(CASE WHEN d >= current_date - 30 THEN amount END)`, says something else of these rows alone; so the difference is
one more term of the WHERE. Where a condition may turn from NULL to false, the first half is left out.

The answer flows upwards as that of changed rows of a table does (see rules/answers.py); all columns of FROM are
answered. Several places are asked one after the other, those before in the text with the new value, those after it with
the old one, so that the steps lead from the old rows to the new. Where a row may be told by what a condition in a list
says, both the row that it was and the row that it is are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.added_terms import add_term, edits_for_term
from dbt.adapters.icebergmv.maintenance.definition.asking import Asked, Known, origins_of, reach_of, scope_of
from dbt.adapters.icebergmv.maintenance.definition.clock import Clock, literals, with_literals
from dbt.adapters.icebergmv.maintenance.definition.clock_places import ClockText, Condition, Step, clock_text
from dbt.adapters.icebergmv.maintenance.definition.cte_copies import with_copies
from dbt.adapters.icebergmv.maintenance.definition.determinism import names_collation
from dbt.adapters.icebergmv.maintenance.definition.moved_values import passes_once
from dbt.adapters.icebergmv.maintenance.definition.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.rules import track
from dbt.adapters.icebergmv.maintenance.definition.rules.equalities import conjuncts
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import CLOCK
from dbt.adapters.icebergmv.maintenance.definition.table_references import TextEdit, find_references, with_edits


def asked_of_clock(sql: str, known: Known, before: Clock, now: Clock) -> tuple[Asked, ...] | None:
    """Return what to ask of each place of the SELECT that reads the clock, which moved from one value to another.

    `known` has the columns of the references of the text. Each question is the reach of CLOCK. None where the clock is
    read in another place, or where a question would not say all that it reaches.
    """
    copies, written = with_copies(sql), parse(sql)
    parsed = None if copies is None else parse(copies.sql)
    if copies is None or not isinstance(parsed, ParsedSql) or not isinstance(written, ParsedSql):
        return None
    if names_collation(parsed.tokens):
        return None
    text = clock_text(copies.sql, parsed)
    originals = find_references(written.tree, known.default_namespace).tables
    origins = origins_of(find_references(parsed.tree, known.default_namespace).tables, originals, copies)
    if text is None or origins is None:
        return None
    columns = {copy: known.columns.get(origin) for copy, origin in origins.items()}
    found: list[Asked] = []
    for number, step in enumerate(text.steps):
        for own in (before, now) if step.shows else (now,):
            asked = _asked(_Question(text, number, before, now, own), replace(known, columns=columns))
            if asked is None:
                return None
            found.append(replace(asked, origins=origins))
    return tuple(found)


@dataclass(frozen=True)
class _Question:
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


def _asked(question: _Question, known: Known) -> Asked | None:
    """Return a question; None where its answer does not show what the step reaches."""
    sql, (expected, moved) = _asked_sql(question), _asked_tree(question)
    parsed = parse(sql) if sql is not None else None
    if sql is None or not isinstance(parsed, ParsedSql) or parsed.tree != expected:
        return None
    if sum(node == moved for node in parsed.tree.find_all(type(moved))) != 1:
        return None
    references = find_references(parsed.tree, known.default_namespace).tables
    relation = track(parsed.tree, replace(scope_of(parsed, sql, known), moved=moved))
    reach = reach_of(relation, references, parsed, sql)
    return Asked(sql, references, reach={CLOCK.index: reach[CLOCK.index]}) if CLOCK.index in reach else None


def _asked_sql(question: _Question) -> str | None:
    text, step = question.text, question.step
    edits: list[TextEdit] = []
    for number, other in enumerate(text.steps):
        if number != question.number or step.select is not None:
            own = [call for call in text.calls if any(c.holds(call) for c in other.conditions)]
            edits += literals(own, question.clock_of(number))
    differences = [_difference(question, condition) for condition in step.distinct]
    if step.select is None:
        (term,) = step.conditions
        return with_edits(text.sql, [*edits, TextEdit(term.start, term.end, differences[0])])
    any_of = TextEdit(0, 0, f"({' OR '.join(differences)})")
    passes = edits_for_term(step.select, any_of, text.parsed.tokens)
    return None if passes is None else with_edits(text.sql, [*passes, *edits])


def _difference(question: _Question, condition: Condition) -> str:
    sql = question.text.sql[condition.start : condition.end]
    own = [c for c in question.text.calls if condition.holds(c)]
    moved = [replace(c, start=c.start - condition.start, end=c.end - condition.start) for c in own]
    old, new = (with_edits(sql, literals(moved, clock)) for clock in (question.before, question.now))
    return passes_once(new, old) if condition.is_plain else f"(NOT (({new}) <=> ({old})))"


def _asked_tree(question: _Question) -> tuple[exp.Expr, exp.Expr]:
    """Return the tree that the text of a question must have, and the term in it that says which rows move."""
    text, step = question.text, question.step
    numbers = {id(node): number for number, node in enumerate(text.parsed.tree.walk())}
    copy = exp.Paren(this=text.parsed.tree.copy())
    nodes = list(copy.this.walk())
    # The rules know the term by this node of its AND: of one condition the second half, of several all of them.
    first, *others = (_difference_tree(question, condition) for condition in step.distinct)
    either = reduce(lambda left, right: exp.Or(this=left, expression=right), others, first)
    *_, moved = conjuncts(either)
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


def _difference_tree(question: _Question, condition: Condition) -> exp.Expr:
    clocks = (question.before, question.now)
    old, new = (exp.Paren(this=with_literals(condition.node, clock)) for clock in clocks)
    moved = exp.Not(this=exp.Paren(this=exp.NullSafeEQ(this=new.copy(), expression=old.copy())))
    if not condition.is_plain:
        return exp.Paren(this=moved)
    return exp.Paren(this=exp.And(this=exp.Paren(this=exp.Or(this=new, expression=old)), expression=moved))
