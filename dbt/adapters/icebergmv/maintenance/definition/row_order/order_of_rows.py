"""Values that depend on the order of rows: of aggregates such as `max_by`, and of windows whose rows may tie.

Each evaluation may find another of several values that are right. So no region names one, and no column with one
answers a question: what is stored may be another than the one that a question finds. A condition on such a value, as in
`WHERE n = 1` over `row_number() AS n`, says which rows there are. The changed rows of another table are asked without
it: beside all rows that there may be, as the stored ones may come from any. Where that cannot be done, they are not
asked, nor is another moment of the clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.rounded_values import is_rounded
from dbt.adapters.icebergmv.maintenance.definition.row_order.window_orders import is_of_rows, numbers_rows
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import is_aggregate, is_generator
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conjuncts
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Sources
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Edit, TrackedRelation
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence

_DEPENDENT = (
    *(exp.AnyValue, exp.ApproxQuantile, exp.ApproxTopK, exp.ApproxTopKAccumulate, exp.ApproxTopKCombine, exp.ArgMax),
    *(exp.ArgMin, exp.ArrayAgg, exp.ArrayUniqueAgg, exp.First, exp.FirstValue, exp.GroupConcat, exp.Last),
    *(exp.LastValue, exp.Mode),
)
"""What the parser makes of calls of order-dependent functions, and of nothing else."""

_TIED = (exp.IgnoreNulls, exp.NthValue, *_DEPENDENT)


def is_dependent(node: exp.Expr) -> bool:
    """Return whether a node is an aggregate whose value depends on the order in which rows are read."""
    is_call = isinstance(node, exp.Anonymous) and known_of(written_name(node)).order_dependent
    return (is_call or isinstance(node, _DEPENDENT)) and is_aggregate(node)


def depends_on_order(expression: exp.Expr, settled: Collection[int] = ()) -> bool:
    """Return whether such an aggregate is a part of an expression, or a window function that ties may change.

    `settled` are nodes that no order of rows decides, by their id() (window_orders.py, collected_lists.py).
    """
    nodes = (node for node in expression.walk() if id(node) not in settled)
    return any(is_dependent(node) or _may_tie(node) for node in nodes)


def reads_ties(node: exp.Expr, sources: Sources) -> bool:
    """Return whether what an expression says depends on the order of rows, or on a column of FROM that does."""
    slots = sources.slots_in(node)
    return depends_on_order(node, sources.settled) or any(sources.slots[slot].column.has_ties for slot in slots)


def picks_values(node: exp.Expr, sources: Sources) -> bool:
    """Return whether what an expression says is of one of several rows, and not only rounded in another way."""
    slots = sources.slots_in(node)
    return depends_on_order(node, sources.settled) or any(sources.slots[slot].column.is_tied for slot in slots)


def may_differ(node: exp.Expr, names: Names) -> bool:
    """Return whether an expression may say something else of the same rows at the next evaluation."""
    return reads_ties(node, names.sources) or is_rounded(node, names)


def tied_below(node: exp.Expr, sources: Sources) -> frozenset[Occurrence]:
    """Return the occurrences among whose rows all those are on whose order an expression of FROM depends.

    A question of one of them answers for whole partitions of the window; of another it would name single rows.
    """
    read = [sources.slots[slot].column for slot in sources.slots_in(node)]
    below = [column.tied_below for column in read if column.has_ties]
    if depends_on_order(node, sources.settled):
        below.append(sources.relation.occurrences | frozenset(sources.relation.questions))
    return frozenset.intersection(*below) if below else frozenset()


def shows_ties(relation: TrackedRelation) -> bool:
    """Return whether which rows a relation has, or what they show, depends on the order of rows."""
    return relation.has_ties or any(column.has_ties for column in relation.columns or ())


def all_edits(edits: Iterable[frozenset[Edit] | None]) -> frozenset[Edit] | None:
    """Return the edits of several relations together; None where those of one are not known."""
    found = list(edits)
    return None if None in found else frozenset(edit for several in found for edit in several or ())


def rows_by_ties(select: exp.Select, names: Names, relation: TrackedRelation) -> TrackedRelation:
    """Return the relation of a SELECT with what the order of rows has to do with which rows it has."""
    sources, below = names.sources, names.sources.relation
    if not below.has_ties and not chosen_by_ties(select, names):
        return relation
    where, having, qualify = (select.args.get(a) for a in ("where", "having", "qualify"))
    edits = below.loosened if below.has_ties else frozenset()
    if edits is None or _puts_ties_together(select, names):
        return replace(relation, has_ties=True, loosened=None)
    terms = [term for term in conjuncts(where and where.this) if reads_ties(term, sources)]
    # What HAVING and QUALIFY say of groups and partitions depends on which rows are in these.
    terms += [clause.this for clause in (having, qualify) if clause is not None]
    loosened = edits | {Edit("all rows", id(term)) for term in terms}
    return replace(relation, has_ties=True, loosened=loosened)


def chosen_by_ties(select: exp.Select, names: Names) -> bool:
    """Return whether which rows a SELECT has, of those of its FROM, depends on the order of rows."""
    clauses = [clause for a in ("where", "having", "qualify") if (clause := select.args.get(a)) is not None]
    is_chosen = any(may_differ(clause, names) for clause in clauses)
    return is_chosen or _names_tied_alias(select, names) or _puts_ties_together(select, names)


def _names_tied_alias(select: exp.Select, names: Names) -> bool:
    """Return whether HAVING or QUALIFY names what depends on the order of rows by the alias that the list gives it.

    Spark takes that for meant where a column of FROM with the name is nothing that rows are grouped by.
    """
    clauses = [clause for a in ("having", "qualify") if (clause := select.args.get(a)) is not None]
    if not clauses:
        return False
    tied: set[str] = set()
    for item in select.expressions:
        # An item may be made of those before it.
        if isinstance(item, exp.Alias) and (may_differ(item, names) or _names_one(item, tied)):
            tied.add(item.alias.lower())
    return any(_names_one(clause, tied) for clause in clauses)


def _names_one(node: exp.Expr, aliases: Collection[str]) -> bool:
    return any(column.parts[0].name.lower() in aliases for column in node.find_all(exp.Column))


def _puts_ties_together(select: exp.Select, names: Names) -> bool:
    """Return whether GROUP BY or DISTINCT compares rows by what depends on their order, or rows are made of it.

    GROUP BY may name items of the list by their places or aliases, or ALL of them: any are taken for that but what is
    made of groups.
    """
    sources, group, distinct = names.sources, select.args.get("group"), select.args.get("distinct")
    if any(is_generator(item) and may_differ(item, names) for item in select.expressions):
        return True
    if group is None and not distinct:
        return False
    listed = [item for item in select.expressions if distinct or not any(map(_is_of_group, item.walk()))]
    has_ties = any(slot.column.has_ties for slot in sources.slots)
    nodes = [*listed, *([] if group is None else [group])]
    return any(may_differ(node, names) or (node.is_star and has_ties) for node in nodes)


def _is_of_group(node: exp.Expr) -> bool:
    return isinstance(node, exp.Window) or is_aggregate(node)


def _may_tie(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Window):
        return False
    return is_of_rows(node) or numbers_rows(node) or node.this.find(*_TIED) is not None
