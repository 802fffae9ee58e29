"""The tokens from which sqlglot makes the tree that Spark would make.

sqlglot leaves the sign out of `+x`, which makes a number of a text, and makes lists of `list[0]` and `array[0]`, which
are of a column of that name. In hints it finds tables, and in `GROUP BY window(ts, '1 hour')` the clause WINDOW. A
parser of our own is no way out: the compiled one (`sqlglot[c]`) has no subclasses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import names_in

_MAKE_LISTS = Spark.Parser.ARRAY_CONSTRUCTORS.keys()
_NAMES = {
    TokenType.IDENTIFIER: TokenType.IDENTIFIER,
    **dict.fromkeys([TokenType.VAR, TokenType.ARRAY, TokenType.LIST], TokenType.VAR),
}
"""The tokens of names, and what they are without another meaning."""

_COLUMN = "\N{INFORMATION SEPARATOR ONE}"
"""Ends the name of a column that would make a list."""

_ENDS_A_VALUE = frozenset(
    [
        *(TokenType.NUMBER, TokenType.STRING, TokenType.RAW_STRING, TokenType.HEX_STRING, TokenType.IDENTIFIER),
        *(TokenType.VAR, TokenType.NULL, TokenType.TRUE, TokenType.FALSE, TokenType.END, TokenType.R_PAREN),
        *(TokenType.R_BRACKET, *Spark.Parser.NO_PAREN_FUNCTIONS),
    ]
)
"""Behind one of them a plus makes a sum."""

# Behind one of them, and at the start, a plus is a sign. Elsewhere it is not understood.
_BEFORE_A_VALUE = frozenset(
    [
        *(TokenType.SELECT, TokenType.DISTINCT, TokenType.ALL, TokenType.HINT, TokenType.FROM, TokenType.FARROW),
        *(TokenType.RLIKE, TokenType.COMMA, TokenType.L_PAREN, TokenType.L_BRACKET),
        *(TokenType.WHERE, TokenType.HAVING, TokenType.QUALIFY, TokenType.ON, TokenType.LIMIT, TokenType.OFFSET),
        *(TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.PARTITION_BY, TokenType.INTERVAL),
        *(TokenType.CASE, TokenType.WHEN, TokenType.THEN, TokenType.ELSE),
        *(TokenType.AND, TokenType.OR, TokenType.NOT, TokenType.BETWEEN, TokenType.LIKE, TokenType.ILIKE),
        *(TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.NULLSAFE_EQ),
        *(TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD, TokenType.DIV),
        *(TokenType.DPIPE, TokenType.PIPE, TokenType.AMP, TokenType.CARET, TokenType.ARROW),
    ]
)


def tokens_for_parser(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens with two signs ~ for a plus that is a sign, with marked names of columns, and without hints.

    The text of a hint is one token. sqlglot makes names of what is in it, and takes their places for those in the SQL.
    `as_spark_reads` knows both in the tree. Raises ValueError where a sign ~ is before such a sign, and
    for a name with a control character.
    """
    kind: TokenType | None = None
    for number, token in enumerate(tokens):
        before, kind = kind, token.token_type
        if before == TokenType.DOT and kind != TokenType.IDENTIFIER:
            kind = TokenType.VAR
        if _COLUMN in token.text:
            raise ValueError("a name with a control character is not understood")
        if before == TokenType.TILDE and kind in (TokenType.TILDE, TokenType.PLUS):
            raise ValueError("a sign ~ before another sign is not understood: use parentheses")
        if kind == TokenType.HINT:
            continue
        if kind == TokenType.PLUS and (before is None or before in _BEFORE_A_VALUE):
            yield from [_as(token, TokenType.TILDE, token.text)] * 2
        elif kind == TokenType.WINDOW and _is_before(TokenType.L_PAREN, tokens, number):
            yield _as(token, TokenType.VAR, token.text)
        elif kind in _NAMES and token.text.upper() in _MAKE_LISTS and _is_before(TokenType.L_BRACKET, tokens, number):
            yield _as(token, _NAMES[kind], token.text + _COLUMN)
        else:
            yield token


def _is_before(kind: TokenType, tokens: Sequence[Token], number: int) -> bool:
    return number + 1 < len(tokens) and tokens[number + 1].token_type == kind


def _as(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end, token.comments)


def as_spark_reads(tree: exp.Expr, read: Sequence[Token]) -> exp.Expr:
    """Return the tree of `tokens_for_parser` with what they stand for. Raises ValueError where a sign is lost."""
    if not _has_all_signs(tree, read):
        raise ValueError("a sign + before a value is not understood here: leave it out, or write positive(...)")
    marked = any(token.text.endswith(_COLUMN) for token in read)
    signs = any(token.token_type == TokenType.TILDE for token in read)
    return tree.transform(_as_written, copy=False) if marked or signs else tree


def _as_written(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Identifier) and node.name.endswith(_COLUMN):
        node.set("this", node.name.removesuffix(_COLUMN))
    if isinstance(node, exp.BitwiseNot) and isinstance(node.this, exp.BitwiseNot):
        value = node.this.this.transform(_as_written, copy=False)
        return exp.Anonymous(this="positive", expressions=[value])
    return node


def _has_all_signs(tree: exp.Expr, read: Sequence[Token]) -> bool:
    """Return whether each ~ is one in the tree, and each plus is behind a value, so that it is a sum."""
    kinds = [token.token_type for token in read]
    negations = kinds.count(TokenType.TILDE)
    if negations and negations != sum(1 for _ in tree.find_all(exp.BitwiseNot)):
        return False
    before = [(n, read[n]) for n, kind in enumerate(kinds[1:]) if kind == TokenType.PLUS]
    named = {name.meta["start"] for name in names_in(tree)} if before else set()
    return all(
        token.token_type in _ENDS_A_VALUE or token.start in named or kinds[max(n - 1, 0)] == TokenType.DCOLON
        for n, token in before
    )
