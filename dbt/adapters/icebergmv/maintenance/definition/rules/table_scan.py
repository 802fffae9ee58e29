"""Scan: every column of a base table tracks itself. VALUES reads nothing."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.references.table_references import CTE_USE, REFERENCE_INDEX, cte_of
from dbt.adapters.icebergmv.maintenance.definition.rules.pivot import pivoted
from dbt.adapters.icebergmv.maintenance.definition.rules.table_uses import MOST_OCCURRENCES
from dbt.adapters.icebergmv.maintenance.definition.tracking.exactness import kind_of_type
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import (
    Deltas,
    Question,
    Scope,
    TrackedColumn,
    TrackedRelation,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track


def track_table(table: exp.Table, scope: Scope) -> TrackedRelation:
    """Return the relation of a name in FROM: a CTE in sight or a base table."""
    relation = pivoted(_named(table, scope), table.args.get("pivots") or [])
    if table.args.get("sample"):
        return relation.cut("TABLESAMPLE")
    return under_alias(relation, table)


def track_values(values: exp.Values) -> TrackedRelation:
    """Return the columns of VALUES, which are called col1, col2, ... unless an alias names them."""
    first = values.expressions[0]
    width = len(first.expressions) if isinstance(first, exp.Tuple) else 1
    relation = TrackedRelation(tuple(TrackedColumn(f"col{i}") for i in range(1, width + 1)))
    return under_alias(relation, values)


def under_alias(relation: TrackedRelation, node: exp.Expr) -> TrackedRelation:
    """Return the relation of a node with the column names of its alias list, as in `t AS x(a, b)`, if it has one."""
    names = node.alias_column_names
    if not names:
        return relation
    if relation.columns is None or len(names) != len(relation.columns):
        below = TrackedRelation(None, relation.occurrences, relation.obstacles)
        return below.cut("a column list of another length")
    columns = tuple(replace(c, name=n) for n, c in zip(names, relation.columns, strict=True))
    return replace(relation, columns=columns, unlisted=())


def _named(table: exp.Table, scope: Scope) -> TrackedRelation:
    if cte_of(table) is not None:
        relation = scope.ctes.get(table.name.lower(), TrackedRelation(None))
        use = table.meta.get(CTE_USE)
        if use is None:
            return relation
        if len(relation.occurrences) > MOST_OCCURRENCES:
            return relation.cut("a common table expression that is used very often")
        return relation.used_again(use)
    index = table.meta.get(REFERENCE_INDEX)
    if index is None:
        return TrackedRelation(None)
    occurrence = Occurrence(index)
    columns, deltas = scope.columns.get(index), Deltas({occurrence: frozenset()}, frozenset({occurrence}))
    if columns is None:
        return TrackedRelation(None, frozenset({occurrence}), deltas=deltas)
    of_it = frozenset({occurrence})
    tracked = tuple(
        TrackedColumn(
            c.name,
            frozenset({Track(occurrence, c.name)}),
            c.type,
            c.required,
            answered=of_it,
            kind=kind_of_type(c.type),
            keeps_equal=True,
        )
        for c in columns
    )
    return TrackedRelation(tracked, of_it, deltas=deltas, questions={occurrence: Question()})
