"""One refresh, from inspection to the published view."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Literal

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance import render
from dbt.adapters.icebergmv.maintenance.catalog import CatalogReader
from dbt.adapters.icebergmv.maintenance.commit import (
    Spark,
    Write,
    drop_unneeded_branches,
    main_snapshot,
    publish,
    view_moved,
    write_storage,
)
from dbt.adapters.icebergmv.maintenance.errors import InvalidDefinition, RefreshConflict
from dbt.adapters.icebergmv.maintenance.inspection import STORAGE_OF, Inspection, inspect, untracked
from dbt.adapters.icebergmv.maintenance.names import TableName, show
from dbt.adapters.icebergmv.maintenance.partitioning import (
    PartitionField,
    derive_partitioning,
    is_whole_partitions,
    parse_partition_by,
    spec_fields,
)
from dbt.adapters.icebergmv.maintenance.planner import PlanRequest, RefreshPlan, plan_refresh
from dbt.adapters.icebergmv.maintenance.snapshots import ancestry, changed_partitions, partitions_of
from dbt.adapters.icebergmv.maintenance.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.sql import disjunction
from dbt.adapters.icebergmv.maintenance.state import BaseTableState, ViewState
from dbt.adapters.icebergmv.maintenance.status import BaseTableStatus

ATTEMPTS = 3
BACKUP_SUFFIX = "__dbt_backup"
_NARROW = re.compile(r"\b(?:tinyint|smallint)\b")
_SIZED_TEXT = re.compile(r"\b(?:var)?char\(\d+\)")


@dataclass(frozen=True)
class RefreshResult:
    """What a refresh did. Partition counts are of the storage table; rows those of its last snapshot."""

    kind: Literal["none", "overwrite", "full"]
    reason: str
    storage_table: TableName
    storage_snapshot_id: int | None
    base_tables: tuple[BaseTableStatus, ...]
    rows_written: int = 0
    rows_deleted: int = 0
    stale_partitions: int = 0
    total_partitions: int | None = None


@dataclass(frozen=True)
class Column:
    """An output column as Spark describes it."""

    name: str
    type: str


def refresh(catalog: CatalogReader, spark: Spark, inspection: Inspection) -> RefreshResult:
    """Bring the inspected view up to date and return what was done.

    A refresh that loses against another one starts again from what the winner published, a few times; then it raises
    RefreshConflict. Any error leaves what readers see untouched.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return _refresh_once(catalog, spark, inspection)
        except RefreshConflict:
            inspection = inspect(catalog, inspection.request)
    return _refresh_once(catalog, spark, inspection)


def _refresh_once(catalog: CatalogReader, spark: Spark, inspection: Inspection) -> RefreshResult:
    started_at = _now()
    request = inspection.request
    if not request.config.refresh_on_run and inspection.rebuild is None and inspection.lost is None:
        return _nothing_done(inspection, "refresh_on_run is false")
    plan = plan_refresh(inspection.definition, inspection.status, _plan_request(inspection, inspection.lost))
    unchanged = plan.kind == "none" and not inspection.changes
    if unchanged and not inspection.status.schema_moved:
        if inspection.status.has_moved:
            _record_moved(catalog, spark, inspection)
        return _nothing_done(inspection, plan.reason)
    query = render.pinned_query(inspection.definition, inspection.bases, {}, catalog.name)
    columns = _describe(spark, query)
    inspection = _check_columns(inspection, columns)
    storage_fits = inspection.storage is not None and _fits(spark, inspection, columns)
    lost = inspection.lost or (None if storage_fits else _misfit(inspection))
    plan = plan_refresh(inspection.definition, inspection.status, _plan_request(inspection, lost))
    if plan.kind == "none":
        return _alter_only(catalog, spark, inspection, plan)
    return _write_and_publish(catalog, spark, inspection, plan, columns, storage_fits, started_at)


def _plan_request(inspection: Inspection, lost: str | None) -> PlanRequest:
    state = inspection.state
    return PlanRequest(
        policy=inspection.request.config.refresh_policy,
        refreshed_at=_for_people(state.refreshed_at) if state else "",
        rebuild=inspection.rebuild,
        lost=lost,
        preferred=[f.column for f in _stored_partitioning(inspection.storage)],
    )


def _write_and_publish(
    catalog: CatalogReader,
    spark: Spark,
    inspection: Inspection,
    plan: RefreshPlan,
    columns: Sequence[Column],
    storage_fits: bool,
    started_at: str,
) -> RefreshResult:
    request = inspection.request
    storage_name = request.config.storage_table
    names = tuple(c.name for c in columns)
    query = render.pinned_query(inspection.definition, inspection.bases, plan.base_filters, catalog.name)
    recreate = plan.kind == "full" and (not storage_fits or request.rebuild is not None)
    if recreate:
        _create_storage(spark, inspection, names, query)
    else:
        _alter_storage(spark, inspection)
    try:
        table = _required(catalog, storage_name)
        start = _start(inspection, table, recreate)
        write = _write(inspection, plan, names, query, table, catalog.name, start, started_at)
        snapshot_id = write_storage(spark, catalog, storage_name, start, write)
        state = _state(inspection, plan, table, snapshot_id, started_at)
        _publish(catalog, spark, inspection, names, state)
    except BaseException:
        if inspection.storage is None and catalog.view(request.view[1], request.view[2]) is None:
            spark(render.drop_table(storage_name, purge=True))
        raise
    _clean_up(catalog, spark, inspection)
    return _result(inspection, plan, _required(catalog, storage_name), start, snapshot_id)


def _describe(spark: Spark, query: str) -> tuple[Column, ...]:
    rows = spark(render.describe_query(query))
    return tuple(Column(str(r[0]), _stored_type(str(r[1]))) for r in rows if not str(r[0]).startswith("#"))


def _stored_type(described: str) -> str:
    """Return the type that Iceberg stores for a Spark type, as Spark then shows it."""
    return _SIZED_TEXT.sub("string", _NARROW.sub("int", described))


def _check_columns(inspection: Inspection, columns: Sequence[Column]) -> Inspection:
    """Refuse columns that no table can hold; give up tracking when Spark's columns are not those of the analysis."""
    names = [c.name for c in columns]
    lowered = [n.lower() for n in names]
    for name in names:
        if lowered.count(name.lower()) > 1:
            raise InvalidDefinition(
                f"Cannot refresh {show(inspection.request.view)}: its SELECT outputs two columns named {name}. "
                "Rename one of them with AS."
            )
    if inspection.request.config.partition_by is not None:
        parse_partition_by(inspection.request.config.partition_by, names)
    analysed = inspection.definition.columns
    if analysed is not None and [c.name for c in analysed] != names:
        return untracked(inspection, "its columns cannot be followed through the SELECT")
    return inspection


def _fits(spark: Spark, inspection: Inspection, columns: Sequence[Column]) -> bool:
    """Return whether the storage table has the columns of the definition and the partitioning that is asked for."""
    request = inspection.request
    if inspection.storage is None or _misfit_partitioning(inspection, [c.name for c in columns]):
        return False
    stored = spark(render.describe_query(f"SELECT * FROM {render.qualified(*request.config.storage_table)}"))
    return [(str(r[0]), str(r[1])) for r in stored] == [(c.name, c.type) for c in columns]


def _misfit_partitioning(inspection: Inspection, names: Sequence[str]) -> bool:
    wanted = inspection.request.config.partition_by
    return wanted is not None and parse_partition_by(wanted, names) != _stored_partitioning(inspection.storage)


def _misfit(inspection: Inspection) -> str:
    if inspection.storage is None:
        return "its storage table was dropped"
    return "its columns or the partitioning of its storage table changed"


def _stored_partitioning(storage: Table | None) -> tuple[PartitionField, ...]:
    return () if storage is None else spec_fields(storage.spec(), storage.schema())


def _create_storage(spark: Spark, inspection: Inspection, names: Sequence[str], query: str) -> None:
    config = inspection.request.config
    if config.partition_by is not None:
        partitioning = parse_partition_by(config.partition_by, names)
    else:
        sources = [(r.index, inspection.bases.of(r).source) for r in inspection.definition.references if not r.pinned]
        specs = [(i, s.table.spec(), s.table_schema) for i, s in sources if s is not None]
        partitioning = derive_partitioning(inspection.definition, specs)
    if config.storage_table[1] != inspection.request.view[1]:
        spark(render.create_namespace(config.storage_table))
    properties = {**config.tblproperties, STORAGE_OF: show(inspection.request.view)}
    spark(render.create_storage(config.storage_table, names, query, partitioning, properties))


def _alter_storage(spark: Spark, inspection: Inspection) -> None:
    """Bring the properties of the storage table to what the model asks for."""
    config, storage, state = inspection.request.config, inspection.storage, inspection.state
    if storage is None or state is None:
        return
    had = state.config.get("tblproperties")
    gone = sorted((had.keys() if isinstance(had, dict) else set()) - config.tblproperties.keys())
    new = {k: v for k, v in config.tblproperties.items() if storage.properties.get(k) != v}
    if new:
        spark(render.set_table_properties(config.storage_table, new))
    if gone:
        spark(render.unset_table_properties(config.storage_table, gone))


def _start(inspection: Inspection, table: Table, recreate: bool) -> int:
    """Return the snapshot to build on: the one that the view pins, unless the table was made anew."""
    state = inspection.state
    if not recreate and state is not None and inspection.lost is None:
        return state.storage_snapshot_id
    head = main_snapshot(table)
    if head is None:
        raise RefreshConflict(
            f"The storage table {show(inspection.request.config.storage_table)} was replaced meanwhile. Run again."
        )
    return head


def _write(
    inspection: Inspection,
    plan: RefreshPlan,
    names: tuple[str, ...],
    query: str,
    table: Table,
    catalog: str,
    start: int,
    started_at: str,
) -> Write:
    summary = {"refresh-state": _refresh_state(inspection, started_at)}
    if plan.kind == "full":
        return Write(names, query, "true", True, summary)
    types = {f.name: spark_type(f.field_type) for f in table.schema().fields}
    aligned = is_whole_partitions(plan.region, _stored_partitioning(table), table.schema()) and _one_spec(table, start)
    return Write(names, query, disjunction(plan.region, types, catalog), aligned, summary)


def _one_spec(table: Table, snapshot_id: int) -> bool:
    """Return whether all files of the snapshot are written under the table's current partition spec."""
    snapshot = table.metadata.snapshot_by_id(snapshot_id)
    manifests = snapshot.manifests(table.io) if snapshot is not None else []
    return all(m.partition_spec_id == table.metadata.default_spec_id for m in manifests)


def _state(inspection: Inspection, plan: RefreshPlan, table: Table, snapshot_id: int, started_at: str) -> ViewState:
    request = inspection.request
    partial = request.partial
    return ViewState(
        definition="" if partial else request.sql,
        definition_hash="" if partial else request.config.definition_hash,
        storage_table=request.config.storage_table,
        storage_uuid=str(table.metadata.table_uuid),
        storage_snapshot_id=snapshot_id,
        base_tables=() if partial else _recorded_bases(inspection),
        refresh_kind=plan.kind,
        refresh_reason=plan.reason,
        started_at=started_at,
        refreshed_at=_now(),
        owner=request.owner,
        settings=request.config.settings,
        config=request.config.recorded(),
        partial=partial,
    )


def _recorded_bases(inspection: Inspection) -> tuple[BaseTableState, ...]:
    return tuple(
        BaseTableState(b.base.name, b.base.source.storage, b.base.source.recorded)
        for b in inspection.status.base_tables
        if b.base.source is not None
    )


def _publish(
    catalog: CatalogReader, spark: Spark, inspection: Inspection, names: Sequence[str], state: ViewState
) -> None:
    view, config = inspection.request.view, inspection.request.config
    statement = render.create_view(
        view,
        names,
        config.column_comments,
        config.comment,
        state.to_properties(),
        render.view_query(config.storage_table, names, state.storage_snapshot_id),
    )
    backup = (view[0], view[1], view[2] + BACKUP_SUFFIX)
    if inspection.table_in_the_way:
        spark(render.rename_table(view, backup))
    try:
        publish(spark, catalog, view, inspection.view, (config.storage_table, state.storage_snapshot_id), statement)
    except BaseException:
        if inspection.table_in_the_way:
            spark(render.rename_table(backup, view))
        raise
    if catalog.table(backup[1], backup[2]) is not None:
        spark(render.drop_table(backup, purge=False))


def _clean_up(catalog: CatalogReader, spark: Spark, inspection: Inspection) -> None:
    view, storage = inspection.request.view, inspection.request.config.storage_table
    drop_unneeded_branches(spark, catalog, storage, catalog.view(view[1], view[2]))
    if inspection.state is not None and inspection.state.storage_table != storage:
        spark(render.drop_table(inspection.state.storage_table, purge=True))


def _alter_only(catalog: CatalogReader, spark: Spark, inspection: Inspection, plan: RefreshPlan) -> RefreshResult:
    """Apply changed properties and comments, and record ids that moved, over the rows as they are."""
    state = inspection.state
    assert state is not None and inspection.view is not None
    _alter_storage(spark, inspection)
    recorded = replace(state, base_tables=_recorded_bases(inspection), config=inspection.request.config.recorded())
    _publish(catalog, spark, inspection, [c.name for c in inspection.view.columns], recorded)
    done = ", ".join(inspection.changes.alter)
    return _nothing_done(inspection, f"{plan.reason}; {done}" if done else plan.reason)


def _record_moved(catalog: CatalogReader, spark: Spark, inspection: Inspection) -> None:
    """Record the new snapshot ids of bases whose rows did not change (compaction, a DELETE that matched nothing)."""
    assert inspection.state is not None
    recorded = replace(inspection.state, base_tables=_recorded_bases(inspection))
    if view_moved(catalog, inspection.request.view, inspection.view):
        raise RefreshConflict(f"Another refresh moved the view {show(inspection.request.view)} meanwhile. Run again.")
    spark(render.set_view_properties(inspection.request.view, recorded.to_properties()))


def _nothing_done(inspection: Inspection, reason: str) -> RefreshResult:
    state = inspection.state
    return RefreshResult(
        kind="none",
        reason=reason,
        storage_table=inspection.request.config.storage_table,
        storage_snapshot_id=state.storage_snapshot_id if state else None,
        base_tables=inspection.status.base_tables,
    )


def _result(inspection: Inspection, plan: RefreshPlan, table: Table, start: int, snapshot_id: int) -> RefreshResult:
    after = partitions_of(table, snapshot_id)
    before = partitions_of(table, start)
    touched = changed_partitions(table, start, snapshot_id)
    summary = _totals(table, start, snapshot_id)
    return RefreshResult(
        kind="full" if plan.kind == "full" else "overwrite",
        reason=plan.reason,
        storage_table=inspection.request.config.storage_table,
        storage_snapshot_id=snapshot_id,
        base_tables=inspection.status.base_tables,
        rows_written=summary[0],
        rows_deleted=summary[1],
        stale_partitions=len(touched),
        total_partitions=len(before | after),
    )


def _totals(table: Table, start: int, snapshot_id: int) -> tuple[int, int]:
    """Return rows written and rows deleted by the snapshots after `start` up to `snapshot_id`.

    An overwrite is one snapshot. DELETE + INSERT are two, of which the first may copy rows that stay: what it adds
    is taken off what it deletes.
    """
    done = []
    for snapshot in ancestry(table.metadata, snapshot_id):
        if snapshot.snapshot_id == start:
            break
        properties = snapshot.summary.additional_properties if snapshot.summary else {}
        added, deleted = int(properties.get("added-records", 0)), int(properties.get("deleted-records", 0))
        done.append((added, deleted + int(properties.get("added-position-deletes", 0))))
    if not done:
        return 0, 0
    (written, deleted), *before = done
    return written, deleted + sum(removed - copied for copied, removed in before)


def _refresh_state(inspection: Inspection, started_at: str) -> str:
    """Return the proposed Iceberg `refresh-state` of the storage snapshot (a JSON text)."""
    started = datetime.fromisoformat(started_at)
    return json.dumps(
        {
            "view-version-id": None,
            "refresh-start-timestamp-ms": int(started.timestamp() * 1000),
            "source-states": [
                {
                    "type": "table",
                    "catalog": b.storage[0],
                    "namespace": [b.storage[1]],
                    "name": b.storage[2],
                    "uuid": b.recorded.uuid,
                    "snapshot-id": b.recorded.snapshot_id,
                }
                for b in _recorded_bases(inspection)
            ],
        }
    )


def _required(catalog: CatalogReader, name: TableName) -> Table:
    table = catalog.table(name[1], name[2])
    if table is None:
        raise RefreshConflict(f"The storage table {show(name)} was dropped during the refresh. Run again.")
    return table


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def _for_people(timestamp: str) -> str:
    return datetime.fromisoformat(timestamp).strftime("%Y-%m-%d %H:%M UTC")
