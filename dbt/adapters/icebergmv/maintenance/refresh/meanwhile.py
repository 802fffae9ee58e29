"""What others did to base tables while a refresh read them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError, RefreshConflict, first_line
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.sql.names import show
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus


def check_appended(lake: Lake, view: Inspection) -> None:
    """Refuse what was read of new rows where the columns of their table changed meanwhile.

    An incremental scan is the one read of a base table that gives the columns of the moment. Raises RefreshConflict.
    """
    for base in view.status.stale:
        source = base.base.source
        if source is None or base.change.appended_since is None:
            continue
        now = lake.catalog.table(*source.storage[1:])
        if now is None or now.metadata.current_schema_id != source.table.metadata.current_schema_id:
            raise RefreshConflict(
                f"the columns of {show(source.storage)} changed while its new rows were read. "
                "Nothing was published; run again."
            )


@contextmanager
def conflict_of_lost_tables(lake: Lake, view: Inspection) -> Iterator[None]:
    """Raise RefreshConflict where a statement failed because a snapshot that it reads of a base table is gone.

    Errors of engines and catalogs differ too much to be read, so the tables are looked up again.
    """
    try:
        yield
    except MaintenanceError:
        raise
    except Exception as error:
        # Which error it is does not matter: where a table is as it was, the error is none of a lost one.
        lost = next((base for base in view.status.base_tables if _is_lost(lake.catalog, base)), None)
        if lost is None:
            raise
        raise RefreshConflict(
            f"{show(lost.base.name)} was dropped or replaced, or a snapshot of it expired, while it was read "
            f"({first_line(error)}). Nothing was published; run again."
        ) from error


def _is_lost(catalog: CatalogReader, base: BaseTableStatus) -> bool:
    """Return whether a table that could be read has become another one, or lost a snapshot that is read of it."""
    source = base.base.source
    if source is None:
        return False
    before = source.table.metadata
    try:
        table = catalog.table(*source.storage[1:])
    except MaintenanceError:
        return False
    if table is None or table.metadata.table_uuid != before.table_uuid:
        return True
    recorded = None if base.recorded is None else base.recorded.version.snapshot_id
    read = {source.version.snapshot_id, recorded, base.change.appended_since}
    there = {snapshot.snapshot_id for snapshot in table.metadata.snapshots}
    return any(snapshot.snapshot_id in read and snapshot.snapshot_id not in there for snapshot in before.snapshots)
