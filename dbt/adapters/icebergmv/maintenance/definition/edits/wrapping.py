"""`WITH ..., final AS (SELECT ...) SELECT * FROM final`, as dbt models are written, means the SELECT in `final`.

The SELECT around it adds nothing, but it hides what the list of that one is made of: the states of its groups, the
rows below them. So it is taken away before anything is analysed. The text inside stays letter for letter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.references.table_references import cte_of, is_recursive
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import Span, cte_span, end_before, parentheses_around
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import NotParsed, ParsedSql, parse, parses_to

_STAR = re.compile(r"\bselect\s*\*\s*from\b", re.IGNORECASE)
_OF_A_WRAPPING = frozenset(["with_", "expressions", "from_"])
_OF_A_NAME = frozenset(["this", "alias"])
_CHANGES_ROWS = ("pivots", "sample", "limit", "offset", "joins", "laterals")
_SELECT_ALL = [TokenType.SELECT, TokenType.STAR, TokenType.FROM]


def without_wrapping(sql: str) -> str:
    """Return the query inside `SELECT * FROM (query)`, or `FROM` a CTE that is the last one and read nowhere else.

    The SQL stays as it is where the SELECT around does anything more, or its text cannot be changed for certain.
    """
    while _STAR.search(sql):
        parsed = parse(sql)
        inside = None if isinstance(parsed, NotParsed) else _inside(parsed)
        if inside is None:
            return sql
        sql = inside
    return sql


def _inside(parsed: ParsedSql) -> str | None:
    tree = parsed.tree
    if not isinstance(tree, exp.Select) or not _lists_everything(tree):
        return None
    item, ctes = tree.args["from_"].this, _ctes(tree)
    query = query_behind(item, tree)
    if query is None or any(value for name, value in item.args.items() if name not in _OF_A_NAME):
        return None
    if isinstance(item, exp.Subquery):
        return _checked(_without_outer_select(query, parsed.tokens, parsed.sql), query, ctes)
    if not ctes or query is not ctes[-1].this:
        return None
    return _checked(_without_cte(ctes, parsed.tokens, parsed.sql), query, ctes[:-1])


def query_behind(item: exp.Expr, tree: exp.Expr) -> exp.Expr | None:
    """Return the query behind an item of FROM, if it is read here alone and names its own columns."""
    if item.alias_column_names or any(item.args.get(a) for a in _CHANGES_ROWS):
        return None
    if isinstance(item, exp.Subquery):
        inside: exp.Expr = item.this
        return inside
    cte = cte_of(item) if isinstance(item, exp.Table) else None
    if cte is None or cte.alias_column_names or is_recursive(cte):
        return None
    return cte.this if sum(cte_of(table) is cte for table in tree.find_all(exp.Table)) == 1 else None


def _lists_everything(select: exp.Select) -> bool:
    """Return whether it is `SELECT * FROM x`, perhaps with a WITH in front."""
    items = select.expressions
    if any(value for name, value in select.args.items() if name not in _OF_A_WRAPPING):
        return False
    is_star = len(items) == 1 and isinstance(items[0], exp.Star) and not any(items[0].args.values())
    return is_star and isinstance(select.args.get("from_"), exp.From)


def _ctes(query: exp.Query) -> list[exp.CTE]:
    with_ = query.args.get("with_")
    return [] if with_ is None else with_.expressions


def _without_outer_select(query: exp.Expr, tokens: Sequence[Token], sql: str) -> str | None:
    """Return the WITH in front of `SELECT * FROM (query)`, and the query."""
    around = parentheses_around(query, Span(0, len(tokens)), tokens) if isinstance(query, exp.Query) else None
    if around is None or [t.token_type for t in tokens[: around.start]][-3:] != _SELECT_ALL:
        return None
    return sql[: tokens[around.start - 3].start] + _inner(around, tokens, sql)


def _without_cte(ctes: Sequence[exp.CTE], tokens: Sequence[Token], sql: str) -> str | None:
    """Return all CTEs but the last, and its query."""
    spans = [cte_span(cte, tokens) for cte in ctes]
    around = None if spans[-1] is None else parentheses_around(ctes[-1].this, spans[-1], tokens)
    if around is None:
        return None
    inner = _inner(around, tokens, sql)
    if len(spans) == 1:
        return inner
    return None if spans[-2] is None else f"{sql[: end_before(spans[-2].end, tokens)]}\n{inner}"


def _inner(around: Span, tokens: Sequence[Token], sql: str) -> str:
    """Return what is in parentheses, with the space around it: a comment may be there."""
    return sql[tokens[around.start].end + 1 : tokens[around.end - 1].start]


def _checked(text: str | None, query: exp.Expr, ctes: Sequence[exp.CTE]) -> str | None:
    """Return the text if it is certain to be the query with these CTEs, and to name its columns as the query does."""
    if text is None or not isinstance(query, (exp.Select, exp.SetOperation)) or (ctes and query.args.get("with_")):
        return None
    if not all(item.is_star or isinstance(item, exp.Column) or item.output_name for item in query.selects):
        return None
    wanted = query.copy()
    if ctes:
        wanted.set("with_", exp.With(expressions=[cte.copy() for cte in ctes]))
    return text if parses_to(text, wanted) else None
