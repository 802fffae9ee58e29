"""Reader for Iceberg REST catalogs."""

from __future__ import annotations

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchViewError

from dbt.adapters.icebergmv.maintenance.catalog.pyiceberg_reader import PyIcebergReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.view_metadata import view_info


class Reader(PyIcebergReader):
    """Reader for REST catalogs. All threads share one HTTP session, as PyIceberg's own scans do."""

    catalog_class = RestCatalog
    catalog_type = "rest"
    implementation = "RESTCatalog"

    def __init__(self, catalog: RestCatalog) -> None:
        super().__init__(catalog)
        self._rest = catalog

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
        try:
            return self._ask(lambda: view_info(namespace, name, self._rest.load_view((namespace, name)).metadata))
        except (NoSuchViewError, NoSuchNamespaceError):
            return None
