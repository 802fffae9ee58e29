"""Subquery in FROM: passes through what is below it, unless it limits or samples."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.rules.ctes import with_ctes
from dbt.adapters.icebergmv.maintenance.definition.rules.pivot import pivoted
from dbt.adapters.icebergmv.maintenance.definition.rules.table_scan import under_alias
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Scope, TrackedRelation

_CUTS = {"limit": "LIMIT", "offset": "OFFSET", "sample": "TABLESAMPLE"}


def track_subquery(
    node: exp.Subquery, scope: Scope, track: Callable[[exp.Expr, Scope], TrackedRelation]
) -> TrackedRelation:
    """Return the relation of a parenthesised query, under its alias list if it has one."""
    relation = pivoted(track(node.this, with_ctes(node, scope, track)), node.args.get("pivots") or [])
    for argument, words in _CUTS.items():
        if node.args.get(argument):
            return relation.cut(words)
    return under_alias(relation, node)
