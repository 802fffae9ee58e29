"""Attempts to compute less than everything that are left out, because those of the last refreshes were in vain.

A question that cannot be answered, or not in time, costs up to half of the full refresh that follows. What changed may
take longer to write than everything takes, too. Where that goes on night after night, it is tried less and less often.
"""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.changed_keys import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.cost import is_dearer_than_full, rows_to_ask
from dbt.adapters.icebergmv.maintenance.planning.key_queries import NotListed
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, Merge, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.reasons import changes
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.vain_attempts import Attempt, VainAttempts

IN_VAIN = NotListed("are not asked, because about as many were asked in vain at the last refreshes")

_WORTH_LEAVING_OUT = 0.1
"""The share of a full refresh that was lost, from which attempts are left out."""

_MOST_WAITED = 7
"""So many refreshes in a row are full without an attempt."""


def left_out(vain: VainAttempts | None, full_seconds: float | None, status: MaterializedViewStatus) -> Attempt | None:
    """Return what this refresh leaves out, if anything: questions, or all but a full refresh. One took `full_seconds`.

    Once may be chance. After the second time in a row that it was in vain, the next refresh leaves it out; after the
    third one, three do, and so on. It is tried at once after a change of less than half as many rows.
    """
    if vain is None or full_seconds is None or vain.seconds < full_seconds * _WORTH_LEAVING_OUT:
        return None
    wait = min(2 ** (vain.times - 1) - 1, _MOST_WAITED)
    return vain.attempt if vain.waited < wait and 2 * _rows(status) >= vain.rows else None


def full_without_attempt(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest, to_ask: ToAsk
) -> Full | None:
    """Return the full refresh that comes of it if attempts are left out, and None where it is none.

    Where metadata alone show that no row is reached, nothing is written all the same.
    """
    match request.leaves_out:
        case "written":
            plan = plan_refresh(definition, status, request)
            if isinstance(plan, Overwrite | Merge) or to_ask.needed:
                return Full(f"cheaper than what the last refreshes did, which took longer ({changes(status)})")
        case "asked" if to_ask.needed and not to_ask.only_whether:
            answers = {**request.answers, **dict.fromkeys(to_ask.needed, IN_VAIN)}
            plan = plan_refresh(definition, status, replace(request, answers=answers))
            return plan if isinstance(plan, Full) else None
    return None


def after_leaving_out(before: VainAttempts | None) -> VainAttempts | None:
    """Return what is recorded after a refresh that left attempts out."""
    return None if before is None else replace(before, waited=before.waited + 1)


def after_asking(
    before: VainAttempts | None, status: MaterializedViewStatus, plan: RefreshPlan, seconds: float
) -> VainAttempts | None:
    """Return what is recorded after questions that took so long, and the plan that came of them."""
    if isinstance(plan, Full):
        return _once_more(before, status, seconds, "asked")
    is_written = isinstance(plan, Overwrite | Merge) and before is not None and before.attempt == "written"
    return before if is_written else None


def after_writing(
    before: VainAttempts | None,
    status: MaterializedViewStatus,
    plan: RefreshPlan,
    seconds: float,
    full_seconds: float | None,
) -> VainAttempts | None:
    """Return what is recorded after a plan that took so many seconds, where a full refresh took `full_seconds`.

    `before` is what `after_asking` left.
    """
    if not isinstance(plan, Overwrite | Merge):
        return before
    if full_seconds is not None and is_dearer_than_full(seconds, full_seconds, status):
        return _once_more(before, status, seconds - full_seconds, "written")
    return None if before is not None and before.attempt == "written" else before


def _once_more(
    before: VainAttempts | None, status: MaterializedViewStatus, seconds: float, attempt: Attempt
) -> VainAttempts:
    return VainAttempts(_rows(status), seconds, 1 if before is None else before.times + 1, attempt=attempt)


def _rows(status: MaterializedViewStatus) -> int:
    return sum(map(rows_to_ask, status.stale))
