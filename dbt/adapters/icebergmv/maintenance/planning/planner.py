"""Status + definition -> RefreshPlan: what to recompute, and the sentence that says why.

An overwrite of a region P is right when P covers every output row that the changes could create, remove or alter. Each
stale base contributes the image of its changed partitions under the output columns that track it; a base that nothing
tracks asks for a full refresh. A clock that moved contributes what its questions answer. Rows are only added where
nothing but appends reaches the view; else they are added outside of P, where they would make P nearly everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbt.adapters.icebergmv.maintenance.definition.asking import Asked
from dbt.adapters.icebergmv.maintenance.definition.clock import Clock
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import CLOCK, Occurrence
from dbt.adapters.icebergmv.maintenance.planning.cost import (
    NEARLY_EVERYWHERE,
    WORTH_ASKING,
    asking_pays,
    is_cheap_to_ask,
    is_rough,
    merge_pays,
    reads_too_much,
    small_beside_large,
    there_is_time,
    worth_filtering,
)
from dbt.adapters.icebergmv.maintenance.planning.deltas import (
    appended_deltas,
    signed_deltas,
    without_what_cancels,
)
from dbt.adapters.icebergmv.maintenance.planning.dynamic_filtering import filters_to_ask
from dbt.adapters.icebergmv.maintenance.planning.key_queries import TOO_MANY_CHANGED, Answer, NotListed
from dbt.adapters.icebergmv.maintenance.planning.plan import (
    Append,
    Delta,
    Full,
    Merge,
    NoOp,
    Overwrite,
    RefreshPlan,
)
from dbt.adapters.icebergmv.maintenance.planning.reasons import (
    appended,
    changes,
    clock_unanswered,
    unanswered,
    unknown,
    untracked,
)
from dbt.adapters.icebergmv.maintenance.planning.regions import FEW_TERMS, REGION_LIMIT, affected_rows, base_filters
from dbt.adapters.icebergmv.maintenance.planning.row_changes import is_appended, reaches_a_group
from dbt.adapters.icebergmv.maintenance.planning.to_ask import ToAsk
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.simplification import simplify
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus, by_reference
from dbt.adapters.icebergmv.maintenance.status.streaks import Part
from dbt.adapters.icebergmv.maintenance.status.view_config import RefreshPolicy

_MOST_MET = 100_000
"""Values times disjuncts: to find out what so many have in common takes a second."""


@dataclass(frozen=True)
class PlanRequest:
    """What the planner decides from, besides definition and status.

    `rebuild` says why the contents must be rebuilt whatever changed (first build, --full-refresh, a changed SELECT);
    `lost` why the stored rows cannot be kept although nobody asked for a rebuild (storage dropped, columns changed).
    `partitioning` are the (column, transform) pairs that partition the storage; constraints on these are preferred in
    a region. Without `incremental` the plan is a no-op or a full refresh. Without `appends` no append scan is planned:
    it reads the columns that the table has today, so it is right only in a query that runs at once. `answers` says, of
    references whose changes no output column follows, and of CLOCK, which output rows they reach. With `merges` the
    stored rows hold what groups are merged by. Of the base tables in `changed_nearly_everywhere` so many partitions
    changed that to overwrite what they affect costs more than to compute everything. `within_bounds` says of references
    whose changes are known by column bounds alone about which share of the stored rows is within these.
    `full_seconds` is how long the last full refresh took. `left_out`: these did not pay at the last refreshes.
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
    within_bounds: Mapping[int, float] = field(default_factory=dict)
    full_seconds: float | None = None
    left_out: frozenset[Part] = frozenset()


def plan_refresh(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> RefreshPlan:
    """Return the cheapest refresh that is proven right. Whether the policy allows it is for `policy.enforce`."""
    found = without_regions(definition, status, request)
    if found is not None:
        return found
    plan = _overwrite(definition, status, request)
    return _merge(definition, status, request, plan) or _not_everything(definition, status, request, plan)


def clock_to_ask(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> Clock | None:
    """Return what a clock that moved was before, if it should be asked what it reaches; that comes before any table."""
    if status.clock is None or without_regions(definition, status, request) is not None:
        return None
    return status.clock.before


def unaffected(status: MaterializedViewStatus) -> NoOp:
    """Return the plan where the changes reach no row of the view."""
    return NoOp(f"no row of the view can be affected ({changes(status)})")


def references_to_list(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest
) -> frozenset[int]:
    """Return the references to small tables, beside large ones, that are first asked which values changed rows hold."""
    plan = without_regions(definition, status, request)
    return small_beside_large(status) if plan is None or isinstance(plan, Append) else frozenset()


def references_to_filter(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest
) -> frozenset[int]:
    """Return the references whose changes are cut down first to the rows that joins with filtered tables keep."""
    usable = filters_to_ask(definition, status, worth_filtering(status)) if definition.filters else {}
    plan = without_regions(definition, status, request) if usable else None
    return frozenset(use.index for use in usable) if plan is None or isinstance(plan, Append) else frozenset()


def references_to_ask(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> ToAsk:
    """Return the references to ask. With `auto` nothing is asked that would read most of all rows: it does not pay."""
    if without_regions(definition, status, request) is not None or not _is_clock_answered(status, request):
        return ToAsk()
    merges = _merge(definition, status, request, _overwrite(definition, status, request)) is not None
    needed: dict[int, BaseTableStatus] = {}
    narrower: list[int] = []
    own_keys: list[int] = []
    added = {delta.changed for delta in added_beside(definition, status, request)}
    for base in (b for b in status.reaching if not b.is_among(added)):
        # A merge writes the storage anew, so it is asked first whether it has anything to add.
        if merges and reaches_a_group(definition, base):
            continue
        is_open = is_rough(base) or (merges and base.listed is not None)
        has_keys = not merges and is_appended(base)
        for use in definition.uses_of_all(base.references):
            or_full = not merges and _is_nearly_all(base, use, request)
            if _is_untracked(definition, base, use, request):
                needed[use.index] = base
            elif not is_cheap_to_ask(base, status, or_full=or_full) or not definition.rewritable:
                continue
            elif is_open:
                narrower.append(use.index)
            elif has_keys and request.within_bounds.get(use.index, 0.0) >= WORTH_ASKING:
                own_keys.append(use.index)
    # A table that is used several times is compared with what it was once.
    compared = {base.base.name: base for base in needed.values()}
    is_too_much = costs_too_much(request, compared.values(), status)
    if needed and (is_too_much or not definition.rewritable):
        return ToAsk()
    known_roughly, known_by_bounds = ({*found} - needed.keys() for found in (narrower, own_keys))
    return ToAsk(tuple(sorted(needed)), tuple(sorted(known_roughly)), tuple(sorted(known_by_bounds)), merges)


def as_far_as_it_pays(
    asked: Asked, status: MaterializedViewStatus, to_ask: ToAsk, request: PlanRequest
) -> tuple[ToAsk, Asked | None]:
    """Return what is asked of a text, and in which text; None where no text is worth to be run for it.

    The whole text is asked where it says as much as an expression in it says by itself: it names no rows that the
    SELECT around the expression leaves out. With the policy `auto` what is known roughly is not asked where that would
    make all of it too dear: the refresh would be full instead.
    """
    whole, needed = replace(asked, shared={}), replace(to_ask, narrower=())
    is_auto = request.policy == "auto"
    for wanted in (to_ask, needed) if is_auto else (to_ask,):
        references = (*wanted.needed, *wanted.narrower)
        shared = [index for index in references if index in asked.shared]
        says_as_much = all(map(whole.answers_some, shared)) and asking_pays(whole, shared, status, frozenset())
        if is_auto and not there_is_time(len(references), status, request.full_seconds):
            continue
        for text in (whole, asked) if says_as_much else (asked,):
            if asking_pays(text, references, status, small_beside_large(status)):
                return wanted, text
    return (needed, None) if is_auto else (to_ask, asked)


def costs_too_much(request: PlanRequest, bases: Iterable[BaseTableStatus], status: MaterializedViewStatus) -> bool:
    """Return whether so much changed in some base tables that it is not read to refresh less. Only `auto` asks that."""
    return request.policy == "auto" and reads_too_much(bases, status)


def merges_reached_rows(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> bool:
    """Return whether groups may be merged by the rows below them: no column of the view says what a change reaches.

    Whether that pays is seen when these rows are known (`merging_reached_pays`).
    """
    if not request.merges or definition.merging is None or definition.merging.below is None:
        return False
    if without_regions(definition, status, request) is not None or not _stands_still(status, request):
        return False
    to_ask = references_to_ask(definition, status, request)
    return not to_ask.only_whether and not all(map(definition.asked.names_some, to_ask.needed))


def without_regions(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest
) -> RefreshPlan | None:
    """Return the plan where it does not depend on which output rows are affected."""
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
    if definition.full_when_changed is not None:
        return Full(f"{definition.full_when_changed} ({changes(status)})")
    return _append(definition, status.reaching, request) if request.appends and _stands_still(status, request) else None


def _stands_still(status: MaterializedViewStatus, request: PlanRequest) -> bool:
    """Return whether the clock is what it was, or reaches no row."""
    return status.clock is None or request.answers.get(CLOCK.index) == ()


def _is_clock_answered(status: MaterializedViewStatus, request: PlanRequest) -> bool:
    return status.clock is None or isinstance(request.answers.get(CLOCK.index), tuple)


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
    """Return the plan that merges groups, where partitions alone do not say which output rows are affected."""
    if not request.merges or isinstance(otherwise, NoOp) or not _stands_still(status, request):
        return None
    stale = status.reaching
    partitions_say_it = all(
        base.change.unit != "file"
        and base.base.name not in request.changed_nearly_everywhere
        and not _is_untracked(definition, base, use, request)
        for base in stale
        for use in definition.uses_of_all(base.references)
    )
    if partitions_say_it or costs_too_much(request, stale, status):
        return None
    found = signed_deltas(definition, stale)
    if found is None:
        return None
    deltas = without_what_cancels(definition, found, status)
    if request.policy == "auto" and not merge_pays(deltas, status):
        return None
    return Merge(changes(status), deltas)


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
        if _is_nearly_all(base, use, request) and not isinstance(request.answers.get(use.index), tuple)
    ]
    if not everywhere:
        return plan
    why = next((f"; {unanswered(base, why)}" for base, why in everywhere if isinstance(why, NotListed)), "")
    return Full(f"cheaper than an overwrite of nearly everything ({changes(status)}){why}")


def _is_nearly_all(base: BaseTableStatus, use: Occurrence, request: PlanRequest) -> bool:
    """Return whether to overwrite what a change may affect would be to overwrite nearly everything."""
    share = request.within_bounds.get(use.index, 0.0)
    return base.base.name in request.changed_nearly_everywhere or share >= NEARLY_EVERYWHERE


def _overwrite(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> RefreshPlan:
    disjuncts: list[TupleDomain] = []
    if status.clock is not None:
        reached = request.answers.get(CLOCK.index)
        if not isinstance(reached, tuple):
            return Full(clock_unanswered(status.clock, reached))
        disjuncts += reached
    deltas = added_beside(definition, status, request)
    added = {delta.changed for delta in deltas}
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
    region = simplify(disjuncts, REGION_LIMIT)
    reason = changes(status, added)
    if not region:
        return Append(reason, deltas) if deltas else unaffected(status)
    if any(d.is_all for d in region):
        return Full(f"the changes touch too many partitions to list ({changes(status)})")
    return Overwrite(reason, region, base_filters(definition, region), deltas)


def added_beside(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> tuple[Delta, ...]:
    """Return the deltas of tables that only got rows, for which nearly everything would be replaced beside others.

    The clock, and each other table, is a step from the old rows of the view to the new ones. These steps change nothing
    outside of their region, so there the steps of these tables alone, their deltas, lead to the new rows.
    """
    if not request.appends or not _is_clock_answered(status, request):
        return ()
    wide = [
        base
        for base in status.stale
        if is_appended(base)
        and definition.additive.keys() >= {i for i in base.references if definition.uses_of(i)}
        and any(
            _is_untracked(definition, base, use, request) or _is_nearly_all(base, use, request)
            for use in definition.uses_of_all(base.references)
        )
    ]
    others = [base for base in status.stale if not base.is_among(by_reference(wide))]
    if not others and _stands_still(status, request):
        return ()
    return appended_deltas(definition, wide, others) or ()


def _why_unasked(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> NotListed | None:
    """Return why changed rows were not asked that would say what they reach; None where they would not say it."""
    found = [
        base
        for base in status.stale
        if any(_is_untracked(definition, base, use, request) for use in definition.uses_of_all(base.references))
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


def _is_untracked(
    definition: ViewDefinition, base: BaseTableStatus, occurrence: Occurrence, request: PlanRequest
) -> bool:
    """Return whether every output row may be affected, as far as partitions and bounds say."""
    return any(d.is_all for d in affected_rows(definition, base, occurrence, request.partitioning))
