"""Scan: every column of a base table tracks itself."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.references import CTE_INDEX, cte_of
from dbt.adapters.icebergmv.maintenance.rules.relation import Scope, Track, TrackedColumn, TrackedRelation


def track_table(table: exp.Table, scope: Scope) -> TrackedRelation:
    """Return the relation of a name in FROM: a CTE in sight or a base table."""
    relation = _named(table, scope)
    if table.args.get("pivots"):
        return TrackedRelation(None, relation.references, relation.obstacles).cut("PIVOT")
    alias = table.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        return rename(relation, [c.name for c in alias.columns])
    return relation


def rename(relation: TrackedRelation, names: list[str]) -> TrackedRelation:
    """Return the relation with the column names of an alias list, as in `t AS x(a, b)`."""
    if relation.columns is None or len(names) != len(relation.columns):
        return TrackedRelation(None, relation.references, relation.obstacles).cut("a column list of another length")
    renamed = tuple(TrackedColumn(n, c.tracks, c.type) for n, c in zip(names, relation.columns, strict=True))
    return TrackedRelation(renamed, relation.references, relation.obstacles)


def _named(table: exp.Table, scope: Scope) -> TrackedRelation:
    if cte_of(table) is not None:
        return scope.ctes[table.name.lower()]
    index = table.meta.get(CTE_INDEX)
    if index is None:
        return TrackedRelation(None)
    columns = scope.columns.get(index)
    if columns is None:
        return TrackedRelation(None, frozenset({index}))
    tracked = tuple(TrackedColumn(c.name, frozenset({Track(index, c.name)}), c.type) for c in columns)
    return TrackedRelation(tracked, frozenset({index}))
