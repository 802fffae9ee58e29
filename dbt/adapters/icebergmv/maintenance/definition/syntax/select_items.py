"""Which part of the text is which item of a SELECT list: sqlglot keeps the places of names, not of expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

_OPEN = frozenset([TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE])
_CLOSE = frozenset([TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE])
_BEFORE = frozenset([TokenType.DISTINCT, TokenType.ALL])
_AFTER = frozenset(
    [
        *(TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY),
        *(TokenType.LIMIT, TokenType.UNION, TokenType.SEMICOLON),
    ]
)


def item_of(node: exp.Expr, items: Mapping[int, Sequence[Token]]) -> Sequence[Token]:
    """Return the tokens of the item of a SELECT list that begins with a node, as `select_items` gives them, if any."""
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    return items.get(min(starts, default=-1), ())


def select_items(tokens: Sequence[Token]) -> dict[int, Sequence[Token]]:
    """Return the tokens of the innermost SELECT item, with its alias, around each token, by the token's start.

    Tokens outside every SELECT list are left out. A list may end too late where it is followed by rare grammar, so the
    caller must check that the text of an item means what it should.
    """
    found: dict[int, Sequence[Token]] = {}
    lists: list[tuple[int, int]] = []  # the depth of each open list, and where its current item begins
    depth = 0

    def end_item(end: int) -> None:
        _, start = lists.pop()
        item = tokens[start:end]
        for token in item:
            found.setdefault(token.start, item)

    for i, token in enumerate(tokens):
        kind = token.token_type
        at = lists[-1] if lists else None
        if kind in _CLOSE:
            while lists and lists[-1][0] == depth:
                end_item(i)
            depth -= 1
        elif kind in _OPEN:
            depth += 1
        elif kind == TokenType.SELECT:
            lists.append((depth, i + 1))
        elif at == (depth, i) and kind in _BEFORE:
            lists[-1] = (depth, i + 1)
        elif at is not None and at[0] == depth and (kind == TokenType.COMMA or kind in _AFTER):
            end_item(i)
            if kind == TokenType.COMMA:
                lists.append((depth, i + 1))
    while lists:
        end_item(len(tokens))
    return found
