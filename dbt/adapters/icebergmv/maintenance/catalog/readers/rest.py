"""Reader for Iceberg REST catalogs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from pyiceberg.catalog.rest import Capability, RestCatalog
from pyiceberg.exceptions import BadRequestError, NoSuchNamespaceError, NoSuchTableError, NoSuchViewError
from pyiceberg.table import Table
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from dbt.adapters.icebergmv.maintenance.catalog.pyiceberg_reader import PyIcebergReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo, spellings
from dbt.adapters.icebergmv.maintenance.catalog.understood import understanding
from dbt.adapters.icebergmv.maintenance.catalog.view_metadata import view_info
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable

T = TypeVar("T")

_RETRIES = Retry(
    total=2,
    connect=0,
    status=0,
    other=0,
    allowed_methods=("GET", "HEAD"),
    backoff_factor=0.1,
    respect_retry_after_header=False,
)
"""Servers and proxies end connections that were idle for a while, also while the next question is on its way.

What a server answers is left to PyIceberg, and so is an adapter that has retries of its own (SigV4).
"""


class Reader(PyIcebergReader):
    """Reader for REST catalogs. All threads share one HTTP session, as PyIceberg's own scans do."""

    catalog_class = "pyiceberg.catalog.rest.RestCatalog"
    catalog_type = "rest"
    implementation = "RESTCatalog"

    def __init__(self, catalog: RestCatalog) -> None:
        super().__init__(catalog)
        self._rest = catalog
        for adapter in catalog._session.adapters.values():
            if isinstance(adapter, HTTPAdapter) and not adapter.max_retries.total:
                adapter.max_retries = _RETRIES

    @property
    def has_views(self) -> bool:
        """Return whether the server says that it has views. Iceberg REST specification, `endpoints` of a config."""
        return Capability.V1_LOAD_VIEW in self._rest._supported_endpoints

    def entries(self, namespace: str) -> list[CatalogEntry]:
        """Return the tables and views of a namespace."""

        def listed(parts: tuple[str, ...]) -> list[CatalogEntry]:
            tables, views = self._rest.list_tables(parts), self._rest.list_views(parts)
            return [CatalogEntry(i[-1], "table") for i in tables] + [CatalogEntry(i[-1], "view") for i in views]

        return self._spelled(namespace, listed) or []

    def found_table(self, namespace: str, name: str) -> Table | None:
        """Return a table with its current metadata."""
        return self._spelled(namespace, lambda parts: self._rest.load_table((*parts, name)))

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        """Return the current metadata of a view."""
        if not self.has_views:
            return None
        with understanding("view", (self.name, namespace, name)):
            return self._spelled(
                namespace, lambda parts: view_info(namespace, name, self._rest.load_view((*parts, name)).metadata)
            )

    def _spelled(self, namespace: str, look: Callable[[tuple[str, ...]], T]) -> T | None:
        """Return what there is under one of the names that a dotted namespace can stand for, else None.

        Servers differ: a name with a dot in it is absent, has nothing in it, or is refused.
        """
        refusals, names = list[CatalogUnavailable](), list(spellings(namespace))
        for parts in names:
            try:
                found = self._ask(partial(look, parts))
            except (NoSuchTableError, NoSuchViewError, NoSuchNamespaceError):
                continue
            except CatalogUnavailable as error:
                if not isinstance(error.__cause__, BadRequestError):
                    raise
                refusals.append(error)
            else:
                if found:
                    return found
        if len(refusals) == len(names):
            raise refusals[0]
        return None
