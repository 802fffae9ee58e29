"""Values that depend on the order of rows: of aggregates such as `max_by`, and of windows whose rows may tie.

Each evaluation may find another of several values that are right. So no region names one: what is stored may be another
than the one that a question finds.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.rules.grouping import is_aggregate
from dbt.adapters.icebergmv.maintenance.definition.spark_functions import known_of, written_name

_DEPENDENT = (
    *(exp.AnyValue, exp.ApproxQuantile, exp.ApproxTopK, exp.ArgMax, exp.ArgMin, exp.ArrayAgg, exp.ArrayUniqueAgg),
    *(exp.First, exp.FirstValue, exp.GroupConcat, exp.Last, exp.LastValue, exp.Mode),
)
"""What the parser makes of calls of order-dependent functions, and of nothing else."""

_TIED = (exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead, exp.NthValue, *_DEPENDENT)


def is_dependent(node: exp.Expr) -> bool:
    """Return whether a node is an aggregate whose value depends on the order in which rows are read."""
    is_call = isinstance(node, exp.Anonymous) and known_of(written_name(node)).order_dependent
    return (is_call or isinstance(node, _DEPENDENT)) and is_aggregate(node)


def depends_on_order(expression: exp.Expr) -> bool:
    """Return whether such an aggregate is a part of an expression, or a window function that ties may change."""
    return any(is_dependent(node) or _may_tie(node) for node in expression.walk())


def _may_tie(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Window):
        return False
    spec = node.args.get("spec")
    is_of_rows = spec is not None and str(spec.args.get("kind") or "").upper() == "ROWS"
    return is_of_rows or node.this.find(*_TIED) is not None
