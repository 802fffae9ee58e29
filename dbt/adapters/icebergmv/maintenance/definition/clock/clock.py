"""The clock functions of a SELECT, and the SELECT with their values in place of them.

The clock is one more input of a view. A refresh reads it once; the functions are replaced in the text by literals of
what they give at that moment, so that every statement of the refresh sees the same one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.clock.clock_columns import written_at_items
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.references.unread_columns import unread_places
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse, parse_expression, parses_to
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name
from dbt.adapters.icebergmv.maintenance.sql.rendering import string_literal

Clock: TypeAlias = Mapping[str, str]
"""What the clock functions give at a moment, as text, by the Spark type that they have."""

CLOCK_TYPES: Mapping[str, str] = {
    "current_date": "date",
    "curdate": "date",
    "current_timestamp": "timestamp",
    "now": "timestamp",
    "localtimestamp": "timestamp_ntz",
}
"""The clock functions, and what type they give."""


_ANY_MOMENT: Clock = {
    "date": "2000-01-01",
    "timestamp": "2000-01-01 00:00:00Z",
    "timestamp_ntz": "2000-01-01 00:00:00",
}


@dataclass(frozen=True)
class ClockCall:
    """The place of a call of a clock function in a text, end exclusive, and the type that it gives."""

    start: int
    end: int
    type: str


@dataclass(frozen=True)
class AtClock:
    """A SELECT with literals in place of its clock functions, and the values of those that its rows depend on.

    `followed` is the SELECT with these functions, and literals in place of the others: these are in columns that
    nothing reads, or that say when their row was written, `written_at` (see clock_columns.py).
    """

    sql: str
    values: Clock
    followed: str
    written_at: frozenset[str] = frozenset()


def at_clock(
    sql: str, clock: Clock, tables: Collection[tuple[ColumnInfo, ...] | None], written_at: Collection[str] = ()
) -> AtClock | None:
    """Return the SELECT at a moment of the clock; None if it calls none, or where that may mean something else.

    `tables` are the columns of the tables that it reads, `written_at` as in clock_columns.py. What its rows do not
    depend on may be missing in the clock.
    """
    parsed = parse(sql)
    if not isinstance(parsed, ParsedSql):
        return None
    calls = clock_calls(parsed.tokens)
    if not calls or _may_mean_columns(parsed, tables) or any(_makes_a_name(n) for n, _ in clock_nodes(parsed.tree)):
        return None
    items = written_at_items(parsed, written_at, CLOCK_TYPES)
    of_no_row = unread_places(sql) | {token.start for tokens in items.values() for token in tokens}
    followed, others = ([c for c in calls if (c.start in of_no_row) is other] for other in (False, True))
    if any(call.type not in clock for call in followed):
        return None
    full = {**_ANY_MOMENT, **clock}
    spliced = with_edits(sql, literals(calls, full))
    if not parses_to(spliced, with_literals(parsed.tree, full)):
        return None
    return AtClock(
        spliced, {c.type: clock[c.type] for c in followed}, with_edits(sql, literals(others, full)), frozenset(items)
    )


def clock_calls(tokens: Sequence[Token]) -> list[ClockCall]:
    """Return what looks like a call of a clock function, in the order of the text."""
    found: list[ClockCall] = []
    for i, token in enumerate(tokens):
        spark_type = CLOCK_TYPES.get(token.text.lower())
        if spark_type is None or token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            continue
        if [t.token_type for t in tokens[i + 1 : i + 3]] == [TokenType.L_PAREN, TokenType.R_PAREN]:
            found.append(ClockCall(token.start, tokens[i + 2].end + 1, spark_type))
        elif known_of(token.text).without_parentheses:
            found.append(ClockCall(token.start, token.end + 1, spark_type))
    return found


def clock_nodes(tree: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    """Yield the calls of clock functions in a syntax tree, with the types that they give."""
    for node in tree.find_all(exp.Func):
        name = written_name(node)
        if name in CLOCK_TYPES:
            yield node, CLOCK_TYPES[name]


def literals(calls: Iterable[ClockCall], clock: Clock) -> list[TextEdit]:
    """Return the edits that put the values of a clock in place of the calls."""
    return [TextEdit(call.start, call.end, _literal(call.type, clock)) for call in calls]


def with_literals(tree: exp.Expr, clock: Clock) -> exp.Expr:
    """Return a copy of the tree with the values of a clock in place of the calls."""
    copy = exp.Paren(this=tree.copy())
    for node, spark_type in list(clock_nodes(copy)):
        node.replace(parse_expression(_literal(spark_type, clock)))
    return copy.this  # type: ignore[no-any-return]


def at_any_moment(text: str, clock: Clock) -> str:
    """Return a text that holds literals of a clock, with words in place of them that are the same at every moment."""
    for spark_type in clock:
        text = text.replace(_literal(spark_type, clock), f"the {spark_type}")
    return text


def _literal(spark_type: str, clock: Clock) -> str:
    return f"{spark_type.upper()} {string_literal(clock[spark_type])}"


def _may_mean_columns(parsed: ParsedSql, tables: Collection[tuple[ColumnInfo, ...] | None]) -> bool:
    """Return whether the name of a clock function may mean a column, which Spark then takes for meant.

    Names of columns are written as such, are those of tables, of fields in them, or of fields that a text names.
    """
    columns = [column for table in tables for column in table or ()]
    names = {*(c.name.lower() for c in columns), *(i.name.lower() for i in parsed.tree.find_all(exp.Identifier))}
    texts = [*(c.type or "" for c in columns), *(t.text for t in parsed.tokens if t.token_type == TokenType.STRING)]
    words = {word for text in texts for word in re.findall(r"\w+", text.lower())}
    return None in tables or any(n in names | words for n in CLOCK_TYPES if known_of(n).without_parentheses)


def _makes_a_name(call: exp.Expr) -> bool:
    """Return whether the text around a call names a column or a field, as it does for an item without an alias."""
    node = call
    while node.parent is not None and not isinstance(node, (exp.Query, exp.Alias)):
        is_item = isinstance(node.parent, exp.Select) and node.arg_key == "expressions"
        if is_item or isinstance(node, (exp.Struct, exp.Pivot)):
            return True
        node = node.parent
    return False
