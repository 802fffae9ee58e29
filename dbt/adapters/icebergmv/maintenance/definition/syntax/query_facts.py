"""What the syntax tree of a SELECT says of all of it: where its rows come from, and how it joins."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import aggregates_all_rows
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes, own_nodes


def is_joined_by_where(select: exp.Select) -> bool:
    """Return whether a join of FROM leaves its condition to WHERE, and another join follows it.

    Of the last one the condition of WHERE becomes its own.
    """
    return any(map(_has_no_condition, (select.args.get("joins") or [])[:-1]))


def _has_no_condition(join: exp.Join) -> bool:
    """Return whether a join has no condition of its own. The parser puts ON TRUE where a JOIN has no ON."""
    return join.args.get("on") == exp.true() or not any(map(join.args.get, ("on", "using", "method")))


def needs_tables(nodes: Nodes) -> bool:
    """Return whether every output row comes from rows of tables, so that over empty tables the query is empty.

    Not so a SELECT without FROM, an aggregate without GROUP BY, VALUES and functions in FROM. What is in an
    expression, such as a scalar subquery, adds no rows.
    """
    if nodes.have(exp.Values, exp.Pivot, exp.Unnest, exp.TableFromRows):
        return False
    if any(not isinstance(table.this, exp.Identifier) for table in nodes.of(exp.Table)):
        return False
    return all(_follows_its_rows(select) for select in nodes.of(exp.Select) if not _is_in_expression(select))


def _is_in_expression(select: exp.Select) -> bool:
    place = select.parent
    while isinstance(place, (exp.Subquery, exp.SetOperation)):
        place = place.parent
    return not isinstance(place, (exp.From, exp.Join, exp.CTE, type(None)))


def _follows_its_rows(select: exp.Select) -> bool:
    if select.args.get("from_") is None:
        return False
    if select.args.get("group") is not None:
        return True
    # A function that the parser does not know may be an aggregate, too.
    may_aggregate = (isinstance(node, exp.Anonymous) for item in select.expressions for node in own_nodes(item))
    return not aggregates_all_rows(select) and not any(may_aggregate)
