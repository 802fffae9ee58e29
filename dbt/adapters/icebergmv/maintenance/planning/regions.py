"""From changed base rows to the output rows that they can affect, and back to the base rows that these depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import (
    KeyFunction,
    image,
    keeps_values,
    may_add_null,
    preimage,
)
from dbt.adapters.icebergmv.maintenance.predicates.simplification import column_wise_union, simplify
from dbt.adapters.icebergmv.maintenance.predicates.transform_lattice import in_terms_of
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus

REGION_LIMIT = 1000
"""Disjuncts beyond which a region is widened to one: Spark takes a second or more to plan an OR of so many."""

FEW_TERMS = 100
"""Disjuncts beyond which what only cuts down reading is widened, to lists of values.

Spark plans such a predicate at every place where a table is read, and again wherever it can be pushed or inferred: 400
disjuncts at six tables took 15 s.
"""

Partitioning: TypeAlias = Sequence[tuple[str, str]]
"""The (column, transform) pairs that partition the storage; constraints on these columns are preferred."""


def affected_rows(
    definition: ViewDefinition, base: BaseTableStatus, occurrence: Occurrence, partitioning: Partitioning
) -> list[TupleDomain]:
    """Return the output rows that the changes of a base can affect through one of its occurrences."""
    tracks = definition.tracks_of(occurrence)
    mapped = [to_output(d, tracks, partitioning) for d in base.change.constraints.data_disjuncts]
    if base.change.unit == "file" and base.listed is None:
        mapped = [_on_partitions(m, partitioning) for m in mapped]
    return [in_terms_of(m, partitioning) for m in mapped]


def to_output(
    disjunct: TupleDomain, tracks: Mapping[str, tuple[Track, ...]], partitioning: Partitioning
) -> TupleDomain:
    """Return the output rows that the base rows in a disjunct can affect; constraints that map nowhere are dropped."""
    preferred = {column for column, _ in partitioning}
    constraints: list[tuple[ColumnKey, Domain]] = []
    for key, domain in disjunct.constraints:
        candidates = [
            (name, track, mapped)
            for name, found in tracks.items()
            for track in found
            if track.column == key.column and (mapped := _image(track.function, key, domain)) is not None
        ]
        if not candidates:
            continue
        # The columns that partition the storage come first, if they say anything at all.
        name, _, (transform, affected) = min(
            candidates, key=lambda c: (c[2][1].is_all, may_add_null(c[1].function), c[0] not in preferred)
        )
        constraints.append((ColumnKey(name, transform), affected))
    return TupleDomain.all_of(constraints)


def _on_partitions(rows: TupleDomain, partitioning: Partitioning) -> TupleDomain:
    """Return a superset that constrains partition columns alone, if there are any in it.

    Column bounds constrain every column a little; whole partitions are replaced in one commit and without a scan.
    """
    columns = {column for column, _ in partitioning}
    kept = {key: domain for key, domain in rows.constraints if key.column in columns}
    return TupleDomain.where(kept) if kept and not rows.is_none else rows


def _image(function: KeyFunction, key: ColumnKey, domain: Domain) -> tuple[str | None, Domain] | None:
    """Return what a constraint becomes on the output column: a transform of it stays one only where values do."""
    if key.transform is None or keeps_values(function):
        return key.transform, image(function, domain)
    column, plain = next(iter(in_terms_of(TupleDomain.where({key: domain}), ()).constraints), (key, domain))
    return (None, image(function, plain)) if column.transform is None else None


def base_filters(definition: ViewDefinition, region: Sequence[TupleDomain]) -> dict[int, tuple[TupleDomain, ...]]:
    """Return, per base occurrence, the only rows that output rows in the region depend on (the preimage of the region).

    By the definition of tracking a row outside the preimage belongs to no output row inside the region. Occurrences
    of which all rows are needed are left out, and all where none can be rewritten.
    """
    if not definition.rewritable:
        return {}
    filters: dict[int, tuple[TupleDomain, ...]] = {}
    for index in (reference.index for reference in definition.references):
        uses = [definition.tracks_of(use) for use in definition.uses_of(index)]
        needed = simplify([_to_base(d, tracks) for d in region for tracks in uses], REGION_LIMIT)
        if uses and not any(d.is_all for d in needed):
            filters[index] = in_few_terms(needed)
    return filters


def in_few_terms(rows: tuple[TupleDomain, ...]) -> tuple[TupleDomain, ...]:
    """Return a superset in few disjuncts, where there are many: one for all that constrain the same columns.

    Every column and transform that was constrained still is, for those who look at what a predicate reads.
    """
    if len(rows) <= FEW_TERMS:
        return rows
    alike: dict[tuple[ColumnKey, ...], list[TupleDomain]] = {}
    for disjunct in rows:
        alike.setdefault(tuple(key for key, _ in disjunct.constraints), []).append(disjunct)
    if len(alike) > FEW_TERMS:
        return rows
    return tuple(column_wise_union(*some) for some in alike.values())


def _to_base(disjunct: TupleDomain, tracks: Mapping[str, tuple[Track, ...]]) -> TupleDomain:
    constraints: list[tuple[ColumnKey, Domain]] = []
    for key, domain in disjunct.constraints:
        for track in tracks.get(key.column, ()):
            if key.transform is not None and not keeps_values(track.function):
                continue
            constraints.append((ColumnKey(track.column, key.transform), preimage(track.function, domain)))
    return TupleDomain.all_of(constraints)
