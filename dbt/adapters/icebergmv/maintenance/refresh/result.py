"""What a refresh did, counted from the snapshots it left in the storage table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import (
    ancestry,
    changed_partitions,
    partitions_of,
)
from dbt.adapters.icebergmv.maintenance.definition.partitioning import stored_partitioning
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import COUNTED_FILES, count_partitions
from dbt.adapters.icebergmv.maintenance.planning.cost.read_estimate import bytes_of
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.inspection import LostView, RefreshedView
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.resting import RestingView
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus


@dataclass(frozen=True)
class RefreshResult:
    """What a refresh did.

    Partition counts are of the storage table: `stale_partitions` were written or emptied, `total_partitions` held rows
    before or after. `base_partitions` gives, for the base tables where that is cheap to know, how many they have.
    `stale_read_behavior` is what readers get now, which may be less than was asked for.
    `estimated_bytes` is the size of the files of the base tables that the plan reads, where that is cheap to know.
    `partition_by` is the partitioning of the storage table in Spark's DDL, as far as the refresh opened the table.
    `total_rows` are those that the view has now, as far as the snapshot says.
    """

    kind: Literal["none", "append", "overwrite", "merge", "full", "restitch"]
    reason: str
    storage_table: TableName
    storage_snapshot_id: int | None
    base_tables: tuple[BaseTableStatus, ...] = field(repr=False)
    stale_read_behavior: str
    rows_written: int = 0
    rows_deleted: int = 0
    bytes_written: int = 0
    estimated_bytes: int | None = None
    stale_partitions: int = 0
    total_partitions: int | None = None
    base_partitions: Mapping[TableName, int] = field(default_factory=dict, repr=False)
    partition_by: tuple[str, ...] = ()
    total_rows: int | None = None


def nothing_done(view: RefreshedView | LostView, reason: str, behavior: str) -> RefreshResult:
    """Return the result of a refresh that left the rows as they were; `behavior` is what readers get."""
    return RefreshResult(
        kind="none",
        reason=reason,
        storage_table=view.request.config.storage_table,
        storage_snapshot_id=view.state.storage_snapshot_id,
        base_tables=view.status.base_tables,
        stale_read_behavior=behavior,
        estimated_bytes=0,
    )


def left_alone(view: RestingView) -> RefreshResult:
    """Return the result of a run that left a view as it is; it knows nothing of the base tables."""
    return RefreshResult(
        kind="none",
        reason=view.reason,
        storage_table=view.state.storage_table,
        storage_snapshot_id=view.state.storage_snapshot_id,
        base_tables=(),
        stale_read_behavior=view.state.stale_read_behavior,
        estimated_bytes=0,
    )


def done(settled: Settled, stored: StoredRows, start: int | None, behavior: str) -> RefreshResult:
    """Return the result of a refresh that built the stored rows on the snapshot `start`, on none where that is None."""
    table, snapshot_id, base_tables = stored.table, stored.snapshot_id, settled.view.status.base_tables
    written, deleted, size = _written(table, start, snapshot_id)
    before, after = set() if start is None else partitions_of(table, start), partitions_of(table, snapshot_id)
    return RefreshResult(
        kind=settled.plan.kind,
        reason=settled.plan.reason,
        storage_table=stored.name,
        storage_snapshot_id=snapshot_id,
        base_tables=base_tables,
        stale_read_behavior=behavior,
        rows_written=written,
        rows_deleted=deleted,
        bytes_written=size,
        estimated_bytes=bytes_of(settled.view, settled.plan),
        stale_partitions=len(after if start is None else changed_partitions(table, start, snapshot_id)),
        total_partitions=len(before | after),
        base_partitions=_base_partitions(base_tables),
        partition_by=tuple(f.ddl() for f in stored_partitioning(table)),
        total_rows=stored.row_count,
    )


def _base_partitions(base_tables: Iterable[BaseTableStatus]) -> dict[TableName, int]:
    sources = ((b.base.name, b.base.source) for b in base_tables)
    found = ((name, None if s is None else count_partitions(s, COUNTED_FILES)) for name, s in sources)
    return {name: count for name, count in found if count is not None}


def _written(table: Table, start: int | None, snapshot_id: int) -> tuple[int, int, int]:
    """Return rows written, rows deleted and bytes of new files, by the snapshots after `start` up to `snapshot_id`.

    An overwrite is one snapshot. DELETE + INSERT are two, of which the first may copy rows that stay: what it adds
    is taken off what it deletes.
    """
    counts, size = [], 0
    for snapshot in ancestry(table.metadata, snapshot_id):
        if snapshot.snapshot_id == start:
            break
        properties = snapshot.summary.additional_properties if snapshot.summary else {}
        added, deleted = int(properties.get("added-records", 0)), int(properties.get("deleted-records", 0))
        counts.append((added, deleted + int(properties.get("added-position-deletes", 0))))
        size += int(properties.get("added-files-size", 0))
    if not counts:
        return 0, 0, 0
    (written, deleted), *before = counts
    return written, deleted + sum(removed - copied for copied, removed in before), size
