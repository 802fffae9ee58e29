"""The completeness rules: bottom-up, which output column tracks which base column. One operator a file."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.references import CTE_INDEX
from dbt.adapters.icebergmv.maintenance.rules.relation import Scope, TrackedRelation
from dbt.adapters.icebergmv.maintenance.rules.scan import track_table
from dbt.adapters.icebergmv.maintenance.rules.select import track_select
from dbt.adapters.icebergmv.maintenance.rules.subquery import track_subquery

__all__ = ["track"]


def track(node: exp.Expr, scope: Scope) -> TrackedRelation:
    """Return what the columns of a query, or of an item in FROM, track.

    An operator without a rule cuts every track below it and says so in the obstacles.
    """
    for argument, words in (("joins", "JOIN"), ("laterals", "LATERAL VIEW")):
        # A join in parentheses hangs on its first table.
        if not isinstance(node, exp.Select) and node.args.get(argument):
            return _without_rule(node, scope, words)
    match node:
        case exp.Table():
            return track_table(node, scope)
        case exp.Subquery():
            return track_subquery(node, scope, track)
        case exp.Select():
            return track_select(node, scope, track)
        case _:
            return _without_rule(node, scope, node.key.upper())


def _without_rule(node: exp.Expr, scope: Scope, name: str) -> TrackedRelation:
    """Return everything below a node that no rule handles, CTEs in sight included, as untracked."""
    tables = list(node.find_all(exp.Table))
    direct = {t.meta[CTE_INDEX] for t in tables if CTE_INDEX in t.meta}
    through = {i for t in tables if t.name.lower() in scope.ctes for i in scope.ctes[t.name.lower()].references}
    return TrackedRelation(None, frozenset(direct | through)).cut(name)
