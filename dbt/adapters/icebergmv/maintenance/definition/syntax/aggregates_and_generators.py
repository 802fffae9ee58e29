"""Which nodes of a SELECT make one row of several (aggregates), and which make several of one (generators)."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import own_nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name

ANALYTICS = (exp.GroupingSets, exp.Rollup, exp.Cube)
ANALYTIC_ARGUMENTS = ("grouping_sets", "rollup", "cube")


def is_generator(expression: exp.Expr) -> bool:
    """Return whether the expression, or one inside it, gives several rows."""
    if expression.find(exp.UDTF):
        return True
    return any(known_of(written_name(call)).generator for call in expression.find_all(exp.Func))


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether a node is a call of one of Spark's aggregate functions; over a window it is none."""
    call, place = node, node.parent
    while isinstance(place, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        call, place = place, place.parent
    is_over = isinstance(place, exp.Window) and place.this is call
    return not is_over and is_aggregate_call(node)


def is_aggregate_call(node: exp.Expr) -> bool:
    """Return whether a node calls an aggregate function, be it one that the parser does not know as such."""
    return isinstance(node, exp.AggFunc) or (isinstance(node, exp.Anonymous) and known_of(written_name(node)).aggregate)


def aggregates_all_rows(select: exp.Select) -> bool:
    """Return whether a SELECT surely makes one row of all, by an aggregate or a HAVING without GROUP BY."""
    if select.args.get("group") is not None:
        return False
    items = (*select.expressions, *(select.args.get("windows") or ()))
    nodes = (node for item in items for node in own_nodes(item))
    return select.args.get("having") is not None or any(map(is_aggregate, nodes))


def has_grouping_sets(group: exp.Group) -> bool:
    """Return whether a GROUP BY has several grouping sets, in any of the forms that Spark knows."""
    return group.find(*ANALYTICS) is not None or any(group.args.get(a) for a in (*ANALYTIC_ARGUMENTS, "totals"))
