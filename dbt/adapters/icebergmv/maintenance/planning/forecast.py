"""What a refresh may come to, as far as metadata say it: the same decision as `settle`, without Spark.

Where the decision depends on what Spark is asked when the refresh runs, each kind that it may come to is named, and
what is asked. A kind that is not named here is never what the refresh then does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK
from dbt.adapters.icebergmv.maintenance.planning.answers.reached_rows import definition_below
from dbt.adapters.icebergmv.maintenance.planning.choice.last_refreshes import (
    full_at_once,
    full_without_questions,
    merge_without_question,
)
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import added_beside, plan_refresh, without_regions
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import asked_steps
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import (
    ToAsk,
    as_far_as_it_pays,
    asks_for_any_row,
    clock_to_ask,
    merges_reached_rows,
    references_to_ask,
    references_to_filter,
    references_to_list,
    replaces_reached_groups,
)
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, Merge, NoOp, RefreshPlan
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed, Step
from dbt.adapters.icebergmv.maintenance.predicates.local_time import LocalTime
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import RefreshPolicy
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus, by_reference

Kind: TypeAlias = Literal["none", "append", "overwrite", "merge", "full"]


@dataclass(frozen=True)
class Forecast:
    """The plan as far as metadata say it, and every kind that the refresh may come to, the likeliest first.

    `questions` are what Spark is asked when it runs; without any the plan's kind is the only one.
    """

    plan: RefreshPlan
    kinds: tuple[Kind, ...]
    questions: tuple[str, ...] = ()


def certain(plan: RefreshPlan) -> Forecast:
    """Return the forecast of a plan that nothing can change any more."""
    return Forecast(plan, (plan.kind,))


def kinds_of(definition: ViewDefinition, policy: RefreshPolicy, incremental: bool) -> tuple[Kind, ...]:
    """Return every kind that a refresh may come to, whatever rows of its base tables changed, the likeliest first."""
    if not incremental or policy == "full" or definition.full_when_changed is not None:
        return ("full", "none")
    appends: tuple[Kind, ...] = ("append",) if definition.additive else ()
    merges: tuple[Kind, ...] = ("merge",) if definition.merging is not None else ()
    return (*appends, *merges, "overwrite", "full", "none")


def forecast_of(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> Forecast:
    """Return what comes of a definition, its status and a request to which Spark has not answered anything yet."""
    to_list = references_worth_listing(definition, status, request)
    to_filter = references_to_filter(definition, status, request)
    if not to_list and not to_filter:  # Values may show that much less changed.
        full = full_at_once(definition, status, request) or full_for_one_table(definition, status, request)
        if full is not None:
            return certain(full)
    forecast = _as_files_say(definition, status, request)
    is_append = isinstance(forecast.plan, Append)
    listed = [] if is_append or not to_list else [f"which values the changed rows of {_names(status, to_list)} hold"]
    kept = [f"which rows of {_names(status, to_filter)} a join with a filtered table keeps"] if to_filter else []
    if not listed and not kept:
        return forecast
    # Values decide which rows may be affected. Where only appends affect any, rows are only added.
    kinds = ("none",) if is_append else kinds_of(definition, request.policy, request.incremental)
    return Forecast(forecast.plan, _united(forecast.kinds, kinds), (*listed, *kept, *forecast.questions))


def references_worth_listing(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest
) -> frozenset[int]:
    """Return the references to small tables that are first asked which values changed rows hold.

    There is none where the refresh is full even if no row of these tables changed.
    """
    to_list = references_to_list(definition, status, request)
    if not to_list:
        return to_list
    others = status.as_if_unchanged(to_list)
    return to_list if _full_anyway(definition, others, request) is None else frozenset()


def full_for_one_table(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> Full | None:
    """Return the full refresh that the change of one table asks for, whatever the others reach; None if none does.

    To ask what the others reach would be in vain. The reason names that table alone. What did not pay at the last
    refreshes is no reason here: it is left out for some refreshes, which are counted where it would be asked.
    """
    reaching = status.reaching
    if len(reaching) + (status.clock is not None) < 2 or without_regions(definition, status, request) is not None:
        return None
    request, still = replace(request, left_out=frozenset()), replace(status, clock=None)
    if isinstance(plan_refresh(definition, still, request), Merge):
        return None
    stale = frozenset(status.stale_references)
    alone = (still.as_if_unchanged(stale.difference(base.references)) for base in reaching)
    found = (_full_anyway(definition, one, request) for one in alone)
    return next((full for full in found if full is not None), None)


def _full_anyway(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> Full | None:
    """Return the full refresh that comes of it whatever Spark would answer; None where that may lead to another one."""
    if references_to_filter(definition, status, request):
        return None
    forecast = _as_files_say(definition, status, request)
    return forecast.plan if isinstance(forecast.plan, Full) and forecast.kinds == ("full",) else None


def _as_files_say(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> Forecast:
    """Return what comes of it where the files that changed are all that is known of a change before it is asked."""
    plan = plan_refresh(definition, status, request)
    if asks_for_any_row(definition, status, request):
        if "questions" in request.left_out:
            return certain(plan)
        question = f"whether a row of {_names(status, by_reference(status.reaching))} changed"
        return Forecast(plan, ("full", "none"), (question,))
    if without_regions(definition, status, request) is not None:
        return certain(plan)
    if status.clock is not None and CLOCK.index not in request.answers:
        return _on_the_clock(definition, status, request, plan)
    # The offsets of a time zone only narrow ranges, which matters where there are too many to list.
    steps: tuple[type[Step], ...] = (Computed, LocalTime) if isinstance(plan, Full) else (Computed,)
    stale = definition.uses_of_all(status.stale_references)
    names = dict.fromkeys(name for use in stale for name in asked_steps(definition, use, steps))
    values = tuple(f"what {name} makes of the values that changed" for name in names)
    merges = merges_reached_rows(definition, status, request)
    reaches = (merges or replaces_reached_groups(definition, status, request)) and _has_keys_below(definition, status)
    likely: Kind = plan.kind if not reaches else "merge" if merges else "overwrite"
    to_ask = references_to_ask(definition, status, request)
    full = full_without_questions(definition, status, request, to_ask)
    if full is not None and not values:
        return certain(full)
    if merge_without_question(definition, status, request, to_ask) is not None:
        to_ask = ToAsk()
    to_ask, text = as_far_as_it_pays(definition.asked, status, to_ask, request)
    pays = text is not None
    appends: tuple[Kind, ...] = ("append",) if added_beside(definition, status, request) else ()
    if reaches or not to_ask.is_nothing:
        kinds = _kinds_of_answers(definition, status, to_ask, pays, likely)
        return Forecast(plan, _united(kinds, appends), (*values, *_keys_asked(definition, status, to_ask, pays)))
    if values and not isinstance(plan, NoOp):
        can_merge = request.merges and definition.merging is not None
        return Forecast(
            plan, _united((plan.kind,), ("merge",) if can_merge else (), ("overwrite", "full", "none"), appends), values
        )
    if isinstance(plan, Merge):
        otherwise = _as_files_say(definition, status, replace(request, merges=False))
        question = "whether the groups can be merged exactly"
        return Forecast(plan, _united(("merge",), otherwise.kinds), (question, *otherwise.questions))
    return certain(plan)


def _on_the_clock(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest, plan: RefreshPlan
) -> Forecast:
    """Return what comes of a clock that moved: the rows that it moves are asked for before anything else."""
    before = clock_to_ask(definition, status, request)
    if before is None or definition.asked_since(before) is None:
        return certain(plan)
    still = _as_files_say(definition, status, replace(request, answers={CLOCK.index: ()}))
    kinds = _united(("overwrite", "none"), still.kinds, ("full",))
    return Forecast(plan, kinds, (f"which rows it moves that {status.clock}", *still.questions))


def _kinds_of_answers(
    definition: ViewDefinition, status: MaterializedViewStatus, to_ask: ToAsk, pays: bool, likely: Kind
) -> tuple[Kind, ...]:
    """Return what may come of the answers: nothing changed, some keys did, or it cannot be listed what did.

    Unless it `pays` to run the definition, the changed rows alone are read: for their own keys, or whether there are
    any.
    """
    if likely == "merge":
        return ("merge", "overwrite", "none", "full")
    if likely == "overwrite":
        return ("overwrite", "none", "full")
    if pays:
        has_keys = any(definition.asked.may_answer(i) or definition.tracked_columns(i) for i in to_ask.needed)
    else:
        has_keys = any(all(map(definition.tracks_of, definition.uses_of(i))) for i in to_ask.needed)
    is_all = {*to_ask.needed}.issuperset(status.stale_references)
    return ("full", "none") if is_all and not has_keys else ("overwrite", "none", "full")


def _has_keys_below(definition: ViewDefinition, status: MaterializedViewStatus) -> bool:
    """Return whether some stale table may say which of the rows below the aggregate its changes reach."""
    below = definition_below(definition)
    stale = status.stale_references
    return below is not None and any(below.asked.may_answer(i) or below.tracked_columns(i) for i in stale)


def _keys_asked(definition: ViewDefinition, status: MaterializedViewStatus, to_ask: ToAsk, pays: bool) -> Iterator[str]:
    """Yield what is asked of the changed rows, in words."""
    if to_ask.needed or to_ask.narrower or not to_ask.own_keys:
        yield _keys_of(definition, status, to_ask, pays)
    if to_ask.own_keys:
        yield f"the keys of the new rows of {_names(status, to_ask.own_keys)}"


def _names(status: MaterializedViewStatus, references: Collection[int]) -> str:
    return " and ".join(b.base.name[2] for b in status.stale if b.is_among(references))


def _keys_of(definition: ViewDefinition, status: MaterializedViewStatus, to_ask: ToAsk, pays: bool) -> str:
    asked = (*to_ask.needed, *to_ask.narrower)
    names = _names(status, asked or status.stale_references)
    uses = definition.uses_of_all(to_ask.needed)
    if (pays or all(map(definition.tracks_of, uses))) and not to_ask.only_whether:
        return f"the keys of the changed rows of {names}"
    keys = " and, if groups cannot be merged, the keys of those that did" if to_ask.only_whether else ""
    return f"whether a row of {names} changed{keys}"


def _united(*kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
    return tuple(dict.fromkeys(kind for some in kinds for kind in some))
