"""Catalog readers, opened once per process and shared by all threads."""

from __future__ import annotations

import threading

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings, make_folder
from dbt.adapters.icebergmv.maintenance.catalog.opening import open_catalog
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable

_lock = threading.Lock()
_readers: dict[tuple[object, ...], CatalogReader] = {}


def reader_for(settings: CatalogSettings) -> CatalogReader:
    """Return the reader of this catalog, opening it at the first call.

    The folder of the default layout is made when it is missing. Raises CatalogUnavailable.
    """
    key = (settings.name, *sorted(settings.pyiceberg.items()))
    with _lock:
        if key not in _readers:
            try:
                make_folder(settings)
            except OSError as error:
                raise CatalogUnavailable(
                    f"its folder cannot be made ({error}). Give another `warehouse` in the profile.",
                    subject=f"Cannot open the catalog `{settings.name}`",
                ) from error
            _readers[key] = open_catalog(settings.name, settings.pyiceberg)
        return _readers[key]
