"""Status + definition -> RefreshPlan: what to recompute, and the sentence that says why.

An overwrite of a region P is right when P covers every output row that the changes could create, remove or alter. Each
stale base contributes the image of its changed partitions under the output columns that track it; a base that nothing
tracks asks for a full refresh.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import Occurrence, Track
from dbt.adapters.icebergmv.maintenance.planning.changed_keys import Answer, NotListed, ToAsk
from dbt.adapters.icebergmv.maintenance.planning.cost import FEW_ROWS, is_rough, reads_too_much, rows_to_ask
from dbt.adapters.icebergmv.maintenance.planning.deltas import appended_deltas, signed_deltas
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, Merge, NoOp, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed, KeyFunction, OrNull, image, preimage
from dbt.adapters.icebergmv.maintenance.predicates.simplification import simplify
from dbt.adapters.icebergmv.maintenance.predicates.transform_lattice import in_terms_of
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.view_config import RefreshPolicy

REGION_LIMIT = 1000
"""Disjuncts beyond which a region is widened to one: Spark plans an OR of 2,000 two-column terms in about a second."""


@dataclass(frozen=True)
class PlanRequest:
    """What the planner decides from, besides definition and status.

    `rebuild` says why the contents must be rebuilt whatever changed (first build, --full-refresh, a changed SELECT);
    `lost` why the stored rows cannot be kept although nobody asked for a rebuild (storage dropped, columns changed).
    `partitioning` are the (column, transform) pairs that partition the storage; constraints on these are preferred in
    a region. Without `incremental` the plan is a no-op or a full refresh. Without `appends` no append scan is planned:
    it reads the columns that the table has today, so it is right only in a query that runs at once. `answers` says, of
    references whose changes no output column follows, which output rows they reach. With `merges` the stored rows hold
    what groups are merged by. Of the base tables in `changed_nearly_everywhere` so many partitions changed that to
    overwrite what they affect costs more than to compute everything.
    """

    policy: RefreshPolicy
    refreshed_at: str = ""
    rebuild: str | None = None
    lost: str | None = None
    partitioning: Sequence[tuple[str, str]] = ()
    incremental: bool = True
    appends: bool = True
    answers: Mapping[int, Answer] = field(default_factory=dict)
    merges: bool = False
    changed_nearly_everywhere: frozenset[TableName] = frozenset()


def plan_refresh(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> RefreshPlan:
    """Return the cheapest refresh that is proven right. Whether the policy allows it is for `policy.enforce`."""
    stale = _stale(status)
    found = _without_regions(definition, status, request)
    if found is not None:
        return found
    plan = _overwrite(definition, stale, request)
    return _merge(definition, status, request, plan) or _not_everything(definition, stale, request, plan)


def references_to_ask(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> ToAsk:
    """Return the references to ask. Asking reads what changed, which does not pay where that is most of all rows."""
    if _without_regions(definition, status, request) is not None:
        return ToAsk()
    needed: dict[int, BaseTableStatus] = {}
    narrower: list[int] = []
    for base in _stale(status):
        for use in _uses(definition, base):
            if _is_untracked(definition, base, use, request):
                needed[use.index] = base
            elif is_rough(base) and rows_to_ask(base) <= FEW_ROWS and use.index in definition.rewritable:
                narrower.append(use.index)
    if needed and (reads_too_much(needed.values(), status) or not definition.rewritable >= needed.keys()):
        return ToAsk()
    return ToAsk(tuple(sorted(needed)), tuple(sorted({*narrower} - needed.keys())))


def _stale(status: MaterializedViewStatus) -> list[BaseTableStatus]:
    return [b for b in status.base_tables if b.change.status == "stale"]


def _without_regions(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest
) -> RefreshPlan | None:
    """Return the plan where it does not depend on which output rows are affected."""
    for reason in (request.rebuild, request.lost, definition.always_full):
        if reason is not None:
            return Full(reason)
    for base in status.base_tables:
        if base.change.status == "unknown":
            return Full(_unknown(base))
    stale = _stale(status)
    if not stale:
        return NoOp(f"nothing changed since {request.refreshed_at}")
    if not request.incremental:
        return Full(f"materialized_view_connector_driven_refresh_enabled is off ({_changes(stale)})")
    if request.policy == "full":
        return Full(f"refresh_policy is full ({_changes(stale)})")
    if definition.full_when_changed is not None:
        return Full(f"{definition.full_when_changed} ({_changes(stale)})")
    return _append(definition, stale, request) if request.appends else None


def _append(definition: ViewDefinition, stale: Sequence[BaseTableStatus], request: PlanRequest) -> Append | None:
    """Return the plan that adds what new base rows bring, where nothing else happened and the definition adds up.

    What they bring lies in the region that an overwrite would replace, so the other tables are read no further either.
    """
    deltas = appended_deltas(definition, stale)
    if deltas is None:
        return None
    rows = ", ".join(f"{b.base.name[2]}: {_count(b.change.appended_rows, 'row')} appended" for b in stale)
    affected = [d for b in stale for use in _uses(definition, b) for d in _affected(definition, b, use, request)]
    region = simplify(affected, REGION_LIMIT)
    filters = {} if any(d.is_all for d in region) else base_filters(definition, region)
    return Append(rows, deltas, filters)


def _merge(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest, otherwise: RefreshPlan
) -> Merge | None:
    """Return the plan that merges groups, where partitions alone do not say which output rows are affected."""
    if not request.merges or isinstance(otherwise, NoOp):
        return None
    stale = _stale(status)
    partitions_say_it = all(
        base.change.unit != "file"
        and base.base.name not in request.changed_nearly_everywhere
        and not _is_untracked(definition, base, use, request)
        for base in stale
        for use in _uses(definition, base)
    )
    if partitions_say_it:
        return None
    if reads_too_much(stale, status):
        return None
    deltas = signed_deltas(definition, stale)
    return None if deltas is None else Merge(_changes(stale), deltas)


def _not_everything(
    definition: ViewDefinition, stale: Sequence[BaseTableStatus], request: PlanRequest, plan: RefreshPlan
) -> RefreshPlan:
    """Return a full refresh in place of an overwrite of nearly everything, which costs more."""
    is_everything = isinstance(plan, Overwrite) and any(
        base.base.name in request.changed_nearly_everywhere and not isinstance(request.answers.get(use.index), tuple)
        for base in stale
        for use in _uses(definition, base)
    )
    return Full(f"cheaper than an overwrite of nearly everything ({_changes(stale)})") if is_everything else plan


def _overwrite(definition: ViewDefinition, stale: Sequence[BaseTableStatus], request: PlanRequest) -> RefreshPlan:
    disjuncts: list[TupleDomain] = []
    for base in stale:
        for occurrence in _uses(definition, base):
            answer = request.answers.get(occurrence.index)
            affected = _affected(definition, base, occurrence, request)
            if isinstance(answer, tuple):
                affected = list(answer)
            elif any(d.is_all for d in affected):
                return Full(_untracked(definition, base, occurrence, answer))
            disjuncts += affected
    region = simplify(disjuncts, REGION_LIMIT)
    if not region:
        return NoOp(f"no row of the view can be affected ({_changes(stale)})")
    if any(d.is_all for d in region):
        return Full(f"the changes touch too many partitions to list ({_changes(stale)})")
    return Overwrite(_changes(stale), region, base_filters(definition, region))


def _uses(definition: ViewDefinition, base: BaseTableStatus) -> list[Occurrence]:
    return [use for index in base.occurrences for use in definition.uses_of(index)]


def _is_untracked(
    definition: ViewDefinition, base: BaseTableStatus, occurrence: Occurrence, request: PlanRequest
) -> bool:
    """Return whether every output row may be affected, as far as partitions and bounds say."""
    return any(d.is_all for d in _affected(definition, base, occurrence, request))


def _affected(
    definition: ViewDefinition, base: BaseTableStatus, occurrence: Occurrence, request: PlanRequest
) -> list[TupleDomain]:
    """Return the output rows that the changes of a base can affect through one of its occurrences."""
    tracks, partitioning = definition.tracks_of(occurrence), request.partitioning
    mapped = [_to_output(d, tracks, partitioning) for d in base.change.constraints.data_disjuncts]
    if base.change.unit == "file":
        mapped = [_on_partitions(m, partitioning) for m in mapped]
    return [in_terms_of(m, partitioning) for m in mapped]


def _to_output(
    disjunct: TupleDomain, tracks: Mapping[str, tuple[Track, ...]], partitioning: Sequence[tuple[str, str]]
) -> TupleDomain:
    """Return the output rows that the base rows in a disjunct can affect; constraints that map nowhere are dropped."""
    preferred = {column for column, _ in partitioning}
    constraints: dict[ColumnKey, Domain] = {}
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
            candidates, key=lambda c: (c[2][1].is_all, OrNull() in c[1].function, c[0] not in preferred)
        )
        target = ColumnKey(name, transform)
        constraints[target] = affected.intersect(constraints[target]) if target in constraints else affected
    return TupleDomain.where(constraints)


def _on_partitions(rows: TupleDomain, partitioning: Sequence[tuple[str, str]]) -> TupleDomain:
    """Return a superset that constrains partition columns alone, if there are any in it.

    Column bounds constrain every column a little; whole partitions are replaced in one commit and without a scan.
    """
    columns = {column for column, _ in partitioning}
    kept = {key: domain for key, domain in rows.constraints if key.column in columns}
    return TupleDomain.where(kept) if kept and not rows.is_none else rows


def _image(function: KeyFunction, key: ColumnKey, domain: Domain) -> tuple[str | None, Domain] | None:
    """Return what a constraint becomes on the output column: a transform of it stays one only where values do."""
    if key.transform is None or all(step.only_adds_null for step in function):
        return key.transform, image(function, domain)
    column, plain = next(iter(in_terms_of(TupleDomain.where({key: domain}), ()).constraints), (key, domain))
    return (None, image(function, plain)) if column.transform is None else None


def base_filters(definition: ViewDefinition, region: Sequence[TupleDomain]) -> dict[int, tuple[TupleDomain, ...]]:
    """Return, per base occurrence, the only rows that output rows in the region depend on (the preimage of the region).

    By the definition of tracking a row outside the preimage belongs to no output row inside the region. Occurrences
    that cannot be rewritten, or of which all rows are needed, are left out.
    """
    filters: dict[int, tuple[TupleDomain, ...]] = {}
    for index in definition.rewritable:
        uses = [definition.tracks_of(use) for use in definition.uses_of(index)]
        needed = simplify([_to_base(d, tracks) for d in region for tracks in uses], REGION_LIMIT)
        if uses and not any(d.is_all for d in needed):
            filters[index] = needed
    return filters


def _to_base(disjunct: TupleDomain, tracks: Mapping[str, tuple[Track, ...]]) -> TupleDomain:
    constraints: dict[ColumnKey, Domain] = {}
    for key, domain in disjunct.constraints:
        for track in tracks.get(key.column, ()):
            if key.transform is not None and not all(step.only_adds_null for step in track.function):
                continue
            source = ColumnKey(track.column, key.transform)
            mapped = preimage(track.function, domain)
            constraints[source] = mapped.intersect(constraints[source]) if source in constraints else mapped
    return TupleDomain.where(constraints)


def _changes(stale: Sequence[BaseTableStatus]) -> str:
    return "; ".join(f"{b.base.name[2]}: {_count(b.change.changed_partitions, b.change.unit)} changed" for b in stale)


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _unknown(base: BaseTableStatus) -> str:
    reason = base.change.reason or "changed in a way that cannot be followed"
    return reason if base.base.source is None else f"{base.base.name[2]} {reason}"


def _untracked(
    definition: ViewDefinition, base: BaseTableStatus, occurrence: Occurrence, answer: NotListed | None
) -> str:
    name = base.base.name[2]
    if answer is not None:
        return f"{name} changed and {answer.reason}"
    computed = _computed(definition, occurrence)
    if computed is not None:
        return f"{name} changed and Spark cannot say what {computed} makes of the values that did"
    obstacle = definition.obstacles.get(occurrence)
    if obstacle is not None:
        return f"{name} changed and is not tracked through {obstacle}"
    source = base.base.source
    if source is not None and source.table.spec().is_unpartitioned():
        return f"{name} changed and is not partitioned"
    if source is None:
        return f"{name} is not partitioned by anything the view keeps"
    columns = dict.fromkeys(source.table_schema.find_column_name(f.source_id) for f in source.table.spec().fields)
    return f"{name} is partitioned by {', '.join(str(c) for c in columns)}, which no output column follows"


def _computed(definition: ViewDefinition, occurrence: Occurrence) -> str | None:
    tracks = (t for found in definition.tracks_of(occurrence).values() for t in found)
    return next((step.name for t in tracks for step in t.function if isinstance(step, Computed)), None)
