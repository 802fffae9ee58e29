"""The plan for a view, made with what Spark answers about the clock and about the changed rows, as far as that pays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from time import monotonic

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.answers.changed_keys import Questions, clock_answer
from dbt.adapters.icebergmv.maintenance.planning.answers.listed_groups import GroupListing
from dbt.adapters.icebergmv.maintenance.planning.answers.reached_rows import Reaching
from dbt.adapters.icebergmv.maintenance.planning.answers.replaced_share import full_instead, most_replaced
from dbt.adapters.icebergmv.maintenance.planning.choice.last_refreshes import (
    IN_VAIN,
    Effort,
    effort_so_far,
    full_without_questions,
    merge_without_question,
)
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh, unaffected
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import unanswered
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import (
    ToAsk,
    as_far_as_it_pays,
    asks_for_any_row,
    clock_to_ask,
    references_to_ask,
)
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import nearly_all_keys, small_beside_large
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, NoOp, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import Asker
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import Answer
from dbt.adapters.icebergmv.maintenance.status.inspection import RefreshedView
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import check_session


@dataclass(frozen=True)
class Asking:
    """What asks Spark: `run` stops a question that takes too long, and none is begun after `until`.

    `most_of_one`: so many keys of one column may be listed.
    """

    run: Asker
    until: float
    most_of_one: int


def answered_plan(
    lake: Lake, view: RefreshedView, columns: Sequence[Column], request: PlanRequest, asking: Asking
) -> tuple[RefreshPlan, Effort]:
    """Return the plan, made with what Spark says of the clock, if it moved, and then of the changed rows.

    With it comes what was asked for it, and what was not.
    """
    ask = partial(_ask, asking, request)
    definition, status = view.definition, view.status
    preferred = frozenset(column for column, _ in request.partitioning)
    nearly_all = nearly_all_keys(status, view.stored.row_count) if request.policy == "auto" else inf

    def questions(asked: Asked) -> Questions:
        first = small_beside_large(status)
        return Questions(definition, asked, view.bases, status, columns, preferred, first, nearly_all=nearly_all)

    request = _with_clock_answered(lake, view, request, questions)
    effort = effort_so_far(view.state.streaks, status, view.state.last_full)
    if asks_for_any_row(definition, status, request):
        return _unless_no_row_changed(questions, view, request, asking, effort)
    to_ask = references_to_ask(definition, status, request)
    full = full_without_questions(definition, status, request, to_ask)
    if full is not None:
        return full, replace(effort, left_out=frozenset(["questions"]))
    merge = merge_without_question(definition, status, request, to_ask)
    if merge is not None:
        return merge, replace(effort, left_out=frozenset(["whether"]))
    listing = GroupListing(definition, view.bases, status, columns, asking.run)
    listed = listing.plan(request, to_ask, view.stored.row_count)
    if listed is not None:
        # What was asked is written, so the settings are looked at that it was asked with.
        check_session(lake, view.request.config.settings)
        is_listed = isinstance(listed, NoOp) or listed.listed is not None
        return listed, replace(effort, asked=True, only_whether=not is_listed)
    reaching = Reaching(definition, view.bases, status, lake.spark, ask)
    plan: RefreshPlan | None = reaching.plan(request)
    reached = replace(reaching, run=asking.run).groups(request, columns) if plan is None else None
    if isinstance(reached, Full):
        plan = reached
    elif reached is not None or (plan is None and not to_ask.is_nothing):
        wanted = replace(questions(definition.asked), most_of_one=asking.most_of_one)
        answers = ask(wanted, to_ask) if reached is None else reached
        plan = plan_refresh(definition, status, replace(request, answers={**request.answers, **answers}))
        if isinstance(plan, Overwrite) and request.policy == "auto":
            plan = _full_instead(plan, view, answers, nearly_all, asking) or plan
    if plan is None:
        return plan_refresh(definition, status, request), effort
    return plan, replace(effort, asked=True, only_whether=to_ask.only_whether)


def _full_instead(
    plan: Overwrite, view: RefreshedView, answers: Mapping[int, Answer], nearly_all: float, asking: Asking
) -> Full | None:
    """Return the full refresh in place of one that would replace nearly all stored rows; None where it would not."""
    most = most_replaced(plan, answers.values(), nearly_all if monotonic() < asking.until else inf)
    return None if most is None else full_instead(plan, view.status, view.stored, asking.run, most)


def _unless_no_row_changed(
    questions: Callable[[Asked], Questions],
    view: RefreshedView,
    request: PlanRequest,
    asking: Asking,
    effort: Effort,
) -> tuple[RefreshPlan, Effort]:
    """Return the plan of a view that is refreshed in full if any row changed, and what was asked for it."""
    otherwise = plan_refresh(view.definition, view.status, request)
    if "questions" in request.left_out:
        why = f"{otherwise.reason}; {unanswered(view.status.reaching[0], IN_VAIN)}"
        return replace(otherwise, reason=why), replace(effort, left_out=frozenset(["questions"]))
    is_same = replace(questions(view.definition.asked), until=asking.until).no_row_changed(asking.run)
    return unaffected(view.status) if is_same else otherwise, replace(effort, asked=True)


def _with_clock_answered(
    lake: Lake, view: RefreshedView, request: PlanRequest, questions: Callable[[Asked], Questions]
) -> PlanRequest:
    """Return the request with what a clock that moved reaches, if it should be asked."""
    before = clock_to_ask(view.definition, view.status, request)
    if before is None:
        return request
    terms = view.definition.asked_since(before)
    asked = None if terms is None else [replace(questions(term), nearly_all=inf) for term in terms]
    return replace(request, answers={CLOCK.index: clock_answer(asked, lake.spark)})


def _ask(asking: Asking, request: PlanRequest, questions: Questions, to_ask: ToAsk) -> dict[int, Answer]:
    """Return what references reach or, where to ask that takes longer than it saves, whether they reach anything."""
    questions, run = replace(questions, until=asking.until), asking.run
    to_ask, text = as_far_as_it_pays(questions.asked, questions.status, to_ask, request)
    if text is None:
        return questions.cheap_answers(to_ask, run)
    return replace(questions, asked=text).answers(to_ask, run)
