"""A view is put back to the rows of an earlier version.

Iceberg keeps the earlier SQL of a view, but not its properties. So the state of that time comes from the summary of the
snapshot that the version reads. Where it is not there, or would not describe the storage table as it is now, the view
gets a state that the next refresh cannot build on, and that refresh is full.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Literal

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, MaintenanceError, naming
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.versions import (
    Version,
    VersionedView,
    versions_of,
)
from dbt.adapters.icebergmv.maintenance.planning.foreseen import foresee
from dbt.adapters.icebergmv.maintenance.planning.settle import PlanOptions
from dbt.adapters.icebergmv.maintenance.refresh.publish import ViewText, publish_as_found
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import (
    load_storage,
    protect,
    take_main_back,
)
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect_recorded
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import (
    config_of_rows,
    state_of_snapshot,
    writer_of,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows

NextRefresh = Literal["from there", "full"]


@dataclass(frozen=True)
class RolledBack:
    """What was done: the version whose rows the view has now, and how the next refresh can go on.

    A `refresh_policy`, or a flag, of the model may make it full all the same: neither is recorded. `partial` names the
    dbt flag under which these rows were built, if they are only some of those of the SELECT.
    """

    name: str
    version_id: int
    storage_snapshot_id: int
    rows: int | None
    next_refresh: NextRefresh
    partial: str | None = None


def rollback(lake: Lake, view: TableName, to: int) -> RolledBack:
    """Put a view back to the rows of a version, given by its id or by the id of the snapshot that it reads.

    Readers get these rows whatever `stale_read_behavior` asks for, until the next refresh. Raises InvalidConfig for
    what is no such version, RefreshConflict when a refresh published meanwhile; nothing was changed for readers then.
    """
    with naming("roll back", show(view)):
        known = versions_of(lake.catalog, view)
        version, snapshot_id = _wanted(known, to)
        stored = StoredRows(known.state.storage_table, known.storage, snapshot_id)
        state = _state_then(known, version, stored)
        protect(lake, stored.name, stored.table, [snapshot_id])
        take_main_back(lake, stored)
        text = ViewText(stored.query, stored.columns, "use_data_table")
        now = replace(stored, table=load_storage(lake, stored.name))
        publish_as_found(lake, known.found, state, text, now)
        goes_on = state.settings == known.state.settings and state.config == known.state.config
        next_refresh: NextRefresh = "from there" if goes_on and _can_go_on(lake, view) else "full"
        return RolledBack(show(view), version.version_id, snapshot_id, version.rows, next_refresh, state.partial)


def _wanted(known: VersionedView, to: int) -> tuple[Version, int]:
    found = next((v for v in known.versions if to in (v.version_id, v.storage_snapshot_id)), None)
    if found is None:
        raise InvalidConfig(f"`to` is {to}, which is no version that it keeps. Leave `to` out to see them.")
    if found.obstacle is not None or found.storage_snapshot_id is None:
        raise InvalidConfig(f"`to` is {to}, and {found.obstacle}. Leave `to` out to see the others.")
    return found, found.storage_snapshot_id


def _can_go_on(lake: Lake, view: TableName) -> bool:
    """Return whether a refresh with the recorded SELECT and settings is no full one, as far as metadata say it."""
    try:
        forecast = foresee(inspect_recorded(lake.catalog, view), PlanOptions(merges=True)).forecast
    except MaintenanceError:
        # The view is published by now. Whatever cannot be found out of its base tables is nothing to build on.
        return False
    return forecast.kinds != ("full",)


def _state_then(known: VersionedView, version: Version, stored: StoredRows) -> ViewState:
    """Return the state to publish; one without base tables is a state that no refresh can build on.

    It is never younger than the rows are, as runs leave young rows alone (`target_lag`).
    """
    now, kept = known.state, state_of_snapshot(stored.name, known.storage, stored.snapshot_id)
    # A compaction published the rows anew, perhaps: that is no refresh.
    made_at = _committed_at(stored)
    started_at, refreshed_at = (made_at, made_at) if kept is None else (kept.state.started_at, kept.state.refreshed_at)
    state = replace(
        now,
        storage_snapshot_id=stored.snapshot_id,
        started_at=started_at,
        refreshed_at=refreshed_at,
        refresh_kind=version.refresh_kind or "full",
        refresh_reason=f"rolled back to version {version.version_id}",
        base_tables=(),
        partial=None if kept is None else kept.state.partial,
    )
    if kept is None or kept.state.definition_hash != now.definition_hash or not now.definition:
        # The SELECT of that time is not known, or is another one than now, or none (`--empty`): no model has it.
        return replace(state, definition="", definition_hash="", views=(), clock={})
    then = kept.state
    state = replace(
        state,
        views=then.views,
        read_hash=then.read_hash,
        clock=then.clock,
        tie_breakers=then.tie_breakers,
        default_namespace=then.default_namespace,
        settings=then.settings,
    )
    if not kept.table_is_same:
        return state
    others = {key: value for key, value in now.config.items() if key not in config_of_rows(now)}
    return replace(state, base_tables=then.base_tables, config={**others, **config_of_rows(then)})


def _committed_at(stored: StoredRows) -> str:
    """Return when the rows were written, as states have their times; a compaction wrote them again, perhaps."""
    writer = writer_of(stored.table, stored.snapshot_id)
    made = [*ancestry(stored.table.metadata, stored.snapshot_id)][-1] if writer is None else writer
    return datetime.fromtimestamp(made.timestamp_ms / 1000, timezone.utc).isoformat(timespec="milliseconds")
