"""Whose names the columns of a view have: its SELECT's own, or those of the tables below, in their order.

A view of an Iceberg catalog takes its columns by their places (Iceberg, ResolveViews). Behind `select *` they would
show values under other names, once a table below is made anew with its columns in another order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

_MAY_TAKE = re.compile(r"\*|\btable\b|\|>", re.IGNORECASE)
_Named = Mapping[str, bool]
"""The common table expressions in reach, by name: do they take columns as tables have them?"""


def takes_columns_of_tables(sql: str) -> bool:
    """Return whether a SELECT has some columns by `*` over a table, so that their places are those of the table's.

    True where that is not known: a view that names its columns shows the same.
    """
    if not _MAY_TAKE.search(sql):
        return False
    try:
        tree = sqlglot.parse_one(sql, read="spark")
    except (SqlglotError, RecursionError):
        return True
    return _takes(tree, {})


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
    joined = [*query.args.get("joins", ()), *query.args.get("laterals", ())]
    return any(map(partial(_source_takes, named), (found.this, *(j.this for j in joined))))


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
