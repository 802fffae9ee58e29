"""Reader for Iceberg REST catalogs."""

from __future__ import annotations

from pyiceberg.catalog.rest import Capability, RestCatalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchViewError

from dbt.adapters.icebergmv.maintenance.catalog.pyiceberg_reader import PyIcebergReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo
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
        try:
            tables = self._ask(lambda: self._rest.list_tables((namespace,)))
            views = self._ask(lambda: self._rest.list_views((namespace,)))
        except NoSuchNamespaceError:
            return []
        return [CatalogEntry(i[-1], "table") for i in tables] + [CatalogEntry(i[-1], "view") for i in views]

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        """Return the current metadata of a view."""
        if not self.has_views:
            return None
        try:
            return self._ask(lambda: view_info(namespace, name, self._rest.load_view((namespace, name)).metadata))
        except (NoSuchViewError, NoSuchNamespaceError):
            return None
