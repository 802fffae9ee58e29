"""A catalog as it is at one look: what was asked once is not asked again.

Many views read the same tables. One look at each is quicker, and all views are judged by the same snapshots.
"""

from __future__ import annotations

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, CatalogReader, ViewInfo


class OneLook:
    """A reader that keeps the answers of another one. It is for one caller, and for one question of a person."""

    def __init__(self, catalog: CatalogReader) -> None:
        self._catalog = catalog
        self._views: dict[tuple[str, str], ViewInfo | None] = {}
        self._tables: dict[tuple[str, str], Table | None] = {}

    @property
    def name(self) -> str:
        """Return the name of the catalog in Spark."""
        return self._catalog.name

    @property
    def has_views(self) -> bool:
        """Return whether the catalog has views."""
        return self._catalog.has_views

    @property
    def shows_all_views(self) -> bool:
        """Return whether a view that is not among the entries is not there, for sure."""
        return self._catalog.shows_all_views

    def namespaces(self) -> list[str]:
        """Return all namespaces, dotted and sorted."""
        return self._catalog.namespaces()

    def entries(self, namespace: str) -> list[CatalogEntry]:
        """Return the tables and views of a namespace."""
        return self._catalog.entries(namespace)

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        """Return the metadata of a view at the first time it is asked for. Raises CatalogUnavailable."""
        key = (namespace, name)
        if key not in self._views:
            self._views[key] = self._catalog.view(namespace, name)
        return self._views[key]

    def table(self, namespace: str, name: str) -> Table | None:
        """Return a table with its metadata at the first time it is asked for. Raises CatalogUnavailable."""
        key = (namespace, name)
        if key not in self._tables:
            self._tables[key] = self._catalog.table(namespace, name)
        return self._tables[key]
