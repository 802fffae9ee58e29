"""Reader for Hive metastores.

PyIceberg lists and loads no views of them. Iceberg's HiveCatalog keeps a view as an entry of the metastore with the
parameters `table_type` (ICEBERG-VIEW) and `metadata_location`, as it keeps a table (ICEBERG).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.metadata_files import MetadataFiles
from dbt.adapters.icebergmv.maintenance.catalog.pyiceberg_reader import PyIcebergReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo

if TYPE_CHECKING:
    # Its package is installed with an extra of ours.
    from pyiceberg.catalog.hive import HiveCatalog

T = TypeVar("T")
_KINDS: dict[str, Literal["table", "view"]] = {"iceberg": "table", "iceberg-view": "view"}


class Reader(PyIcebergReader):
    """Reader for Hive metastores. PyIceberg's Thrift client is one connection, so each call has a client of its own."""

    catalog_class = "pyiceberg.catalog.hive.HiveCatalog"
    catalog_type = "hive"
    implementation = "HiveCatalog"

    def __init__(self, catalog: HiveCatalog) -> None:
        super().__init__(catalog)
        # It writes of a metastore that is down to the console; the error that it raises says the same.
        logging.getLogger("thrift.transport.TSocket").setLevel(logging.CRITICAL + 1)
        self._hive = catalog
        self._files = MetadataFiles(catalog)

    def namespaces(self) -> list[str]:
        """Return all namespaces, sorted."""
        return self._call(lambda client: sorted(client.get_all_databases()))

    def entries(self, namespace: str) -> list[CatalogEntry]:
        """Return the Iceberg tables and views of a namespace."""

        def found(client: Any) -> list[Any]:
            names = client.get_all_tables(db_name=namespace)
            return client.get_table_objects_by_name(dbname=namespace, tbl_names=names) if names else []

        kinds = [(entry.tableName, _kind(entry)) for entry in self._call(found)]
        return [CatalogEntry(name, kind) for name, kind in kinds if kind is not None]

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        """Return the current metadata of a view."""
        location = self._location(namespace, name, "view")
        return None if location is None else self._ask(lambda: self._files.view(namespace, name, location))

    def found_table(self, namespace: str, name: str) -> Table | None:
        """Return a table with its current metadata."""
        location = self._location(namespace, name, "table")
        return None if location is None else self._ask(lambda: self._files.table((namespace, name), location))

    def _location(self, namespace: str, name: str, kind: str) -> str | None:
        try:
            entry = self._call(lambda client: self._hive._get_hive_table(client, namespace, name))
        except NoSuchTableError:
            return None
        location = entry.parameters.get("metadata_location")
        return location if location and _kind(entry) == kind else None

    def _call(self, question: Callable[[Any], T]) -> T:
        def asked() -> T:
            with self._hive._create_hive_client(self._hive.properties) as client:
                return question(client)

        return self._ask(asked)


def _kind(entry: Any) -> Literal["table", "view"] | None:
    return _KINDS.get((entry.parameters or {}).get("table_type", "").lower())
