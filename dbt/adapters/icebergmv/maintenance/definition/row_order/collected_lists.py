"""Lists and texts that a SELECT collects of a group and sorts: they are the same in whatever order rows are read.

Values that sort alike must be one, as numbers, texts, dates and booleans are. Of floats 0.0 and -0.0 are not, nor equal
texts of a collation: a SELECT that names one has no such lists. `listagg` has to be ordered by what it shows.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.order_dependence import COLLATION
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import own_nodes
from dbt.adapters.icebergmv.maintenance.definition.tracking.exactness import kind_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import SettledCall
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names

_COLLECTED = (exp.ArrayUniqueAgg, exp.ArrayAgg)
_OF_VALUES = (exp.ArrayDistinct, exp.Filter)
"""What may be between a list and how it is sorted: which values are left does not depend on where they are."""

_SORTED_ALIKE = frozenset(["number", "text", "time", "boolean"])


def settled_calls(select: exp.Select, names: Names) -> tuple[SettledCall, ...]:
    """Return the aggregates in the list of a SELECT, called over its groups, whose values are sorted by themselves."""
    if COLLATION.search(names.scope.sql):
        return ()
    nodes = (node for item in select.expressions for node in own_nodes(item))
    found = ((call, value) for node in nodes for call, value in _sorted_calls(node))
    return tuple(SettledCall(id(call)) for call, value in found if kind_of(value, names) in _SORTED_ALIKE)


def collected(item: exp.Expr) -> exp.Expr | None:
    """Return the aggregate whose list an item is, if it is sorted by its values alone."""
    if not isinstance(item, exp.ArraySort) or item.expression:
        return None
    direction, inside = item.args.get("asc"), item.this
    while isinstance(inside, _OF_VALUES):
        inside = inside.this
    is_known = isinstance(inside, _COLLECTED) and (direction is None or isinstance(direction, exp.Boolean))
    return inside if is_known else None


def _sorted_calls(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Yield the aggregate that a node sorts, and the value of each row by which it does."""
    call = collected(node)
    if call is not None:
        yield call, _each(call.this)
    # Over a window a frame may take rows by their places.
    if (
        isinstance(node, exp.GroupConcat)
        and isinstance(node.this, exp.Order)
        and node.find_ancestor(exp.Window) is None
    ):
        value, ordered = _each(node.this.this), node.this.expressions[0]
        if isinstance(ordered, exp.Ordered) and ordered.this == value:
            yield node, value


def _each(argument: exp.Expr) -> exp.Expr:
    """Return what an aggregate takes of each row, or of each different one."""
    is_distinct = isinstance(argument, exp.Distinct) and len(argument.expressions) == 1
    return argument.expressions[0] if is_distinct else argument
