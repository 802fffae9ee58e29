"""SQL text to tokens and syntax tree. Every text of the product that is parsed is parsed here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import pairwise

import sqlglot
import sqlglot.dialects.spark  # loaded now, not inside the first refresh of a run
from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.hidden_names import VIEW_ALIAS

DIALECT = "spark"

_LONG_COMMENT = re.compile(r"--[^\r\n]*\\\n")
_PREDICATES = (exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.RegexpILike, exp.SimilarTo)
_WORDS = (
    *(TokenType.IN, TokenType.NOT, TokenType.BETWEEN, TokenType.LIKE, TokenType.ILIKE, TokenType.RLIKE),
    TokenType.SIMILAR_TO,
)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_SWALLOWS = "Spark takes the line behind a comment that ends in a backslash for a part of the comment"

_FAILURES = (SqlglotError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What sqlglot raises on text that it does not understand. Spark may well understand it."""


_CONDITIONS = (TokenType.WHERE, TokenType.HAVING, TokenType.QUALIFY)
_MORE_TABLES = (
    *(TokenType.JOIN, TokenType.INNER, TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.CROSS),
    *(TokenType.NATURAL, TokenType.SEMI, TokenType.ANTI, TokenType.LATERAL, TokenType.COMMA),
)


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
        tokens = _tokens(sql)
        parsed = ParsedSql(_with_calls(_with_fields(_tree(sql, tokens))), tokens)
    except _FAILURES as error:
        return NotParsed(str(error).splitlines()[0] if str(error) else type(error).__name__)
    if _has_condition_that_is_an_alias(parsed):
        return NotParsed("Spark takes WHERE (name) for an alias of the table before it: leave out the parentheses")
    if _compares_predicates(parsed):
        return NotParsed("Spark takes a = b IN (...) for (a = b) IN (...), so with LIKE and BETWEEN: use parentheses")
    return parsed


def _tree(sql: str, tokens: Sequence[Token]) -> exp.Expr:
    """Return the syntax tree of a text whose tokens are known. Raises what sqlglot raises."""
    found = Dialect.get_or_raise(DIALECT).parser().parse(list(tokens), sql)
    only = found[0] if len(found) == 1 else None
    return sqlglot.parse_one(sql, dialect=DIALECT) if only is None else only


def _with_fields(tree: exp.Expr) -> exp.Expr:
    """Return the tree with fields of structs as what they are: of `o.address.city` the column is `o.address`.

    sqlglot takes the first of three parts for a schema. It is one where a relation has no alias and the name of the
    second part, or of the third, if the first is a catalog.
    """
    columns = [c for c in tree.find_all(exp.Column) if c.args.get("db") and not c.is_star]
    if not columns:
        return tree
    relations = list(tree.find_all(exp.Table, exp.Subquery, exp.Lateral))
    aliases = {r.alias_or_name.lower() for r in relations}
    with_schema = {r.name.lower() for r in relations if isinstance(r, exp.Table) and not r.alias}
    for column in columns:
        relation, name, *fields = column.parts
        if relation.name.lower() in aliases and with_schema.isdisjoint(p.name.lower() for p in (name, fields[0])):
            read: exp.Expr = exp.Column(this=name, table=relation)
            column.replace(reduce(lambda struct, field: exp.Dot(this=struct, expression=field), fields, read))
    return tree


def _with_calls(tree: exp.Expr) -> exp.Expr:
    """Return the tree with any(x), an aggregate of Spark, as a call. It is a part of LIKE ANY alone.

    And without the WHERE of ours around the SQL of a view, which lets all rows pass or raises an error.
    """
    for where in list(tree.find_all(exp.Where)):
        if isinstance(where.parent, exp.Select) and isinstance(where.this, exp.If) and _is_of_a_view(where.parent):
            where.pop()
    for node in list(tree.find_all(exp.Any)):
        if not isinstance(node.parent, _PREDICATES):
            node.replace(exp.Anonymous(this="any", expressions=[node.this.unnest()]))
    return tree


def _is_of_a_view(select: exp.Select) -> bool:
    """Return whether a SELECT is the one that is put around the SQL of a view (see status/view_expansion.py)."""
    from_ = select.args.get("from_")
    return from_ is not None and isinstance(from_.this, exp.Subquery) and from_.this.alias == VIEW_ALIAS


def _compares_predicates(parsed: ParsedSql) -> bool:
    """Return whether a predicate is an operand of a comparison, without parentheses, which Spark reads otherwise.

    sqlglot puts parentheses around the operands of `<=>`, so there the tokens decide. A call, such as rlike(a, b), is
    no predicate.
    """
    around = [_around(predicate) for predicate in parsed.tree.find_all(*_PREDICATES) if "start" not in predicate.meta]
    if any(isinstance(node, _COMPARISONS) for node in around):
        return True
    if not any(isinstance(node, exp.Paren) and isinstance(node.parent, exp.NullSafeEQ) for node in around):
        return False
    operators = [n for n, t in enumerate(parsed.tokens) if t.token_type == TokenType.NULLSAFE_EQ]
    return any(_is_before_a_predicate(n + 1, parsed.tokens) for n in operators)


def _around(predicate: exp.Expr) -> exp.Expr | None:
    around = predicate.parent
    while isinstance(around, (exp.Not, exp.Escape)):
        around = around.parent
    return around


def _is_before_a_predicate(operand: int, tokens: Sequence[Token]) -> bool:
    """Return whether an operand that begins at a token is followed by a predicate, or is not in parentheses."""
    depth = 0
    for n, token in enumerate(tokens[operand:], start=operand + 1):
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth <= 0:
            kinds = {t.token_type for t in tokens[n : n + 1]}
            return token.token_type != TokenType.R_PAREN or not kinds.isdisjoint(_WORDS)
    return True


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
    """Return the tokens of the text, which several steps of one inspection look at. Raises what sqlglot raises.

    Raises ValueError where a comment may be longer for Spark than for sqlglot.
    """
    if _LONG_COMMENT.search(sql):
        raise ValueError(_SWALLOWS)
    return tuple(sqlglot.tokenize(sql, dialect=DIALECT))


def _has_condition_that_is_an_alias(parsed: ParsedSql) -> bool:
    """Return whether Spark, which reserves few words, takes a condition for an alias and a list of column names.

    That is `FROM t WHERE (flag)`, and so with HAVING and QUALIFY: names alone in the parentheses, no operator behind
    them, and before them a table without an alias. sqlglot takes a WHERE also where tables follow it.
    """
    kinds = [t.token_type for t in parsed.tokens]
    starts = [n + 2 for n, (one, two) in enumerate(pairwise(kinds)) if one in _CONDITIONS and two == TokenType.L_PAREN]
    if any(_has_tables_behind(kinds[start:]) for start in starts):
        return True
    found = parsed.tree.find_all(exp.Where, exp.Having, exp.Qualify) if starts else ()
    return any(_are_names(clause.this) and _takes_an_alias(clause) for clause in found)


def _has_tables_behind(kinds: Sequence[TokenType]) -> bool:
    """Return whether a parenthesis that was opened before has no other in it, and tables follow it."""
    parentheses = (n for n, kind in enumerate(kinds) if kind in (TokenType.L_PAREN, TokenType.R_PAREN))
    end = next(parentheses, None)
    return (
        end is not None and kinds[end] == TokenType.R_PAREN and any(k in _MORE_TABLES for k in kinds[end + 1 : end + 2])
    )


def _are_names(condition: exp.Expr) -> bool:
    names = condition.expressions if isinstance(condition, exp.Tuple) else [condition.this]
    return isinstance(condition, (exp.Paren, exp.Tuple)) and all(
        isinstance(name, (exp.Boolean, exp.Null)) or (isinstance(name, exp.Column) and not name.table) for name in names
    )


def _takes_an_alias(clause: exp.Expr) -> bool:
    """Return whether the table before a clause could be followed by an alias."""
    select = clause.parent
    between = ("laterals",) if isinstance(clause, exp.Where) else ("laterals", "where", "group")
    if not isinstance(select, exp.Select) or any(select.args.get(name) for name in between):
        return False
    last = (select.args.get("joins") or [select.args.get("from_")])[-1]
    if last is None or last.args.get("using") or last.this.args.get("pivots"):
        return False
    # sqlglot gives ON true to a join that has no condition.
    return last.args.get("on") in (None, exp.true()) and not last.this.alias


def definition_hash(sql: str) -> str:
    """Return a hash of the SQL that does not change with white space and comments.

    Between two strings, white space counts: 'it''s' has a quote in it, 'it' 's' has none.
    """
    tokens = tokens_of(sql)
    texts = [sql] if tokens is None else [f"{t.token_type.name}:{t.text}" for t in tokens]
    for n, (one, other) in enumerate(pairwise(tokens or ()), start=1):
        if one.token_type == other.token_type == TokenType.STRING and one.end + 1 == other.start:
            texts[n] = f"QUOTE {texts[n]}"
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def single_statement(sql: str) -> str:
    """Return the SQL without white space around it and semicolons at its end.

    Nor with a comment at its end that ends in a backslash: the next line of a text around it would be part of it.
    """
    tokens = list(tokens_of(sql.strip()) or ())
    sql = sql.strip()
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        sql = sql[: tokens.pop().start]
    return sql[: tokens[-1].end + 1] if tokens and sql.endswith("\\") else sql.strip()
