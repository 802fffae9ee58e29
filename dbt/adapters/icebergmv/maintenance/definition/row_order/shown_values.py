"""Values that depend on the order of rows, as those of `max_by`, but are only shown.

Whichever value of several a refresh finds for a group is right. Where each row of the view shows one group, and no
other row depends on that value, a group of which no row changed may keep what is stored: a full refresh could find the
same. So these views are refreshed as others are, because groups are always replaced whole, and no region names the
value (row_order/order_of_rows.py). Where a join shows one group in several rows, two of these must not show what two
evaluations found. So regions name only columns by which all rows of a group are replaced, or none of them
(row_order/shown_groups.py). Let a group keep the value that is stored if no row of it is replaced, and take the one
that the refresh finds if they all are: some evaluation of the whole SELECT gives just these rows. None of that is done
where the SELECT reads the clock: a term above the groups may compare it with the value, and what the clock reaches
would depend on which value is found.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.order_dependence import (
    COLLATION,
    dependence_of,
    order_dependence,
    order_dependent_calls,
    picks_rows,
)
from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import depends_on_order, is_dependent
from dbt.adapters.icebergmv.maintenance.definition.row_order.window_orders import settled_nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import (
    aggregates_all_rows,
    is_generator,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import OnlyShown
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn, TrackedRelation

_PASSING = frozenset(["expressions", "from_", "where", "with_", "order", "hint"])
_COLLECTING = frozenset(["collect_list", "collect_set", "array_agg", "listagg", "string_agg"])
"""Whose values may be sorted."""

_OF_OTHER_ROWS = (exp.Pivot, exp.Lateral, exp.Unnest, exp.TableSample, exp.TableFromRows)

_GROUPING = _PASSING | {"group", "having", "joins", "laterals"}


def are_shown_alone(parsed: ParsedSql, settled: Collection[int] = ()) -> bool:
    """Return whether all that depends on an order of rows are values of groups, each in a row of its own.

    Nothing of the `settled` nodes, by their id(), does.
    """
    if picks_rows(parsed.tree):
        return False
    dependent = [node for node in parsed.tree.walk() if is_dependent(node)]
    grouped = _shown_groups(parsed.tree, _ctes_used_once(parsed.tree))
    shown = {id(node) for select in grouped or () for item in select.expressions for node in item.walk()}.union(settled)
    # The parser may make something else of a call that is found in the text.
    return len(dependent) == len(order_dependent_calls(parsed.tokens)) and all(id(node) in shown for node in dependent)


@dataclass(frozen=True)
class ShownValues:
    """What depends on the order of rows in a SELECT, and whether that is only shown: then a change asks for nothing.

    `relation` is what the SELECT tracks, with what may be named by regions where several rows show one value.
    """

    depends: str | None
    are_only_shown: bool
    relation: TrackedRelation


def shown_values(parsed: ParsedSql, relation: TrackedRelation) -> ShownValues:
    """Return what becomes of values that depend on the order of rows, in a parsed text that tracks a relation."""
    settled = settled_nodes(relation.findings)
    depends = dependence_left(parsed, settled)
    if depends is None or are_shown_alone(parsed, settled):
        return ShownValues(depends, depends is not None, relation)
    if not _are_shown_together(parsed, relation, settled):
        return ShownValues(depends, False, relation)
    return ShownValues(depends, True, replaced_together(relation))


def as_asked(parsed: ParsedSql, relation: TrackedRelation) -> TrackedRelation:
    """Return what a parsed text tracks, with what its questions may name: with less, where that is not for certain."""
    settled = settled_nodes(relation.findings)
    is_as_tracked = dependence_left(parsed, settled) is None or are_shown_alone(parsed, settled)
    return relation if is_as_tracked else replaced_together(relation)


def replaced_together(relation: TrackedRelation) -> TrackedRelation:
    """Return a relation of which regions name only columns that have one value in all rows of each group it shows.

    Where it is not known which groups these are, regions name none.
    """
    shown, is_known = _groups_shown(relation), _are_groups_known(relation)

    def kept(column: TrackedColumn) -> TrackedColumn:
        return column if is_known and shown <= column.one_in else replace(column, is_unsettled=True)

    columns = relation.columns and tuple(map(kept, relation.columns))
    unlisted = tuple(one for one in relation.unlisted if _has_one_value(one.column, shown))
    return replace(relation, columns=columns, unlisted=unlisted)


def _are_shown_together(parsed: ParsedSql, relation: TrackedRelation, settled: Collection[int]) -> bool:
    """Return whether all that depends on an order of rows are values of groups that nothing but joins puts into rows.

    Some column, which may be a hidden one, has to have one value in all rows of each group.
    """
    if picks_rows(parsed.tree) or relation.columns is None or relation.has_ties:
        return False
    nodes = list(parsed.tree.walk())
    if any(isinstance(node, _OF_OTHER_ROWS) or is_generator(node) or _is_time_window(node) for node in nodes):
        return False
    texts = (token.text for token in parsed.tokens)
    if any(map(COLLATION.search, texts)) or any(
        depends_on_order(n, settled) for n in nodes if isinstance(n, exp.Window)
    ):
        return False
    sure = {one.node for one in relation.findings if isinstance(one, OnlyShown)}
    is_known = sum(map(is_dependent, nodes)) == len(order_dependent_calls(parsed.tokens))
    if not is_known or not all(id(node) in sure for node in nodes if isinstance(node, exp.Select)):
        return False
    shown = _groups_shown(relation)
    have_one = [*relation.columns, *(one.column for one in relation.unlisted)]
    return _are_groups_known(relation) and any(_has_one_value(column, shown) for column in have_one)


def _are_groups_known(relation: TrackedRelation) -> bool:
    """Return whether it is known of each value that depends on an order of rows of which groups it is."""
    return all(column.tied_to for column in relation.columns or () if column.is_tied)


def _has_one_value(column: TrackedColumn, shown: frozenset[int]) -> bool:
    """Return whether a column has one value in all rows of each group of some SELECTs, at every evaluation."""
    return shown <= column.one_in and not column.has_ties


def _groups_shown(relation: TrackedRelation) -> frozenset[int]:
    """Return the SELECTs whose groups a relation shows, as far as it is known."""
    return frozenset[int]().union(*(c.tied_to for c in relation.columns or () if c.is_tied))


def dependence_left(parsed: ParsedSql, settled: Collection[int]) -> str | None:
    """Return what depends on the order in which rows are read, but for `settled` nodes; None when nothing does."""
    depends = order_dependence(parsed.tree, parsed.tokens)
    if depends is None or not settled or picks_rows(parsed.tree):
        return depends
    calls = order_dependent_calls(parsed.tokens)
    dependent = [node for node in parsed.tree.walk() if isinstance(node, exp.Func) and is_dependent(node)]
    if len(dependent) != len(calls):
        return depends
    if all(id(node) in settled for node in dependent):
        return None
    return dependence_of(next((call for call in calls if call not in _COLLECTING), calls[0]))


def _shown_groups(query: exp.Expr, ctes: Mapping[str, exp.Expr]) -> list[exp.Select] | None:
    """Return the SELECTs whose groups are the rows of a query; None where a row may be made of something else."""
    match query:
        case exp.Subquery() | exp.Paren() if not _others(query, frozenset(["this", "alias"])):
            return _shown_groups(query.this, ctes)
        case exp.Union() if not _others(query, frozenset(["this", "expression", "with_"])):
            sides = [_shown_groups(side, ctes) for side in (query.this, query.expression)]
            return None if None in sides else [select for side in sides if side is not None for select in side]
        case exp.Table() if not _others(query, frozenset(["this", "alias"])):
            below = ctes.get(query.name.lower())
            return None if below is None else _shown_groups(below, ctes)
        case exp.Select():
            return _groups_of_select(query, ctes)
    return None


def _groups_of_select(select: exp.Select, ctes: Mapping[str, exp.Expr]) -> list[exp.Select] | None:
    if any(item.find(exp.Window, exp.Query) or _gives_several_rows(item) for item in select.expressions):
        return None
    if select.args.get("group") is not None or aggregates_all_rows(select):
        return None if _others(select, _GROUPING) else [select]
    source, where = select.args.get("from_"), select.args.get("where")
    if source is None or _others(select, _PASSING) or (where is not None and where.find(exp.Query)):
        return None
    return _shown_groups(source.this, ctes)


def _gives_several_rows(item: exp.Expr) -> bool:
    """Return whether an item makes several rows of one."""
    return is_generator(item) or any(map(_is_time_window, item.walk()))


def _is_time_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Func) and known_of(written_name(node)).time_window


def _others(node: exp.Expr, known: frozenset[str]) -> bool:
    """Return whether a node has more than some known parts."""
    return any(value for name, value in node.args.items() if name not in known)


def _ctes_used_once(tree: exp.Expr) -> dict[str, exp.Expr]:
    """Return the common table expressions that are used in one place, by their names, which no other one has."""
    found: dict[str, list[exp.Expr]] = {}
    for cte in tree.find_all(exp.CTE):
        found.setdefault(cte.alias.lower(), []).append(cte.this)
    uses = [table.name.lower() for table in tree.find_all(exp.Table) if not table.db]
    return {name: ctes[0] for name, ctes in found.items() if len(ctes) == 1 and uses.count(name) == 1}
