"""Words of a text that sqlglot's tree has lost: names of columns, mostly, that it takes for words of the grammar."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import SET_OPERATIONS
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes

_BEFORE_ITEM = (TokenType.L_PAREN, TokenType.COMMA, TokenType.SELECT, TokenType.DISTINCT)
_BEHIND_ITEM = (TokenType.R_PAREN, TokenType.COMMA, TokenType.FROM)
_VALUES = (
    *(TokenType.NULL, TokenType.TRUE, TokenType.FALSE, TokenType.STRING, TokenType.RAW_STRING, TokenType.HEX_STRING),
    *(TokenType.IDENTIFIER, *Spark.Parser.NO_PAREN_FUNCTIONS),
)
_SIDES_OF_TRIM = frozenset(["both", "leading", "trailing"])
_UNIT_WORDS = "year quarter month week day hour minute second millisecond microsecond nanosecond"
_UNITS = frozenset(f"{unit}{plural}" for unit in _UNIT_WORDS.split() for plural in ("", "s"))
_GRAMMAR_WORDS = """
    nulls first last unbounded preceding following current ignore respect within to of version timestamp by only
    y yr q qtr mon mons w d h hr hrs m min mins s sec secs doy dow dow_iso yearofweek dayofweek dayofweek_iso dayofyear
    epoch
"""
_WORDS = frozenset(_GRAMMAR_WORDS.split()) | _UNITS | _SIDES_OF_TRIM
"""Words that are no names where sqlglot has no name for them: fields of EXTRACT are among them."""

_CLAUSES = (TokenType.WHERE, TokenType.HAVING, TokenType.QUALIFY, TokenType.WINDOW, TokenType.LIMIT)
_NEW_QUERY = (TokenType.SELECT, TokenType.FROM, *SET_OPERATIONS)
_SIGNS = (TokenType.PLUS, TokenType.DASH)
_PLAIN = re.compile(r"\w+")


def lost_word(nodes: Nodes, tokens: Sequence[Token]) -> str | None:
    """Return a word of the text that may be a name for Spark, and is none in the tree; None if there is none."""
    named = {name.meta.get("start") for name in nodes.of(exp.Identifier)} | _units(nodes, tokens)
    return next(
        (
            word.text
            for words in (_names(tokens), _alone(tokens), _intervals(tokens), _windows(tokens), _joins(tokens, named))
            for word in words
            if word.start not in named
        ),
        None,
    )


def _units(nodes: Nodes, tokens: Sequence[Token]) -> set[int]:
    """Return where words are that may be the unit of date_trunc: a column for it is known (see date_units.py)."""
    truncated: list[exp.Expr] = nodes.of(exp.DateTrunc, exp.TimestampTrunc)
    units = {unit.name.lower() for node in truncated if (unit := node.args.get("unit")) is not None}
    found = [n for n, token in enumerate(tokens) if token.text.lower() in units]
    tables = [n - 2 for n in found if n > 1 and tokens[n - 1].token_type == TokenType.DOT]
    return {tokens[n].start for n in (*found, *tables)}


def _names(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the words that are names wherever they are no words of the grammar, and what is behind a dot."""
    for before, word, behind in zip((None, *tokens), tokens, (*tokens[1:], None), strict=False):
        is_field = before is not None and before.token_type == TokenType.DOT and _PLAIN.fullmatch(word.text)
        is_name = word.token_type in (TokenType.VAR, TokenType.IDENTIFIER) or is_field
        is_call = behind is not None and behind.token_type in (TokenType.L_PAREN, TokenType.FARROW)
        is_grammar = word.token_type == TokenType.VAR and (
            word.text.lower() in _WORDS or (before is not None and _follows(before, word))
        )
        if is_name and not is_call and not is_grammar:
            yield word


def _follows(before: Token, word: Token) -> bool:
    """Return whether a word is of the grammar behind another one: COLLATE UNICODE, UNION BY NAME."""
    is_name = word.text.lower() == "name" and before.text.lower() == "by"
    return is_name or before.token_type == TokenType.COLLATE


def _alone(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the words that are alone in a list, as in `f(all, v)`, and ALL and DISTINCT behind its first item."""
    for before, word, behind in zip(tokens, tokens[1:], tokens[2:], strict=False):
        # EXTRACT(YEAR FROM d) has a word there.
        is_field = before.token_type == TokenType.L_PAREN and behind.token_type == TokenType.FROM
        is_alone = before.token_type in _BEFORE_ITEM and behind.token_type in _BEHIND_ITEM
        is_quantifier = before.token_type == TokenType.COMMA and word.token_type in (TokenType.ALL, TokenType.DISTINCT)
        if is_quantifier or (is_alone and not is_field and _may_be_lost(word)):
            yield word


def _may_be_lost(word: Token) -> bool:
    if word.token_type == TokenType.VAR:
        return word.text.lower() in _SIDES_OF_TRIM
    return word.text.isidentifier() and word.token_type not in _VALUES


def _intervals(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the words INTERVAL that no text and no number with a unit follows: `interval - 1` is of a column."""
    for n, word in enumerate(tokens):
        if word.token_type != TokenType.INTERVAL or _is_of_a_type(n, tokens):
            continue
        behind = tokens[n + 1 : n + 4]
        value = behind[1:] if behind and behind[0].token_type in _SIGNS else behind
        kinds = [t.token_type for t in value[:1]]
        has_unit = len(value) > 1 and value[1].text.lower() in _UNITS
        if kinds != [TokenType.STRING] and not (kinds == [TokenType.NUMBER] and has_unit):
            yield word


def _is_of_a_type(number: int, tokens: Sequence[Token]) -> bool:
    return number > 0 and tokens[number - 1].token_type in (TokenType.ALIAS, TokenType.DCOLON)


def _windows(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the words WINDOW that name no window: behind a table they are its alias."""
    for n, word in enumerate(tokens):
        behind = [t.token_type for t in tokens[n + 1 : n + 3]]
        is_clause = behind[1:] == [TokenType.ALIAS] or behind[:1] == [TokenType.L_PAREN]
        if word.token_type == TokenType.WINDOW and not is_clause:
            yield word


def _joins(tokens: Sequence[Token], named: Collection[object]) -> Iterator[Token]:
    """Yield the words JOIN behind a WHERE and its like, which then are an alias: Spark has no join there."""
    behind_clause = [False]
    for token in tokens:
        if token.token_type == TokenType.L_PAREN:
            behind_clause.append(False)
        elif token.token_type == TokenType.R_PAREN:
            behind_clause = behind_clause[:-1] or [False]
        elif token.token_type in _NEW_QUERY:
            behind_clause[-1] = False
        elif token.token_type in _CLAUSES and token.start not in named:
            behind_clause[-1] = True
        elif token.token_type == TokenType.JOIN and behind_clause[-1]:
            yield token
