"""Base tables of a definition whose changed rows are asked, and a definition to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTable
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus
from tests.support.bases import analysed


@dataclass(frozen=True)
class OneTable:
    """Base tables that are all the same one."""

    table: BaseTableStatus
    catalog_name: str = "lake"

    def of(self, _: TableReference) -> BaseTable:
        return self.table.base


@dataclass(frozen=True)
class Tables:
    """Base tables by their names."""

    known: Mapping[str, BaseTable]
    catalog_name: str = "lake"

    def of(self, reference: TableReference) -> BaseTable:
        return self.known[reference.name]


def of_itself(copies: int) -> ViewDefinition:
    """Return a view that uses one aggregate so many times."""
    uses = " JOIN ".join(f"x AS x{n}" for n in range(copies))
    return analysed(f"WITH x AS (SELECT region, sum(v) AS s FROM t GROUP BY region) SELECT x0.region FROM {uses}")
