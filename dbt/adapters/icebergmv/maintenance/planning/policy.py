"""`refresh_policy: incremental_strict`: an error in place of a full refresh that nobody asked for."""

from __future__ import annotations

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.errors import RefreshRefused
from dbt.adapters.icebergmv.maintenance.planning.answers.reached_rows import definition_below
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, RefreshPlan
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection


def enforce(inspection: Inspection, plan: RefreshPlan) -> None:
    """Raise RefreshRefused if the policy forbids the plan.

    A run that was asked to rebuild (`--full-refresh`, `--empty`) may always do so. A first build, or a changed SELECT,
    may too, unless every later refresh of the SELECT would be a full one: then the error comes now.
    """
    request = inspection.request
    if request.config.refresh_policy != "incremental_strict" or not isinstance(plan, Full):
        return
    if request.rebuild is not None or request.partial is not None:
        return
    reason = never_incremental(inspection)
    if reason is None and inspection.rebuild is None:
        reason = plan.reason
    if reason is not None:
        raise RefreshRefused(
            f"refresh_policy is incremental_strict and only a full refresh is right: {reason}. "
            "Set refresh_policy to auto, or run with --full-refresh."
        )


def never_incremental(inspection: Inspection) -> str | None:
    """Return why a change of any base table refreshes the view in full; None where some change does not."""
    definition = inspection.definition
    untrackable = (b.base.untrackable for b in inspection.status.base_tables if b.base.source is None)
    reason = definition.always_full or definition.full_when_changed or next(untrackable, None)
    live = [r.index for r in definition.live]
    if reason is not None or not live:
        return reason
    below = definition_below(definition)
    added = definition.additive.keys() | (set() if definition.merging is None else definition.merging.additive.keys())
    for index in live:
        if index in added or _is_followed(definition, index) or (below is not None and _is_followed(below, index)):
            return None
    uses = definition.uses_of_all(live)
    through = next((f" through {definition.obstacles[use]}" for use in uses if use in definition.obstacles), "")
    return f"no output column follows a column of any base table{through}"


def _is_followed(definition: ViewDefinition, index: int) -> bool:
    """Return whether some column says which output rows the changes of a reference reach."""
    uses = definition.uses_of(index)
    return all(definition.tracks_of(use) for use in uses) or definition.asked.may_answer(index)
