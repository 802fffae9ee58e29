"""What a refresh leaves out, because it did not pay at the last refreshes.

- Questions after which the refresh was full all the same. They cost up to as much as the full refresh that follows.
- An incremental refresh, where it took longer than a full one.
- The question whether a change reaches the view at all, where it always did.
- The comparison of the rows that were written with those before, where some always were other ones.

Where that goes on night after night, it is tried less and less often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh, without_regions
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import changes
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import are_all_small, rows_in_all, rows_to_ask
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, Merge, NoOp, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import NotListed
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import FullRefresh
from dbt.adapters.icebergmv.maintenance.status.recorded.streaks import Part, Streak, Streaks
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus

IN_VAIN = NotListed("are not asked, because about as many were asked in vain at the last refreshes")

_WORTH_SAVING = 0.1
"""The share of a refresh that questions took, from which they are left out the next time."""

LONGER = 0.5
"""By which share of a full refresh another one is longer that is not tried again; it takes a second more at least."""

_GROWN = 1.5
"""How many times as many rows base tables may have as at the last full refresh, which shows that one like it fits."""

_MOST_WAITED = 7
"""So many refreshes in a row leave out the same part."""


@dataclass(frozen=True)
class Effort:
    """How a plan came about: `asked` says whether Spark was asked what changes reach, `seconds` how long that took.

    `only_whether`: it was only asked whether they reach anything. `rows` is how many rows of what changed there are to
    be read, `before` the streaks so far. What is in `left_out` was left out because of them. `last_full` is the last
    full refresh, if another one like it would do; where `all_small`, each refresh costs about the same. `compared` is
    how many seconds it took to compare the rows that were written with those before, `same_rows` what came of it.
    """

    before: Streaks
    rows: int
    last_full: FullRefresh | None
    seconds: float = 0.0
    asked: bool = False
    only_whether: bool = False
    left_out: frozenset[Part] = field(default_factory=frozenset)
    all_small: bool = False
    compared: float = 0.0
    same_rows: bool = False


def effort_so_far(streaks: Streaks, status: MaterializedViewStatus, last_full: FullRefresh | None) -> Effort:
    """Return the effort of a refresh that has not begun."""
    return Effort(streaks, _rows(status), last_full, all_small=are_all_small(status))


def left_out(streaks: Streaks, status: MaterializedViewStatus, last_full: FullRefresh | None) -> frozenset[Part]:
    """Return what this refresh leaves out.

    Once may be chance. After the second time in a row, the next refresh leaves it out; after the third one, three do,
    and so on. For a change of less than half as many rows nothing is left out. No full refresh takes the place of an
    incremental one if the last full one was of much smaller tables: it may take longer, or not fit.
    """
    if not streaks:
        return frozenset()  # So it mostly is, also for views of which nothing changed.
    rows = _rows(status)
    found = frozenset(part for part, streak in streaks.items() if _is_left_out(streak, rows))
    return found if "incremental" not in found or _fits(status, last_full) else found - {"incremental"}


def _fits(status: MaterializedViewStatus, last_full: FullRefresh | None) -> bool:
    return last_full is not None and rows_in_all(status) <= last_full.rows * _GROWN


def _is_left_out(streak: Streak, rows: int) -> bool:
    wait = min(2 ** (streak.times - 1) - 1, _MOST_WAITED)
    return streak.waited < wait and 2 * rows >= streak.rows


def leaves_out_comparison(effort: Effort) -> bool:
    """Return whether the rows that were written are not compared with those before, as that did not pay lately."""
    streak = effort.before.get("comparison")
    return streak is not None and _is_left_out(streak, effort.rows)


def full_at_once(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> Full | None:
    """Return the full refresh in place of an incremental one that took longer the last times; None to try that."""
    if "incremental" not in request.left_out or without_regions(definition, status, request) is not None:
        return None
    if isinstance(plan_refresh(definition, status, request), NoOp):
        return None
    why = "an incremental refresh of about as many changed rows took longer at the last refreshes"
    return Full(f"{why} ({changes(status)})")


def full_without_questions(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest, to_ask: ToAsk
) -> Full | None:
    """Return the full refresh that comes of it if questions are left out; None where they are asked."""
    if "questions" not in request.left_out or to_ask.only_whether or not to_ask.needed:
        return None
    answers = {**request.answers, **dict.fromkeys(to_ask.needed, IN_VAIN)}
    plan = plan_refresh(definition, status, replace(request, answers=answers))
    return plan if isinstance(plan, Full) else None


def merge_without_question(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest, to_ask: ToAsk
) -> Merge | None:
    """Return the plan that merges groups without asking whether any is reached; None where that is asked."""
    if "whether" not in request.left_out or to_ask.is_nothing or not to_ask.only_whether:
        return None
    plan = plan_refresh(definition, status, request)
    return plan if isinstance(plan, Merge) else None


def after_failing(first: Effort | None, seconds: float, again: Effort | None) -> Effort | None:
    """Return the effort of two plans, of which the first could not be carried out after some seconds."""
    if first is None or again is None:
        return again
    return replace(
        again,
        seconds=first.seconds + seconds + again.seconds,
        left_out=first.left_out | again.left_out,
    )


def streaks_after(effort: Effort | None, plan: RefreshPlan, seconds: float) -> dict[Part, Streak]:
    """Return what is recorded after a refresh whose rows took so many seconds to write.

    A streak that this refresh did not put to the test is kept. Without a full refresh to compare with, there is none.
    """
    if effort is None or effort.last_full is None:
        return {}
    tested: dict[Part, bool] = {
        "questions": effort.asked and not effort.only_whether,
        "incremental": isinstance(plan, Overwrite | Merge) or (effort.asked and isinstance(plan, NoOp)),
        "whether": effort.only_whether,
        "comparison": effort.compared > 0,
    }
    kept: dict[Part, Streak] = {}
    for part, before in effort.before.items():
        if part in effort.left_out:
            kept[part] = replace(before, waited=before.waited + 1)
        elif not tested[part]:
            kept[part] = before
    for part, saved in _to_be_saved(effort, plan, seconds, effort.last_full.seconds).items():
        times = effort.before[part].times if part in effort.before else 0
        kept[part] = Streak(effort.rows, saved, times + 1)
    return kept


def _to_be_saved(effort: Effort, plan: RefreshPlan, seconds: float, full_seconds: float) -> Mapping[Part, float]:
    """Return how many seconds it would have saved to leave out each part, where that is worth it."""
    found: dict[Part, float] = {}
    if not effort.same_rows and effort.compared > seconds * _WORTH_SAVING:
        found["comparison"] = effort.compared
    if not effort.rows:
        return found  # A clock alone moved.
    if isinstance(plan, Full) and effort.asked and effort.seconds >= full_seconds * _WORTH_SAVING:
        found["questions"] = effort.seconds
    if effort.all_small or not isinstance(plan, Overwrite | Merge):
        return found
    longer = effort.seconds + seconds - full_seconds
    if longer >= max(1.0, full_seconds * LONGER):
        found["incremental"] = longer
    if effort.only_whether and effort.seconds >= seconds * _WORTH_SAVING:
        found["whether"] = effort.seconds
    return found


def _rows(status: MaterializedViewStatus) -> int:
    return sum(map(rows_to_ask, status.stale))
