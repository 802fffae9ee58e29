"""What a plan writes, made by the engine: the statements that a refresh runs on a branch of the storage table."""

from __future__ import annotations

from dataclasses import dataclass

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.planning.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.write import Write, write_of
from dbt.adapters.icebergmv.maintenance.refresh.statements import write_rows
from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.inspection import NewView, RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.view_config import ViewConfig
from tests.randomised.database import BRANCH

STORED = ("lake", "ns", "stored")
SUMMARY = {"refresh-state": '{"source-states": []}'}


@dataclass(frozen=True)
class Target:
    """What a plan is carried out over: the definition, its base tables, and the storage table."""

    definition: ViewDefinition
    bases: BaseTables
    storage: Table

    def write(self, plan: Append | Overwrite | Full) -> Write:
        """Return the write of a plan."""
        request = RefreshRequest(("lake", "ns", "v"), self.definition.sql, "ns", ViewConfig("", STORED), "tester")
        view = NewView(request, self.definition, self.bases, MaterializedViewStatus(()), (), self.storage)
        columns = tuple(Column(f.name, spark_type(f.field_type)) for f in self.storage.schema().fields)
        return write_of(Settled(view, columns, plan), StoredRows(STORED, self.storage, 0))


def statements(write: Write) -> list[str]:
    """Return the statements of a write."""
    return write_rows(STORED, BRANCH, write, SUMMARY)
