"""Which plans are right for what changed, which of them is chosen, and what is against the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.choice.deltas import signed_deltas, without_what_cancels
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest, costs_too_much, is_untracked
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh, without_regions
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import changes, untracked
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import merges_reached_rows
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import NEARLY_EVERYWHERE, merge_pays
from dbt.adapters.icebergmv.maintenance.planning.forecast import Forecast, Kind
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, NoOp
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus

Made: TypeAlias = tuple[PlanRequest, Forecast]
"""What a forecast was made from, and the forecast."""

_KINDS: tuple[Kind, ...] = ("none", "append", "overwrite", "merge", "full")


@dataclass(frozen=True)
class Considered:
    """A kind of refresh: is it chosen, may it be after Spark was asked, or is it out of the question, and why."""

    kind: Kind
    verdict: str
    why: str


def considered(
    written: ViewDefinition, definition: ViewDefinition, status: MaterializedViewStatus, made: Made
) -> tuple[Considered, ...]:
    """Return what is to be said of each kind of refresh, the chosen one first, then the likelier ones.

    `definition` is as its storage table keeps it, `written` as the SELECT alone says.
    """
    request, forecast = made
    against = _against(definition, status, request)
    if written.merging is not None and definition.merging is None and "merge" not in forecast.kinds:
        against["merge"] = "its storage table does not keep what groups are merged by"
    found = []
    for kind in _KINDS:
        if kind not in forecast.kinds:
            found.append(Considered(kind, "no", against[kind]))
        elif forecast.questions:
            found.append(Considered(kind, "perhaps", _depends(kind, forecast)))
        else:
            found.append(Considered(kind, "chosen", forecast.plan.reason))
    place = {kind: n for n, kind in enumerate(forecast.kinds)}
    return tuple(sorted(found, key=lambda one: place.get(one.kind, len(_KINDS))))


def _depends(kind: Kind, forecast: Forecast) -> str:
    """Return on which answers a kind of refresh depends; the likeliest one names them for all."""
    if kind != forecast.kinds[0]:
        return "depends on the same"
    return f"the likeliest; asked when it runs: {'; '.join(forecast.questions)}"


def _against(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> dict[Kind, str]:
    """Return what is against each kind of refresh, if it is not chosen."""
    decided = without_regions(definition, status, request)
    if isinstance(decided, NoOp):
        return dict.fromkeys(_KINDS, "nothing changed")
    if isinstance(decided, Full):
        why = f"no stored row can be kept, or no change be followed: {decided.reason}"
        return {**dict.fromkeys(_KINDS, why), "none": changes(status) or decided.reason}
    plan = plan_refresh(definition, status, replace(request, merges=False))
    instead = "what is chosen" if decided is None else "an append"
    return {
        "none": changes(status),
        "append": "; ".join(_against_append(definition, status)) or "more than new rows may come of it",
        "overwrite": "; ".join(_against_overwrite(definition, status, request)) or f"{instead} is cheaper",
        "merge": _against_merge(definition, status, request, plan.kind == "none"),
        "full": f"{instead} reads less",
    }


def _against_append(definition: ViewDefinition, status: MaterializedViewStatus) -> Iterator[str]:
    if status.clock is not None:
        yield str(status.clock)
    for base in status.stale:
        name = base.base.name[2]
        if base.change.appended_since is None:
            yield f"rows of {name} changed or went"
        if not definition.additive.keys() >= {*base.references}:
            yield f"new rows of {name} are not simply new rows of the view"


def _against_overwrite(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest
) -> Iterator[str]:
    for base in status.stale:
        for use in definition.uses_of_all(base.references):
            if is_untracked(definition, base, use, request):
                yield untracked(definition, base, use, None)
    if request.policy != "auto":
        return
    if any(base.base.name in request.changed_nearly_everywhere for base in status.stale):
        yield "nearly everything changed, which is cheaper to compute anew"
    if any(share >= NEARLY_EVERYWHERE for share in request.within_bounds.values()):
        yield "nearly all stored rows are between the column bounds of what changed, unless its keys are few"


def _against_merge(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest, is_nothing: bool
) -> str:
    """Return the first thing that is against merging groups, as the planner looks at them."""
    if definition.merging is None:
        return "the SELECT does not output groups of sums, counts, averages or extremes alone"
    if not request.merges:
        return "its types are not merged exactly, or the storage table does not keep what that needs"
    if is_nothing or status.clock is not None:
        return str(status.clock) if status.clock is not None else "nothing is to be merged"
    stale = status.stale
    if costs_too_much(request, stale, status):
        return "so much changed that reading it is nearly reading everything"
    deltas = signed_deltas(definition, stale)
    if deltas is None:
        reached = merges_reached_rows(definition, status, request)
        return "" if reached else f"changes of {_names(stale)} do not add up"
    found = without_what_cancels(definition, deltas, status)
    if request.policy == "auto" and not merge_pays(found, status, request.full_seconds):
        return "to read the changes, each with the other tables, costs more than everything"
    return "partitions say which rows are affected"


def _names(bases: list[BaseTableStatus]) -> str:
    return " and ".join(base.base.name[2] for base in bases)
