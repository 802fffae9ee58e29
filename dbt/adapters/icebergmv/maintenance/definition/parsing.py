"""SQL text to tokens and syntax tree. Every text of the product that is parsed is parsed here."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import sqlglot
import sqlglot.dialects.spark  # loaded now, not inside the first refresh of a run
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

DIALECT = "spark"
_FAILURES = (SqlglotError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What sqlglot raises on text that it does not understand. Spark may well understand it."""


@dataclass(frozen=True)
class ParsedSql:
    """A text as its syntax tree and its tokens."""

    tree: exp.Expr
    tokens: Sequence[Token]


@dataclass(frozen=True)
class NotParsed:
    """sqlglot does not understand the text; `reason` is the first line of its error."""

    reason: str


def parse(sql: str) -> ParsedSql | NotParsed:
    """Return the first statement of the text, or why sqlglot cannot parse it. No text raises an error."""
    try:
        parsed = ParsedSql(sqlglot.parse_one(sql, dialect=DIALECT), _tokens(sql))
    except _FAILURES as error:
        return NotParsed(str(error).splitlines()[0] if str(error) else type(error).__name__)
    alias = _where_that_is_an_alias(parsed)
    if alias is not None:
        return NotParsed(f"Spark takes {alias} for an alias of the table before it: leave out the parentheses")
    return parsed


def parse_expression(sql: str) -> exp.Expr:
    """Return the syntax tree of an expression of our own. Raises SqlglotError where sqlglot cannot parse it."""
    return sqlglot.parse_one(sql, dialect=DIALECT)


def parse_query(sql: str) -> exp.Query | None:
    """Return the parsed SELECT; None for text that sqlglot cannot parse, and for other statements."""
    parsed = parse(sql)
    return parsed.tree if isinstance(parsed, ParsedSql) and isinstance(parsed.tree, exp.Query) else None


def tokens_of(sql: str) -> Sequence[Token] | None:
    """Return the tokens of the text; None for text that has none, such as one with an open quote."""
    try:
        return _tokens(sql)
    except _FAILURES:
        return None


@lru_cache(maxsize=64)
def _tokens(sql: str) -> tuple[Token, ...]:
    """Return the tokens of the text, which several steps of one inspection look at. Raises what sqlglot raises."""
    return tuple(sqlglot.tokenize(sql, dialect=DIALECT))


def _where_that_is_an_alias(parsed: ParsedSql) -> str | None:
    """Return a WHERE that Spark, which reserves few words, takes for an alias and a list of column names.

    That is `FROM t WHERE (flag)`: names alone in the parentheses, nothing behind them, and a table without an alias.
    """
    kinds = [t.token_type for t in parsed.tokens]
    if not any(pair == (TokenType.WHERE, TokenType.L_PAREN) for pair in pairwise(kinds)):
        return None
    for where in parsed.tree.find_all(exp.Where):
        select, condition = where.parent, where.this
        names = condition.expressions if isinstance(condition, exp.Tuple) else [condition.this]
        are_names = all(
            isinstance(n, (exp.Boolean, exp.Null)) or (isinstance(n, exp.Column) and not n.table) for n in names
        )
        if isinstance(condition, (exp.Paren, exp.Tuple)) and are_names and _takes_an_alias(select):
            return where.sql(dialect=DIALECT).strip()
    return None


def _takes_an_alias(select: exp.Expr | None) -> bool:
    """Return whether the last table of the FROM of a SELECT could be followed by an alias."""
    if not isinstance(select, exp.Select):
        return False
    last = (select.args.get("joins") or [select.args.get("from_")])[-1]
    if select.args.get("laterals") or last is None or last.args.get("using"):
        return False
    # sqlglot gives ON true to a join that has no condition.
    if last.args.get("on") not in (None, exp.true()):
        return False
    relation: exp.Expr = (last.this.args.get("pivots") or [last.this])[-1]
    return not relation.alias


def definition_hash(sql: str) -> str:
    """Return a hash of the SQL that does not change with white space and comments."""
    tokens = tokens_of(sql)
    texts = [sql] if tokens is None else [f"{t.token_type.name}:{t.text}" for t in tokens]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def single_statement(sql: str) -> str:
    """Return the SQL without white space around it and semicolons at its end."""
    tokens = list(tokens_of(sql) or ())
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        sql = sql[: tokens.pop().start]
    return sql.strip()
