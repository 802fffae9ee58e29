"""Base tables of a definition whose changed rows are asked, and a definition to ask."""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable, BaseTables
from tests.support.bases import analysed
from tests.support.stub_catalog import StubCatalog


class Tables(BaseTables):
    """Base tables by their names."""

    def __init__(self, known: Mapping[str, BaseTable]) -> None:
        super().__init__(StubCatalog())
        self.known = known

    def of(self, reference: TableReference) -> BaseTable:
        return self.known[reference.name]


class OneTable(BaseTables):
    """Base tables that are all the same one."""

    def __init__(self, table: BaseTableStatus) -> None:
        super().__init__(StubCatalog())
        self.table = table

    def of(self, reference: TableReference) -> BaseTable:
        return self.table.base


def of_itself(copies: int) -> ViewDefinition:
    """Return a view that uses one aggregate so many times."""
    uses = " JOIN ".join(f"x AS x{n}" for n in range(copies))
    return analysed(f"WITH x AS (SELECT region, sum(v) AS s FROM t GROUP BY region) SELECT x0.region FROM {uses}")
