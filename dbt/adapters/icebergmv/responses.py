"""What a person sees of a refresh: the result line and the fields of run_results.json."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse

from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult
from dbt.adapters.icebergmv.maintenance.sql.names import show
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus


@dataclass
class MaterializedViewResponse(AdapterResponse):
    """dbt's response for a materialized view; every field is in run_results.json."""

    refresh_kind: str = ""
    refresh_reason: str = ""
    rows_deleted: int = 0
    bytes_written: int = 0
    estimated_bytes: int | None = None
    stale_partitions: int = 0
    total_partitions: int | None = None
    seconds: float = 0.0
    stale_read_behavior: str = "use_data_table"
    storage_table: str = ""
    partition_by: list[str] = field(default_factory=list)
    storage_snapshot_id: int | None = None
    base_tables: list[dict[str, Any]] = field(default_factory=list)


def response_of(result: RefreshResult, seconds: float) -> MaterializedViewResponse:
    """Return the response for a refresh that took so many seconds."""
    return MaterializedViewResponse(
        _message=_message(result),
        code=result.kind,
        rows_affected=result.rows_written,
        refresh_kind=result.kind,
        refresh_reason=result.reason,
        rows_deleted=result.rows_deleted,
        bytes_written=result.bytes_written,
        estimated_bytes=result.estimated_bytes,
        stale_partitions=result.stale_partitions,
        total_partitions=result.total_partitions,
        seconds=round(seconds, 3),
        stale_read_behavior=result.stale_read_behavior,
        storage_table=show(result.storage_table),
        partition_by=list(result.partition_by),
        storage_snapshot_id=result.storage_snapshot_id,
        base_tables=[_base_table(b, result.base_partitions.get(b.base.name)) for b in result.base_tables],
    )


def _message(result: RefreshResult) -> str:
    """Return the end of the result line; dbt adds how long it took."""
    written = _rows(result.rows_written, "written")
    if not result.rows_written and result.rows_deleted:
        written = _rows(result.rows_deleted, "removed")
    match result.kind:
        case "none":
            return f"none: {result.reason}"
        case "restitch":
            return f"restitch: {result.reason}; nothing recomputed"
        case "overwrite" if (result.total_partitions or 0) > 1:
            return f"overwrite: {_partitions(result)} stale ({result.reason}); {written}"
        case _:
            return f"{result.kind}: {result.reason}; {written}"


def _rows(number: int, what: str) -> str:
    return f"{number:,} row{'' if number == 1 else 's'} {what}"


def _partitions(result: RefreshResult) -> str:
    """Return which part of a partitioned storage table was written; the rows of keys may be in all partitions."""
    if result.stale_partitions == result.total_partitions:
        is_part = result.total_rows is not None and result.rows_written < result.total_rows
        return f"{'some rows of ' if is_part else ''}all {result.total_partitions} partitions"
    return f"{result.stale_partitions} of {result.total_partitions} partitions"


def _base_table(status: BaseTableStatus, partitions: int | None) -> dict[str, Any]:
    source = status.base.source
    before = status.recorded.version if status.recorded is not None else None
    return {
        "name": show(status.base.name),
        "from_snapshot_id": before.snapshot_id if before is not None else None,
        "to_snapshot_id": source.version.snapshot_id if source is not None else None,
        "status": status.change.status,
        "changed_partitions": None if status.change.status == "unknown" else status.change.changed_partitions,
        "total_partitions": partitions,
    }
