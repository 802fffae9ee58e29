"""Questions that are left out, because those of the last refreshes were asked in vain.

A question that cannot be answered, or not in time, costs up to half of the full refresh that follows. Where that goes
on night after night, it is asked less and less often.
"""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.changed_keys import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.cost import rows_to_ask
from dbt.adapters.icebergmv.maintenance.planning.key_queries import NotListed
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, plan_refresh
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.vain_questions import VainQuestions

IN_VAIN = NotListed("are not asked, because about as many were asked in vain at the last refreshes")

_WORTH_LEAVING_OUT = 0.1
"""The share of a full refresh that questions took, from which they are left out."""

_MOST_WAITED = 7
"""So many refreshes in a row are full without a question."""


def are_left_out(vain: VainQuestions | None, full_seconds: float | None, status: MaterializedViewStatus) -> bool:
    """Return whether questions about what changed are left out of this refresh. A full one took `full_seconds`.

    Once may be chance. After the second time in a row that they were asked in vain, the next refresh leaves them out;
    after the third one, three do, and so on. A change of less than half as many rows is asked at once.
    """
    if vain is None or not _took_long(vain, full_seconds):
        return False
    wait = min(2 ** (vain.times - 1) - 1, _MOST_WAITED)
    return vain.waited < wait and 2 * _rows(status) >= vain.rows


def without_questions(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest, to_ask: ToAsk
) -> Full | None:
    """Return the full refresh that comes of it if questions are left out, and None where it is none."""
    if not request.leaves_out_questions or to_ask.only_whether or not to_ask.needed:
        return None
    answers = {**request.answers, **dict.fromkeys(to_ask.needed, IN_VAIN)}
    plan = plan_refresh(definition, status, replace(request, answers=answers))
    return plan if isinstance(plan, Full) else None


def after_leaving_out(before: VainQuestions | None) -> VainQuestions | None:
    """Return what is recorded after a refresh that left questions out."""
    return None if before is None else replace(before, waited=before.waited + 1)


def after_asking(
    before: VainQuestions | None,
    status: MaterializedViewStatus,
    plan: RefreshPlan,
    seconds: float,
    full_seconds: float | None,
) -> VainQuestions | None:
    """Return what is recorded after questions that took so long, and the plan that came of them.

    Those before that cost next to nothing do not count. The last full refresh took `full_seconds`.
    """
    if not isinstance(plan, Full):
        return None
    times = before.times if before is not None and _took_long(before, full_seconds) else 0
    return VainQuestions(_rows(status), seconds, times + 1)


def _took_long(vain: VainQuestions, full_seconds: float | None) -> bool:
    return full_seconds is not None and vain.seconds >= full_seconds * _WORTH_LEAVING_OUT


def _rows(status: MaterializedViewStatus) -> int:
    return sum(map(rows_to_ask, status.stale))
