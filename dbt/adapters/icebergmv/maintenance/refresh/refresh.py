"""One refresh, from inspection to the published view."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.partitioning import can_prune, is_whole_partitions
from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError, RefreshConflict
from dbt.adapters.icebergmv.maintenance.planning import pinned_queries as render
from dbt.adapters.icebergmv.maintenance.planning.key_evaluation import evaluated, needs_spark
from dbt.adapters.icebergmv.maintenance.planning.pinned_queries import Write
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, RefreshPlan, plan_refresh
from dbt.adapters.icebergmv.maintenance.refresh.publish import publish_view
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult, done, nothing_done
from dbt.adapters.icebergmv.maintenance.refresh.static_stitching import leave
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import (
    Lake,
    drop_unneeded_branches,
    load_storage,
    view_moved,
    write_storage,
)
from dbt.adapters.icebergmv.maintenance.refresh.storage_table import (
    alter_storage,
    check_columns,
    columns_of_definition,
    create_storage,
    is_of_one_spec,
    misfit,
    stored_partitioning,
)
from dbt.adapters.icebergmv.maintenance.sql.names import show
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction
from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, inspect
from dbt.adapters.icebergmv.maintenance.status.pinned_view import sql_hash
from dbt.adapters.icebergmv.maintenance.status.recorded_state import BaseTableState, ViewState
from dbt.adapters.icebergmv.maintenance.status.session_check import check_session
from dbt.adapters.icebergmv.maintenance.status.stale_read_config import StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.view_config import RefreshPolicy
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_text

ATTEMPTS = 3
_STORED: StaleReadBehavior = "use_data_table"


@dataclass(frozen=True)
class _Job:
    """A refresh that writes: what was inspected, what was planned over which keys, and when it began."""

    inspection: Inspection
    definition: ViewDefinition
    plan: RefreshPlan
    columns: tuple[str, ...]
    query: str
    recreate: bool
    started_at: str


def refresh(lake: Lake, inspection: Inspection) -> RefreshResult:
    """Bring the inspected view up to date and return what was done.

    A refresh that loses against another one starts again from what the winner published, a few times; then it raises
    RefreshConflict. Any error leaves what readers see untouched and names the view.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return _refresh_once(lake, inspection)
        except RefreshConflict:
            inspection = inspect(lake.catalog, inspection.request)
    return _refresh_once(lake, inspection)


def _refresh_once(lake: Lake, inspection: Inspection) -> RefreshResult:
    try:
        return _decide(lake, inspection)
    except RefreshConflict:
        raise
    except MaintenanceError as error:
        raise type(error)(f"Cannot refresh {show(inspection.request.view)}: {error}") from error


def _decide(lake: Lake, inspection: Inspection) -> RefreshResult:
    """Do nothing when that is right; else ask Spark for the columns, plan again, and write."""
    started_at = _now()
    request = inspection.request
    if not request.config.refresh_on_run and inspection.rebuild is None and inspection.lost is None:
        return leave(lake, inspection)
    plan = _plan(inspection, inspection.definition, None, "auto" if needs_spark(inspection.definition) else None)
    if plan.kind == "none" and not inspection.changes and not inspection.status.schema_moved:
        if inspection.status.has_moved or _is_outdated(inspection):
            _record_moved(lake, inspection)
        return nothing_done(inspection, plan.reason)
    check_session(lake, request.config.settings)
    columns = columns_of_definition(lake, inspection)
    if columns is None:
        return _decide(lake, inspect(lake.catalog, request, expand_views=False))
    inspection = check_columns(inspection, columns)
    definition = inspection.definition
    if plan.kind in ("overwrite", "full") and inspection.rebuild is None:
        definition = evaluated(definition, inspection.status, lake.spark)
    unfit = misfit(lake, inspection, columns)
    plan = _plan(inspection, definition, unfit)
    if plan.kind == "none":
        return _alter_only(lake, inspection, plan)
    names = tuple(c.name for c in columns)
    query = _query(definition, inspection.bases, plan, names)
    recreate = plan.kind == "full" and (unfit is not None or request.rebuild is not None)
    return _write(lake, _Job(inspection, definition, plan, names, query, recreate, started_at))


def _query(definition: ViewDefinition, bases: BaseTables, plan: RefreshPlan, columns: Sequence[str]) -> str:
    catalog = bases.catalog_name
    if plan.kind != "append":
        return render.pinned_query(definition, bases, plan.base_filters, catalog)
    return render.appended_query(definition, bases, plan, columns, catalog)


def _plan(
    inspection: Inspection, definition: ViewDefinition, unfit: str | None, forced: RefreshPolicy | None = None
) -> RefreshPlan:
    """Return the plan; `forced` takes the place of the policy while it is not known what Spark makes of the keys."""
    state = inspection.state
    request = PlanRequest(
        policy=forced or inspection.request.config.refresh_policy,
        refreshed_at=state.refreshed_for_people if state else "",
        rebuild=inspection.rebuild,
        lost=inspection.lost or inspection.redefined or unfit,
        partitioning=[(f.column, f.transform) for f in stored_partitioning(inspection.storage)],
        incremental=inspection.request.config.incremental,
    )
    return plan_refresh(definition, inspection.status, request)


def _write(lake: Lake, job: _Job) -> RefreshResult:
    inspection = job.inspection
    view, storage = inspection.request.view, inspection.request.config.storage_table
    if job.recreate:
        _create_storage(lake, job)
    else:
        alter_storage(lake, inspection)
    table = load_storage(lake, storage)
    start = _start(job, table)
    snapshot_id = write_storage(lake, storage, start, _rows(lake, job, table, start))
    publish_view(lake, inspection, _state(job, table, snapshot_id))
    drop_unneeded_branches(lake, storage, lake.catalog.view(view[1], view[2]))
    if inspection.state is not None and inspection.state.storage_table != storage:
        lake.spark(render.drop_table(inspection.state.storage_table, purge=True))
    return done(inspection, job.plan, load_storage(lake, storage), start, snapshot_id)


def _create_storage(lake: Lake, job: _Job) -> None:
    inspection = job.inspection
    try:
        create_storage(lake, inspection, job.columns, job.query)
    except Exception as error:
        name = inspection.request.config.storage_table
        now, before = lake.catalog.table(name[1], name[2]), inspection.storage
        if now is not None and (before is None or now.metadata_location != before.metadata_location):
            raise RefreshConflict(
                f"Another refresh made the storage table {show(name)} meanwhile. Nothing was published; run again."
            ) from error
        raise


def _start(job: _Job, table: Table) -> int:
    """Return the snapshot to build on: the one that the view pins, unless the table was made anew."""
    state = job.inspection.state
    if not job.recreate and state is not None and job.inspection.lost is None:
        return state.storage_snapshot_id
    head = table.metadata.current_snapshot_id
    if head is None:
        storage = show(job.inspection.request.config.storage_table)
        raise RefreshConflict(f"The storage table {storage} was replaced meanwhile. Nothing was published; run again.")
    return head


def _rows(lake: Lake, job: _Job, table: Table, start: int) -> Write:
    """Return what is to be written: everything, or the rows in the region of the plan."""
    summary = {"refresh-state": _refresh_state(job)}
    if job.plan.kind == "full":
        return Write(job.columns, job.query, "true", "true", True, summary)
    if job.plan.kind == "append":
        return Write(job.columns, job.query, None, None, False, summary)
    types = {f.name: spark_type(f.field_type) for f in table.schema().fields}
    aligned = is_whole_partitions(job.plan.region, stored_partitioning(table), table.schema())
    in_storage = can_prune(table, table.schema(), job.plan.region)
    plan, bases = job.plan, job.inspection.bases
    in_query = render.bases_can_prune(job.definition, bases, plan.base_filters, plan.region)
    catalog = lake.catalog.name
    return Write(
        columns=job.columns,
        query=job.query,
        where=disjunction(job.plan.region, types, Dialect(catalog, in_storage)),
        query_where=disjunction(job.plan.region, types, Dialect(catalog, in_query)),
        aligned=aligned and in_storage and is_of_one_spec(table, start),
        summary=summary,
    )


def _state(job: _Job, table: Table, snapshot_id: int) -> ViewState:
    request = job.inspection.request
    partial = request.partial
    return ViewState(
        definition="" if partial else request.sql,
        definition_hash="" if partial else request.config.definition_hash,
        storage_table=request.config.storage_table,
        storage_uuid=str(table.metadata.table_uuid),
        storage_snapshot_id=snapshot_id,
        base_tables=() if partial else _recorded_bases(job.inspection),
        refresh_kind=job.plan.kind,
        refresh_reason=job.plan.reason,
        started_at=job.started_at,
        refreshed_at=_now(),
        owner=request.owner,
        settings=request.config.settings,
        config=request.config.recorded(),
        partial=partial,
        views=() if partial else job.inspection.views,
    )


def _recorded_bases(inspection: Inspection) -> tuple[BaseTableState, ...]:
    return tuple(
        BaseTableState(
            b.base.name, b.base.source.storage, b.base.source.recorded, b.base.source.table.metadata_location
        )
        for b in inspection.status.base_tables
        if b.base.source is not None
    )


def _moved(inspection: Inspection, state: ViewState) -> ViewState:
    """Return the state with the ids that base tables and views have now."""
    return replace(state, base_tables=_recorded_bases(inspection), views=inspection.views)


def _alter_only(lake: Lake, inspection: Inspection, plan: RefreshPlan) -> RefreshResult:
    """Apply changed properties and comments, and record ids that moved, over the rows as they are."""
    if inspection.state is None or inspection.view is None:
        raise AssertionError("only a view that was refreshed before can be left as it is")
    alter_storage(lake, inspection)
    state = replace(_moved(inspection, inspection.state), config=inspection.request.config.recorded())
    publish_view(lake, inspection, state)
    altered = ", ".join(inspection.changes.alter)
    return nothing_done(inspection, f"{plan.reason}; {altered}" if altered else plan.reason)


def _record_moved(lake: Lake, inspection: Inspection) -> None:
    """Record the new snapshot ids of bases whose rows did not change (compaction, a DELETE that matched nothing)."""
    if inspection.state is None or inspection.view is None:
        raise AssertionError("only a view that was refreshed before has ids that move")
    view, state = inspection.request.view, _moved(inspection, inspection.state)
    if state.view_sql_hash or _is_outdated(inspection):
        publish_view(lake, inspection, state)
        return
    if view_moved(lake.catalog, view, inspection.view):
        raise RefreshConflict(f"Another refresh moved the view {show(view)} meanwhile. Nothing was changed; run again.")
    lake.spark(render.set_view_properties(view, state.to_properties()))


def _is_outdated(inspection: Inspection) -> bool:
    """Return whether the SQL of the view would be another one now.

    It knows the metadata files of its base tables, and a view that was stitched by runs alone may be refreshed by runs
    now (`refresh_on_run`).
    """
    state, view, storage = inspection.state, inspection.view, inspection.storage
    if state is None or view is None or storage is None or inspection.request.config.stale_read_behavior == _STORED:
        return False
    return sql_hash(read_text(inspection, _moved(inspection, state), storage)) != sql_hash(view.sql)


def _refresh_state(job: _Job) -> str:
    """Return the `refresh-state` of the storage snapshot, in the shape that Iceberg's spec proposes for it."""
    started = datetime.fromisoformat(job.started_at)
    sources = [
        {
            "type": "table",
            "catalog": base.storage[0],
            "namespace": [base.storage[1]],
            "name": base.storage[2],
            "uuid": base.recorded.uuid,
            "snapshot-id": base.recorded.snapshot_id,
        }
        for base in _recorded_bases(job.inspection)
    ]
    return json.dumps(
        {"refresh-start-timestamp-ms": int(started.timestamp() * 1000), "source-states": sources}, ensure_ascii=False
    )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
