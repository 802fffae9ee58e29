"""What a SELECT list sees: FROM after WHERE, with what subqueries in expressions add.

A subquery in an expression depends, for an outer row, only on the inner rows that its correlated equalities let pass;
so the outer column of such an equality tracks what the inner one tracks. `x IN (SELECT y ...)` equates x with y. Where
its outcome is more than true or not (NOT IN, a flag in the SELECT list), NULLs matter: a NULL among the y affects every
x, and whether there is any y at all affects a NULL x.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import reads_ties, shows_ties
from dbt.adapters.icebergmv.maintenance.definition.rules.answers import (
    filtered,
    filtered_by,
    listed_by,
    slots_read,
    with_questions,
    without_term,
)
from dbt.adapters.icebergmv.maintenance.definition.rules.constants import without_ruled_out
from dbt.adapters.icebergmv.maintenance.definition.rules.ctes import with_ctes
from dbt.adapters.icebergmv.maintenance.definition.rules.from_clause import TrackQuery, track_from
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import (
    has_grouping_sets,
    is_aggregate,
    is_generator,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conjuncts, equalities, term_around
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import together
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Sources, are_comparable, through
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Key, Names, key_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import (
    Edit,
    Scope,
    TrackedColumn,
    TrackedRelation,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Tracks
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Inverse, KeyFunction, OrNull, is_computed

_UNCORRELATED = "a subquery that no equality ties to the row"
_LIMITED = "LIMIT in a subquery"


def sources_below(select: exp.Select, scope: Scope, track: TrackQuery) -> Sources:
    """Return FROM after WHERE; occurrences inside subqueries of expressions are among what it reads."""
    sources = track_from(select, scope, track)
    where = select.args.get("where")
    if where is not None:
        names = Names(sources, scope)
        sources = filtered(sources, where, names).equated(equalities(where.this, names))
    for query in _subqueries(select):
        sources = _with_subquery(sources, query, select, scope, track)
    sources = sources.equated(())
    return sources if where is None else without_ruled_out(sources, where, Names(sources, scope))


def _subqueries(select: exp.Select) -> Iterator[exp.Query]:
    """Yield the queries in expressions, those inside other queries left out."""
    for argument, value in select.args.items():
        if argument in ("from_", "with_"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, exp.Expr):
                for query in node.find_all(exp.Query):
                    # A Subquery is the parenthesis around a query; relations of a join are tracked with FROM.
                    if not isinstance(query, exp.Subquery) and _owner(query) is select and not _is_relation(query):
                        yield query


def _owner(query: exp.Query) -> exp.Expr | None:
    """Return the innermost query that holds this one in an expression."""
    node = query.parent
    while node is not None and (isinstance(node, exp.Subquery) or not isinstance(node, exp.Query)):
        node = node.parent
    return node


def _is_relation(query: exp.Query) -> bool:
    node = query.parent
    while isinstance(node, (exp.Subquery, exp.Lateral, exp.Table)):
        node = node.parent
    return isinstance(node, exp.Join)


@dataclass(frozen=True)
class _Subquery:
    """A query in an expression of a SELECT, in the clause `place`: None for one in which it is no value of a row.

    `inside` is its output, and `use` the expression that it is an operand of. `own` is what names in it mean, where
    equalities may tie it to the row around it; some of its rows are left out if it is `limited`.
    """

    query: exp.Query
    select: exp.Select
    use: exp.Expr | None
    place: str | None
    inside: TrackedRelation
    own: Names | None
    limited: bool


def _with_subquery(outer: Sources, query: exp.Query, select: exp.Select, scope: Scope, track: TrackQuery) -> Sources:
    names = Names(outer, scope)
    scope = replace(scope, outer_names=scope.outer_names | outer.relation_names | outer.column_names)
    inside = track(query, scope)
    use, place = _use_of(query), None if _has_grouping_sets(select, query) else _place_of(query, select)
    limited = not isinstance(use, exp.Exists) and bool(query.args.get("limit") or query.args.get("offset"))
    own = None
    if place is not None and isinstance(query, exp.Select) and not limited:
        own = _names_of(query, scope, track)
    subquery = _Subquery(query, select, use, place, inside, own, limited)
    return _asked(_tracked(names, subquery), names, subquery)


def _tracked(outer: Names, subquery: _Subquery) -> Sources:
    """Return FROM with what it tracks by a subquery and what it reads in it."""
    sources, inside, place = outer.sources, subquery.inside, subquery.place
    gained: dict[int, Tracks] = {}
    for slot, tracks in _links(outer, subquery):
        gained[slot] = gained.get(slot, frozenset()) | tracks
    reached = {t.occurrence for tracks in gained.values() for t in tracks}
    reason = _LIMITED if subquery.limited else _UNCORRELATED
    below = sources.relation.blocked(inside.occurrences - reached, reason)
    ruled_out = below.ruled_out | inside.ruled_out
    findings = together(below.findings, inside.findings)
    below = replace(below, occurrences=below.occurrences | reached, ruled_out=ruled_out, findings=findings)
    if not shows_ties(inside):
        return replace(sources, relation=below).with_tracks(gained)
    below = replace(below, has_ties=True, loosened=_loosened(sources, inside, subquery.query, subquery.select, place))
    found = replace(sources, relation=below).with_tracks(gained)
    if place == "where":
        return without_term(found, term_around(subquery.select.args["where"], subquery.query))
    # Without a place it may decide which rows are joined.
    return with_questions(found, {}) if place is None else found


def _links(outer: Names, subquery: _Subquery) -> Iterator[tuple[int, Tracks]]:
    """Yield outer slots, with the tracks that what ties a subquery to the row around it gives them."""
    query, use = subquery.query, subquery.use
    if subquery.own is None or not isinstance(query, exp.Select):
        return
    aliases = _aliases(subquery.select) if subquery.place in ("having", "qualify") else frozenset[str]()
    yield from _correlated(query, subquery.own, outer, aliases)
    if isinstance(use, exp.In) and _is_list_of(use, query) and not _names_alias(use.this, aliases):
        yield from _in(use, subquery.inside.columns, outer, only_filters=_only_filters(use))


def _asked(found: Sources, outer: Names, subquery: _Subquery) -> Sources:
    """Return FROM, as it is with a subquery, with the questions about what that reads."""
    query, select, use, sources = subquery.query, subquery.select, subquery.use, outer.sources
    picks_one = _picks_values(subquery.inside) and not _is_test(use)
    if sources.relation.has_ties or _names_ties(query, use, sources) or picks_one:
        return found
    inside = _without_tied_terms(subquery.inside, query, select, sources)
    if inside is None:
        return found
    rows = _listed(query, use, inside, outer)
    if subquery.place == "where":
        return filtered_by(found, query, inside, rows)
    if subquery.place != "expressions" or not isinstance(query, exp.Select) or subquery.own is None:
        return found
    if not _is_known_in_where(query, use, select, outer):
        return found
    reads_row = _reads_row(query, subquery.own, outer)
    asked = {o: question for o, question in inside.questions.items() if reads_row or o in rows}
    return listed_by(found, query, asked, rows)


def _picks_values(inside: TrackedRelation) -> bool:
    """Return whether a subquery shows one of several values of rows, and not only one that may be rounded otherwise."""
    return inside.has_ties or any(column.is_tied for column in inside.columns or ())


def _loosened(
    outer: Sources, inside: TrackedRelation, query: exp.Query, select: exp.Select, place: str | None
) -> frozenset[Edit] | None:
    """Return the edits with which FROM shows all rows that there may be, whatever a subquery gives; None: not known."""
    before = outer.relation.loosened if outer.relation.has_ties else frozenset[Edit]()
    if before is None or _picks_values(inside):
        return None
    if place == "expressions" and not select.args.get("distinct") and not any(map(is_generator, select.expressions)):
        return before
    if place == "where":
        return before | {Edit("all rows", id(term_around(select.args["where"], query)))}
    return None


def _without_tied_terms(
    inside: TrackedRelation, query: exp.Query, select: exp.Select, outer: Sources
) -> TrackedRelation | None:
    """Return a subquery whose questions find rows of FROM however ties are broken; None where its own term says how."""
    where = select.args.get("where")
    tied = [] if where is None else [term for term in conjuncts(where.this) if reads_ties(term, outer)]
    if any(node is query for term in tied for node in term.walk()):
        return None
    edits = frozenset(Edit("all rows", id(term)) for term in tied)
    questions = {o: replace(question, edits=question.edits | edits) for o, question in inside.questions.items()}
    return replace(inside, questions=questions)


def _is_known_in_where(query: exp.Select, use: exp.Expr | None, select: exp.Select, outer: Names) -> bool:
    """Return whether a subquery of the SELECT list means the same in its WHERE.

    An alias of the list, and an aggregate of its rows, is nothing there.
    """
    names = outer.with_aliases_of(select)
    read = [slots_read(node, names) for node in (query, *([use.this] if isinstance(use, exp.In) else []))]
    return None not in read and not any(map(is_aggregate, _in_conditions(query)))


def _reads_row(query: exp.Select, inner: Names, outer: Names) -> bool:
    """Return whether a subquery may read the row around it. One that does not gives the same for all rows."""
    columns = (column for column in query.find_all(exp.Column) if inner.sources.read_by(column) is None)
    return any(outer.sources.read_by(column) is not None for column in columns)


def _in_conditions(query: exp.Select) -> Iterator[exp.Expr]:
    for where in query.find_all(exp.Where):
        yield from where.walk()


def _is_test(use: exp.Expr | None) -> bool:
    return isinstance(use, (exp.In, exp.Exists))


def _names_ties(query: exp.Query, use: exp.Expr | None, outer: Sources) -> bool:
    """Return whether what a subquery is compared with, or may read around it, depends on the order of rows."""
    compared = [use.this] if isinstance(use, exp.In) else []
    return any(outer.slots[slot].column.has_ties for slot in outer.slots_in(query, *compared))


def _listed(query: exp.Query, use: exp.Expr | None, inside: TrackedRelation, outer: Names) -> frozenset[Occurrence]:
    """Return the occurrences in `x IN (SELECT y ...)` whose changed rows say of which x the outcome is another one.

    Where NULL and false are not the same, a NULL among the y changes it for every x, and the first y for a NULL x.
    """
    if not isinstance(use, exp.In) or not _is_list_of(use, query) or not inside.columns:
        return frozenset()
    if not _only_filters(use):
        key = key_of(use.this, outer)
        is_required = key is not None and not key.steps and outer.sources.slots[key.slot].column.required
        if len(inside.columns) > 1 or not inside.columns[0].required or not is_required:
            return frozenset()
    return frozenset.intersection(*(c.answered for c in inside.columns))


def _is_list_of(use: exp.In, query: exp.Query) -> bool:
    """Return whether IN looks among the rows of the query; `IN ((SELECT ...))` takes it for a single value."""
    rows = use.args.get("query")
    return rows is not None and (rows is query or (isinstance(rows, exp.Subquery) and rows.this is query))


def _names_alias(expression: exp.Expr, aliases: frozenset[str]) -> bool:
    return any(not c.table and c.name.lower() in aliases for c in expression.find_all(exp.Column))


def _aliases(select: exp.Select) -> frozenset[str]:
    """Return the aliases that HAVING and QUALIFY may mean when they write a name."""
    return frozenset(e.alias.lower() for e in select.expressions if isinstance(e, exp.Alias))


def _use_of(query: exp.Query) -> exp.Expr | None:
    node = query.parent
    while isinstance(node, (exp.Subquery, exp.Paren)):
        node = node.parent
    return node


def _place_of(query: exp.Query, select: exp.Select) -> str | None:
    """Return the clause that holds the subquery; None for those in which it is no value of a row."""
    node: exp.Expr = query
    while node.parent is not None and node.parent is not select:
        node = node.parent
    place = next((a for a, v in select.args.items() if v is node or (isinstance(v, list) and node in v)), None)
    return place if place in ("where", "expressions", "having", "qualify") else None


def _has_grouping_sets(select: exp.Select, query: exp.Query) -> bool:
    """Return whether the subquery may see NULL for a column that is equal to another one: some set leaves it out."""
    group = select.args.get("group")
    return group is not None and _place_of(query, select) != "where" and has_grouping_sets(group)


def _names_of(query: exp.Select, scope: Scope, track: TrackQuery) -> Names:
    """Return what names in a subquery mean, those of columns around it left out."""
    inner_scope = with_ctes(query, scope, track)
    return Names(sources_below(query, inner_scope, track), inner_scope)


def _correlated(query: exp.Select, inner: Names, outer: Names, aliases: frozenset[str]) -> Iterator[tuple[int, Tracks]]:
    """Yield outer slots, with the tracks that equalities in the WHERE of the subquery give them."""
    where = query.args.get("where")
    for term in conjuncts(where.this if where is not None else None):
        if not isinstance(term, (exp.EQ, exp.NullSafeEQ)):
            continue
        for mine, theirs in ((term.this, term.expression), (term.expression, term.this)):
            inner_key, outer_key = key_of(mine, inner), _outer_key(theirs, inner, outer, aliases)
            if inner_key is not None and outer_key is not None and _follows(inner_key, outer_key):
                tracks = inner.sources.slots[inner_key.slot].column.tracks
                yield outer_key.slot, through(tracks, inner_key.steps, outer_key.steps)


def _outer_key(expression: exp.Expr, inner: Names, outer: Names, aliases: frozenset[str]) -> Key | None:
    """Return the key of an expression that names outer columns only; names mean inner columns first, or aliases."""
    names = replace(inner, aliases=dict.fromkeys(aliases))
    return key_of(expression, outer) if all(map(names.is_outer, expression.find_all(exp.Column))) else None


def _follows(inner: Key, outer: Key) -> bool:
    return are_comparable(inner.type, outer.type) and not is_computed((*inner.steps, *outer.steps))


def _in(
    use: exp.In, columns: tuple[TrackedColumn, ...] | None, outer: Names, only_filters: bool
) -> Iterator[tuple[int, Tracks]]:
    """Yield outer slots, with the tracks that `x IN (SELECT y)` gives them."""
    operands = use.this.expressions if isinstance(use.this, exp.Tuple) else [use.this]
    if columns is None or len(columns) != len(operands):
        return
    for operand, column in zip(operands, columns, strict=True):
        key = key_of(operand, outer)
        if key is None or not _follows(Key(0, (), column.type), key):
            continue
        slot = outer.sources.slots[key.slot].column
        nulls: KeyFunction = ()
        if not only_filters:
            several = len(operands) > 1
            nulls = (Inverse(OrNull()),) if several or not column.required else ()
            nulls += (OrNull(),) if several or not slot.required else ()
        yield key.slot, through(column.tracks, nulls, key.steps)


def _only_filters(use: exp.In) -> bool:
    """Return whether NULL and false have the same effect: IN is in a condition, under nothing but AND and OR."""
    node: exp.Expr = use
    parent = use.parent
    while isinstance(parent, (exp.And, exp.Or, exp.Paren)):
        node, parent = parent, parent.parent
    if isinstance(parent, exp.If):
        is_searched = not isinstance(parent.parent, exp.Case) or parent.parent.this is None
        return node is parent.this and is_searched
    return isinstance(parent, (exp.Where, exp.CountIf))
