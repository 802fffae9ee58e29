"""What is recorded with a refresh: the state of the view, and the `refresh-state` of the storage snapshot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock
from dbt.adapters.icebergmv.maintenance.planning.choice.last_refreshes import streaks_after
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import rows_in_all
from dbt.adapters.icebergmv.maintenance.planning.plan import Full
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, RefreshedView
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState, ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import STATE_KEY
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows


@dataclass(frozen=True)
class Recording:
    """What is recorded of a refresh besides its plan: when it began and ended (ISO 8601), and the configuration."""

    started_at: str
    refreshed_at: str
    config: Mapping[str, object]


def state_after(settled: Settled, stored: StoredRows, recording: Recording, seconds: float) -> ViewState:
    """Return the state of a view whose plan was carried out in some seconds, leaving the stored rows."""
    view = settled.view
    last = (view.state.full_seconds, view.state.full_rows) if isinstance(view, RefreshedView) else (None, None)
    full_seconds, full_rows = (seconds, rows_in_all(view.status)) if isinstance(settled.plan, Full) else last
    uuid = str(stored.table.metadata.table_uuid)
    state = state_of_rows(settled, stored.name, recording)
    state = replace(state, storage_uuid=uuid, storage_snapshot_id=stored.snapshot_id)
    streaks = streaks_after(settled.effort, settled.plan, seconds)
    return replace(state, full_seconds=full_seconds, full_rows=full_rows, streaks=streaks)


def state_of_rows(settled: Settled, storage: TableName, recording: Recording) -> ViewState:
    """Return the state of a view whose rows come into a table by the very commit that records it: it has no id yet."""
    view, plan = settled.view, settled.plan
    request = view.request
    partial = request.partial
    return ViewState(
        definition="" if partial else request.sql,
        definition_hash="" if partial else request.config.definition_hash,
        storage_table=storage,
        storage_uuid="",
        storage_snapshot_id=0,
        base_tables=() if partial else _base_tables(view),
        refresh_kind=plan.kind,
        refresh_reason=plan.reason,
        started_at=recording.started_at,
        refreshed_at=recording.refreshed_at,
        owner=request.owner,
        settings=request.config.settings,
        config=recording.config,
        partial=partial,
        views=() if partial else view.views,
        read_hash="" if partial else view.read_hash,
        clock={} if partial else _clock(view),
        default_namespace=request.default_namespace,
        tie_breakers=() if partial else view.definition.tie_breakers,
    )


def moved(view: RefreshedView, config: Mapping[str, object] | None = None) -> ViewState:
    """Return the recorded state with what base tables, views and clock are now, and a new configuration if given."""
    config = view.state.config if config is None else config
    namespace = view.request.default_namespace
    state = replace(view.state, base_tables=_base_tables(view), views=view.views, read_hash=view.read_hash)
    return replace(state, default_namespace=namespace, config=config, clock=_clock(view))


def recorded_with(view: Inspection, started_at: str, text: str) -> dict[str, str]:
    """Return the write options that record in the snapshot of the rows what they were computed from, and a state."""
    return {"snapshot-property.refresh-state": refresh_state(view, started_at), **state_option(text)}


def state_option(text: str) -> dict[str, str]:
    """Return the write option that records the text of a state in the snapshot that is written."""
    return {f"snapshot-property.{STATE_KEY}": text}


def refresh_state(view: Inspection, started_at: str) -> str:
    """Return the `refresh-state` of the storage snapshot, in the shape that Iceberg's spec proposes for it."""
    started = datetime.fromisoformat(started_at)
    sources = [
        {
            "type": "table",
            "catalog": base.storage[0],
            "namespace": [base.storage[1]],
            "name": base.storage[2],
            "uuid": base.version.uuid,
            "snapshot-id": base.version.snapshot_id,
        }
        for base in _base_tables(view)
    ]
    return json.dumps(
        {"refresh-start-timestamp-ms": int(started.timestamp() * 1000), "source-states": sources}, ensure_ascii=False
    )


def _base_tables(view: Inspection) -> tuple[BaseTableState, ...]:
    return tuple(
        BaseTableState(b.base.name, source.storage, source.version, source.table.metadata_location)
        for b in view.status.base_tables
        if (source := b.base.source) is not None
    )


def _clock(view: Inspection) -> Clock:
    return {} if view.definition.clock is None else view.definition.clock.values
