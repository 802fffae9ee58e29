"""Opening a catalog: which reader is for which catalog."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from pyiceberg.catalog import load_catalog

from dbt.adapters.icebergmv.maintenance.catalog import readers
from dbt.adapters.icebergmv.maintenance.catalog.failures import unavailable
from dbt.adapters.icebergmv.maintenance.catalog.pyiceberg_reader import PyIcebergReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.errors import InvalidCatalog

_FOUND: list[type[PyIcebergReader]] = [
    importlib.import_module(f"{readers.__name__}.{module.name}").Reader
    for module in pkgutil.iter_modules(readers.__path__)
]
READERS = tuple(_FOUND)


def readable_type(name: str, kind: str, implementation: str) -> str:
    """Return the type of the catalog `name` in lower case; empty if only opening it shows. Nothing is opened.

    `kind` and `implementation` are Iceberg's `type` and `catalog-impl`, empty where not given. A class from elsewhere
    may speak REST, which PyIceberg finds out when it opens the catalog. Raises InvalidCatalog when no reader can be for
    the catalog.
    """
    package, _, class_name = implementation.rpartition(".")
    for reader in READERS:
        if kind.lower() == reader.catalog_type or class_name == reader.implementation:
            return reader.catalog_type
    if kind or package.startswith("org.apache.iceberg"):
        raise _unsupported(name, kind or class_name)
    return ""


def open_catalog(name: str, properties: Mapping[str, str]) -> CatalogReader:
    """Open the catalog `name` with PyIceberg properties and return a reader for it.

    Raises CatalogUnavailable when PyIceberg cannot open it, InvalidCatalog when no reader is for it.
    """
    try:
        catalog = load_catalog(name, **properties)
    except Exception as error:
        # Drivers, HTTP and missing packages fail in kinds that no library lists.
        raise unavailable("open", name, error, properties) from error
    # The most specific class first: the reader of a subclass comes before that of its base class.
    for kind in type(catalog).__mro__:
        for reader in READERS:
            if reader.catalog_class == f"{kind.__module__}.{kind.__qualname__}":
                return reader(catalog)
    raise _unsupported(name, type(catalog).__name__)


def _unsupported(name: str, kind: str) -> InvalidCatalog:
    *most, last = sorted(reader.catalog_type for reader in READERS)
    usable = f"{', '.join(most)} or {last}"
    return InvalidCatalog(
        f"it is of type {kind}, in which views cannot be read without Spark. Use a catalog of type {usable}.",
        subject=f"Cannot open the catalog `{name}`",
    )
