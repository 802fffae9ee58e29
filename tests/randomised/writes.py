"""What a plan writes, made by the engine: the statements that a refresh runs on a branch of the storage table."""

from __future__ import annotations

from dataclasses import dataclass
from unittest.mock import patch

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden, is_key
from dbt.adapters.icebergmv.maintenance.planning.kept_columns import stored_hidden
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, Merge, Overwrite, ReachedRows
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.planning.write import MOST_FILES, Write, write_of
from dbt.adapters.icebergmv.maintenance.refresh.statements import write_rows
from dbt.adapters.icebergmv.maintenance.sql import key_lists, rendering
from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import NewView
from dbt.adapters.icebergmv.maintenance.status.recorded.hidden_columns import shown
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from tests.randomised.database import BRANCH, STORED

STORED_NAME = ("lake", "ns", "stored")
SUMMARY = {"snapshot-property.refresh-state": '{"source-states": []}'}


class _ScatteredRows(StoredRows):
    """Rows of which the snapshot says that they are few, in many files."""

    def count(self, what: str) -> int | None:
        return {"total-records": 40, "total-data-files": MOST_FILES + 1}.get(what)


@dataclass(frozen=True)
class Target:
    """What a plan is carried out over: the definition, its base tables, and the storage table."""

    definition: ViewDefinition
    bases: BaseTables
    storage: Table

    @property
    def shown_and_keys(self) -> list[str]:
        """Return the columns of the storage table that the view shows, and the hidden keys."""
        return [f.name for f in self.storage.schema().fields if is_key(f.name) or not is_hidden(f.name)]

    def write(self, plan: Append | Overwrite | Merge | Full, *, is_scattered: bool = False) -> Write:
        """Return the write of a plan; into a storage table of which it is known that its rows are scattered, or not."""
        request = RefreshRequest(("lake", "ns", "v"), self.definition.sql, "ns", ViewConfig("", STORED_NAME), "tester")
        view = NewView(request, self.definition, self.bases, MaterializedViewStatus(()), (), self.storage)
        columns = tuple(Column(f.name, spark_type(f.field_type)) for f in shown(self.storage.schema()).fields)
        settled = Settled(view, columns, plan, hidden=stored_hidden(self.storage))
        with (
            patch.object(key_lists, "MANY_KEYS", self._many_keys(plan)),
            patch.object(rendering, "LONG_LIST", self._long_list(plan)),
        ):
            stored = _ScatteredRows if is_scattered else StoredRows
            return write_of(settled, stored(STORED_NAME, self.storage, STORED))

    def _many_keys(self, plan: Append | Overwrite | Merge | Full) -> int:
        """Return from how many keys on they are in lists: most regions are too small, so one of two is."""
        regions = [plan.region] if isinstance(plan, Overwrite) else []
        if isinstance(plan, Merge):
            regions = [delta.region for delta in plan.deltas if isinstance(delta, ReachedRows)]
        return 1 if any(len(region) % 2 == 0 for region in regions) else key_lists.MANY_KEYS

    def _long_list(self, plan: Append | Overwrite | Merge | Full) -> int:
        """Return from how many values on a list is a text: of an overwrite, two are enough one time of two."""
        disjuncts = plan.region if isinstance(plan, Overwrite) else ()
        values = sum(len(domain.ranges) for disjunct in disjuncts for _, domain in disjunct.constraints)
        return 1 if values % 2 == 0 else rendering.LONG_LIST


def statements(write: Write) -> list[str]:
    """Return the statements of a write."""
    return write_rows(STORED_NAME, BRANCH, write, SUMMARY)
