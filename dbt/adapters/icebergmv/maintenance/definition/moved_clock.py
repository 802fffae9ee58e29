"""Which output rows does another value of the clock reach? It is asked of each term of a WHERE that reads the clock.

The rows of FROM stay what they are. A term passes other rows where one value of the clock makes it true and the other
does not. So the question is the SELECT with this difference in place of the term:

    (new OR old) AND NOT (new <=> old)

Each row that passes with one value alone is among the rows for which this is true, whatever is NULL in it; the first
half is there for Iceberg, which prunes files by it. The answer flows upwards as that of changed rows of a table does
(see rules/answers.py); all columns of FROM are answered. Several terms are asked one after the other, those before in
the text with the new value, those after it with the old one, so that the steps lead from the old rows to the new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.asking import Asked, Known, origins_of, reach_of, scope_of
from dbt.adapters.icebergmv.maintenance.definition.clauses import Span
from dbt.adapters.icebergmv.maintenance.definition.clock import (
    Clock,
    ClockCall,
    clock_calls,
    clock_nodes,
    literals,
    with_literals,
)
from dbt.adapters.icebergmv.maintenance.definition.cte_copies import with_copies
from dbt.adapters.icebergmv.maintenance.definition.determinism import names_collation
from dbt.adapters.icebergmv.maintenance.definition.moved_values import passes_once
from dbt.adapters.icebergmv.maintenance.definition.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.query_edits import term_span
from dbt.adapters.icebergmv.maintenance.definition.rules import track
from dbt.adapters.icebergmv.maintenance.definition.rules.equalities import term_around
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import CLOCK
from dbt.adapters.icebergmv.maintenance.definition.table_references import TextEdit, find_references, with_edits


@dataclass(frozen=True)
class _Term:
    """A term of a WHERE that reads the clock: its node, and its place in the text."""

    node: exp.Expr
    start: int
    end: int


@dataclass(frozen=True)
class _Text:
    """A parsed text with its clock calls and the terms that hold them, in the order of the text."""

    sql: str
    parsed: ParsedSql
    calls: Sequence[ClockCall]
    terms: Sequence[_Term]


def asked_of_clock(sql: str, known: Known, before: Clock, now: Clock) -> tuple[Asked, ...] | None:
    """Return a question for each term of the SELECT that reads the clock, which moved from one value to another.

    `known` has the columns of the references of the text. Each question is the reach of CLOCK. None where the clock is
    read in another place, or where a question would not say all that a term reaches.
    """
    copies, written = with_copies(sql), parse(sql)
    parsed = None if copies is None else parse(copies.sql)
    if copies is None or not isinstance(parsed, ParsedSql) or not isinstance(written, ParsedSql):
        return None
    if names_collation(parsed.tokens):
        return None
    text = _text(copies.sql, parsed)
    originals = find_references(written.tree, known.default_namespace).tables
    origins = origins_of(find_references(parsed.tree, known.default_namespace).tables, originals, copies)
    if text is None or origins is None:
        return None
    columns = {copy: known.columns.get(origin) for copy, origin in origins.items()}
    found: list[Asked] = []
    for term in text.terms:
        asked = _asked(text, term, replace(known, columns=columns), (before, now))
        if asked is None:
            return None
        found.append(replace(asked, origins=origins))
    return tuple(found)


def _text(sql: str, parsed: ParsedSql) -> _Text | None:
    """Return the text with its terms; None if a clock is read outside of them, or beside a subquery."""
    nodes: dict[int, exp.Expr] = {}
    for call, _ in clock_nodes(parsed.tree):
        term = _term_of(call)
        if term is None or term.find(exp.Query):
            return None
        nodes[id(term)] = term
    terms: list[_Term] = []
    for node in nodes.values():
        span = term_span(node, parsed.tokens)
        if span is None or span.end <= span.start:
            return None
        terms.append(_Term(node, *_place(span, parsed)))
    terms.sort(key=lambda term: term.start)
    return _Text(sql, parsed, clock_calls(parsed.tokens), terms)


def _term_of(call: exp.Expr) -> exp.Expr | None:
    """Return the term of the WHERE of a SELECT that holds a call."""
    where = call.find_ancestor(exp.Where, exp.Query)
    if not isinstance(where, exp.Where) or not isinstance(where.parent, exp.Select):
        return None
    return term_around(where, call)


def _place(span: Span, parsed: ParsedSql) -> tuple[int, int]:
    return parsed.tokens[span.start].start, parsed.tokens[span.end - 1].end + 1


def _asked(text: _Text, term: _Term, known: Known, clocks: tuple[Clock, Clock]) -> Asked | None:
    """Return the question of one term; None where its answer does not show what the term reaches."""
    sql, (expected, moved) = _asked_sql(text, term, clocks), _asked_tree(text, term, clocks)
    parsed = parse(sql)
    if not isinstance(parsed, ParsedSql) or parsed.tree != expected:
        return None
    if sum(node == moved for node in parsed.tree.find_all(type(moved))) != 1:
        return None
    references = find_references(parsed.tree, known.default_namespace).tables
    relation = track(parsed.tree, replace(scope_of(parsed, sql, known), moved=moved))
    reach = reach_of(relation, references, parsed, sql)
    return Asked(sql, references, reach={CLOCK.index: reach[CLOCK.index]}) if CLOCK.index in reach else None


def _asked_sql(text: _Text, term: _Term, clocks: tuple[Clock, Clock]) -> str:
    before, now = clocks
    own = [c for c in text.calls if term.start <= c.start < term.end]
    moved = [replace(c, start=c.start - term.start, end=c.end - term.start) for c in own]
    old, new = (with_edits(text.sql[term.start : term.end], literals(moved, clock)) for clock in clocks)
    return with_edits(
        text.sql,
        [
            *literals([c for c in text.calls if c.start < term.start], now),
            TextEdit(term.start, term.end, passes_once(new, old)),
            *literals([c for c in text.calls if c.start >= term.end], before),
        ],
    )


def _asked_tree(text: _Text, term: _Term, clocks: tuple[Clock, Clock]) -> tuple[exp.Expr, exp.Expr]:
    """Return the tree that the text of a question must have, and the difference in it."""
    before, now = clocks
    numbers = {id(node): number for number, node in enumerate(text.parsed.tree.walk())}
    copy = exp.Paren(this=text.parsed.tree.copy())
    nodes = list(copy.this.walk())
    old, new = (exp.Paren(this=with_literals(term.node, clock)) for clock in clocks)
    moved = exp.Not(this=exp.Paren(this=exp.NullSafeEQ(this=new.copy(), expression=old.copy())))
    either = exp.Paren(this=exp.Or(this=new, expression=old))
    for other in text.terms:
        clock = now if other.start <= term.start else before
        changed = with_literals(other.node, clock)
        if other is term:
            changed = exp.Paren(this=exp.And(this=either, expression=moved.copy()))
        nodes[numbers[id(other.node)]].replace(changed)
    return copy.this, moved
