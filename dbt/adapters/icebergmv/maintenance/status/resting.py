"""A view that a run leaves alone, because its rows are younger than its `target_lag`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo
from dbt.adapters.icebergmv.maintenance.errors import naming
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import ago, span
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import (
    SAID,
    ConfigurationChanges,
    ViewConfig,
    configuration_changes,
)
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, inspect, state_of, stored_of
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import SPARK_KEY
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import found_view, storage_found
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import is_utc
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.tables.view_expansion import expand, redefined


@dataclass(frozen=True)
class RestingView:
    """A view that is left as it is. `reason` says why; whether its base tables changed was not asked."""

    request: RefreshRequest
    found: ViewInfo
    state: ViewState
    reason: str

    @property
    def changes(self) -> ConfigurationChanges:
        """Return no changes: with any the view would not be left alone."""
        return ConfigurationChanges()


def inspect_for_run(catalog: CatalogReader, request: RefreshRequest) -> Inspection | RestingView:
    """Return what a run finds of a view; its base tables are looked at unless it is to be left alone.

    Raises what `inspect` does.
    """
    return resting_view(catalog, request, request.now()) or inspect(catalog, request)


def resting_view(catalog: CatalogReader, request: RefreshRequest, now: datetime) -> RestingView | None:
    """Return the view if a run at some time leaves it alone, else None.

    Nothing but new rows may wait: not a changed SELECT, configuration or plain view below it, no lost storage, and no
    storage table that a refresh left unfinished. Without `refresh_on_run` there is no refresh that could wait.
    """
    config = request.config
    if config.target_lag is None or not config.refresh_on_run or request.rebuild_reason:
        return None
    with naming("refresh", request.name):
        found = found_view(catalog, request.view)
        state = state_of(found, request)
        if found is None or state is None or not _is_young(state, config.target_lag, now):
            return None
        if (
            not _is_as_asked(config, state)
            or state.default_namespace not in ("", request.default_namespace)
            or not _is_whole(catalog, found, state)
            or _is_redefined(catalog, request, state)
        ):
            return None
    return RestingView(request, found, state, _reason(state, config.target_lag, now))


def _age(state: ViewState, now: datetime) -> float:
    """Return how many seconds ago the last refresh looked at its base tables: how old its rows may be."""
    return (now - datetime.fromisoformat(state.started_at)).total_seconds()


def _is_young(state: ViewState, lag: int, now: datetime) -> bool:
    """Return whether the rows are younger than the lag; a time to come is that of a wrong clock, and says nothing."""
    return 0 <= _age(state, now) < lag


def _is_as_asked(config: ViewConfig, state: ViewState) -> bool:
    """Return whether the view was built as the model says now, in all that is recorded of it."""
    wanted, had = config.recorded(), state.config
    # A release of Spark that is not known on one side is no change; another one is.
    is_same = all(wanted.get(key) == had.get(key) for key in (wanted.keys() | had.keys()) - {SAID, SPARK_KEY})
    return state.partial is None and is_same and not configuration_changes(config, state)


def _is_whole(catalog: CatalogReader, found: ViewInfo, state: ViewState) -> bool:
    """Return whether the stored rows are there, and no refresh died over them."""
    storage = storage_found(catalog, found, state.storage_table)
    is_there = not isinstance(stored_of(found, state, storage), str)
    return is_there and storage is not None and storage.metadata.current_snapshot_id == state.storage_snapshot_id


def _is_redefined(catalog: CatalogReader, request: RefreshRequest, state: ViewState) -> bool:
    """Return whether a plain view that the SELECT reads is another one than at the last refresh."""
    if not state.views:
        return False
    views = expand(request.sql, request.default_namespace, BaseTables(catalog), is_utc(request.config.settings)).views
    return redefined(views, state) is not None


def _reason(state: ViewState, lag: int, now: datetime) -> str:
    return f"refreshed {ago(int(_age(state, now)))}, target_lag is {span(lag)}"
