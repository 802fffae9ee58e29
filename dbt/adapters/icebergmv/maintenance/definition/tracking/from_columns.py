"""FROM as names see it: the columns of all relations side by side, each under the alias of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn, TrackedRelation
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track, Tracks
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import KeyFunction, inverse

_COMPARED_ALIKE = (frozenset(["int", "bigint"]),)
WIDER = "bigint"
"""What two comparable types that differ become together."""

_NEVER_EQUATED = frozenset(["float", "double"])
"""0.0 equals -0.0 and is another partition."""


@dataclass(frozen=True)
class Slot:
    """One column in FROM. `alias` is the relation it is qualified with, in lower case.

    `plain`: its name may be written without the alias. A column that USING or NATURAL merged into another is not.
    `namespace` is that of a table without an alias, where it is written out.
    """

    alias: str
    column: TrackedColumn
    plain: bool = True
    namespace: str = ""


@dataclass(frozen=True)
class Equality:
    """Two slots whose values are equal, null-safely, after some steps from each: `left_steps(left) <=> right`."""

    left: int
    left_steps: KeyFunction
    right: int
    right_steps: KeyFunction

    @property
    def is_plain(self) -> bool:
        """Return whether the columns themselves are equal."""
        return not self.left_steps and not self.right_steps


@dataclass(frozen=True)
class Sources:
    """All relations of a FROM. `relation` says what is read below them; its columns are not used.

    `star` are the slots that `*` shows, in order. `equalities` hold on every row. `merged` gives, for two slots, the
    slot that coalesce of them equals. `unknown` are the aliases, in lower case, of relations whose columns are not
    known. `settled` are the windows and aggregates over them, by the id() of their nodes, that no order of rows decides
    (window_orders.py, collected_lists.py).
    `listed` are the occurrences in subqueries of the SELECT list that a question is asked of.
    """

    slots: tuple[Slot, ...]
    relation: TrackedRelation
    star: tuple[int, ...]
    equalities: tuple[Equality, ...] = ()
    merged: Mapping[frozenset[int], int] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    settled: frozenset[int] = frozenset()
    listed: frozenset[Occurrence] = frozenset()

    @cached_property
    def column_names(self) -> frozenset[str]:
        """Return the names of the columns that are known, in lower case."""
        return frozenset(slot.column.name.lower() for slot in self.slots)

    @cached_property
    def relation_names(self) -> frozenset[str]:
        """Return the names that known columns are qualified with, in lower case; empty for what USING made."""
        return frozenset(slot.alias for slot in self.slots)

    def resolve(self, column: exp.Column) -> int | None:
        """Return the slot that a name means; None when it means something else or more than one."""
        name, qualifier = column.name.lower(), column.table.lower()
        namespace = column.db.lower()
        if namespace and (column.catalog or namespace in self.relation_names | self.column_names):
            return None  # x.t.c may be a field of the struct t of the relation x, or of the struct x.
        found = [
            i
            for i, slot in enumerate(self.slots)
            if slot.column.name.lower() == name
            and (slot.alias == qualifier if qualifier else slot.plain)
            and namespace in ("", slot.namespace)
        ]
        return found[0] if len(found) == 1 else None

    def read_by(self, column: exp.Column) -> int | None:
        """Return the slot that a name reads: the one that it means, or the struct of which it is a field, as `s.f`.

        The first part of a name is a column where no relation has its name.
        """
        found, first = self.resolve(column), column.parts[0].name
        if found is not None or not column.table or self.unknown or first.lower() in self.relation_names:
            return found
        return self.resolve(exp.column(first))

    def slots_in(self, *nodes: exp.Expr) -> Iterator[int]:
        """Yield the slots that the columns in some nodes read."""
        for column in (column for node in nodes for column in node.find_all(exp.Column)):
            slot = self.read_by(column)
            if slot is not None:
                yield slot

    def same(self, slot: int) -> int:
        """Return the first of the slots that hold the same value on every row."""
        known = {slot}
        growing = True
        while growing:
            more = {
                i for e in self.equalities if e.is_plain and {e.left, e.right} & known for i in (e.left, e.right)
            } - known
            known |= more
            growing = bool(more)
        return min(known)

    def with_tracks(self, added: Mapping[int, Tracks]) -> Sources:
        """Return the sources with more tracks on some slots."""
        if not any(added.values()):
            return self
        slots = tuple(
            replace(s, column=replace(s.column, tracks=_with(s.column.tracks, added[i]))) if added.get(i) else s
            for i, s in enumerate(self.slots)
        )
        return replace(self, slots=slots)

    def equated(self, equalities: Iterable[Equality]) -> Sources:
        """Return the sources after a filter by equalities: what tracks one side tracks the other too."""
        every = (*self.equalities, *equalities)
        tracks = [s.column.tracks for s in self.slots]
        changed = True
        while changed:
            changed = False
            for e in every:
                for start, there, end, back in (
                    (e.left, e.left_steps, e.right, e.right_steps),
                    (e.right, e.right_steps, e.left, e.left_steps),
                ):
                    grown = _with(tracks[end], through(tracks[start], there, back))
                    changed = changed or grown != tracks[end]
                    tracks[end] = grown
        slots = tuple(replace(s, column=replace(s.column, tracks=t)) for s, t in zip(self.slots, tracks, strict=True))
        merged = {frozenset([e.left, e.right]): e.left for e in every if e.is_plain}
        return replace(self, slots=slots, equalities=every, merged={**merged, **self.merged})


def sources_of(relation: TrackedRelation, alias: str, namespace: str = "") -> Sources:
    """Return a single relation as names see it."""
    slots = tuple(Slot(alias.lower(), c, namespace=namespace.lower()) for c in relation.columns or ())
    unknown = frozenset([alias.lower()] if relation.columns is None else [])
    return Sources(slots, relation, tuple(range(len(slots))), unknown=unknown)


def through(tracks: Tracks, there: KeyFunction, back: KeyFunction) -> Tracks:
    """Return the tracks of a column y with `there(x) = back(y)`, given those of x."""
    return frozenset(t.then(there + inverse(back)) for t in tracks)


def are_comparable(left: str | None, right: str | None) -> bool:
    """Return whether equal values of the two Spark types are the same value in a Domain."""
    if left is None or right is None or left in _NEVER_EQUATED:
        return False
    return left == right or any({left, right} <= alike for alike in _COMPARED_ALIKE)


def _with(tracks: Tracks, more: Tracks) -> Tracks:
    """Add tracks of base columns that are not tracked yet, or only in a wider way (NULL added, more steps)."""
    best = {(t.occurrence, t.column): t for t in tracks}
    for track in sorted(more, key=_width):
        known = best.get((track.occurrence, track.column))
        if known is None or _nulls(track) < _nulls(known):
            best[(track.occurrence, track.column)] = track
    return frozenset(best.values())


def _nulls(track: Track) -> int:
    return sum(step.only_adds_null for step in track.function)


def _width(track: Track) -> tuple[int, int, list[str]]:
    return (_nulls(track), len(track.function), [step.name for step in track.function])
