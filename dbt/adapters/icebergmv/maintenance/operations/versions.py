"""The versions that a view still keeps, and which of them it can be put back to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo, ViewVersion, summary_count
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, NotReadable
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.sql.snapshots import snapshots_named
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import (
    ViewState,
    is_materialized_view,
    read_state,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import state_of_snapshot
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import TableView, found_view


@dataclass(frozen=True)
class Version:
    """A version of a view: when it was published, what the refresh behind it did, and the rows that it reads.

    Kind, reason and rows are None where the snapshot does not say them. `rows_of` is an earlier version that reads the
    same rows: the view was put back to it, or published again for another reason. `obstacle` says why the view cannot
    be put back to it; None: it can.
    """

    version_id: int
    published_at: str
    refresh_kind: str | None
    refresh_reason: str | None
    rows: int | None
    storage_snapshot_id: int | None
    obstacle: str | None
    rows_of: int | None = None


@dataclass(frozen=True)
class VersionedView:
    """A view with its state, its storage table, and its versions, the latest first."""

    name: TableName
    found: ViewInfo
    state: ViewState
    storage: Table
    versions: tuple[Version, ...]


def versions_of(catalog: CatalogReader, name: TableName) -> VersionedView:
    """Return the versions of a view. Raises NotReadable for what is no materialized view, or has lost its storage.

    Raises InvalidConfig for a view that is a table.
    """
    found = found_view(catalog, name)
    if isinstance(found, TableView):
        raise InvalidConfig(
            "with layout table it keeps no versions to go back to. Read its table at an earlier snapshot, or set "
            "layout to view."
        )
    if found is None or not is_materialized_view(found.properties):
        raise NotReadable("it is not a materialized view of the catalog. Run dbt first.")
    state = read_state(show(name), found.properties)
    storage = catalog.table(*state.storage_table[1:])
    if storage is None or str(storage.metadata.table_uuid) != state.storage_uuid:
        raise NotReadable("its storage table was dropped. Refresh it.")
    latest_first = sorted(found.versions, key=lambda v: (v.made_at, v.version_id), reverse=True)
    versions = _with_rows_of([_version(v, state, storage) for v in latest_first])
    return VersionedView(name, found, state, storage, versions)


def _with_rows_of(latest_first: Sequence[Version]) -> tuple[Version, ...]:
    """Note with each version the earliest one that reads the same rows, if that is another one."""
    first = {version.storage_snapshot_id: version.version_id for version in latest_first}
    rows_of = [None if v.storage_snapshot_id is None else first[v.storage_snapshot_id] for v in latest_first]
    return tuple(
        replace(version, rows_of=None if earliest == version.version_id else earliest)
        for version, earliest in zip(latest_first, rows_of, strict=True)
    )


def _version(version: ViewVersion, now: ViewState, storage: Table) -> Version:
    read = snapshots_named(version.sql, qualified(*now.storage_table))
    snapshot_id = read.pop() if len(read) == 1 else None
    is_there = snapshot_id is not None and storage.metadata.snapshot_by_id(snapshot_id) is not None
    state = state_of_snapshot(now.storage_table, storage, snapshot_id) if is_there and snapshot_id is not None else None
    obstacle = None
    if snapshot_id is None:
        obstacle = "it does not read the storage table at one snapshot"
    elif not is_there:
        obstacle = "its rows were expired"
    elif snapshot_id == now.storage_snapshot_id:
        obstacle = "the view has its rows now"
    return Version(
        version_id=version.version_id,
        published_at=datetime.fromtimestamp(version.made_at / 1000, tz=timezone.utc).isoformat(timespec="milliseconds"),
        refresh_kind=None if state is None else state.state.refresh_kind,
        refresh_reason=None if state is None else state.state.refresh_reason,
        rows=summary_count(storage, snapshot_id, "total-records") if is_there and snapshot_id is not None else None,
        storage_snapshot_id=snapshot_id,
        obstacle=obstacle,
    )
