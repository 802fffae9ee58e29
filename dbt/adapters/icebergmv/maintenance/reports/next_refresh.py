"""What the next run does with a view, in words for people: the kind, the reason, what it reads, what it asks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.determinism.determinism import NO_COLUMN
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, RefreshRefused
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import changes
from dbt.adapters.icebergmv.maintenance.planning.cost.read_estimate import bytes_of
from dbt.adapters.icebergmv.maintenance.planning.forecast import Forecast, kinds_of
from dbt.adapters.icebergmv.maintenance.planning.foreseen import foresee
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, NoOp
from dbt.adapters.icebergmv.maintenance.planning.policy import enforce
from dbt.adapters.icebergmv.maintenance.planning.settle import PlanOptions, Settled, first_plan
from dbt.adapters.icebergmv.maintenance.status.configuration_change import OnChange, decided, why_left, why_refused
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import RefreshPolicy
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, LostView, RefreshedView
from dbt.adapters.icebergmv.maintenance.status.resting import RestingView

RefreshKind: TypeAlias = Literal["none", "append", "overwrite", "merge", "full", "restitch", "error"]

MAY_BE_REFUSED = "refresh_policy is incremental_strict, and a full refresh may be the only right one"
_NOT_ON_RUN = "refresh_on_run is false"
_SPARK_READS_IT = "whether Spark accepts its SQL, which cannot be analysed here"
_CONTRACT = "whether its SELECT has the columns that its contract declares, as the view has others"
_CONTRACT_IS_BROKEN = "its contract declares other columns than the view has"
_SAME_SELECT = "whether its SELECT is that of its last run, because it asks Spark while it is compiled"


@dataclass(frozen=True)
class NextRefresh:
    """What the next run does.

    `kinds` are all kinds of refresh that it may come to, the likeliest first; it is one unless `questions`, which Spark
    is asked when it runs, decide. error: it fails where only a full refresh would be right, and `refusal` says so.
    `estimated_bytes` is what it reads of the base tables, at the most if questions are open; None where that is not
    cheap to know. `held_by` is what makes the run leave the view as it is whatever changed below it: a setting, or
    upstream_error, as dbt skips what is above a model that fails. `if_more_changes` is what it may come to if rows of
    its base tables change besides; empty where that alters nothing. `keeps_columns`: the view has the columns then that
    it has now. `is_read_otherwise`: views above it get its SELECT then in place of its stored rows, or these again.
    """

    kinds: tuple[RefreshKind, ...]
    reason: str
    questions: tuple[str, ...] = ()
    estimated_bytes: int | None = None
    refusal: str | None = None
    held_by: Literal["target_lag", "on_configuration_change", "upstream_error"] | None = None
    if_more_changes: tuple[RefreshKind, ...] = ()
    keeps_columns: bool = False
    is_read_otherwise: bool = False

    @property
    def is_felt_above(self) -> bool:
        """Return whether what reads the view may be refreshed because of it."""
        return self.kinds != ("none",) or self.is_read_otherwise


@dataclass(frozen=True)
class Outlook:
    """The next refresh, and what its plan would carry out, as far as it is known without Spark."""

    next: NextRefresh
    settled: Settled | None = None


def outlook(view: Inspection, on_change: OnChange = "apply") -> Outlook:
    """Return what the next run does with an inspected view. `on_change` is what it does about changed configuration.

    Raises InvalidConfig and RefreshRefused where the run would fail so.
    """
    match decided(view, on_change):
        case "refuse":
            raise InvalidConfig(why_refused(view.changes))
        case "leave":
            reason = why_left(view.changes)
            return Outlook(NextRefresh(("none",), reason, estimated_bytes=0, held_by="on_configuration_change"))
    if isinstance(view, RefreshedView) and view.request.is_left_alone and view.rebuild is None:
        return Outlook(_left(view))
    foreseen = foresee(view, PlanOptions.of_run(view.request.config))
    forecast = foreseen.forecast
    if not forecast.questions:
        enforce(view, forecast.plan)
    return Outlook(_next(view, forecast), foreseen.settled)


def rest_of(view: RestingView) -> NextRefresh:
    """Return what the next run does with a view that it leaves alone: nothing, whatever changed."""
    return NextRefresh(("none",), view.reason, estimated_bytes=0, held_by="target_lag")


def failing(error: str) -> NextRefresh:
    """Return what a run does that fails."""
    return NextRefresh(("error",), error, refusal=error, if_more_changes=("full", "none"))


def is_fresh(view: Inspection) -> bool:
    """Return whether the stored rows are those of the SELECT at this moment, as far as metadata say it."""
    if not isinstance(view, RefreshedView) or view.rebuild is not None or view.redefined is not None:
        return False
    return isinstance(first_plan(view, PlanOptions()), NoOp)


def _next(view: Inspection, forecast: Forecast) -> NextRefresh:
    plan, more, keeps_columns = forecast.plan, _if_more_changes(view), _keeps_columns(view)
    if not forecast.questions:
        size = 0 if isinstance(plan, NoOp) else bytes_of(view, plan)
        unread = (_SPARK_READS_IT,) if view.definition.columns is None and not view.definition.references else ()
        kinds: tuple[RefreshKind, ...] = forecast.kinds
        name, no_column, _ = (view.definition.always_full or "").partition(NO_COLUMN)
        if no_column and isinstance(plan, Full):
            unread, kinds = (f"whether Spark accepts {name.rstrip()}",), ("error", *kinds)
        altered = view.changes.alter if isinstance(plan, NoOp) else ()
        reason = "; ".join((plan.reason, *_in_one(altered)))
        return NextRefresh(kinds, reason, unread, size, if_more_changes=more, keeps_columns=keeps_columns)
    sizes = [bytes_of(view, some) for some in (plan, Full("")) if not isinstance(some, NoOp)]
    known = [size for size in sizes if size is not None]
    most = max(known) if len(known) == len(sizes) else None
    refusal = _refusal(view) if "full" in forecast.kinds else None
    kinds = forecast.kinds
    if refusal is not None:
        kinds = (*(kind for kind in kinds if kind != "full"), "error")
    return NextRefresh(
        kinds,
        changes(view.status),
        forecast.questions,
        most,
        refusal,
        if_more_changes=more,
        keeps_columns=keeps_columns,
    )


def _refusal(view: Inspection) -> str | None:
    """Return what to say of a full refresh that the policy forbids, None if it does not; whether it comes is open."""
    try:
        enforce(view, Full(changes(view.status)))
    except RefreshRefused:
        return MAY_BE_REFUSED
    return None


def if_select_is_the_same(found: NextRefresh, on_change: OnChange, policy: RefreshPolicy) -> NextRefresh:
    """Return what a run does with a view whose SELECT it alone knows; `found`: what it does with the last one."""
    changed: dict[OnChange, tuple[RefreshKind, ...]] = {"apply": ("full",), "continue": ("none",), "fail": ("error",)}
    others = changed[on_change]
    if on_change == "apply" and policy == "incremental_strict":
        others = ("full", "error")
    if {*found.kinds} == {*others}:
        return found
    return replace(
        found,
        kinds=tuple(dict.fromkeys((*found.kinds, *others))),
        questions=(*found.questions, _SAME_SELECT),
        estimated_bytes=None,
        held_by=None,
        keeps_columns=False,
    )


def if_contract_is_kept(found: NextRefresh) -> NextRefresh:
    """Return what a run does with a view whose contract declares other columns, perhaps, than the view has.

    Spark is asked for those of the SELECT first, whatever changed.
    """
    if "error" in found.kinds:
        return found
    questions = (*found.questions, _CONTRACT)
    return replace(found, kinds=(*found.kinds, "error"), questions=questions, refusal=_CONTRACT_IS_BROKEN)


def _if_more_changes(view: Inspection) -> tuple[RefreshKind, ...]:
    """Return what a refresh may come to if rows change besides; nothing else where every row is computed anyway."""
    if view.rebuild is not None or isinstance(view, LostView) or view.definition.always_full is not None:
        return ()
    config = view.request.config
    kinds = kinds_of(view.definition, config.refresh_policy, config.incremental)
    if config.refresh_policy != "incremental_strict":
        return kinds
    return tuple("error" if kind == "full" else kind for kind in kinds)


def _keeps_columns(view: Inspection) -> bool:
    is_the_same = isinstance(view, RefreshedView) and view.rebuild is None and view.redefined is None
    return is_the_same and not view.status.schema_moved


def _in_one(words: tuple[str, ...]) -> tuple[str, ...]:
    return (", ".join(words),) if words else ()


def _left(view: RefreshedView) -> NextRefresh:
    """Return what a run does with a view that runs do not refresh: it applies configuration, and stitches."""
    if view.request.config.stale_read_behavior == "use_stitching":
        question = "which rows are to be stitched"
        return NextRefresh(("restitch", "none"), _NOT_ON_RUN, (question,), 0)
    more = view.redefined or ", ".join(view.changes.alter)
    reason = f"{_NOT_ON_RUN}; {more}" if more else _NOT_ON_RUN
    return NextRefresh(("none",), reason, estimated_bytes=0)
