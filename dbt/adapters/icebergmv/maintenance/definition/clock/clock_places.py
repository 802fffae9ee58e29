"""Where a SELECT reads the clock, as steps: the calls in a step move together, while all else stays what it is.

A term of a WHERE or of an ON is a step of its own. So are all conditions in the list and the GROUP BY of one SELECT, as
in `sum(CASE WHEN d >= current_date - 30 THEN amount END)`: text that must stay the same in both places moves at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.asking.query_edits import term_span
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import ClockCall, clock_calls, clock_nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import is_aggregate
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import Span, characters, names_in, token_at
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import is_column_named
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import terms_with

_COMPARISONS = (
    *(exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.NEQ, exp.Between),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.In),
)
_OF_DATES = (
    *(exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.DateAdd, exp.DateSub, exp.TsOrDsAdd),
    *(exp.AddMonths, exp.LastDay, exp.TsOrDsToDate),
)
"""What gives no NULL of a date, a time, an interval and numbers."""
_TRUNCATING = (exp.DateTrunc, exp.TimestampTrunc)
"""What gives NULL at every date where the unit is none."""
_OPENS = {
    *(TokenType.AND, TokenType.OR, TokenType.NOT, TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.COMMA),
    *(TokenType.L_PAREN, TokenType.SELECT, TokenType.WHERE, TokenType.CASE, TokenType.DISTINCT, TokenType.GROUP_BY),
    *(TokenType.PARTITION_BY, TokenType.ORDER_BY),
}
_CLOSES = {
    *(TokenType.AND, TokenType.OR, TokenType.THEN, TokenType.ELSE, TokenType.END, TokenType.WHEN, TokenType.COMMA),
    *(TokenType.R_PAREN, TokenType.FROM, TokenType.ALIAS, *(TokenType.HAVING, TokenType.QUALIFY, TokenType.ORDER_BY)),
}
_FURTHEST = 40
"""Tokens to either side of the names in a condition."""


@dataclass(frozen=True)
class Condition:
    """A condition that reads the clock: its node, and its place in the text.

    `is_plain`: where it is NULL at one date, it is at every date.
    """

    node: exp.Expr
    start: int
    end: int
    is_plain: bool = True

    def holds(self, call: ClockCall) -> bool:
        """Return whether a call is in it."""
        return self.start <= call.start < self.end


@dataclass(frozen=True)
class Step:
    """Conditions that move together: a term of a WHERE or an ON, or those in the list and the GROUP BY of `select`.

    `shows` is whether rows of the SELECT may be told by what a condition says. Not so in an aggregate or a window.
    """

    conditions: tuple[Condition, ...]
    select: exp.Select | None = None
    shows: bool = False

    @property
    def distinct(self) -> tuple[Condition, ...]:
        """Return the conditions, the first of equal ones for all of them."""
        return tuple({c.node: c for c in reversed(self.conditions)}.values())


@dataclass(frozen=True)
class ClockText:
    """A parsed text with its clock calls and the steps that hold them, in the order of the text."""

    parsed: ParsedSql
    calls: Sequence[ClockCall]
    steps: Sequence[Step]

    @property
    def sql(self) -> str:
        """Return the text."""
        return self.parsed.sql


def clock_text(parsed: ParsedSql) -> ClockText | None:
    """Return the text with its steps; None if a clock is read outside of them, or beside a subquery."""
    terms: dict[int, exp.Expr] = {}
    listed: dict[int, dict[int, exp.Expr]] = {}
    selects: dict[int, exp.Select] = {}
    for call, _ in clock_nodes(parsed.tree):
        term = _term_of(call)
        if term is not None:
            terms[id(term)] = term
            continue
        condition, select = _condition_of(call), call.find_ancestor(exp.Query)
        if condition is None or not isinstance(select, exp.Select):
            return None
        selects[id(select)] = select
        listed.setdefault(id(select), {})[id(condition)] = condition
    steps = [_step_of_term(term, parsed) for term in terms.values()]
    steps += [_step_of_list(selects[of], list(found.values()), parsed) for of, found in listed.items()]
    calls, known = clock_calls(parsed.tokens), [step for step in steps if step is not None]
    places = [c for step in known for c in step.conditions]
    if len(known) < len(steps) or any(sum(p.holds(call) for p in places) != 1 for call in calls):
        return None
    return ClockText(parsed, calls, sorted(known, key=lambda step: step.conditions[0].start))


def _term_of(call: exp.Expr) -> exp.Expr | None:
    """Return the term of the WHERE of a SELECT, or of the ON of a join, that holds a call."""
    clause = call.find_ancestor(exp.Where, exp.Join, exp.Query)
    is_where = isinstance(clause, exp.Where) and isinstance(clause.parent, exp.Select)
    if clause is None or not (is_where or isinstance(clause, exp.Join)):
        return None
    condition = clause.this if is_where else clause.args.get("on")
    return next(terms_with(condition, call), None)


def _step_of_term(term: exp.Expr, parsed: ParsedSql) -> Step | None:
    span = None if term.find(exp.Query) else term_span(term, parsed.tokens)
    if span is None or span.end <= span.start:
        return None
    return Step((Condition(term, *characters(span, parsed.tokens)),))


def _condition_of(call: exp.Expr) -> exp.Expr | None:
    """Return the comparison around a call, if it is made of columns of one row; with the NOT of NOT BETWEEN."""
    node = call.find_ancestor(*_COMPARISONS, exp.Query)
    if node is None or isinstance(node, exp.Query) or not node.find(exp.Column) or node.find(exp.Query, exp.Window):
        return None
    if call.find_ancestor(exp.Lambda, exp.Query) is not node.find_ancestor(exp.Query):
        return None  # It may name what the lambda function is given.
    if any(is_aggregate(inner) for inner in node.walk()):
        return None
    return node.parent if isinstance(node, exp.Between) and isinstance(node.parent, exp.Not) else node


def _is_plain(condition: exp.Expr) -> bool:
    """Return whether a comparison is NULL at one date if it is at every date.

    Not so `current_date BETWEEN a AND b`: with NULL for b it is false before a, and NULL from there on.
    """
    compared = condition.this if isinstance(condition, exp.Not) else condition
    match compared:
        case exp.NullSafeEQ() | exp.NullSafeNEQ():
            return True
        case exp.Between():
            of_dates = [compared.args["low"], compared.args["high"]]
        case exp.In():
            of_dates = list(compared.expressions)
        case _:
            return all(_is_of_dates(side, _TRUNCATING) for side in compared.iter_expressions() if _reads_clock(side))
    return all(map(_is_of_dates, of_dates)) and (not _reads_clock(compared.this) or _is_of_dates(compared.this))


def _reads_clock(node: exp.Expr) -> bool:
    return any(True for _ in clock_nodes(node))


def _is_of_dates(node: exp.Expr, besides: tuple[type[exp.Expr], ...] = ()) -> bool:
    """Return whether an expression is made of clock functions and constants so that it is never NULL.

    With `besides` it may be NULL at every date.
    """
    if isinstance(node, exp.Interval):
        return node.find(exp.Column) is None
    if isinstance(node, exp.Literal):
        return not node.is_string
    if isinstance(node, besides):
        return _is_of_dates(node.this, besides)
    if any(found is node for found, _ in clock_nodes(node)):
        return True
    parts = [part for part in node.iter_expressions() if not isinstance(part, exp.Var)]
    return isinstance(node, _OF_DATES) and all(_is_of_dates(part, besides) for part in parts)


def _step_of_list(select: exp.Select, conditions: Sequence[exp.Expr], parsed: ParsedSql) -> Step | None:
    """Return the step of conditions in the list and the GROUP BY of a SELECT; None if one is not found there."""
    named = [item for item in select.expressions if isinstance(item, exp.Alias)]
    aliases = {item.alias.lower() for item in named if not is_column_named(item.alias, item.this)}
    found: list[Condition] = []
    for node in conditions:
        names = {column.name.lower() for column in node.find_all(exp.Column) if not column.table}
        place = _place_of(node, parsed.sql, parsed.tokens)
        if place is None or not _is_listed(node, select) or not names.isdisjoint(aliases):
            return None
        found.append(Condition(node, *place, is_plain=_is_plain(node)))
    found.sort(key=lambda condition: condition.start)
    return Step(tuple(found), select, not all(_is_taken(node, select) for node in conditions))


def _is_listed(node: exp.Expr, select: exp.Select) -> bool:
    top = node
    while top.parent is not None and top.parent is not select:
        top = top.parent
    return top is select.args.get("group") or any(top is item for item in select.expressions)


def _is_taken(node: exp.Expr, select: exp.Select) -> bool:
    """Return whether an aggregate or a window of the SELECT takes what a condition says, and is not partitioned by it.

    Both show the same group, or the same partition, whatever it says.
    """
    is_taken = False
    while node.parent is not None and node.parent is not select:
        if isinstance(node.parent, exp.Window) and node.arg_key == "partition_by":
            return False
        node = node.parent
        is_taken = is_taken or is_aggregate(node) or isinstance(node, (exp.Filter, exp.Window))
    return is_taken


def _place_of(node: exp.Expr, sql: str, tokens: Sequence[Token]) -> tuple[int, int] | None:
    """Return where the text has a condition: the least text around its names that parses to it."""
    places = [int(name.meta["start"]) for name in names_in(node)]
    first, last = (token_at(edge(places, default=None), tokens) for edge in (min, max))
    if first is None or last is None:
        return None
    for start, end in _around(first, last, tokens):
        first_character, behind = characters(Span(start, end), tokens)
        again = parse(f"SELECT {sql[first_character:behind]}")
        if isinstance(again, ParsedSql) and again.tree.expressions == [node]:
            return first_character, behind
    return None


def _around(first: int, last: int, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield the first token, and the one behind the last, of what may be an expression around two tokens."""
    starts = [i for i in range(first, max(first - _FURTHEST, 0), -1) if tokens[i - 1].token_type in _OPENS]
    behind = range(last + 1, min(last + _FURTHEST, len(tokens)) + 1)
    ends = [i for i in behind if i == len(tokens) or tokens[i].token_type in _CLOSES]
    for start, end in sorted(product(starts, ends), key=lambda place: place[1] - place[0]):
        kinds = [token.token_type for token in tokens[start:end]]
        if kinds.count(TokenType.L_PAREN) == kinds.count(TokenType.R_PAREN):
            yield start, end
