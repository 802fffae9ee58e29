"""Whose names the columns of a view have: its SELECT's own, or those of the tables below, in their order.

A view of an Iceberg catalog takes its columns by their places (Iceberg, ResolveViews). Behind `select *` they would
show values under other names, once a table below is made anew with its columns in another order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

_MAY_TAKE = re.compile(
    r"\*|\btable\b|\|>|(?:^|[()]|\b(?:union|except|minus|intersect|all|distinct)\b|--[^\n]*\n)\s*from\b", re.IGNORECASE
)
"""A star, or what stands for one: `table t`, a pipe, and a query that begins with FROM. Others may match as well."""
_Named = Mapping[str, bool]
"""The common table expressions in reach, by name: do they take columns as tables have them?"""


def takes_columns_of_tables(sql: str) -> bool:
    """Return whether a SELECT has some columns by `*` over a table, so that their places are those of the table's.

    True where that is not known: a view that names its columns shows the same.
    """
    if not _MAY_TAKE.search(sql):
        return False
    try:
        return _takes(sqlglot.parse_one(sql, read="spark"), {})
    except (SqlglotError, RecursionError):
        return True


def _takes(query: exp.Expr, outer: _Named) -> bool:
    """Return whether columns of a query are a table's. The names of a set operation are those of its first query."""
    named = dict(outer)
    for cte in query.ctes if isinstance(query, exp.Query) else ():
        named[cte.alias.lower()] = not cte.alias_column_names and _takes(cte.this, named)
    match query:
        case exp.Subquery():
            return _source_takes(named, query)
        case exp.SetOperation():
            return _takes(query.left, named)
        case exp.Select():
            return query.is_star and _star_takes(query, named)
    return True


def _star_takes(query: exp.Select, named: _Named) -> bool:
    found = query.args.get("from_")
    if found is None:
        return True
    joined = [join.this for join in query.args.get("joins", ())]
    sources = [found.this, *joined, *query.args.get("laterals", ())]
    stars = [item for item in query.expressions if item.is_star]
    return any(_source_takes(named, source) for star in stars for source in _sources_of(star, sources))


def _sources_of(star: exp.Expr, sources: Sequence[exp.Expr]) -> Sequence[exp.Expr]:
    """Return the sources whose columns a star shows, itself for one over a struct: its fields have a table's order.

    Spark takes a qualifier for a relation first, and for a column if there is none of that name.
    """
    if isinstance(star, exp.Star):
        return sources
    if not isinstance(star, exp.Column) or star.args.get("db"):
        return [star]
    qualifier = star.table.lower()
    return [source for source in sources if source.alias_or_name.lower() == qualifier] or [star]


def _source_takes(named: _Named, source: exp.Expr) -> bool:
    """Return whether a star over a source shows columns as a table has them."""
    if source.args.get("pivots") or source.args.get("joins"):
        return True
    match source:
        case exp.Subquery():
            return not source.alias_column_names and _takes(source.this, named)
        case exp.Values():
            return False
        case exp.Table() if not source.args.get("db"):
            return named.get(source.name.lower(), True)
    return True
