"""A key that any deterministic expression makes of one column: kept as the user wrote it, for Spark to evaluate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.rules.generators import is_generator
from dbt.adapters.icebergmv.maintenance.definition.rules.projection import Key, Names
from dbt.adapters.icebergmv.maintenance.definition.spark_functions import AGGREGATES
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed

_ARGUMENT_TYPES = frozenset(["string", "int", "bigint", "date", "boolean", "timestamp"])
_NOT_ROW_BY_ROW = (
    exp.Query,
    exp.AggFunc,
    exp.Any,
    exp.Window,
    exp.Lambda,
    exp.Star,
    exp.Parameter,
    exp.Placeholder,
    exp.Dot,
)
_BEFORE = frozenset([TokenType.COMMA, TokenType.SELECT, TokenType.DISTINCT])
_AFTER = frozenset([TokenType.COMMA, TokenType.FROM, TokenType.ALIAS, TokenType.R_PAREN, TokenType.VAR])
_WINDOWS_OF_TIME = frozenset(["window", "session_window", "window_time"])
"""A sliding window makes several rows of one."""

_TRIES = 12
_COLUMN = "?"


def computed_key(expression: exp.Expr, names: Names) -> Key | None:
    """Return the key of an item of a SELECT list that is computed from one column, or None when it is not."""
    inner = expression.unalias()
    columns = list(inner.find_all(exp.Column))
    if not columns or isinstance(inner, exp.Column) or inner.find(*_NOT_ROW_BY_ROW) or is_generator(inner):
        return None
    if any(str(call.this).lower() in AGGREGATES | _WINDOWS_OF_TIME for call in inner.find_all(exp.Anonymous)):
        return None
    slots = {names.sources.resolve(c) for c in columns}
    slot = slots.pop()
    if slots or slot is None:
        return None
    type_ = names.sources.slots[slot].column.type
    text = _text(inner, columns, names.scope.sql, names.scope.tokens)
    if type_ not in _ARGUMENT_TYPES or type_ is None or text is None:
        return None
    return Key(names.sources.same(slot), (Computed(_normalised(inner), text, type_),))


def grouped_key(expression: exp.Expr, names: Names) -> Key | None:
    """Return the key of a grouping expression, to compare with that of an item of the SELECT list."""
    inner = expression.unalias()
    slots = {names.sources.resolve(c) for c in inner.find_all(exp.Column)}
    slot = slots.pop() if slots else None
    if slots or slot is None or isinstance(inner, exp.Column):
        return None
    return Key(names.sources.same(slot), (Computed(_normalised(inner), (), ""),))


def _normalised(inner: exp.Expr) -> str:
    shown = inner.transform(lambda node: exp.column(_COLUMN) if isinstance(node, exp.Column) else node)
    return shown.sql(dialect="spark")


def _text(inner: exp.Expr, columns: Sequence[exp.Column], sql: str, tokens: Sequence[Token]) -> tuple[str, ...] | None:
    """Return the text of the expression around each of its columns, letter for letter; None if it is not found."""
    spans = sorted(_span(c) for c in columns)
    if any(start < 0 for start, _ in spans):
        return None
    for start, end in _candidates(tokens, spans[0][0], spans[-1][1]):
        try:
            (found,) = sqlglot.parse_one(f"SELECT {sql[start:end]}", dialect="spark").expressions
        except (SqlglotError, ValueError, AttributeError):
            continue
        if found == inner:
            ends = [start, *(e for _, e in spans)]
            return tuple(sql[a:b] for a, b in zip(ends, [*(s for s, _ in spans), end], strict=True))
    return None


def _span(column: exp.Column) -> tuple[int, int]:
    parts = [p for p in column.parts if isinstance(p, exp.Identifier) and "start" in p.meta]
    if len(parts) != len(column.parts):
        return (-1, -1)
    return (parts[0].meta["start"], parts[-1].meta["end"] + 1)


def _candidates(tokens: Sequence[Token], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield spans of text that may be the item: from behind a comma or SELECT, up to a comma, alias or FROM."""
    inside = [i for i, t in enumerate(tokens) if first <= t.start < last]
    if not inside:
        return
    starts = [i for i in range(inside[0], -1, -1) if i == 0 or tokens[i - 1].token_type in _BEFORE][:_TRIES]
    ends = [i for i in range(inside[-1], len(tokens)) if i + 1 == len(tokens) or tokens[i + 1].token_type in _AFTER][
        :_TRIES
    ]
    for i in starts:
        for j in ends:
            if _is_balanced(tokens[i : j + 1]):
                yield tokens[i].start, tokens[j].end + 1


def _is_balanced(tokens: Sequence[Token]) -> bool:
    """Return whether every parenthesis is closed; the parser adds one that is missing at the end."""
    types = [t.token_type for t in tokens]
    return types.count(TokenType.L_PAREN) == types.count(TokenType.R_PAREN)
