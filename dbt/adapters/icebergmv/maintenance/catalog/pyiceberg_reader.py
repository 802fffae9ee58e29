"""What every reader over a PyIceberg catalog shares: namespaces, tables, and errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, TypeVar

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import (
    BadRequestError,
    ForbiddenError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    RESTError,
)
from pyiceberg.table import Table
from pyiceberg.typedef import Identifier

from dbt.adapters.icebergmv.maintenance.catalog.failures import chain, unavailable
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.secrets import secret_values, shown_cause
from dbt.adapters.icebergmv.maintenance.catalog.understood import understanding
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable

T = TypeVar("T")
_AT_ONCE = 8
_NO_LEVELS = {BadRequestError, ForbiddenError, NotImplementedError, RESTError}
"""What a server answers that does not list the namespaces in another one: 400, 403, 501, or a 4xx without a class."""


class PyIcebergReader(ABC):
    """The part of a reader that is the same for every PyIceberg catalog.

    A reader gives, beside `entries` and `view`, the catalogs it is for: `catalog_class` is the name of PyIceberg's
    class, whose module may need packages that are not installed; `catalog_type` and `implementation` are the values in
    Iceberg's own properties `type` and `catalog-impl` (the class without its package).
    """

    catalog_class: ClassVar[str]
    catalog_type: ClassVar[str]
    implementation: ClassVar[str]

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    @property
    def name(self) -> str:
        """Return the name of the catalog in Spark."""
        return self._catalog.name

    @property
    def has_views(self) -> bool:
        """Return whether views can be kept in the catalog."""
        return True

    @property
    def shows_all_views(self) -> bool:
        """Return whether a view that is not among the entries is not there, for sure."""
        return self.has_views

    def namespaces(self) -> list[str]:
        """Return all namespaces, dotted and sorted."""
        found = list[Identifier]()
        level: list[Identifier] = self._ask(self._catalog.list_namespaces)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            while level:
                found += level
                level = [name for below in pool.map(self._below, level) for name in below]
        return sorted({".".join(name) for name in found})

    @abstractmethod
    def entries(self, namespace: str) -> list[CatalogEntry]:
        """Return the tables and views of a namespace."""

    @abstractmethod
    def view(self, namespace: str, name: str) -> ViewInfo | None:
        """Return the current metadata of a view."""

    def table(self, namespace: str, name: str) -> Table | None:
        """Return a table with its current metadata. Raises TableNotUnderstood where these are beyond PyIceberg."""
        with understanding("table", (self.name, namespace, name)):
            return self.found_table(namespace, name)

    def found_table(self, namespace: str, name: str) -> Table | None:
        """Return what `table` does; whatever fails is CatalogUnavailable."""
        try:
            return self._ask(lambda: self._catalog.load_table((namespace, name)))
        except (NoSuchTableError, NoSuchNamespaceError):
            return None

    def _below(self, parent: Identifier) -> list[Identifier]:
        """Return the namespaces in another one; none where the catalog has one level, or the login may not see them."""
        try:
            listed = self._ask(lambda: self._catalog.list_namespaces(parent))
        except NoSuchNamespaceError:
            return []
        except CatalogUnavailable as error:
            if any(type(cause) in _NO_LEVELS for cause in chain(error)):
                return []
            raise
        # A server that does not know the question answers another one.
        return [name for name in listed if len(name) > len(parent) and name[: len(parent)] == parent]

    def _ask(self, question: Callable[[], T]) -> T:
        """Run one catalog call; anything but "no such ..." becomes CatalogUnavailable."""
        try:
            return question()
        except (NoSuchTableError, NoSuchNamespaceError, NoSuchViewError):
            raise
        except Exception as error:
            # Database drivers, HTTP, file systems and parsers fail in kinds that no library lists.
            raise unavailable("read", self._catalog.name, error, self._catalog.properties) from shown_cause(
                error, secret_values(self._catalog.properties)
            )
