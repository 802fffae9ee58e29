"""Reader for Iceberg REST catalogs."""

from __future__ import annotations

from contextlib import suppress

from pyiceberg.catalog.rest import Capability, RestCatalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchViewError
from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.pyiceberg_reader import PyIcebergReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo, spellings
from dbt.adapters.icebergmv.maintenance.catalog.view_metadata import view_info


class Reader(PyIcebergReader):
    """Reader for REST catalogs. All threads share one HTTP session, as PyIceberg's own scans do."""

    catalog_class = "pyiceberg.catalog.rest.RestCatalog"
    catalog_type = "rest"
    implementation = "RESTCatalog"

    def __init__(self, catalog: RestCatalog) -> None:
        super().__init__(catalog)
        self._rest = catalog

    @property
    def has_views(self) -> bool:
        """Return whether the server says that it has views. Iceberg REST specification, `endpoints` of a config."""
        return Capability.V1_LOAD_VIEW in self._rest._supported_endpoints

    def entries(self, namespace: str) -> list[CatalogEntry]:
        """Return the tables and views of a namespace."""
        return next((found for parts in spellings(namespace) if (found := self._entries(parts)) is not None), [])

    def table(self, namespace: str, name: str) -> Table | None:
        """Return a table with its current metadata."""
        return next((found for parts in spellings(namespace) if (found := self._loaded(parts, name))), None)

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        """Return the current metadata of a view."""
        if not self.has_views:
            return None
        for parts in spellings(namespace):
            with suppress(NoSuchViewError, NoSuchNamespaceError):
                return self._view(parts, name)
        return None

    def _entries(self, namespace: tuple[str, ...]) -> list[CatalogEntry] | None:
        try:
            tables = self._ask(lambda: self._rest.list_tables(namespace))
            views = self._ask(lambda: self._rest.list_views(namespace))
        except NoSuchNamespaceError:
            return None
        return [CatalogEntry(i[-1], "table") for i in tables] + [CatalogEntry(i[-1], "view") for i in views]

    def _view(self, namespace: tuple[str, ...], name: str) -> ViewInfo:
        loaded = self._ask(lambda: self._rest.load_view((*namespace, name)))
        return self._ask(lambda: view_info(".".join(namespace), name, loaded.metadata))
