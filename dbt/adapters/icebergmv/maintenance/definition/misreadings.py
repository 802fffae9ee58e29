"""Texts of which sqlglot's tree is not what Spark runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.clauses import closing
from dbt.adapters.icebergmv.maintenance.definition.nodes import Nodes

_CONDITIONS = (TokenType.WHERE, TokenType.HAVING, TokenType.QUALIFY)
_MORE_TABLES = (
    *(TokenType.JOIN, TokenType.INNER, TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.CROSS),
    *(TokenType.NATURAL, TokenType.SEMI, TokenType.ANTI, TokenType.LATERAL, TokenType.COMMA),
)
_PREDICATES = (exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.RegexpILike, exp.SimilarTo)
_WORDS = (
    *(TokenType.IN, TokenType.NOT, TokenType.BETWEEN, TokenType.LIKE, TokenType.ILIKE, TokenType.RLIKE),
    TokenType.SIMILAR_TO,
)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_BEFORE_ITEM = (TokenType.L_PAREN, TokenType.COMMA, TokenType.SELECT)
_BEHIND_ITEM = (TokenType.R_PAREN, TokenType.COMMA, TokenType.FROM)
_VALUES = (
    *(TokenType.NULL, TokenType.TRUE, TokenType.FALSE, TokenType.STRING, TokenType.RAW_STRING, TokenType.HEX_STRING),
    *(TokenType.IDENTIFIER, *Spark.Parser.NO_PAREN_FUNCTIONS),
)
_SIDES_OF_TRIM = frozenset(["both", "leading", "trailing"])
_JOIN_WORDS = (
    *(TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.INNER, TokenType.CROSS, TokenType.NATURAL),
    *(TokenType.JOIN, TokenType.OUTER, TokenType.SEMI, TokenType.ANTI),
)


def misreading(tree: exp.Expr, tokens: Sequence[Token]) -> str | None:
    """Return what Spark may take a parsed text for that the tree does not say; None if nothing is known of it."""
    nodes = Nodes(tree)
    if _has_condition_that_is_an_alias(nodes, tokens):
        return "Spark takes WHERE (name) for an alias of the table before it: leave out the parentheses"
    if _compares_predicates(nodes, tokens):
        return "Spark takes a = b IN (...) for (a = b) IN (...), and LIKE and BETWEEN so too: use parentheses"
    if any(isinstance(pipe.expression, (exp.Add, exp.Sub)) for pipe in nodes.of(exp.DPipe)):
        return "Spark takes a || b + c for (a || b) + c: use parentheses"
    if _has_join_word_for_an_alias(tokens):
        return "Spark takes AS for an alias where the word of a join follows it: leave it out"
    if _has_null_test_that_is_no_call(tokens):
        return "Spark takes isnull and notnull behind an expression for an alias: write IS NULL, or AS"
    if any(not name.quoted and len(name.name.split()) > 1 for name in nodes.of(exp.Identifier)):
        return "Spark takes two words, such as primary key, for a name and its alias: write AS, or use backticks"
    word = _word_for_a_column(nodes, tokens)
    if word is not None:
        return f"Spark takes {word} for a column where it is alone: use backticks"
    if any(group.args.get("all") is not None and group.expressions for group in nodes.of(exp.Group)):
        return "Spark takes ALL and DISTINCT before other columns of a GROUP BY for columns: use backticks"
    return None


def _word_for_a_column(nodes: Nodes, tokens: Sequence[Token]) -> str | None:
    """Return a word that is alone in a list, as in `f(all, v)`, and no name in the tree, which lost it perhaps."""
    alone = [
        word
        for before, word, behind in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if before.token_type in _BEFORE_ITEM
        and behind.token_type in _BEHIND_ITEM
        # EXTRACT(YEAR FROM d) has a word there.
        and not (before.token_type == TokenType.L_PAREN and behind.token_type == TokenType.FROM)
        and _may_be_lost(word)
    ]
    if not alone:
        return None
    named = {name.meta.get("start") for name in nodes.of(exp.Identifier)}
    return next((word.text for word in alone if word.start not in named), None)


def _may_be_lost(word: Token) -> bool:
    if word.token_type == TokenType.VAR:
        return word.text.lower() in _SIDES_OF_TRIM
    return word.text.isidentifier() and word.token_type not in _VALUES


def _has_join_word_for_an_alias(tokens: Sequence[Token]) -> bool:
    """Return whether the type of a join follows AS, as in `FROM t AS LEFT JOIN u`."""
    kinds = [token.token_type for token in tokens]
    return any(
        kind == TokenType.ALIAS and len(following) == 2 and all(word in _JOIN_WORDS for word in following)
        for n, kind in enumerate(kinds)
        if (following := kinds[n + 1 : n + 3])
    )


def _has_null_test_that_is_no_call(tokens: Sequence[Token]) -> bool:
    kinds = [token.token_type for token in tokens]
    return any(
        kind in (TokenType.ISNULL, TokenType.NOTNULL) and kinds[n : n + 1] != [TokenType.L_PAREN]
        for n, kind in enumerate(kinds, start=1)
    )


def _has_condition_that_is_an_alias(nodes: Nodes, tokens: Sequence[Token]) -> bool:
    """Return whether Spark, which reserves few words, takes a condition for an alias and a list of column names.

    That is `FROM t WHERE (flag)`, and so with HAVING and QUALIFY: names alone in the parentheses, no operator behind
    them, and before them a table without an alias. sqlglot takes a WHERE also where tables follow it.
    """
    kinds = [t.token_type for t in tokens]
    starts = [n + 2 for n, (one, two) in enumerate(pairwise(kinds)) if one in _CONDITIONS and two == TokenType.L_PAREN]
    if any(_has_tables_behind(kinds[start:]) for start in starts):
        return True
    found: list[exp.Expr] = nodes.of(exp.Where, exp.Having, exp.Qualify) if starts else []
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


def _compares_predicates(nodes: Nodes, tokens: Sequence[Token]) -> bool:
    """Return whether a predicate is an operand of a comparison, without parentheses, which Spark reads otherwise.

    sqlglot puts parentheses around the operands of `<=>`, so there the tokens decide. A call, such as rlike(a, b), is
    no predicate.
    """
    around = [_around(predicate) for predicate in nodes.of(*_PREDICATES) if "start" not in predicate.meta]
    if any(isinstance(node, _COMPARISONS) for node in around):
        return True
    if not any(isinstance(node, exp.Paren) and isinstance(node.parent, exp.NullSafeEQ) for node in around):
        return False
    operators = [n for n, t in enumerate(tokens) if t.token_type == TokenType.NULLSAFE_EQ]
    return any(_is_before_a_predicate(n + 1, tokens) for n in operators)


def _around(predicate: exp.Expr) -> exp.Expr | None:
    around = predicate.parent
    while isinstance(around, (exp.Not, exp.Escape)):
        around = around.parent
    return around


def _is_before_a_predicate(operand: int, tokens: Sequence[Token]) -> bool:
    """Return whether an operand that begins at a token is followed by a predicate, or is not in parentheses."""
    closed = closing(operand, tokens) if tokens[operand].token_type == TokenType.L_PAREN else None
    return closed is None or any(token.token_type in _WORDS for token in tokens[closed + 1 : closed + 2])
