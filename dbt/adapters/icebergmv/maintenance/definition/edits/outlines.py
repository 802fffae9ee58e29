"""A SELECT with a number in place of every query in it that some of its nodes are not in: `SELECT 1`, `SELECT 2`, ...

How a query in parentheses is read, or a branch of a set operation, does not depend on what is around it, nor the other
way round. So what a text with a few edits parses to can be checked by its outline. It is short however long the text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import (
    SET_OPERATIONS,
    Span,
    characters,
    closing,
    end_of_branch,
    names_in,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql

_QUERIES = (TokenType.SELECT, TokenType.WITH)
_QUANTIFIERS = (TokenType.ALL, TokenType.DISTINCT)


@dataclass(frozen=True)
class Outline:
    """A copy of a tree in parentheses, the copies of its nodes by the id() of each, and the edits of its text."""

    tree: exp.Paren
    copies: Mapping[int, exp.Expr]
    edits: tuple[TextEdit, ...]


def outline_around(parsed: ParsedSql, nodes: Sequence[exp.Expr]) -> Outline | None:
    """Return the outline of a parsed text that leaves some nodes, and all around them, as they are.

    None where it is not certain that the same queries are left out of the tree and of the text.
    """
    names = [next(names_in(node), None) for node in nodes]
    kept: set[int] = set()
    for name in names:
        kept.update(map(id, _around(name)))
    places = sorted(int(name.meta["start"]) for name in names if name is not None)
    tree, copies, left_out = _copied(parsed.tree, kept)
    spans = [characters(span, parsed.tokens) for span in _spans(parsed.tokens, places)]
    found = sorted((int(name.meta["start"]), copy) for name, copy in left_out if name is not None)
    if None in names or not len(left_out) == len(found) == len(spans):
        return None
    edits: list[TextEdit] = []
    for number, ((start, end), (place, copy)) in enumerate(zip(spans, found, strict=True), start=1):
        if not start <= place < end:
            return None
        copy.set("expressions", [exp.Literal.number(number)])
        edits.append(TextEdit(start, end, f"SELECT {number}"))
    return Outline(tree, copies, tuple(edits))


def _around(node: exp.Expr | None) -> Iterator[exp.Expr]:
    while node is not None:
        yield node
        node = node.parent


def _copied(
    tree: exp.Expr, kept: set[int]
) -> tuple[exp.Paren, dict[int, exp.Expr], list[tuple[exp.Identifier | None, exp.Expr]]]:
    """Return a copy of a tree, its nodes by the id() of the originals, and what is in place of the queries left out.

    With each of these comes a name in the query.
    """
    top, copies = exp.Paren(), dict[int, exp.Expr]()
    left_out: list[tuple[exp.Identifier | None, exp.Expr]] = []
    waiting: deque[tuple[exp.Expr, exp.Expr, str, bool]] = deque([(tree, top, "this", False)])
    while waiting:
        node, parent, key, is_listed = waiting.popleft()
        if id(node) not in kept and _is_of_its_own(node):
            copy: exp.Expr = exp.Select()
            left_out.append((next(names_in(node), None), copy))
        else:
            copy = copies[id(node)] = type(node)()
            for name, value in node.args.items():
                if isinstance(value, exp.Expr):
                    copy.args[name] = None
                    waiting.append((value, copy, name, False))
                elif isinstance(value, list) and all(isinstance(item, exp.Expr) for item in value):
                    copy.args[name] = []
                    waiting.extend((item, copy, name, True) for item in value)
                else:
                    copy.args[name] = value
        if is_listed:
            parent.append(key, copy)
        else:
            parent.set(key, copy)
    return top, copies, left_out


def _is_of_its_own(node: exp.Expr) -> bool:
    """Return whether a node is a query that its own parentheses, or the words of set operations, are around."""
    if isinstance(node.parent, exp.SetOperation):
        return isinstance(node, exp.Select) and node.args.get("with_") is None
    return isinstance(node, (exp.Select, exp.SetOperation)) and node.parent is not None


def _spans(tokens: Sequence[Token], kept: Sequence[int]) -> Iterator[Span]:
    """Yield the outermost queries in parentheses, and branches of set operations, that hold none of some places."""
    i = 0
    while i < len(tokens):
        free = (span for span in _queries_at(i, tokens) if not _holds(span, kept, tokens))
        span = next(free, None)
        if span is not None:
            yield span
        i = i + 1 if span is None else span.end


def _queries_at(at: int, tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield the query in parentheses that begins at a token, and the branch of a set operation that does."""
    if tokens[at].token_type not in _QUERIES:
        return
    if at > 0 and tokens[at - 1].token_type == TokenType.L_PAREN:
        closed = closing(at - 1, tokens)
        if closed is not None:
            yield Span(at, closed)
    if tokens[at].token_type == TokenType.SELECT:
        end = end_of_branch(at, tokens)
        before = [token.token_type for token in tokens[max(at - 2, 0) : at]]
        if before[-1:] and before[-1] in _QUANTIFIERS:
            before.pop()
        follows = bool(before) and before[-1] in SET_OPERATIONS
        if follows or (end < len(tokens) and tokens[end].token_type in SET_OPERATIONS):
            yield Span(at, end)


def _holds(span: Span, places: Sequence[int], tokens: Sequence[Token]) -> bool:
    start, end = characters(span, tokens)
    at = bisect_left(places, start)
    return at < len(places) and places[at] < end
