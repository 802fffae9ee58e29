"""What others did to base tables while a refresh read them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, MaintenanceError, RefreshConflict
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.sql.names import show
from dbt.adapters.icebergmv.maintenance.status.base_tables import IcebergSource
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection


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
    """Raise RefreshConflict where a statement failed because a snapshot of the inspected base tables is gone.

    Errors of engines and catalogs differ too much to be read, so the tables are looked up again.
    """
    try:
        yield
    except MaintenanceError:
        raise
    except Exception as error:
        # Which error it is does not matter: where a table is as it was, the error is none of a lost one.
        for base in view.status.base_tables:
            source = base.base.source
            if source is not None and _is_lost(lake.catalog, source):
                raise RefreshConflict(
                    f"{show(source.storage)} was dropped or replaced, or its snapshots expired, while it was read. "
                    "Nothing was published; run again."
                ) from error
        raise


def _is_lost(catalog: CatalogReader, source: IcebergSource) -> bool:
    before = source.table.metadata
    try:
        table = catalog.table(*source.storage[1:])
    except CatalogUnavailable:
        return False
    if table is None or table.metadata.table_uuid != before.table_uuid:
        return True
    there = {snapshot.snapshot_id for snapshot in table.metadata.snapshots}
    return any(snapshot.snapshot_id not in there for snapshot in before.snapshots)
