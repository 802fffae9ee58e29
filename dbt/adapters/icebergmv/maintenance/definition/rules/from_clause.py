"""FROM: the relations in it, joined from left to right, and what LATERAL VIEW adds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import reads_ties, shows_ties
from dbt.adapters.icebergmv.maintenance.definition.rules.answers import answering, generated
from dbt.adapters.icebergmv.maintenance.definition.rules.generators import with_generated
from dbt.adapters.icebergmv.maintenance.definition.rules.joins import joined, unknown_join
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conjuncts
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Sources, sources_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Deltas, Scope, TrackedRelation

TrackQuery = Callable[[exp.Expr, Scope], TrackedRelation]


def track_from(select: exp.Select, scope: Scope, track: TrackQuery) -> Sources:
    """Return what a SELECT has in FROM, LATERAL VIEWs included; without FROM a single row without columns."""
    from_ = select.args.get("from_")
    if from_ is None:
        return sources_of(TrackedRelation(()), "")
    sources = _joins(_item(from_.this, scope, track), select.args.get("joins") or [], scope, track)
    for lateral in select.args.get("laterals") or ():
        sources = _with_generated(sources, lateral, scope)
    return sources


def _item(node: exp.Expr, scope: Scope, track: TrackQuery) -> Sources:
    """Return one item of FROM: a table, a query in parentheses, VALUES, or joins in parentheses."""
    if isinstance(node, exp.Subquery) and isinstance(node.this, (exp.Table, exp.Subquery)):
        return _parenthesised(node, scope, track)
    joins = node.args.get("joins")
    if joins and isinstance(node, (exp.Table, exp.Subquery)):
        # A join in parentheses hangs on its first table.
        return _joins(_single(node, scope, track), joins, scope, track)
    return _single(node, scope, track)


def _single(node: exp.Expr, scope: Scope, track: TrackQuery) -> Sources:
    namespace = node.db if isinstance(node, exp.Table) and not node.alias else ""
    sources = sources_of(track(node, scope), _alias(node), namespace)
    for lateral in node.args.get("laterals") or ():
        sources = _with_generated(sources, lateral, scope)
    return sources


def _parenthesised(node: exp.Subquery, scope: Scope, track: TrackQuery) -> Sources:
    """Return `(a JOIN b ...)`, whose names stay visible unless an alias covers them."""
    sources = _item(node.this, scope, track)
    if node.alias or node.args.get("pivots") or node.args.get("sample"):
        columns = None if sources.unknown else tuple(sources.slots[i].column for i in sources.star)
        below = sources.relation
        relation = replace(below, columns=columns, unlisted=())
        plain = not (node.args.get("pivots") or node.args.get("sample") or node.args["alias"].columns)
        sources = sources_of(relation if plain else relation.cut("an alias over a join"), node.alias)
    return _joins(sources, node.args.get("joins") or [], scope, track)


def _joins(sources: Sources, joins: list[exp.Join], scope: Scope, track: TrackQuery) -> Sources:
    # A comma binds as closely as JOIN, from left to right (spark.sql.ansi.relationPrecedence is off by default).
    for join in joins:
        if isinstance(join.this, exp.Lateral):
            sources = _lateral(sources, join, scope, track)
        else:
            sources = joined(sources, _item(join.this, scope, track), join, scope)
    return sources


def _lateral(sources: Sources, join: exp.Join, scope: Scope, track: TrackQuery) -> Sources:
    """Return the sources after `LATERAL f(x)`, or after a LATERAL subquery, through which its tables are untracked."""
    lateral = join.this
    if join.args.get("pivots") or lateral.args.get("pivots"):
        return unknown_join(sources, "PIVOT over a join")
    if not isinstance(lateral.this, exp.Subquery):
        found = _with_generated(sources, lateral, scope)
        # ON looks at each row that is generated. Where it does not read what is answered, it may let others pass.
        found = answering(found, conjuncts(join.args.get("on")), Names(found, scope))
        return replace(found, relation=replace(found.relation, deltas=Deltas())) if join.side else found
    inside = track(lateral.this.this, scope)
    below = sources.relation.blocked(inside.occurrences, "a LATERAL subquery")
    if shows_ties(inside):
        below = replace(below, has_ties=True, loosened=None)
    unknown = sources.unknown | {lateral.alias_or_name.lower()}
    return replace(sources, relation=replace(below, deltas=Deltas(), questions={}), unknown=unknown)


def _with_generated(sources: Sources, lateral: exp.Lateral, scope: Scope) -> Sources:
    found = with_generated(generated(sources, lateral.this, Names(sources, scope)), lateral)
    if not reads_ties(lateral.this, sources):
        return found
    added = (
        replace(s, column=replace(s.column, has_ties=True, is_unsettled=True, answered=frozenset()))
        for s in found.slots[len(sources.slots) :]
    )
    relation = replace(found.relation, has_ties=True, loosened=None)
    return replace(found, slots=(*sources.slots, *added), relation=relation)


def _alias(node: exp.Expr) -> str:
    pivots = node.args.get("pivots")
    return (pivots[-1].alias if pivots else "") or node.alias_or_name
