"""What a refresh leaves out, because it did not pay at the last refreshes.

- Questions after which the refresh was full all the same. They cost up to as much as the full refresh that follows.
- An incremental refresh, where it took longer than a full one.
- The question whether a change reaches the view at all, where it always did.

Where that goes on night after night, it is tried less and less often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.changed_keys import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.cost import are_all_small, rows_to_ask
from dbt.adapters.icebergmv.maintenance.planning.key_queries import NotListed
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, NoOp, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, plan_refresh, without_regions
from dbt.adapters.icebergmv.maintenance.planning.reasons import changes
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.streaks import Streak, StreakKind, Streaks

IN_VAIN = NotListed("are not asked, because about as many were asked in vain at the last refreshes")

_WORTH_SAVING = 0.1
"""The share of a refresh that questions took, from which they are left out the next time."""

_LONGER = 0.5
"""By which share of a full refresh another one is longer that is not tried again; it takes a second more at least."""

_MOST_WAITED = 7
"""So many refreshes in a row leave out the same thing."""


@dataclass(frozen=True)
class Effort:
    """How a plan came about: `asked` says whether Spark was asked what changes reach, `seconds` how long all took.

    `only_whether`: it was only asked whether they reach anything. `rows` is how many rows of what changed there are to
    be read, `before` the streaks so far. What is in `left_out` was left out because of them. Where `all_small`, every
    refresh costs about the same.
    """

    before: Streaks
    rows: int
    seconds: float = 0.0
    asked: bool = False
    only_whether: bool = False
    left_out: frozenset[StreakKind] = field(default_factory=frozenset)
    all_small: bool = False


def effort_so_far(streaks: Streaks, status: MaterializedViewStatus) -> Effort:
    """Return the effort of a refresh that has not begun."""
    return Effort(streaks, _rows(status), all_small=are_all_small(status))


def left_out(streaks: Streaks, status: MaterializedViewStatus) -> frozenset[StreakKind]:
    """Return what this refresh leaves out.

    Once may be chance. After the second time in a row, the next refresh leaves it out; after the third one, three do,
    and so on. For a change of less than half as many rows nothing is left out.
    """
    rows = _rows(status)
    return frozenset(kind for kind, streak in streaks.items() if _is_left_out(streak, rows))


def _is_left_out(streak: Streak, rows: int) -> bool:
    wait = min(2 ** (streak.times - 1) - 1, _MOST_WAITED)
    return streak.waited < wait and 2 * rows >= streak.rows


def full_at_once(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> Full | None:
    """Return the full refresh in place of an incremental one that took longer the last times; None to try that."""
    if "dearer-than-full" not in request.left_out:
        return None
    found = without_regions(definition, status, request)
    is_open = found is None or isinstance(found, Append)
    if not is_open or isinstance(plan_refresh(definition, status, request), NoOp):
        return None
    why = "an incremental refresh of about as many changed rows took longer at the last refreshes"
    return Full(f"{why} ({changes(status)})")


def without_questions(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest, to_ask: ToAsk
) -> tuple[RefreshPlan, StreakKind] | None:
    """Return the plan that comes of it if questions are left out, and why they are; None where they are asked."""
    if to_ask.is_nothing:
        return None
    if to_ask.only_whether:
        plan = plan_refresh(definition, status, request)
        return (plan, "reached") if "reached" in request.left_out and not isinstance(plan, Full) else None
    if "asked-in-vain" not in request.left_out or not to_ask.needed:
        return None
    answers = {**request.answers, **dict.fromkeys(to_ask.needed, IN_VAIN)}
    plan = plan_refresh(definition, status, replace(request, answers=answers))
    return (plan, "asked-in-vain") if isinstance(plan, Full) else None


def streaks_after(
    effort: Effort | None, plan: RefreshPlan, seconds: float, full_seconds: float | None
) -> dict[StreakKind, Streak]:
    """Return what is recorded after a refresh whose rows took so long to write; the last full one took `full_seconds`.

    A streak that this refresh did not put to the test is kept. Where that time is not known, there is none.
    """
    if effort is None or full_seconds is None:
        return {}
    saved = _to_be_saved(effort, plan, seconds, full_seconds)
    tested = {"asked-in-vain": effort.asked, "dearer-than-full": not isinstance(plan, Full)}
    tested["reached"] = effort.only_whether
    kept: dict[StreakKind, Streak] = {}
    for kind, before in effort.before.items():
        if kind in effort.left_out:
            kept[kind] = replace(before, waited=before.waited + 1)
        elif not tested[kind]:
            kept[kind] = before
    for kind, much in saved.items():
        times = effort.before[kind].times if kind in effort.before else 0
        kept[kind] = Streak(effort.rows, much, times + 1)
    return kept


def _to_be_saved(effort: Effort, plan: RefreshPlan, seconds: float, full_seconds: float) -> Mapping[StreakKind, float]:
    """Return how many seconds less another way would have taken, for each way that would have been worth it."""
    if isinstance(plan, NoOp):
        return {}
    if isinstance(plan, Full):
        is_much = effort.asked and effort.seconds >= full_seconds * _WORTH_SAVING
        return {"asked-in-vain": effort.seconds} if is_much else {}
    found: dict[StreakKind, float] = {}
    longer = effort.seconds + seconds - full_seconds
    if longer >= max(1.0, full_seconds * _LONGER) and not effort.all_small:
        found["dearer-than-full"] = longer
    if effort.only_whether and effort.seconds >= seconds * _WORTH_SAVING and not effort.all_small:
        found["reached"] = effort.seconds
    return found


def _rows(status: MaterializedViewStatus) -> int:
    return sum(map(rows_to_ask, status.stale))
