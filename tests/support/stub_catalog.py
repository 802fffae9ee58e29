"""A catalog that holds what a test puts in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo


@dataclass
class StubCatalog:
    """A catalog of what a test puts in it; names are `namespace.name`."""

    views: Mapping[str, ViewInfo] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    name: str = "lake"
    has_views: bool = True
    shows_all_views: bool = True

    def namespaces(self) -> list[str]:
        return ["ns"]

    def entries(self, namespace: str) -> list[CatalogEntry]:
        return []

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        return self.views.get(f"{namespace}.{name}")

    def table(self, namespace: str, name: str) -> Table | None:
        return self.tables.get(f"{namespace}.{name}")
