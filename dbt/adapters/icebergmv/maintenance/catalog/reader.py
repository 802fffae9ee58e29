"""Reading the catalog without Spark: namespaces, tables, views.

PyIceberg reads tables from every catalog it knows. Views it loads from REST catalogs only, so for SQL
catalogs the view's metadata file is found through the catalog's own database (the layout that Iceberg's
JdbcCatalog writes) and parsed with PyIceberg's view model.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError, NoSuchViewError
from pyiceberg.io import load_file_io
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.view.metadata import ViewMetadata
from sqlalchemy import text

from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable
from dbt.adapters.icebergmv.maintenance.sql.spark_types import ddl_type, spark_type

T = TypeVar("T")
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class CatalogEntry:
    """A name in a namespace and what stands behind it."""

    name: str
    kind: Literal["table", "view"]


@dataclass(frozen=True)
class ColumnInfo:
    """A column as Spark shows it: stored name, Spark type text, comment. `required`: it is never NULL."""

    name: str
    type: str
    comment: str | None
    required: bool = False


@dataclass(frozen=True)
class ViewInfo:
    """The current metadata of an Iceberg view.

    `sql` is empty when the view has none in Spark's dialect. `retained_sql` holds the Spark SQL of every version the
    view still keeps, the current one included. Names in the SQL without a catalog or a namespace are those of
    `default_catalog` (None: the view's own) and `default_namespace`. `types` are the column types as Spark DDL.
    """

    namespace: str
    name: str
    uuid: str
    sql: str
    columns: tuple[ColumnInfo, ...]
    properties: Mapping[str, str]
    comment: str | None
    retained_sql: tuple[str, ...]
    version_id: int = 0
    default_catalog: str | None = None
    default_namespace: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


class CatalogReader(Protocol):
    """What the product needs to know of a catalog. Absent things are empty or None, never an error."""

    @property
    def name(self) -> str:
        """Return the name of the catalog in Spark."""

    def namespaces(self) -> list[str]:
        """Return all namespaces, dotted."""

    def entries(self, namespace: str) -> list[CatalogEntry]:
        """Return the tables and views of a namespace."""

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        """Return the current metadata of a view."""

    def table(self, namespace: str, name: str) -> Table | None:
        """Return a table with its current metadata."""


class _PyIcebergReader:
    """The part that is the same for every PyIceberg catalog: namespaces and tables."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    @property
    def name(self) -> str:
        return self._catalog.name

    def namespaces(self) -> list[str]:
        return self._ask(lambda: sorted(".".join(n) for n in self._catalog.list_namespaces()))

    def table(self, namespace: str, name: str) -> Table | None:
        try:
            return self._ask(lambda: self._catalog.load_table((namespace, name)))
        except (NoSuchTableError, NoSuchNamespaceError):
            return None

    def _tables(self, namespace: str) -> list[CatalogEntry]:
        try:
            found = self._ask(lambda: self._catalog.list_tables((namespace,)))
        except NoSuchNamespaceError:
            return []
        return [CatalogEntry(identifier[-1], "table") for identifier in found]

    def _ask(self, question: Callable[[], T]) -> T:
        """Run one catalog call; anything but "no such ..." becomes CatalogUnavailable."""
        try:
            return question()
        except (NoSuchTableError, NoSuchNamespaceError, NoSuchViewError):
            raise
        except Exception as error:
            raise _unavailable(self._catalog.name, error) from error


class SqlCatalogReader(_PyIcebergReader):
    """Reader for JDBC/SQL catalogs (the default: SQLite in the warehouse folder)."""

    def __init__(self, catalog: SqlCatalog) -> None:
        super().__init__(catalog)
        self._sql = catalog

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
        metadata = self._ask(lambda: _read_view_metadata(self._sql.properties, location))
        return _view_info(namespace, name, metadata)

    def _rows(self, statement: str, namespace: str, table: str | None = None) -> list[tuple[str, str | None]]:
        def run() -> list[tuple[str, str | None]]:
            with self._sql.engine.connect() as connection:
                found = connection.execute(text(statement), {"c": self.name, "n": namespace, "t": table})
                return [tuple(row) for row in found]  # type: ignore[misc]

        return self._ask(run)


class RestCatalogReader(_PyIcebergReader):
    """Reader for Iceberg REST catalogs."""

    def __init__(self, catalog: RestCatalog) -> None:
        super().__init__(catalog)
        self._rest = catalog

    def entries(self, namespace: str) -> list[CatalogEntry]:
        """Return the tables and views of a namespace."""
        tables = self._tables(namespace)
        try:
            views = self._ask(lambda: self._rest.list_views((namespace,)))
        except NoSuchNamespaceError:
            views = []
        return tables + [CatalogEntry(identifier[-1], "view") for identifier in views]

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        """Return the current metadata of a view."""
        try:
            loaded = self._ask(lambda: self._rest.load_view((namespace, name)))
        except (NoSuchViewError, NoSuchNamespaceError):
            return None
        return _view_info(namespace, name, loaded.metadata)


class TablesOnlyReader(_PyIcebergReader):
    """Reader for catalogs whose views PyIceberg cannot list (Glue, Hive, DynamoDB, ...)."""

    def entries(self, namespace: str) -> list[CatalogEntry]:
        """Return the tables of a namespace."""
        return self._tables(namespace)

    def view(self, namespace: str, name: str) -> ViewInfo | None:  # noqa: ARG002 - the reader's shape
        """Return None: views of these catalogs cannot be read without Spark."""
        return None


def open_catalog(name: str, properties: Mapping[str, str]) -> CatalogReader:
    """Open the catalog `name` with PyIceberg properties and return a reader for it.

    Raises CatalogUnavailable when PyIceberg cannot open it.
    """
    try:
        catalog = load_catalog(name, **properties)
    except Exception as error:
        raise _unavailable(name, error) from error
    match catalog:
        case SqlCatalog():
            return SqlCatalogReader(catalog)
        case RestCatalog():
            return RestCatalogReader(catalog)
        case _:
            return TablesOnlyReader(catalog)


def table_columns(table: Table) -> tuple[ColumnInfo, ...]:
    """Return the columns of the table's current schema, in order."""
    return schema_columns(table.schema())


def schema_columns(schema: Schema) -> tuple[ColumnInfo, ...]:
    """Return the top-level columns of an Iceberg schema as Spark shows them."""
    return tuple(ColumnInfo(f.name, spark_type(f.field_type), f.doc, f.required) for f in schema.fields)


def _read_view_metadata(properties: Mapping[str, str], location: str) -> ViewMetadata:
    with load_file_io(dict(properties), location).new_input(location).open() as stream:
        content = stream.read()
    if content.startswith(_GZIP_MAGIC):
        content = gzip.decompress(content)
    return ViewMetadata.model_validate_json(content)


def _view_info(namespace: str, name: str, metadata: ViewMetadata) -> ViewInfo:
    versions = {v.version_id: v for v in metadata.versions}
    current = versions[metadata.current_version_id]
    schema = next(s for s in metadata.schemas if s.schema_id == current.schema_id)
    spark_sql = {
        v.version_id: r.root.sql for v in metadata.versions for r in v.representations if r.root.dialect == "spark"
    }
    return ViewInfo(
        namespace=namespace,
        name=name,
        uuid=metadata.view_uuid,
        sql=spark_sql.get(current.version_id, ""),
        columns=schema_columns(schema),
        properties=metadata.properties,
        comment=metadata.properties.get("comment"),
        retained_sql=tuple(spark_sql.values()),
        version_id=current.version_id,
        default_catalog=current.default_catalog,
        default_namespace=tuple(current.default_namespace),
        types=tuple(ddl_type(f.field_type) for f in schema.fields),
    )


def _unavailable(name: str, error: Exception) -> CatalogUnavailable:
    cause = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return CatalogUnavailable(
        f"Cannot read the catalog `{name}`: {cause[:300]}. "
        "Check `warehouse` or `catalog_properties` in the profile, and that the catalog is reachable."
    )
