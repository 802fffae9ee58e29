"""The base tables of a view as its last refresh read them: at the recorded snapshots, under the recorded columns."""

from __future__ import annotations

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, schema_id_at
from dbt.adapters.icebergmv.maintenance.errors import NotReadable
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.recorded.hidden_columns import shown
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState, ViewState
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable, BaseTables, IcebergSource


class RecordedTables(BaseTables):
    """Base tables as the last refresh read them; plain views are those of today.

    Looking one up raises NotReadable when it can no longer be read so.
    """

    def __init__(self, catalog: CatalogReader, state: ViewState) -> None:
        super().__init__(catalog)
        self._recorded = {base.name: base for base in state.base_tables}

    def _look_up(self, name: TableName) -> BaseTable:
        recorded = self._recorded.get(name)
        if recorded is not None:
            return BaseTable(name, _source(self._catalog, recorded))
        found = super()._look_up(name)
        if found.view is None:
            raise NotReadable(
                f"the last refresh recorded no snapshot of {show(name)}. Its rows of that time cannot be read."
            )
        return found


def _source(catalog: CatalogReader, recorded: BaseTableState) -> IcebergSource:
    version, name = recorded.version, show(recorded.name)
    table = catalog.table(*recorded.storage[1:])
    if table is None or str(table.metadata.table_uuid) != version.uuid:
        raise NotReadable(f"{name} is no longer the table that the last refresh read. Refresh the view.")
    snapshot = None if version.snapshot_id is None else table.metadata.snapshot_by_id(version.snapshot_id)
    if snapshot is None and version.snapshot_id is not None:
        raise NotReadable(
            f"{name} has expired the snapshot {version.snapshot_id} that the last refresh read. Refresh the view."
        )
    wanted = table.schemas().get(version.schema_id)
    stored = None if snapshot is None else table.schemas().get(schema_id_at(table, snapshot))
    if wanted is None:
        raise NotReadable(f"{name} can no longer be shown with the columns of that time. Refresh the view.")
    return IcebergSource(table, recorded.storage, version, shown(wanted), stored)
