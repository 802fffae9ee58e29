"""What of a SELECT depends on the order in which rows are read, and which equal texts can be told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import closing
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import in_cte
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of

COLLATION = re.compile(r"\bcollat(e|ion)\b", re.IGNORECASE)
"""Is in the words of a SELECT, or of a type, that has equal texts which can be told apart."""


def names_collation(tokens: Iterable[Token]) -> bool:
    """Return whether a text gives a value a collation, or asks for one, other than in a string or a comment."""
    words = [t for t in tokens if t.token_type != TokenType.STRING]
    calls = (t for t, behind in pairwise(words) if behind.token_type == TokenType.L_PAREN)
    return any(t.text.lower() == "collate" for t in words) or any(t.text.lower() == "collation" for t in calls)


def order_dependence(query: exp.Expr, tokens: Sequence[Token]) -> str | None:
    """Return what depends on the order in which rows are read: an aggregate, or LIMIT; None when nothing does."""
    limit = next(_picking(query), None)
    if limit is not None:
        return f"LIMIT may pick other rows at the next evaluation{in_cte(limit)}"
    calls = order_dependent_calls(tokens)
    return dependence_of(calls[0]) if calls else None


def dependence_of(call: str) -> str:
    """Return what depends on the order of rows where a function of this name does."""
    return f"{call}() depends on the order in which rows are read"


def picks_rows(query: exp.Expr) -> bool:
    """Return whether a LIMIT or its like picks rows. EXISTS asks for any row."""
    return any(True for _ in _picking(query))


def _picking(query: exp.Expr) -> Iterator[exp.Expr]:
    limits = query.find_all(exp.Limit, exp.Offset, exp.Fetch)
    return (x for x in limits if not isinstance(x.parent, exp.Query) or not isinstance(x.parent.parent, exp.Exists))


def order_dependent_calls(tokens: Sequence[Token]) -> list[str]:
    """Return the names of the functions, call by call, whose values depend on the order in which rows are read.

    first_value and its like have an order over a window with ORDER BY.
    """
    found = []
    for position, token in enumerate(tokens[:-1]):
        called = token.token_type != TokenType.STRING and tokens[position + 1].token_type == TokenType.L_PAREN
        function = known_of(token.text)
        ordered = function.ordered_by_window and _is_ordered(tokens, position + 1)
        if called and function.order_dependent and not ordered:
            found.append(function.name)
    return found


def _is_ordered(tokens: Sequence[Token], opened: int) -> bool:
    """Return whether the call, whose parenthesis opens there, is followed by OVER (... ORDER BY ...)."""
    closed = closing(opened, tokens)
    position = len(tokens) if closed is None else closed + 1
    while position < len(tokens) and tokens[position].text.lower() in ("ignore", "respect", "nulls"):
        position += 1
    over = [t.text.lower() for t in tokens[position : position + 2]]
    if over != ["over", "("]:
        return False
    window = tokens[position + 2 : closing(position + 1, tokens)]
    return any(t.token_type == TokenType.ORDER_BY for t in window)
