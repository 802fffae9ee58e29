"""What a SELECT reads through the lists of queries below it: they may have columns that nothing reads.

An item of such a list is read by nothing where no text but its own mentions the name of its column. To add, change or
drop it changes no row. That is so where all queries read those in their FROM by names, a `*` hands columns on to a
query that names them, and no item of the list decides how many rows there are. The list may be that of a plain view, or
of a common table expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.hidden_names import VIEW_ALIAS
from dbt.adapters.icebergmv.maintenance.definition.references.column_lists import is_read_by_name, reads_by_name
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import is_aggregate, is_generator
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import closing
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes, own_nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import (
    NotParsed,
    definition_hash,
    hash_of_tokens,
    parse,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.select_items import select_items

_END_OF_ITEM = Token(TokenType.COMMA, ",")


@dataclass(frozen=True)
class _Item:
    """An item of a list, by the name of its column in lower case; its tokens are of the whole text."""

    name: str
    tokens: Sequence[Token]


@dataclass(frozen=True)
class _Text:
    """The tokens of a SELECT, the items of its lists that are read by name, and those of them that nothing reads."""

    tokens: Sequence[Token]
    items: Sequence[_Item]
    unread: Sequence[_Item]


@lru_cache(maxsize=64)
def hash_of_read_columns(sql: str) -> str:
    """Return a hash of all that the rows of a SELECT depend on, by its text, but for white space and comments."""
    text = _text(sql)
    return definition_hash(sql) if text is None else hash_of_tokens([*_read_tokens(text)])


@lru_cache(maxsize=64)
def words_of_read_columns(sql: str) -> frozenset[str] | None:
    """Return the words of a SELECT in lower case, but for those of columns that nothing reads.

    None where queries read those in their FROM other than by names: any column may be read then. Each window of a text
    asks for its words, so they are kept.
    """
    text = _text(sql)
    return None if text is None else _words(text.tokens, text.unread)


def unread_places(sql: str) -> frozenset[int]:
    """Return where the tokens begin that are in items of the lists of a SELECT which nothing reads."""
    text = _text(sql)
    return frozenset() if text is None else frozenset(_places(text.unread))


@lru_cache(maxsize=64)
def _text(sql: str) -> _Text | None:
    """Return the text of a SELECT in which all queries read those in their FROM by names alone; None for others."""
    parsed = parse(sql)
    if isinstance(parsed, NotParsed):
        return None
    nodes = Nodes(parsed.tree)
    if not reads_by_name(nodes):
        return None
    tokens = [*_without_checks(parsed.tokens)]
    of_tokens = select_items(tokens)
    items = [item for s in nodes.of(exp.Select) if is_read_by_name(s) for item in _items(s, of_tokens)]
    return _Text(tokens, items, _unread(items, tokens))


def _without_checks(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens without the WHERE that is put around the SQL of views (see parsing.py): it drops no row."""
    behind = -1
    for i, token in enumerate(tokens):
        if token.token_type == TokenType.WHERE and i > 0 and tokens[i - 1].text == VIEW_ALIAS:
            behind = _end_of_check(i, tokens) or behind
        if i > behind:
            yield token


def _end_of_check(where: int, tokens: Sequence[Token]) -> int | None:
    """Return the last token of WHERE IF(..., true, raise_error('...')) where that is all of the WHERE of a subquery."""
    end = closing(where + 2, tokens) if _texts(tokens[where + 1 : where + 3]) == ["if", "("] else None
    if end is None or _texts(tokens[end + 1 : end + 2]) != [")"]:
        return None
    *call, message, _ = tokens[max(where, end - 7) : end]
    is_error = _texts(call) == [",", "true", ",", "raise_error", "("] and message.token_type == TokenType.STRING
    return end if is_error else None


def _texts(tokens: Sequence[Token]) -> list[str]:
    return [token.text.lower() for token in tokens]


def _items(select: exp.Select, of_tokens: dict[int, Sequence[Token]]) -> list[_Item]:
    """Return the items of a list that have names; none of them where one decides how many rows there are.

    Nor where the end of an item is in doubt: it must be the name of its column.
    """
    found = []
    for expression in select.expressions:
        if is_generator(expression) or any(map(is_aggregate, own_nodes(expression))):
            return []
        name = _name_of(expression)
        if name is None:
            continue
        tokens = of_tokens.get(int(name.meta.get("start", -1)), ())
        if not tokens or tokens[-1].start != name.meta["start"]:
            return []
        found.append(_Item(name.name.lower(), tokens))
    return found


def _name_of(expression: exp.Expr) -> exp.Identifier | None:
    """Return the name that the text of an item ends with; None for `*` and what Spark gives a name."""
    if isinstance(expression, exp.Alias):
        name = expression.args.get("alias")
    else:
        name = expression.this if isinstance(expression, exp.Column) else None
    return name if isinstance(name, exp.Identifier) else None


def _unread(items: Sequence[_Item], tokens: Sequence[Token]) -> list[_Item]:
    """Return the items whose names no other text mentions than that of such items."""
    before, unread = -1, [*items]
    while len(unread) != before:
        before, words = len(unread), _words(tokens, unread)
        unread = [item for item in unread if item.name not in words]
    return unread


def _words(tokens: Iterable[Token], unread: Iterable[_Item]) -> frozenset[str]:
    """Return the words of a text in lower case, but for those of some items."""
    gone = _places(unread)
    return frozenset(token.text.lower() for token in tokens if token.start not in gone)


def _read_tokens(text: _Text) -> Iterator[Token]:
    """Yield the tokens without unread items, and with a comma behind each item that stays, also behind the last."""
    gone = _places(text.unread)
    ends = {item.tokens[-1].start for item in text.items}
    commas = {token.start for one, token in pairwise(text.tokens) if one.start in ends}
    for token in text.tokens:
        if token.start not in gone and not (token.start in commas and token.token_type == TokenType.COMMA):
            yield token
            if token.start in ends:
                yield _END_OF_ITEM


def _places(items: Iterable[_Item]) -> set[int]:
    return {token.start for item in items for token in item.tokens}
