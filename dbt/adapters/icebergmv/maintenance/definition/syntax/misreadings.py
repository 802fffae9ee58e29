"""Texts of which sqlglot's tree is not what Spark runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import closing, end_among
from dbt.adapters.icebergmv.maintenance.definition.syntax.lost_words import lost_word
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes

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
_ORDERINGS = (exp.LT, exp.LTE, exp.GT, exp.GTE)
_ORDERED = (TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE)
_ENDS_AN_OPERAND = (
    *(TokenType.AND, TokenType.OR, TokenType.COMMA, TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.END),
    *(TokenType.ALIAS, TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.HAVING),
    *(TokenType.ON, TokenType.JOIN, TokenType.LEFT, TokenType.UNION),
)
_OF_BITS = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift)
_WORD = re.compile(r"\w+")
_JOIN_WORDS = (
    *(TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.INNER, TokenType.CROSS, TokenType.NATURAL),
    *(TokenType.JOIN, TokenType.OUTER, TokenType.SEMI, TokenType.ANTI),
)


def misreading(tree: exp.Expr, tokens: Sequence[Token]) -> str | None:
    """Return what Spark may take a parsed text for that the tree does not say; None if nothing is known of it."""
    nodes = Nodes(tree)
    reason = next((reason for is_misread, reason in _MISREAD if is_misread(nodes, tokens)), None)
    if reason is not None:
        return reason
    word = lost_word(nodes, tokens)
    return None if word is None else f"Spark may take {word} for a name here: use backticks"


def _has_operators_of_one_level(nodes: Nodes, tokens: Sequence[Token]) -> bool:
    """Return whether Spark groups operators otherwise: `a = b < c`, a || b + c, and those of bits among each other."""
    if any(isinstance(pipe.expression, (exp.Add, exp.Sub)) for pipe in nodes.of(exp.DPipe)):
        return True
    if any(isinstance(equality.expression, _ORDERINGS) for equality in nodes.of(exp.EQ, exp.NEQ)):
        return True
    # sqlglot puts parentheses around the operands of `<=>`.
    operators = [n for n, token in enumerate(tokens) if token.token_type == TokenType.NULLSAFE_EQ]
    ends = (end_among(n + 1, _ENDS_AN_OPERAND + _ORDERED, tokens) for n in operators)
    if any(token.token_type in _ORDERED for end in ends for token in tokens[end : end + 1]):
        return True
    return any(
        isinstance(operand, _OF_BITS) and type(operand) is not type(node)
        for node in nodes.of(*_OF_BITS, exp.DPipe)
        for operand in (node.this, node.expression)
    )


def _has_symmetric_bounds(nodes: Nodes, _tokens: Sequence[Token]) -> bool:
    return any(between.args.get("symmetric") is not None for between in nodes.of(exp.Between))


def _has_units_behind_values(nodes: Nodes, _tokens: Sequence[Token]) -> bool:
    """Return whether sqlglot has the arguments of a function in another order, and a column for a unit."""
    return nodes.have(exp.TimeTrunc, exp.TimeDiff)


def _has_index_that_is_a_list(nodes: Nodes, tokens: Sequence[Token]) -> bool:
    """Return whether an index is none in the tree: sqlglot makes a list of `split('list', ',')[0]`."""
    indexes = sum(token.token_type == TokenType.L_BRACKET for token in tokens)
    calls = sum(token.text.lower() in ("element_at", "try_element_at") for token in tokens)
    return indexes > 0 and indexes > len(nodes.of(exp.Bracket)) - calls


def _has_query_for_a_value(nodes: Nodes, _tokens: Sequence[Token]) -> bool:
    """Return whether an argument is a query without parentheses: `f(values - 1)` is of a column."""
    queries = nodes.of(exp.Select, exp.Values)
    return any(isinstance(q.parent, exp.Func) and not isinstance(q.parent, exp.Exists) for q in queries)


def _has_windows_of_one_name(nodes: Nodes, _tokens: Sequence[Token]) -> bool:
    """Return whether names of windows differ in nothing but upper and lower case, which counts for Spark."""
    names = [[w.name.lower() for w in select.args.get("windows") or ()] for select in nodes.of(exp.Select)]
    return any(len(set(found)) < len(found) for found in names)


def _has_number_that_is_a_name(_nodes: Nodes, tokens: Sequence[Token]) -> bool:
    """Return whether 0x1f, a name, is read as the bytes X'1f'."""
    return any(t.token_type == TokenType.HEX_STRING and t.end - t.start != len(t.text) + 2 for t in tokens)


def _has_word_for_a_table(nodes: Nodes, _tokens: Sequence[Token]) -> bool:
    """Return whether `TABLE t` and `STREAM t`, which are all rows of t, are read as tables of these names."""
    found = (table for table in nodes.of(exp.Table) if table.name.lower() in ("table", "stream"))
    return any(table.alias and not table.db and not table.this.args.get("quoted") for table in found)


def _has_comment_in_a_comment(_nodes: Nodes, tokens: Sequence[Token]) -> bool:
    return any("/*" in comment for token in tokens for comment in token.comments)


def _groups_by_words_and_columns(nodes: Nodes, _tokens: Sequence[Token]) -> bool:
    return any(group.args.get("all") is not None and group.expressions for group in nodes.of(exp.Group))


def _has_two_words_for_a_name(nodes: Nodes, _tokens: Sequence[Token]) -> bool:
    """Return whether a name without quotes is more than a word: `primary key`, and `user-defined`."""
    return any(not name.quoted and not _WORD.fullmatch(name.name) for name in nodes.of(exp.Identifier))


def _has_join_word_for_an_alias(_nodes: Nodes, tokens: Sequence[Token]) -> bool:
    """Return whether the type of a join follows AS, as in `FROM t AS LEFT JOIN u`."""
    kinds = [token.token_type for token in tokens]
    return any(
        kind == TokenType.ALIAS and len(following) == 2 and all(word in _JOIN_WORDS for word in following)
        for n, kind in enumerate(kinds)
        if (following := kinds[n + 1 : n + 3])
    )


def _has_null_test_that_is_no_call(_nodes: Nodes, tokens: Sequence[Token]) -> bool:
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


_MISREAD: Sequence[tuple[Callable[[Nodes, Sequence[Token]], bool], str]] = (
    (
        _has_condition_that_is_an_alias,
        "Spark takes WHERE (name) for an alias of the table before it: leave out the parentheses",
    ),
    (
        _compares_predicates,
        "Spark takes a = b IN (...) for (a = b) IN (...), and LIKE and BETWEEN so too: use parentheses",
    ),
    (
        _has_operators_of_one_level,
        "Spark takes a || b + c for (a || b) + c and a = b < c for (a = b) < c, and orders & | ^ otherwise:"
        " use parentheses",
    ),
    (
        _has_join_word_for_an_alias,
        "Spark takes AS for an alias where the word of a join follows it: leave it out",
    ),
    (
        _has_null_test_that_is_no_call,
        "Spark takes isnull and notnull behind an expression for an alias: write IS NULL, or AS",
    ),
    (
        _has_two_words_for_a_name,
        "Spark takes two words, such as primary key, for a name and its alias: write AS, or use backticks",
    ),
    (
        _groups_by_words_and_columns,
        "Spark takes ALL and DISTINCT before other columns of a GROUP BY for columns: use backticks",
    ),
    (_has_symmetric_bounds, "Spark takes symmetric and asymmetric for columns: use backticks"),
    (_has_units_behind_values, "the arguments of time_trunc and time_diff are not understood"),
    (_has_index_that_is_a_list, "what has an index here is not understood: put it into a column of a subquery"),
    (_has_query_for_a_value, "Spark takes select and values before an operator for columns: use backticks"),
    (
        _has_windows_of_one_name,
        "two windows have names that differ in upper and lower case alone: name one otherwise",
    ),
    (_has_number_that_is_a_name, "Spark takes what begins with 0x for a name: use backticks, or X'...'"),
    (_has_word_for_a_table, "Spark takes TABLE and STREAM before a name for all rows of that table: leave it out"),
    (_has_comment_in_a_comment, "Spark may end a comment that holds /* elsewhere: leave that out"),
)
