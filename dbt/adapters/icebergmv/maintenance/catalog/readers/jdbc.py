"""Reader for JDBC catalogs (the default: SQLite in the warehouse folder), which PyIceberg calls SQL catalogs.

PyIceberg lists and loads no views of them. So a view is found through the catalog's own database, in the layout that
Iceberg's JdbcCatalog writes, and its metadata file is parsed with PyIceberg's view model.
"""

from __future__ import annotations

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from sqlalchemy import text

from dbt.adapters.icebergmv.maintenance.catalog.metadata_files import MetadataFiles
from dbt.adapters.icebergmv.maintenance.catalog.pyiceberg_reader import PyIcebergReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo


class Reader(PyIcebergReader):
    """Reader for JDBC catalogs. SQLAlchemy's engine gives each call a connection of its own."""

    catalog_class = "pyiceberg.catalog.sql.SqlCatalog"
    catalog_type = "jdbc"
    implementation = "JdbcCatalog"

    def __init__(self, catalog: SqlCatalog) -> None:
        super().__init__(catalog)
        self._sql = catalog
        self._files = MetadataFiles(catalog)

    def namespaces(self) -> list[str]:
        """Return all namespaces, dotted and sorted: also one that is there through what is in it alone."""
        rows = self._rows(
            "select table_namespace, null from iceberg_tables where catalog_name = :c "
            "union select namespace, null from iceberg_namespace_properties where catalog_name = :c",
            "",
        )
        levels = [row[0].split(".") for row in rows]
        return sorted({".".join(parts[:depth]) for parts in levels for depth in range(1, len(parts) + 1)})

    def entries(self, namespace: str) -> list[CatalogEntry]:
        """Return the tables and views of a namespace."""
        rows = self._rows(
            "select table_name, iceberg_type from iceberg_tables "
            "where catalog_name = :c and table_namespace = :n order by table_name",
            namespace,
        )
        return [CatalogEntry(row[0], "view" if row[1] == "VIEW" else "table") for row in rows]

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        """Return the current metadata of a view."""
        rows = self._rows(
            "select metadata_location from iceberg_tables "
            "where catalog_name = :c and table_namespace = :n and table_name = :t and iceberg_type = 'VIEW'",
            namespace,
            name,
        )
        if not rows:
            return None
        location = str(rows[0][0])
        return self._ask(lambda: self._files.view(namespace, name, location))

    def found_table(self, namespace: str, name: str) -> Table | None:
        """Return a table with its current metadata."""
        rows = self._rows(
            "select metadata_location from iceberg_tables where catalog_name = :c and table_namespace = :n "
            "and table_name = :t and (iceberg_type = 'TABLE' or iceberg_type is null)",
            namespace,
            name,
        )
        if not rows or not rows[0][0]:
            return None
        location = str(rows[0][0])
        return self._ask(lambda: self._files.table((*namespace.split("."), name), location))

    def _rows(self, statement: str, namespace: str, table: str | None = None) -> list[tuple[str, str | None]]:
        def run() -> list[tuple[str, str | None]]:
            with self._sql.engine.connect() as connection:
                found = connection.execute(text(statement), {"c": self.name, "n": namespace, "t": table})
                return [tuple(row) for row in found]  # type: ignore[misc]

        return self._ask(run)
