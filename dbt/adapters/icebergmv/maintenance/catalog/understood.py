"""Tables and views whose metadata hold more than PyIceberg knows, such as a type of a newer Iceberg.

Spark reads them. So it is no failure of the catalog: whoever can do without their metadata does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import pydantic
import pyiceberg.exceptions
from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.failures import chain
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, TableNotUnderstood
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show

_MODELS = ("TableMetadata", "TableResponse", "ViewMetadata", "ViewResponse")
"""What the models are called by which PyIceberg reads metadata, from a file and from a REST server."""

_NO_METADATA = {"json_invalid", "union_tag_not_found", "missing"}
"""Kinds of pydantic's errors that say that a file holds no metadata of a table or view, or half of them."""

_UNKNOWN = ("Could not parse", "Unknown format version")
"""How PyIceberg begins what it says of a type with parameters, and of a format, that it does not know."""


@contextmanager
def understanding(kind: Literal["table", "view"], name: TableName) -> Iterator[None]:
    """Raise TableNotUnderstood instead of CatalogUnavailable where metadata are beyond PyIceberg."""
    try:
        yield
    except CatalogUnavailable as error:
        if not any(map(_is_of_something_unknown, chain(error))):
            raise
        raise TableNotUnderstood(
            "PyIceberg does not know all that its metadata hold, such as a type. Use a newer PyIceberg.",
            subject=f"Cannot read the {kind} {show(name)}",
        ) from error


def understood_table(catalog: CatalogReader, namespace: str, name: str) -> Table | None:
    """Return a table, also None where PyIceberg does not understand its metadata. Raises CatalogUnavailable."""
    try:
        return catalog.table(namespace, name)
    except TableNotUnderstood:
        return None


def _is_of_something_unknown(error: BaseException) -> bool:
    if isinstance(error, pydantic.ValidationError):
        return error.title.startswith(_MODELS) and not any(e["type"] in _NO_METADATA for e in error.errors())
    return isinstance(error, pyiceberg.exceptions.ValidationError) and str(error).startswith(_UNKNOWN)
