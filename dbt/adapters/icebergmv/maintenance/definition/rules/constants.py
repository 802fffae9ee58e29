"""Literals in a SELECT list: which branch of a UNION a row comes from, and of which branches a WHERE leaves nothing.

Every row of `SELECT 'web' AS channel, ... FROM sales` shows 'web'. So rows with another channel depend on no row of
sales, which is a track as any other; and a changed row shows 'web', which answers every question of that SELECT. Where
a WHERE above asks for `channel = 'store'`, no row depends on sales at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conjuncts
from dbt.adapters.icebergmv.maintenance.definition.tracking.exactness import kind_of_type
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Sources
from dbt.adapters.icebergmv.maintenance.definition.tracking.literal_types import type_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import (
    Scope,
    TrackedColumn,
    TrackedRelation,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import ANY_COLUMN, Occurrence, Track
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Constant, image

_LENGTH_MATTERS = "char"
"""A part of the names of types that a session may cut or fill up texts to; the parser takes them for `string`."""


def literal_column(item: exp.Expr, names: Names) -> TrackedColumn | None:
    """Return the column that an item of a SELECT list is, if it is a literal."""
    literal, below = _literal(item.unalias(), names.scope), names.sources.relation
    if literal is None:
        return None
    every = below.occurrences | below.questions.keys()
    tracks = frozenset(Track(o, ANY_COLUMN, (literal,)) for o in every)
    kind = kind_of_type(type_of(item))
    answered = frozenset(below.questions)
    return TrackedColumn(item.output_name, tracks, type_of(item), answered=answered, kind=kind, keeps_equal=True)


def without_ruled_out(sources: Sources, where: exp.Where, names: Names) -> Sources:
    """Return FROM behind a WHERE, with the occurrences noted that show another literal than it asks for."""
    found = {o for term in conjuncts(where.this) for o in _ruled_out(term, names)}
    ruled_out = sources.relation.ruled_out | found
    return replace(sources, relation=replace(sources.relation, ruled_out=ruled_out)) if found else sources


def tells_apart(column: TrackedColumn, occurrence: Occurrence, relation: TrackedRelation) -> bool:
    """Return whether a column shows a literal for an occurrence, and something else for another one that is read."""
    own, read = column.literal_of(occurrence), relation.occurrences - relation.ruled_out
    return own is not None and any(column.literal_of(other) != own for other in read - {occurrence})


def without_literals(relation: TrackedRelation) -> TrackedRelation:
    """Return a relation without the tracks that begin with a literal, which lead from no base column.

    And without those of columns that a subquery is a part of: no region may name these (see asking.py).
    """
    columns = relation.columns and tuple(_without_literals(c) for c in relation.columns)
    unlisted = tuple(replace(u, column=_without_literals(u.column)) for u in relation.unlisted)
    return replace(relation, columns=columns, unlisted=unlisted)


def _without_literals(column: TrackedColumn) -> TrackedColumn:
    kept = () if column.is_unsettled else (t for t in column.tracks if not t.is_of_literal)
    # The nodes of a tree mean nothing to who has not got it.
    return replace(column, tracks=frozenset(kept), tied_to=frozenset(), one_in=frozenset())


def _literal(expression: exp.Expr, scope: Scope) -> Constant | None:
    """Return a literal of a type whose values have one spelling; None where a session may read the text otherwise."""
    of = type_of(expression)
    value = expression
    if isinstance(expression, exp.Cast) and of == "string" and _LENGTH_MATTERS not in scope.sql.lower():
        value = expression.this  # As dbt_utils.union_relations writes where a row comes from.
    if not isinstance(value, exp.Literal) or not scope.has_plain_literals:
        return None
    match of:
        case "string":
            return Constant(value.this) if value.is_string else None
        case "int":
            return Constant(int(value.this))
    return None


def _ruled_out(term: exp.Expr, names: Names) -> Iterable[Occurrence]:
    """Yield the occurrences for which no row passes a term that compares a column with a literal."""
    if not isinstance(term, exp.EQ):
        return
    for side, other in ((term.this, term.expression), (term.expression, term.this)):
        named = side.unnest()
        slot = names.sources.resolve(named) if isinstance(named, exp.Column) else None
        wanted = _literal(other.unnest(), names.scope)
        if slot is None or wanted is None:
            continue
        column = names.sources.slots[slot].column
        shown = ((t.occurrence, image(t.function, Domain.all())) for t in column.tracks if t.is_of_literal)
        if column.type == type_of(other.unnest()):
            yield from (occurrence for occurrence, domain in shown if not _may_equal(domain, wanted))


def _may_equal(shown: Domain, wanted: Constant) -> bool:
    """Return whether a value of a domain may equal a literal.

    Texts that differ may be equal under a collation: not if they are ASCII and differ in more than case and spaces.
    """
    if shown.nan or any(not r.is_single_value for r in shown.ranges):
        return True
    return any(not _differ(r.low, wanted.value) for r in shown.ranges)


def _differ(shown: object, wanted: str | int) -> bool:
    if isinstance(shown, str) and isinstance(wanted, str):
        return shown.isascii() and wanted.isascii() and shown.strip().casefold() != wanted.strip().casefold()
    return isinstance(shown, int) and isinstance(wanted, int) and shown != wanted
