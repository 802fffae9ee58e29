"""Joins: each side keeps what it tracks; equated columns track the other side too.

- Inner join and a comma: a filter over all pairs of rows.
- LEFT and RIGHT join: the preserved side is as in an inner join. A row of the null-supplying side shows as itself or
  keeps others from showing NULL, so its columns track with NULL added.
- FULL join: both sides are null-supplying; coalesce of an equated pair, or USING, tracks both.
- SEMI and ANTI join: only the left side is seen; its equated columns track the right side.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import all_edits, reads_ties
from dbt.adapters.icebergmv.maintenance.definition.row_order.shown_groups import with_joined_groups
from dbt.adapters.icebergmv.maintenance.definition.rules.answers import answered_slots, with_answers
from dbt.adapters.icebergmv.maintenance.definition.rules.join_answers import (
    JoinTerm,
    asked_about_join,
    joined_answers,
    term_of_join,
)
from dbt.adapters.icebergmv.maintenance.definition.rules.static_filters import filters_of_join
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conjuncts, equalities
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import together
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import (
    WIDER,
    Equality,
    Slot,
    Sources,
    are_comparable,
    through,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import (
    Deltas,
    Edit,
    Scope,
    TrackedColumn,
    TrackedRelation,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Tracks, null_supplied

_KNOWN_KINDS = frozenset(["", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"])
_KNOWN_METHODS = frozenset(["", "NATURAL"])


def joined(left: Sources, right: Sources, join: exp.Join, scope: Scope) -> Sources:
    """Return the sources after one more relation is joined."""
    side, kind, method = join.side, join.kind, join.method
    both = _side_by_side(left, right)
    if join.args.get("pivots") or join.this.args.get("pivots"):
        # Spark pivots the whole join, and behind a comma the right side alone.
        return unknown_join(both, "PIVOT over a join")
    if kind not in _KNOWN_KINDS or method not in _KNOWN_METHODS:
        return unknown_join(both, f"{method or kind} JOIN")
    shared = _shared_names(left, right, join, natural=method == "NATURAL")
    if shared is None:
        return unknown_join(both, "a join whose common columns are not known")
    pairs = _using(left, right, shared)
    if pairs is None:
        return unknown_join(both, "USING over columns of one name")
    names = Names(both, scope)
    filters = filters_of_join(join.args.get("on"), names, _that_must_match(left, right, side, kind))
    both = replace(both, relation=replace(both.relation, findings=(*both.relation.findings, *filters)))
    names = Names(both, scope)
    found = [*_comparable(pairs, both), *equalities(join.args.get("on"), names)]
    answered, questions = joined_answers(left, right, join, _terms(pairs, join, names))
    both, offset = with_answers(_with_ties(left, right, both, join, pairs), answered, questions), len(left.slots)
    both = with_joined_groups(both, found, offset, side)
    if scope.moved is not None and scope.moved in conjuncts(join.args.get("on")):
        both = asked_about_join(both, offset, join)
    across = [_left_first(e, offset) for e in found if (e.left < offset) != (e.right < offset)]
    if kind in ("SEMI", "ANTI"):
        return with_answers(
            _semi(left, both, across, [e.left for e in pairs]), answered_slots(both), both.relation.questions
        )
    if side == "":
        return _merge_columns(both.equated(found), pairs, "")
    return _merge_columns(_outer(left, right, both, across, side), pairs, side)


def _with_ties(left: Sources, right: Sources, both: Sources, join: exp.Join, pairs: list[Equality]) -> Sources:
    """Return both sides with what the order of rows has to do with which rows are joined, by ON or the pairs of USING.

    What a row is joined to may be another row, or none, where that depends on it.
    """
    side, kind = join.side, join.kind
    terms = [term for term in conjuncts(join.args.get("on")) if reads_ties(term, both)]
    tied = [s.relation for s in (left, right) if s.relation.has_ties]
    is_used = any(both.slots[slot].column.has_ties for e in pairs for slot in (e.left, e.right))
    if not terms and not tied and not is_used:
        return both
    supplied = {"LEFT": right, "RIGHT": left}.get(side)
    if supplied is not None and (terms or is_used or supplied.relation.has_ties):
        first = 0 if supplied is left else len(left.slots)
        shown = range(first, first + len(supplied.slots))
        both = replace(both, slots=tuple(_with_tie(s) if i in shown else s for i, s in enumerate(both.slots)))
    is_lost = is_used or side == "FULL" or (kind == "ANTI" and bool(terms or right.relation.has_ties))
    edits = [frozenset(Edit("all rows", id(term)) for term in terms), *(relation.loosened for relation in tied)]
    loosened = None if is_lost else all_edits(edits)
    return replace(both, relation=replace(both.relation, has_ties=True, loosened=loosened))


def _with_tie(slot: Slot) -> Slot:
    return replace(slot, column=replace(slot.column, has_ties=True, is_rounded=False))


def _that_must_match(left: Sources, right: Sources, side: str, kind: str) -> range:
    """Return the slots of those rows that come to nothing where ON is not true of them."""
    first, last = len(left.slots), len(left.slots) + len(right.slots)
    if side == "FULL":
        return range(0)
    if side == "LEFT" or kind in ("SEMI", "ANTI"):
        return range(first, last)
    return range(first if side == "RIGHT" else last)


def _terms(pairs: list[Equality], join: exp.Join, names: Names) -> list[JoinTerm]:
    """Return what USING or ON compares."""
    tied = {i for i, slot in enumerate(names.sources.slots) if slot.column.has_ties}
    using = [JoinTerm(frozenset({e.left, e.right}), has_ties=bool({e.left, e.right} & tied)) for e in pairs]
    return [*using, *(term_of_join(term, names) for term in conjuncts(join.args.get("on")))]


def unknown_join(both: Sources, reason: str) -> Sources:
    """Return the sources after a join that no rule covers: nothing is tracked."""
    return Sources((), both.relation.cut(reason), (), unknown=frozenset(s.alias for s in both.slots) | both.unknown)


def _side_by_side(left: Sources, right: Sources) -> Sources:
    offset = len(left.slots)
    moved = tuple(replace(e, left=e.left + offset, right=e.right + offset) for e in right.equalities)
    merged = {frozenset(i + offset for i in pair): slot + offset for pair, slot in right.merged.items()}
    return Sources(
        slots=(*left.slots, *right.slots),
        relation=_below(left.relation, right.relation),
        star=(*left.star, *(i + offset for i in right.star)),
        equalities=(*left.equalities, *moved),
        merged={**left.merged, **merged},
        unknown=left.unknown | right.unknown,
    )


def _below(left: TrackedRelation, right: TrackedRelation) -> TrackedRelation:
    """Return what is read below both sides; an inner join is additive in either."""
    # Where one side is empty without an edit, none is made.
    sides = [side.deltas for side in (left, right) if side.deltas.emptied_by is not None]
    emptied = min(sides, key=lambda deltas: bool(deltas.emptied_with), default=Deltas())
    deltas = replace(emptied, additive={**left.deltas.additive, **right.deltas.additive}, grouped=None)
    obstacles = {**left.obstacles, **right.obstacles}
    occurrences, ruled_out = left.occurrences | right.occurrences, left.ruled_out | right.ruled_out
    findings = together(left.findings, right.findings)
    has_ties = left.has_ties or right.has_ties
    return TrackedRelation(
        None, occurrences, obstacles, deltas, ruled_out=ruled_out, findings=findings, has_ties=has_ties
    )


def _left_first(e: Equality, offset: int) -> Equality:
    return e if e.left < offset else Equality(e.right, e.right_steps, e.left, e.left_steps)


def _semi(left: Sources, both: Sources, across: list[Equality], first: list[int]) -> Sources:
    """Return the left side; columns of USING come first in `*`."""
    gained: dict[int, Tracks] = {}
    for e in across:
        tracks = through(both.slots[e.right].column.tracks, e.right_steps, e.left_steps)
        gained[e.left] = gained.get(e.left, frozenset()) | tracks
    below = replace(both.relation, deltas=left.relation.deltas)
    star = (*first, *(i for i in left.star if i not in first))
    return replace(left, relation=below, star=star).with_tracks(gained).equated(())


def _outer(left: Sources, right: Sources, both: Sources, across: list[Equality], side: str) -> Sources:
    """Return the sources of a LEFT, RIGHT or FULL join, whose ON equates the pairs in `across`.

    It is additive in the preserved side only: a new row of the other side takes a row with NULL away.
    """
    offset = len(left.slots)
    supplied = {i for i in range(len(both.slots)) if side == "FULL" or (i < offset) != (side == "LEFT")}
    before = [s.column.tracks for s in both.slots]
    after = [null_supplied(t) if i in supplied else t for i, t in enumerate(before)]
    gained: dict[int, Tracks] = {}
    for e in across:
        for start, there, end, back in (
            (e.left, e.left_steps, e.right, e.right_steps),
            (e.right, e.right_steps, e.left, e.left_steps),
        ):
            tracks = through(before[start], there, back)
            gained[end] = gained.get(end, frozenset()) | (null_supplied(tracks) if end in supplied else tracks)
    slots = tuple(
        replace(s, column=replace(s.column, tracks=after[i], required=s.column.required and i not in supplied))
        for i, s in enumerate(both.slots)
    )
    deltas = {"LEFT": left.relation.deltas, "RIGHT": right.relation.deltas, "FULL": Deltas()}[side]
    result = replace(both, slots=slots, relation=replace(both.relation, deltas=deltas))
    result = result.with_tracks(gained).equated(())
    for e in across:
        if e.is_plain:
            answered = left.slots[e.left].column.answered | right.slots[e.right - offset].column.answered
            result = _coalesced(result, e, side, before, answered)
    return result


def _coalesced(
    sources: Sources, e: Equality, side: str, before: list[Tracks], answered: frozenset[Occurrence]
) -> Sources:
    """Say what coalesce of an equated pair is: the preserved side's column, or in a FULL join a value of its own."""
    pair = frozenset([e.left, e.right])
    if side != "FULL":
        return replace(sources, merged={**sources.merged, pair: e.left if side == "LEFT" else e.right})
    left, right = sources.slots[e.left].column, sources.slots[e.right].column
    type_ = left.type if left.type == right.type else WIDER
    # Whichever side changed, an equality that the question keeps sees its column.
    of_either = answered & frozenset(sources.relation.questions)
    tracks, kind = before[e.left] | before[e.right], left.kind if left.kind == right.kind else None
    column = replace(left, tracks=tracks, type=type_, answered=of_either, kind=kind).with_flags_of(left, right)
    # A row may have the value of either side, so each of them has to be one of rows of the occurrence.
    below = [c.tied_below for c in (left, right) if c.has_ties]
    column = replace(column, tied_below=frozenset.intersection(*below) if below else frozenset())
    slot = Slot("", column, plain=False)
    return replace(sources, slots=(*sources.slots, slot), merged={**sources.merged, pair: len(sources.slots)})


def _shared_names(left: Sources, right: Sources, join: exp.Join, natural: bool) -> list[str] | None:
    """Return the columns that USING or NATURAL merges, in the order of the output."""
    if not natural:
        return [identifier.name.lower() for identifier in join.args.get("using") or ()]
    if left.unknown or right.unknown:
        return None
    theirs = {s.column.name.lower() for s in right.slots if s.plain}
    return [s.column.name.lower() for s in left.slots if s.plain and s.column.name.lower() in theirs]


def _using(left: Sources, right: Sources, shared: list[str]) -> list[Equality] | None:
    pairs = []
    for name in shared:
        column = exp.column(name)
        mine, theirs = left.resolve(column), right.resolve(column)
        if mine is None or theirs is None:
            return None
        pairs.append(Equality(mine, (), len(left.slots) + theirs, ()))
    return pairs


def _comparable(pairs: list[Equality], both: Sources) -> list[Equality]:
    types = [s.column.type for s in both.slots]
    return [e for e in pairs if are_comparable(types[e.left], types[e.right])]


def _merge_columns(sources: Sources, pairs: list[Equality], side: str) -> Sources:
    """Show each pair of USING or NATURAL once: the left column, the right one of a RIGHT join, or coalesce of both.

    The merged columns come first in `*`, then what is left of either side.
    """
    if not pairs:
        return sources
    slots, shown, equal = list(sources.slots), list[int](), list(sources.equalities)
    for e in pairs:
        source = _merged_slot(sources, e, side)
        column = TrackedColumn("") if source is None else slots[source].column
        slots[e.left], slots[e.right] = replace(slots[e.left], plain=False), replace(slots[e.right], plain=False)
        if source is not None:
            equal.append(Equality(source, (), len(slots), ()))
        shown.append(len(slots))
        slots.append(Slot("", replace(column, name=sources.slots[e.left].column.name)))
    hidden = {i for e in pairs for i in (e.left, e.right)}
    star = (*shown, *(i for i in sources.star if i not in hidden))
    return replace(sources, slots=tuple(slots), star=star, equalities=tuple(equal))


def _merged_slot(sources: Sources, e: Equality, side: str) -> int | None:
    if side != "FULL":
        return e.right if side == "RIGHT" else e.left
    return sources.merged.get(frozenset([e.left, e.right]))
