"""SQL text to tokens and syntax tree. Every text of the product that is parsed is parsed here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.hidden_names import VIEW_ALIAS
from dbt.adapters.icebergmv.maintenance.definition.syntax.misreadings import misreading
from dbt.adapters.icebergmv.maintenance.definition.syntax.tokens_for_parser import as_spark_reads, tokens_for_parser

DIALECT = "spark"
_DECIMAL = ("10", "0")
"""Precision and scale of a decimal type that does not say them (Spark SQL reference, "Data Types")."""


_SPARK = Spark()
_LONG_COMMENT = re.compile(r"--[^\r\n]*\\\n")
_HINT = "/*+"
_ENDS_SOONER = "Spark ends a comment that holds /*+ sooner: leave that out"
_SWALLOWS = "Spark takes the line behind a comment that ends in a backslash for a part of the comment"

_FAILURES = (SqlglotError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What sqlglot raises on text that it does not understand. Spark may well understand it."""


@dataclass(frozen=True)
class ParsedSql:
    """A text with its syntax tree and its tokens."""

    sql: str
    tree: exp.Expr
    tokens: Sequence[Token]

    @cached_property
    def nodes(self) -> Sequence[exp.Expr]:
        """Return the nodes of the tree in the order of a walk, found once: it must not change any more."""
        return tuple(self.tree.walk())

    @cached_property
    def numbers(self) -> Mapping[int, int]:
        """Return the place of each node among the nodes, by its id()."""
        return {id(node): number for number, node in enumerate(self.nodes)}


@dataclass(frozen=True)
class NotParsed:
    """sqlglot does not understand the text; `reason` is the first line of its error."""

    reason: str


def parse(sql: str) -> ParsedSql | NotParsed:
    """Return the first statement of the text, or why sqlglot cannot parse it. No text raises an error."""
    try:
        tokens = _tokens(sql)
        tree = _tree(sql, tokens)
        reason = misreading(tree, tokens)
        parsed = ParsedSql(sql, _with_calls(_with_fields(tree)), tokens)
    except _FAILURES as error:
        return NotParsed(str(error).splitlines()[0] if str(error) else type(error).__name__)
    return parsed if reason is None else NotParsed(reason)


def parses_to(sql: str, tree: exp.Expr) -> bool:
    """Return whether a text parses to this tree, as edits of a text must to the tree that they are meant to make."""
    parsed = parse(sql)
    return isinstance(parsed, ParsedSql) and parsed.tree == tree


def _tree(sql: str, tokens: Sequence[Token]) -> exp.Expr:
    """Return the syntax tree of a text whose tokens are known. Raises what sqlglot raises.

    Raises ValueError for several statements that are not read as sqlglot reads them.
    """
    read = list(tokens_for_parser(tokens))
    found = _SPARK.parser().parse(read, sql)
    only = found[0] if len(found) == 1 else None
    if only is not None:
        return as_spark_reads(only, read)
    if read != list(tokens):
        raise ValueError("several statements")
    return sqlglot.parse_one(sql, dialect=DIALECT)


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
    for node in list(tree.find_all(exp.Where, exp.Any)):
        if isinstance(node, exp.Where):
            if isinstance(node.parent, exp.Select) and _is_check(node.this) and _is_of_a_view(node.parent):
                node.pop()
        elif not isinstance(node.parent, (exp.Like, exp.ILike)):
            node.replace(exp.Anonymous(this="any", expressions=[node.this.unnest()]))
    return tree


def _is_check(condition: exp.Expr) -> bool:
    """Return whether a condition is true or an error: IF(..., true, raise_error(...)), as `all_or_error` gives it."""
    otherwise = condition.args.get("false") if isinstance(condition, exp.If) else None
    is_error = isinstance(otherwise, exp.Anonymous) and otherwise.name.lower() == "raise_error"
    return is_error and condition.args.get("true") == exp.true()


def _is_of_a_view(select: exp.Select) -> bool:
    """Return whether a SELECT is the one that is put around the SQL of a view (see status/tables/view_expansion.py)."""
    from_ = select.args.get("from_")
    return from_ is not None and isinstance(from_.this, exp.Subquery) and from_.this.alias == VIEW_ALIAS


def means(text: str, node: exp.Expr) -> bool:
    """Return whether the text of an item of a SELECT list is a node of a syntax tree, and nothing more.

    A text alone may be read as a statement: `desc` is a column.
    """
    found = parse(f"SELECT {text}")
    return isinstance(found, ParsedSql) and found.tree.expressions == [node]


def parse_expression(sql: str) -> exp.Expr:
    """Return the syntax tree of an expression of our own. Raises SqlglotError where sqlglot cannot parse it."""
    return _tree(sql, _tokens(sql))


def cast_type(to: exp.DataType) -> str:
    """Return the Spark type that a cast leads to, in the words of `spark_type`; `0.1F` is a cast, too.

    Types made of other types may be written with more blanks.
    """
    if to.is_type(exp.DataType.Type.DECIMAL):
        given = [part.name for part in to.expressions]
        return f"decimal({','.join([*given, *_DECIMAL[len(given) :]])})"
    return to.sql(dialect=DIALECT).lower()


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

    Raises ValueError where a comment may be longer for Spark than for sqlglot, or shorter: what is text for Spark must
    not be left out of the hash.
    """
    if _LONG_COMMENT.search(sql):
        raise ValueError(_SWALLOWS)
    tokens = tuple(sqlglot.tokenize(sql, dialect=DIALECT))
    if any(_HINT in comment for token in tokens for comment in token.comments):
        raise ValueError(_ENDS_SOONER)
    return tokens


def definition_hash(sql: str) -> str:
    """Return a hash of the SQL that does not change with white space and comments.

    Between two strings, white space counts: 'it''s' has a quote in it, 'it' 's' has none.
    """
    tokens = tokens_of(sql)
    return hashlib.sha256(sql.encode()).hexdigest() if tokens is None else hash_of_tokens(tokens)


def hash_of_tokens(tokens: Sequence[Token]) -> str:
    """Return the hash of some tokens of a text, as `definition_hash` does of all."""
    texts = [f"{t.token_type.name}:{t.text}" for t in tokens]
    for n, (one, other) in enumerate(pairwise(tokens), start=1):
        if one.token_type == other.token_type == TokenType.STRING and one.end + 1 == other.start:
            texts[n] = f"QUOTE {texts[n]}"
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def single_statement(sql: str) -> str:
    """Return the SQL without white space around it and semicolons at its end.

    Nor with a comment at its end that ends in a backslash: the next line of a text around it would be part of it.
    """
    sql = sql.strip()
    tokens = list(tokens_of(sql) or ())
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        sql = sql[: tokens.pop().start]
    return sql[: tokens[-1].end + 1] if tokens and sql.endswith("\\") else sql.strip()
