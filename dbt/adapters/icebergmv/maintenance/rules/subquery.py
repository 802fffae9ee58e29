"""Subquery in FROM: passes through what is below it, unless it limits, samples or pivots."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.rules.relation import Scope, TrackedRelation
from dbt.adapters.icebergmv.maintenance.rules.scan import rename

_CUTS = {"limit": "LIMIT", "offset": "OFFSET", "sample": "TABLESAMPLE"}


def track_subquery(
    node: exp.Subquery, scope: Scope, track: Callable[[exp.Expr, Scope], TrackedRelation]
) -> TrackedRelation:
    """Return the relation of a parenthesised query, under its alias list if it has one."""
    relation = track(node.this, scope)
    if node.args.get("pivots"):
        return TrackedRelation(None, relation.references, relation.obstacles).cut("PIVOT")
    for argument, words in _CUTS.items():
        if node.args.get(argument):
            return relation.cut(words)
    alias = node.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        return rename(relation, [c.name for c in alias.columns])
    return relation
