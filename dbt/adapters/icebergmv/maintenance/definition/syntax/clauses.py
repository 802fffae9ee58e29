"""Where the clauses of a query are in its tokens. sqlglot keeps the places of names, not of clauses.

What is found here is a guess by the shape of the text; who uses it checks what comes of it against the syntax tree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

SET_OPERATIONS = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)
_KEYWORDS = {exp.Where: TokenType.WHERE, exp.Having: TokenType.HAVING, exp.Qualify: TokenType.QUALIFY}
_BEHIND = {
    *(TokenType.GROUP_BY, TokenType.HAVING, TokenType.QUALIFY, TokenType.WINDOW, TokenType.LIMIT, TokenType.OFFSET),
    *(TokenType.ORDER_BY, TokenType.SORT_BY, TokenType.CLUSTER_BY, TokenType.DISTRIBUTE_BY, TokenType.SEMICOLON),
    *SET_OPERATIONS,
}
_BEHIND_BRANCH = _BEHIND - {TokenType.GROUP_BY, TokenType.HAVING, TokenType.QUALIFY, TokenType.WINDOW}
_BEHIND_ON = {
    *(TokenType.JOIN, TokenType.INNER, TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.CROSS),
    *(TokenType.NATURAL, TokenType.SEMI, TokenType.ANTI, TokenType.LATERAL, TokenType.COMMA, TokenType.WHERE),
    *_BEHIND,
}
_LOOSER = (TokenType.AND, TokenType.OR, TokenType.NOT, TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.COMMA)


@dataclass(frozen=True)
class Span:
    """Some tokens in a row, end exclusive."""

    start: int
    end: int


def characters(span: Span, tokens: Sequence[Token]) -> tuple[int, int]:
    """Return where the text has some tokens, end exclusive."""
    return tokens[span.start].start, end_before(span.end, tokens)


def end_before(number: int, tokens: Sequence[Token]) -> int:
    """Return where the text ends that is in front of a token; a comment between them is no part of it."""
    return tokens[number - 1].end + 1


def names_in(node: exp.Expr | None) -> Iterator[exp.Identifier]:
    """Yield the names in a node whose places are known."""
    for name in node.find_all(exp.Identifier) if node is not None else ():
        if "start" in name.meta:
            yield name


def first_name(node: exp.Expr, tokens: Sequence[Token]) -> int | None:
    """Return the number of the token that is the first name in a node."""
    return token_at(min((int(n.meta["start"]) for n in names_in(node)), default=None), tokens)


def span_of(column: exp.Column) -> tuple[int, int]:
    """Return where the text has a column (end exclusive); -1 for one that the text does not have."""
    parts = [p for p in column.parts if isinstance(p, exp.Identifier) and "start" in p.meta]
    if len(parts) != len(column.parts):
        return (-1, -1)
    return (parts[0].meta["start"], parts[-1].meta["end"] + 1)


def token_at(start: int | None, tokens: Sequence[Token]) -> int | None:
    """Return the number of the token at a place in the text."""
    return next((i for i, token in enumerate(tokens) if token.start == start), None)


def last_before(at: int | None, kinds: Collection[TokenType], tokens: Sequence[Token]) -> int | None:
    """Return the last token of these kinds before another one and outside parentheses that are closed by then."""
    depth = 0
    for i in range((at or 0) - 1, -1, -1):
        # A parenthesis that is still open is left for good.
        depth = max(0, depth - deeper(tokens[i]))
        if depth == 0 and tokens[i].token_type in kinds:
            return i
    return None


def clause_of(node: exp.Where | exp.Having | exp.Qualify, tokens: Sequence[Token]) -> Span | None:
    """Return the condition of a clause, without its keyword."""
    keyword = None if node.parent is None else _own(node.parent, {_KEYWORDS[type(node)]}, tokens)
    return None if keyword is None else Span(keyword + 1, end_among(keyword + 1, _BEHIND, tokens))


def on_of(join: exp.Join, tokens: Sequence[Token]) -> Span | None:
    """Return the condition of a join, without the ON."""
    first = first_name(join.args["on"], tokens) if join.args.get("on") is not None else None
    keyword = None if first is None else last_before(first, (TokenType.ON,), tokens)
    return None if keyword is None else Span(keyword + 1, end_among(keyword + 1, _BEHIND_ON, tokens))


def before_grouping(select: exp.Select, tokens: Sequence[Token]) -> int | None:
    """Return the token that is behind FROM and WHERE of a SELECT; the number of all tokens at the end of the text."""
    from_ = from_of(select, tokens)
    return None if from_ is None else end_among(from_ + 1, _BEHIND, tokens)


def from_of(select: exp.Select, tokens: Sequence[Token]) -> int | None:
    """Return the FROM of a SELECT itself."""
    return _own(select, {TokenType.FROM}, tokens)


def list_of(select: exp.Select, tokens: Sequence[Token]) -> Span | None:
    """Return what is between the SELECT and the FROM of a SELECT itself."""
    from_ = from_of(select, tokens)
    at = None if from_ is None else last_before(from_, (TokenType.SELECT,), tokens)
    return None if from_ is None or at is None else Span(at + 1, from_)


def terms_of(condition: Span, tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield the terms of an AND, parentheses opened."""
    start, end = condition.start, condition.end
    if end > start and tokens[start].token_type == TokenType.L_PAREN and closing(start, tokens) == end - 1:
        yield from terms_of(Span(start + 1, end - 1), tokens)
        return
    places = list(_outside_parentheses(condition, tokens))
    ands = [] if any(tokens[i].token_type == TokenType.OR for i in places) else list(_ands(places, tokens))
    if not ands:
        yield condition
        return
    for first, behind in zip([start, *(i + 1 for i in ands)], [*ands, end], strict=True):
        yield from terms_of(Span(first, behind), tokens)


def end_of_branch(select: int, tokens: Sequence[Token]) -> int:
    """Return the token behind a branch of a set operation, given by its SELECT: what sorts or limits is behind it."""
    return end_among(select + 1, _BEHIND_BRANCH, tokens)


def parentheses_around(query: exp.Query, within: Span, tokens: Sequence[Token]) -> Span | None:
    """Return the innermost parentheses around a whole query, both included."""
    places = [int(n.meta["start"]) for n in names_in(query)]
    found = None
    for i in range(within.start, within.end - 1 if places else 0):
        if tokens[i].token_type == TokenType.L_PAREN and tokens[i + 1].token_type in (TokenType.SELECT, TokenType.WITH):
            end = closing(i, tokens)
            if end is not None and tokens[i].start < min(places) and max(places) < tokens[end].start:
                found = Span(i, end + 1)
    return found


def cte_start(cte: exp.CTE) -> int:
    """Return the place in the text of the name of a common table expression; -1 if it is not known."""
    return int(cte.args["alias"].this.meta.get("start", -1))


def cte_span(cte: exp.CTE, tokens: Sequence[Token]) -> Span | None:
    """Return the tokens of `name (columns) AS (query)`."""
    start = token_at(cte_start(cte), tokens)
    if start is None:
        return None
    word = next((i for i in range(start + 1, len(tokens)) if tokens[i].token_type == TokenType.ALIAS), len(tokens))
    opened = next((i for i in range(word + 1, len(tokens)) if tokens[i].token_type == TokenType.L_PAREN), None)
    closed = None if opened is None else closing(opened, tokens)
    return None if closed is None else Span(start, closed + 1)


def operand_before(word: int, within: Span, tokens: Sequence[Token]) -> int:
    """Return the first token of the operand in front of an operator that binds as IN does."""
    depth = 0
    for i in range(word - 1, within.start - 1, -1):
        kind = tokens[i].token_type
        if depth == 0 and (kind == TokenType.L_PAREN or kind in _LOOSER):
            return i + 1
        depth -= deeper(tokens[i])
    return within.start


def closing(opened: int, tokens: Sequence[Token]) -> int | None:
    """Return the parenthesis that closes another one."""
    depth = 0
    for i in range(opened, len(tokens)):
        depth += deeper(tokens[i])
        if depth == 0:
            return i
    return None


def _own(select: exp.Expr, kinds: Collection[TokenType], tokens: Sequence[Token]) -> int | None:
    """Return the keyword of a clause of a SELECT itself."""
    own = (int(n.meta["start"]) for n in names_in(select) if n.find_ancestor(exp.Query, exp.CTE) is select)
    at = last_before(token_at(min(own, default=None), tokens), (TokenType.SELECT,), tokens)
    if at is None:
        return None
    found = end_among(at + 1, {*kinds, *SET_OPERATIONS}, tokens)
    return found if found < len(tokens) and tokens[found].token_type in kinds else None


def end_among(start: int, kinds: Collection[TokenType], tokens: Sequence[Token]) -> int:
    """Return the first token of these kinds that is in the same parentheses, or their end."""
    depth = 0
    for i in range(start, len(tokens)):
        depth += deeper(tokens[i])
        of_star = tokens[i].token_type == TokenType.EXCEPT and tokens[i - 1].token_type == TokenType.STAR
        if depth < 0 or (depth == 0 and tokens[i].token_type in kinds and not of_star):
            return i
    return len(tokens)


def _outside_parentheses(span: Span, tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the tokens of a span that are neither in parentheses nor in CASE."""
    depth = 0
    for i in range(span.start, span.end):
        depth += deeper(tokens[i]) + (tokens[i].token_type == TokenType.CASE)
        if depth == 0:
            yield i
        depth -= tokens[i].token_type == TokenType.END


def _ands(places: Sequence[int], tokens: Sequence[Token]) -> Iterator[int]:
    """Yield each AND that is no part of BETWEEN."""
    between = 0
    for i in places:
        kind = tokens[i].token_type
        if kind == TokenType.AND and between == 0:
            yield i
        between += (kind == TokenType.BETWEEN) - (kind == TokenType.AND and between > 0)


def deeper(token: Token) -> int:
    """Return how many parentheses deeper the text is behind a token: 1, 0 or -1."""
    if token.token_type == TokenType.L_PAREN:
        return 1
    return -1 if token.token_type == TokenType.R_PAREN else 0
