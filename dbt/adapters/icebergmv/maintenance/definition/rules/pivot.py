"""PIVOT groups by the columns that it does not mention, which keep their tracks; UNPIVOT repeats rows."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import shows_ties
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import (
    Deltas,
    TrackedColumn,
    TrackedRelation,
)


def pivoted(relation: TrackedRelation, pivots: list[exp.Pivot]) -> TrackedRelation:
    """Return the relation after its PIVOT and UNPIVOT clauses."""
    for pivot in pivots:
        relation = _unpivot(relation, pivot) if pivot.args.get("unpivot") else _pivot(relation, pivot)
    return relation


def _pivot(relation: TrackedRelation, pivot: exp.Pivot) -> TrackedRelation:
    mentioned = {column.name.lower() for e in (*pivot.expressions, *pivot.args["fields"]) for column in _names(e)}
    produced = [c.name for c in pivot.args.get("columns") or ()]
    # Without a column to group by it gives a row for no rows.
    below = TrackedRelation(None, relation.occurrences, relation.obstacles, Deltas())
    below = replace(below, findings=relation.findings, has_ties=shows_ties(relation))
    qualified = any(c.table for e in (*pivot.expressions, *pivot.args["fields"]) for c in _names(e))
    if relation.columns is None or not all(produced) or not produced or qualified or pivot.alias_column_names:
        return below.cut("PIVOT")
    kept = [c for c in relation.columns if c.name.lower() not in mentioned]
    # What is added up may be rounded in one way or another, whatever it is of.
    added = (TrackedColumn(name, has_ties=True, is_rounded=True, is_unsettled=True) for name in produced)
    deltas = relation.deltas.not_additive() if kept else Deltas()
    return replace(below, columns=(*kept, *added), deltas=deltas)


def _unpivot(relation: TrackedRelation, pivot: exp.Pivot) -> TrackedRelation:
    """Return the columns that are not unpivoted, then the name column and the value column."""
    below = TrackedRelation(None, relation.occurrences, relation.obstacles, findings=relation.findings)
    below = replace(below, has_ties=shows_ties(relation))
    fields, values = pivot.args["fields"], pivot.expressions
    if relation.columns is None or len(fields) != 1 or len(values) != 1 or isinstance(values[0], exp.Tuple):
        return below.cut("UNPIVOT")
    mentioned = {column.name.lower() for e in fields[0].expressions for column in _names(e)}
    if pivot.alias_column_names or isinstance(fields[0].this, exp.Tuple):
        return below.cut("UNPIVOT")
    kept = [c for c in relation.columns if c.name.lower() not in mentioned]
    added = (TrackedColumn(fields[0].this.name), TrackedColumn(values[0].name))
    return replace(below, columns=(*kept, *added))


def _names(expression: exp.Expr) -> list[exp.Column]:
    return list(expression.find_all(exp.Column))
