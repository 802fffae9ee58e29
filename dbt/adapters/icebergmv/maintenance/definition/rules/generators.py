"""Generators (explode, LATERAL VIEW): every input row gives some rows, which keep what its columns track."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Slot, Sources
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn


def generated_names(expression: exp.Expr) -> list[str] | None:
    """Return the columns that a generator in a SELECT list gives; None when only Spark knows their names."""
    if isinstance(expression, exp.Aliases):
        return [name.name for name in expression.expressions]
    return [expression.alias] if isinstance(expression, exp.Alias) else None


def with_generated(sources: Sources, lateral: exp.Lateral) -> Sources:
    """Return the sources with the columns of one LATERAL VIEW, or LATERAL function, beside them."""
    alias = lateral.args.get("alias")
    name = alias.name.lower() if alias is not None else ""
    columns = [c.name for c in alias.columns] if alias is not None else []
    if not columns:
        return replace(sources, unknown=sources.unknown | {name})
    start = len(sources.slots)
    answered = frozenset(sources.relation.questions)
    added = tuple(Slot(name, TrackedColumn(c, answered=answered)) for c in columns)
    star = (*sources.star, *range(start, start + len(added)))
    return replace(sources, slots=(*sources.slots, *added), star=star)
