"""WITH: each common table expression is tracked once, and seen anew wherever it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.references.table_references import REFERENCE_INDEX
from dbt.adapters.icebergmv.maintenance.definition.rules.table_scan import under_alias
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import of_cte
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Scope, TrackedRelation
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence


def with_ctes(query: exp.Expr, scope: Scope, track: Callable[[exp.Expr, Scope], TrackedRelation]) -> Scope:
    """Return the scope with the common table expressions of the query in sight."""
    with_ = query.args.get("with_")
    if with_ is None:
        return scope
    known = scope.tracked if query.parent is None else {}
    for cte in with_.expressions:
        if id(cte) not in known:
            known[id(cte)] = _tracked(cte, scope, track, bool(with_.recursive))
        scope = scope.with_cte(cte.alias, known[id(cte)])
    return scope


def _tracked(
    cte: exp.CTE, scope: Scope, track: Callable[[exp.Expr, Scope], TrackedRelation], recursive: bool
) -> TrackedRelation:
    if recursive:
        below = frozenset(
            Occurrence(t.meta[REFERENCE_INDEX]) for t in cte.find_all(exp.Table) if REFERENCE_INDEX in t.meta
        )
        # Which of its rows a window with ties decides is not looked into.
        has_ties = cte.find(exp.Window, exp.Having) is not None
        return replace(TrackedRelation(None, below).cut("WITH RECURSIVE"), has_ties=has_ties)
    return under_alias(_naming(cte.alias, track(cte.this, scope), scope), cte)


def _naming(name: str, relation: TrackedRelation, scope: Scope) -> TrackedRelation:
    """Return the relation of an expression that has a name, which people need to find what is in the way there.

    What is in the way in one that it reads has the name of that one.
    """
    named = {reason for below in scope.ctes.values() for reason in below.obstacles.values()}
    obstacles = {o: reason if reason in named else reason + of_cte(name) for o, reason in relation.obstacles.items()}
    return replace(relation, obstacles=obstacles)
