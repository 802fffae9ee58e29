"""The completeness rules: bottom-up, which output column tracks which base column.

Operators, one a file, and what they pass to each other.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.references.table_references import REFERENCE_INDEX
from dbt.adapters.icebergmv.maintenance.definition.rules.ctes import with_ctes
from dbt.adapters.icebergmv.maintenance.definition.rules.derived_tables import track_subquery
from dbt.adapters.icebergmv.maintenance.definition.rules.select import track_select
from dbt.adapters.icebergmv.maintenance.definition.rules.set_operations import track_set_operation
from dbt.adapters.icebergmv.maintenance.definition.rules.table_scan import track_table, track_values
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Scope, TrackedRelation
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence

__all__ = ["track"]


def track(node: exp.Expr, scope: Scope) -> TrackedRelation:
    """Return what the columns of a query, or of an item in FROM, track.

    An operator without a rule cuts every track below it and says so in the obstacles.
    """
    match node:
        case exp.Table():
            return track_table(node, scope)
        case exp.Values():
            return track_values(node)
        case exp.Subquery():
            return track_subquery(node, scope, track)
        case exp.Select():
            return track_select(node, scope, track)
        case exp.SetOperation():
            return track_set_operation(node, with_ctes(node, scope, track), track)
        case _:
            return _without_rule(node, scope, node.key.upper())


def _without_rule(node: exp.Expr, scope: Scope, name: str) -> TrackedRelation:
    """Return everything below a node that no rule handles, CTEs in sight included, as untracked."""
    tables = list(node.find_all(exp.Table))
    direct = {Occurrence(t.meta[REFERENCE_INDEX]) for t in tables if REFERENCE_INDEX in t.meta}
    through = {o for t in tables if t.name.lower() in scope.ctes for o in scope.ctes[t.name.lower()].occurrences}
    return TrackedRelation(None, frozenset(direct | through)).cut(name)
