"""Status + definition -> RefreshPlan: what to recompute, and the sentence that says why.

An overwrite of a region P is right when P covers every output row that the changes could create, remove or alter. Each
stale base contributes the image of its changed partitions under the output columns that track it; a base that nothing
tracks asks for a full refresh. A clock that moved contributes what its questions answer. Rows are only added where
nothing but appends reaches the view; else they are added outside of P, where they would make P nearly everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK
from dbt.adapters.icebergmv.maintenance.planning.choice.deltas import (
    appended_deltas,
    signed_deltas,
    without_what_cancels,
)
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import (
    PlanRequest,
    costs_too_much,
    is_clock_answered,
    is_nearly_all,
    is_untracked,
    stands_still,
)
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import (
    appended,
    changes,
    clock_unanswered,
    unanswered,
    unknown,
    untracked,
)
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import merge_pays
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Delta, Full, Merge, NoOp, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import is_appended
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import TOO_LATE, TOO_MANY_CHANGED, NotListed
from dbt.adapters.icebergmv.maintenance.planning.regions import FEW_TERMS, REGION_LIMIT, affected_rows, base_filters
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.simplification import simplify
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus, by_reference

_MOST_MET = 100_000
"""Values times disjuncts: to find out what so many have in common takes a second."""


def plan_refresh(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> RefreshPlan:
    """Return the cheapest refresh that is proven right. Whether the policy allows it is for `policy.enforce`."""
    found = without_regions(definition, status, request)
    if found is not None:
        return found
    plan = _overwrite(definition, status, request)
    return _merge(definition, status, request, plan) or _not_everything(definition, status, request, plan)


def merges_groups(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> bool:
    """Return whether the refresh merges groups, as far as the answers of the request say."""
    return _merge(definition, status, request, _overwrite(definition, status, request)) is not None


def unaffected(status: MaterializedViewStatus) -> NoOp:
    """Return the plan where the changes reach no row of the view."""
    return NoOp(f"no row of the view can be affected ({changes(status)})")


def without_regions(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest
) -> RefreshPlan | None:
    """Return the plan where it does not depend on which output rows are affected."""
    found = full_or_none(definition, status, request)
    if found is not None:
        return found
    if definition.full_when_changed is not None:
        is_reached = status.reaching or status.clock is not None or definition.columns is None
        return Full(f"{definition.full_when_changed} ({changes(status)})") if is_reached else unaffected(status)
    return _append(definition, status.reaching, request) if request.appends and stands_still(status, request) else None


def full_or_none(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest
) -> RefreshPlan | None:
    """Return the plan where it does not depend on how a change reaches the view, whatever its definition is."""
    for reason in (request.rebuild, request.lost, definition.always_full):
        if reason is not None:
            return Full(reason)
    for base in status.base_tables:
        if base.change.status == "unknown":
            return Full(unknown(base))
    stale = status.stale
    if not stale and status.clock is None:
        return NoOp(f"nothing changed since {request.refreshed_at}")
    if not request.incremental:
        return Full(f"materialized_view_connector_driven_refresh_enabled is off ({changes(status)})")
    if request.policy == "full":
        return Full(f"refresh_policy is full ({changes(status)})")
    return None


def _append(definition: ViewDefinition, stale: Sequence[BaseTableStatus], request: PlanRequest) -> Append | None:
    """Return the plan that adds what new base rows bring, where nothing else happened and the definition adds up.

    What they bring lies in the region that an overwrite would replace, so the other tables are read no further either.
    """
    deltas = appended_deltas(definition, stale)
    if deltas is None:
        return None
    rows = ", ".join(f"{b.base.name[2]}: {appended(b.change)}" for b in stale)
    uses = [(base, use) for base in stale for use in definition.uses_of_all(base.references)]
    affected = [d for base, use in uses for d in affected_rows(definition, base, use, request.partitioning)]
    region = simplify(affected, REGION_LIMIT)
    filters = {} if any(d.is_all for d in region) else base_filters(definition, region)
    return Append(rows, deltas, filters)


def _merge(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest, otherwise: RefreshPlan
) -> Merge | None:
    """Return the plan that merges groups, where partitions say too little, or that is cheaper."""
    if not request.merges or isinstance(otherwise, NoOp) or not stands_still(status, request):
        return None
    stale = status.reaching
    only_adds = definition.merging is not None and definition.merging.only_adds
    if only_adds and any(base.change.appended_since is None for base in stale):
        return None
    partitions_say_it = not request.merging_reads_less and all(
        base.change.unit != "file"
        and base.base.name not in request.changed_nearly_everywhere
        and not is_untracked(definition, base, use, request)
        for base in stale
        for use in definition.uses_of_all(base.references)
    )
    if partitions_say_it or costs_too_much(request, stale, status):
        return None
    found = signed_deltas(definition, stale)
    if found is None:
        return None
    deltas = without_what_cancels(definition, found, status)
    if request.policy == "auto" and not merge_pays(deltas, status, request.full_seconds):
        return None
    region = otherwise.region if isinstance(otherwise, Overwrite) and not otherwise.added else None
    return Merge(changes(status, reaching={delta.changed for delta in deltas}), deltas, region=region)


def _not_everything(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest, plan: RefreshPlan
) -> RefreshPlan:
    """Return a full refresh in place of an overwrite of nearly everything, which costs more. Only for `auto`."""
    if not isinstance(plan, Overwrite) or request.policy != "auto":
        return plan
    added = {delta.changed for delta in plan.added}
    everywhere = [
        (base, request.answers.get(use.index))
        for base in status.stale
        if not base.is_among(added)
        for use in definition.uses_of_all(base.references)
        if is_nearly_all(base, use, request) and not isinstance(request.answers.get(use.index), tuple)
    ]
    if not everywhere:
        return plan
    why = next((f"; {unanswered(base, why)}" for base, why in everywhere if isinstance(why, NotListed)), "")
    return Full(f"cheaper than an overwrite of nearly everything ({changes(status)}){why}")


def _overwrite(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> RefreshPlan:
    disjuncts: list[TupleDomain] = []
    if status.clock is not None:
        reached = request.answers.get(CLOCK.index)
        if not isinstance(reached, tuple):
            return Full(clock_unanswered(status.clock, reached))
        disjuncts += reached
    deltas = added_beside(definition, status, request)
    added = {delta.changed for delta in deltas}
    late: dict[str, None] = {}
    reaching = set(added)
    for base in (b for b in status.stale if not b.is_among(added)):
        for occurrence in definition.uses_of_all(base.references):
            answer = request.answers.get(occurrence.index)
            affected = affected_rows(definition, base, occurrence, request.partitioning)
            if isinstance(answer, tuple):
                is_bounded = occurrence.index in request.within_bounds
                affected = _in_both(answer, affected) if is_bounded else list(answer)
            elif any(d.is_all for d in affected):
                return Full(
                    untracked(definition, base, occurrence, answer or _why_unasked(definition, status, request))
                )
            disjuncts += affected
            if affected:
                reaching.add(occurrence.index)
            if answer is TOO_LATE:
                late[unanswered(base, TOO_LATE)] = None
    region = simplify(disjuncts, REGION_LIMIT)
    if not region and not deltas:
        return unaffected(status)
    reason = "; ".join((changes(status, added, reaching), *late))
    if not region:
        return Append(reason, deltas)
    if any(d.is_all for d in region):
        return Full(f"the changes reach every row, or too many partitions to list ({changes(status)})")
    return Overwrite(reason, region, base_filters(definition, region), deltas)


def added_beside(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> tuple[Delta, ...]:
    """Return the deltas of tables that only got rows, for which nearly everything would be replaced beside others.

    The clock, and each other table, is a step from the old rows of the view to the new ones. These steps change nothing
    outside of their region, so there the steps of these tables alone, their deltas, lead to the new rows.
    """
    if not request.appends or not is_clock_answered(status, request):
        return ()
    wide = [
        base
        for base in status.stale
        if is_appended(base)
        and definition.additive.keys() >= {i for i in base.references if definition.uses_of(i)}
        and any(
            is_untracked(definition, base, use, request) or is_nearly_all(base, use, request)
            for use in definition.uses_of_all(base.references)
        )
    ]
    others = [base for base in status.stale if not base.is_among(by_reference(wide))]
    if not others and stands_still(status, request):
        return ()
    return appended_deltas(definition, wide, others) or ()


def _why_unasked(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> NotListed | None:
    """Return why changed rows were not asked that would say what they reach; None where they would not say it."""
    found = [
        base
        for base in status.stale
        if any(is_untracked(definition, base, use, request) for use in definition.uses_of_all(base.references))
    ]
    merges = request.merges and definition.merging is not None
    would_say = merges or all(map(definition.asked.names_some, by_reference(found)))
    return TOO_MANY_CHANGED if would_say and costs_too_much(request, found, status) else None


def _in_both(answer: Sequence[TupleDomain], affected: Sequence[TupleDomain]) -> list[TupleDomain]:
    """Return the rows that are reached and within bounds, which hold every affected row both.

    Keys are of one column; bounds of others say more. That is no use where it takes many more words.
    """
    if len(answer) * len(affected) > REGION_LIMIT or _words(answer) * len(affected) > _MOST_MET:
        return list(answer)
    both = [rows for rows in (a.intersect(b) for a in answer for b in affected) if not rows.is_none]
    return both if _words(both) <= max(FEW_TERMS, 2 * _words(answer)) else list(answer)


def _words(rows: Iterable[TupleDomain]) -> int:
    """Return how many ranges and values a predicate of rows names."""
    return sum(len(domain.ranges) + domain.null for one in rows for _, domain in one.constraints)
