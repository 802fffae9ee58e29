"""A key that any deterministic expression makes of one column: kept as the user wrote it, for Spark to evaluate."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import is_generator
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import span_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import DIALECT, parse_query
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Key, Names
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Scope
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
_COLUMN = "?"


def computed_key(expression: exp.Expr, names: Names) -> Key | None:
    """Return the key of an item of a SELECT list that is computed from one column, or None when it is not."""
    inner = expression.unalias()
    columns = list(inner.find_all(exp.Column))
    if not columns or isinstance(inner, exp.Column) or inner.find(*_NOT_ROW_BY_ROW) or is_generator(inner):
        return None
    called = [known_of(written_name(call, names.scope.sql)) for call in inner.find_all(exp.Func)]
    if any(function.aggregate or function.time_window for function in called):
        return None
    slots = {names.sources.resolve(c) for c in columns}
    slot = slots.pop()
    if slots or slot is None:
        return None
    type_ = names.sources.slots[slot].column.type
    text = _text(expression, columns, names.scope)
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
    return shown.sql(dialect=DIALECT, comments=False)


def _text(item: exp.Expr, columns: Sequence[exp.Column], scope: Scope) -> tuple[str, ...] | None:
    """Return the text of the item without its alias, cut at each of its columns; None if it is not found."""
    spans = sorted(span_of(c) for c in columns)
    tokens = _without_alias(item, scope.items.get(spans[0][0], ()))
    if spans[0][0] < 0 or not tokens:
        return None
    start, end = tokens[0].start, tokens[-1].end + 1
    query = parse_query(f"SELECT {scope.sql[start:end]}")
    if query is None or query.selects != [item.unalias()]:
        return None
    ends = [start, *(e for _, e in spans)]
    return tuple(scope.sql[a:b] for a, b in zip(ends, [*(s for s, _ in spans), end], strict=True))


def _without_alias(item: exp.Expr, tokens: Sequence[Token]) -> Sequence[Token]:
    if not isinstance(item, exp.Alias):
        return tokens
    return tokens[:-2] if len(tokens) > 1 and tokens[-2].token_type == TokenType.ALIAS else tokens[:-1]
