"""The status of materialized views: fresh or stale, since when, what changed, what the next run does.

Only the catalog is read. Every view is shown, also one that a run could not refresh.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError, TableNotUnderstood
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import counts_partitions, unknown, what_changed
from dbt.adapters.icebergmv.maintenance.reports.next_refresh import (
    NextRefresh,
    failing,
    if_contract_is_kept,
    if_select_is_the_same,
    is_fresh,
    outlook,
    rest_of,
)
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.configuration_change import OnChange
from dbt.adapters.icebergmv.maintenance.status.configured.declared_columns import Declared, are_declared
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import LIVE, StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import count
from dbt.adapters.icebergmv.maintenance.status.inspection import (
    Inspection,
    LostView,
    NewView,
    RefreshedView,
    inspect,
    inspect_recorded,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState, is_materialized_view
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import recorded_view
from dbt.adapters.icebergmv.maintenance.status.resting import RestingView, resting_view
from dbt.adapters.icebergmv.maintenance.status.session.clock import utc_now
from dbt.adapters.icebergmv.maintenance.status.stale_since import stale_since
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import over_columns, read_plan

State: TypeAlias = Literal["fresh", "stale", "new", "lost", "error"]


@dataclass(frozen=True)
class Configured:
    """A view to look at, as a run would refresh it.

    `on_change`: what the run does about changed configuration. `built_first` are the tables, and other materialized
    views, that the same run builds before it, and that it reads. `is_asked`: the request has the SELECT of the last
    run, because the model asks Spark while it is compiled. `declared` are the columns of its contract, if it has one.
    `needs` are all materialized views below it, near or far: if one fails, dbt skips this one.
    """

    request: RefreshRequest
    on_change: OnChange = "apply"
    built_first: tuple[TableName, ...] = ()
    is_asked: bool = False
    declared: Declared | None = None
    needs: frozenset[TableName] = frozenset()

    @property
    def name(self) -> TableName:
        """Return the name of the view."""
        return self.request.view


@dataclass(frozen=True)
class Recorded:
    """A view of which only what is recorded is looked at; its next refresh would be one of the recorded SELECT.

    `note` says why no run refreshes it, `problem` why the next run fails.
    """

    name: TableName
    note: str | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Unread:
    """A view that no run has built whole, and whose SELECT nobody knows before a run; `why` says so.

    `needs` are all materialized views below it, near or far.
    """

    name: TableName
    why: str
    needs: frozenset[TableName] = frozenset()


Subject: TypeAlias = Configured | Recorded | Unread


@dataclass(frozen=True)
class BaseTableReport:
    """A base table against what the last refresh read; `change` says in words what changed since, None: nothing."""

    name: str
    status: Literal["fresh", "stale", "unknown"]
    change: str | None = None
    from_snapshot_id: int | None = None
    to_snapshot_id: int | None = None


@dataclass(frozen=True)
class ViewStatus:
    """The status of one materialized view.

    fresh: its stored rows are those of its SELECT; stale: they may not be; new: it was never built; lost: its stored
    rows are gone; error: the next run fails, and `error` says why. `refreshed_at` (ISO 8601) and `refresh_kind` are of
    the last refresh, `age_seconds` is the time since. `clock` says how the date moved that its SELECT reads.
    `stale_since` (ISO 8601) is since when rows that are there may not be those of the SELECT; `lag_seconds` is the time
    since then, 0 of a fresh view; both are None of a stale view whose last refresh had a wrong clock. `target_lag` is
    what the model allows, in seconds; `within_target_lag`: no more.
    `within_window`: readers are still spared from looking for changes (None: there is no `staleness_window`).
    `stale_read_behavior` is what readers get now, `reads_reason` why they do not get what is configured. `limits` says
    why refreshes are full whatever changed. `altered` is what changed in the configuration that needs no other rows.
    `next` is None where no run refreshes it; `note` then says why.
    """

    name: str
    state: State
    refreshed_at: str | None = None
    age_seconds: int | None = None
    refresh_kind: str | None = None
    stale_since: str | None = None
    lag_seconds: int | None = None
    target_lag: int | None = None
    within_target_lag: bool | None = None
    staleness_window: int | None = None
    within_window: bool | None = None
    stale_read_behavior: str | None = None
    reads_reason: str | None = None
    storage_table: str | None = None
    base_tables: tuple[BaseTableReport, ...] = ()
    clock: str | None = None
    limits: str | None = None
    altered: tuple[str, ...] = ()
    next: NextRefresh | None = None
    note: str | None = None
    error: str | None = None


def status_of(catalog: CatalogReader, subject: Subject, now: datetime) -> ViewStatus:
    """Return the status of one view; what is wrong with it is in there."""
    resting = None
    if isinstance(subject, Unread):
        return _unread_status(catalog, subject, now)
    try:
        if isinstance(subject, Configured):
            resting = left_alone(catalog, subject, now)
            return configured_status(catalog, inspect(catalog, subject.request), subject, now, resting)
        return _recorded_status(catalog, subject, now)
    except MaintenanceError as error:
        problem = subject.problem if isinstance(subject, Recorded) else None
        found = _failing(ViewStatus(show(subject.name), "stale"), subject, problem or _said(error), resting)
        return _since(found, _state(catalog, subject.name), now)


def absent_tables(catalog: CatalogReader, view: Inspection) -> tuple[BaseTable, ...]:
    """Return the base tables of a view that are names which the catalog does not know."""
    lost = [base.base for base in view.status.base_tables if base.base.source is None]
    return tuple(base for base in lost if base.name[0] == catalog.name and not _is_there(catalog, base.name))


def _is_there(catalog: CatalogReader, name: TableName) -> bool:
    try:
        return catalog.view(*name[1:]) is not None or catalog.table(*name[1:]) is not None
    except TableNotUnderstood:
        return True


def left_alone(catalog: CatalogReader, subject: Configured, now: datetime) -> RestingView | None:
    """Return the view if the next run leaves it alone for its `target_lag`, else None.

    A plain view among those that the run builds first gets another SELECT then, and the view does not wait.
    """
    built = subject.built_first if catalog.has_views else ()
    found = (catalog.view(*name[1:]) for name in built if name[0] == catalog.name)
    if any(view is not None and not is_materialized_view(view.properties) for view in found):
        return None
    return resting_view(catalog, subject.request, now)


def _unread_status(catalog: CatalogReader, subject: Unread, now: datetime) -> ViewStatus:
    state = _state(catalog, subject.name)
    reason = "first build" if state is None else f"the last run was built with {state.partial}"
    following = NextRefresh(("full",), reason)
    found = ViewStatus(show(subject.name), "new" if state is None else "stale", next=following, note=subject.why)
    return _since(found, state, now)


def configured_status(
    catalog: CatalogReader, view: Inspection, subject: Configured, now: datetime, resting: RestingView | None = None
) -> ViewStatus:
    """Return the status of an inspected view as a run would refresh it; what the next run fails of is in it.

    `resting` is the view, if the next run leaves it alone.
    """
    found = stored_status(view, now)
    try:
        reads = read_plan(view)
        following = outlook(view, subject.on_change).next if resting is None else rest_of(resting)
    except MaintenanceError as error:
        return _failing(found, subject, _said(error), resting)
    following, altered = _with_any_select(following, subject), view.changes.alter
    if isinstance(view, RefreshedView) and following.held_by is None:
        was = view.state.stale_read_behavior
        becomes = over_columns(reads, view.definition, view.stored.columns_and_keys).behavior
        following = replace(following, is_read_otherwise=_is_read_otherwise(view, becomes))
        altered += (f"readers get {becomes}, and got {was}",) if was != becomes and not altered else ()
    if isinstance(view, RefreshedView) and view.rebuild is None and not _keeps_contract(view, subject.declared):
        following = if_contract_is_kept(following)
    if absent_tables(catalog, view):
        # Neither their columns nor their partitions are known yet.
        return replace(found, limits=None, altered=altered, next=following)
    return replace(found, reads_reason=reads.reason, altered=altered, next=following)


def _is_read_otherwise(view: RefreshedView, becomes: StaleReadBehavior) -> bool:
    """Return whether views above read another SELECT then, or stored rows in place of one, or one in place of these."""
    if (view.state.stale_read_behavior in LIVE) != (becomes in LIVE):
        return True
    return becomes in LIVE and view.state.definition_hash != view.request.config.definition_hash


def _keeps_contract(view: RefreshedView, declared: Declared | None) -> bool:
    """Return whether a view surely has the columns that its contract declares, if it has one."""
    return declared is None or are_declared(declared, view.found.columns)


def _failing(found: ViewStatus, subject: Subject, error: str, resting: RestingView | None) -> ViewStatus:
    """Return the status of a view whose refresh fails: in the next run, or the first that does not leave it alone."""
    following = _with_any_select(failing(error) if resting is None else rest_of(resting), subject)
    if following.kinds == ("error",):
        return replace(found, state="error", error=error)
    note = None if resting is None else f"the first run after its target_lag fails: {error}"
    return replace(found, next=following, note=note)


def _with_any_select(following: NextRefresh, subject: Subject) -> NextRefresh:
    """Return what a run does with the SELECT that the model has then; `following`: with the one that is judged."""
    if not isinstance(subject, Configured) or not subject.is_asked or subject.request.rebuild_reason is not None:
        return following
    return if_select_is_the_same(following, subject.on_change, subject.request.config.refresh_policy)


def _recorded_status(catalog: CatalogReader, subject: Recorded, now: datetime) -> ViewStatus:
    view = inspect_recorded(catalog, subject.name)
    found = stored_status(view, now)
    if subject.problem is not None:
        return replace(found, state="error", error=subject.problem)
    return replace(found, note=subject.note, next=outlook(view).next if subject.note is None else None)


def stored_status(view: Inspection, now: datetime) -> ViewStatus:
    """Return what is known of an inspected view, but for its next refresh."""
    found = ViewStatus(
        view.request.name,
        "fresh" if is_fresh(view) else "stale",
        base_tables=tuple(map(_base_table, view.status.base_tables)),
        clock=None if view.status.clock is None else str(view.status.clock),
        limits=limits_of(view.definition),
    )
    if isinstance(view, NewView):
        return replace(found, state="new")
    found = replace(found, state="lost") if isinstance(view, LostView) else _lagging(found, view, now)
    return _since(found, view.state, now)


def _lagging(found: ViewStatus, view: RefreshedView, now: datetime) -> ViewStatus:
    """Return the status with how far the rows are behind: the rows of a fresh view are not, however old they are."""
    target = view.request.config.target_lag
    if found.state == "fresh":
        return replace(found, lag_seconds=0, target_lag=target, within_target_lag=None if target is None else True)
    # A refresh since `now`, which may be the start of dbt, is not one of a time to come.
    since = stale_since(view, max(now, utc_now()))
    if since is None:
        return replace(found, target_lag=target, within_target_lag=None if target is None else False)
    seconds = _seconds_between(since.isoformat(), now)
    return replace(
        found,
        stale_since=since.isoformat(timespec="milliseconds"),
        lag_seconds=seconds,
        target_lag=target,
        within_target_lag=None if target is None else seconds <= target,
    )


def limits_of(definition: ViewDefinition) -> str | None:
    """Return why refreshes of a definition are full whatever changed, or None."""
    if definition.always_full is not None:
        return f"full at every run: {definition.always_full}"
    if definition.full_when_changed is not None:
        return f"full when a base table changed: {definition.full_when_changed}"
    return (
        "full when the clock moves: not only conditions on rows read it" if definition.full_when_clock_moves else None
    )


def _since(found: ViewStatus, state: ViewState | None, now: datetime) -> ViewStatus:
    """Return the status with what is recorded of the last refresh, if any is."""
    if state is None:
        return found
    window = state.config.get("staleness-window")
    seconds = window if isinstance(window, int) else None
    return replace(
        found,
        refreshed_at=state.refreshed_at,
        age_seconds=_seconds_between(state.refreshed_at, now),
        refresh_kind=state.refresh_kind,
        staleness_window=seconds,
        within_window=None if seconds is None else _seconds_between(state.started_at, now) <= seconds,
        stale_read_behavior=state.stale_read_behavior,
        storage_table=show(state.storage_table),
    )


def _seconds_between(then: str, now: datetime) -> int:
    return max(0, int((now - datetime.fromisoformat(then)).total_seconds()))


def _base_table(base: BaseTableStatus) -> BaseTableReport:
    change, source = base.change, base.base.source
    words = None
    if change.status == "unknown" and base.recorded is not None:
        words = unknown(base)
    elif change.status == "stale":
        appends_to_partitions = change.appended_since is not None and counts_partitions(change)
        appended = f" ({count(change.appended_rows, 'row')} appended)" if appends_to_partitions else ""
        words = f"{what_changed(change)}{appended}"
    return BaseTableReport(
        show(base.base.name),
        change.status,
        words,
        None if base.recorded is None else base.recorded.version.snapshot_id,
        None if source is None else source.version.snapshot_id,
    )


def _state(catalog: CatalogReader, name: TableName) -> ViewState | None:
    """Return what is recorded of a view, None where that cannot be read."""
    try:
        found = recorded_view(catalog, name)
    except MaintenanceError:
        return None
    return None if found is None else found[1]


def _said(error: MaintenanceError) -> str:
    """Return what is wrong and how to mend it; the view is named beside it."""
    return error.cause if error.subject is None or error.subject.startswith("Cannot refresh") else str(error)
