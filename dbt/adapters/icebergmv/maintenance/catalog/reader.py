"""What the product needs to know of a catalog without Spark: namespaces, tables, views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.types import IcebergType

from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type


@dataclass(frozen=True)
class CatalogEntry:
    """A name in a namespace, and whether it is a table or a view."""

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
class ViewVersion:
    """A version that a view still keeps: its Spark SQL, empty when it has none, and when it was made (ms)."""

    version_id: int
    made_at: int
    sql: str


@dataclass(frozen=True)
class ViewInfo:
    """The current metadata of an Iceberg view.

    `sql` is empty when the view has none in Spark's dialect. Names in the SQL without a catalog or a namespace are
    those of `default_catalog` (None: the view's own) and `default_namespace`. `types` are the column types as Spark
    DDL. `versions` are those that it still keeps, the current one included.
    """

    namespace: str
    name: str
    uuid: str
    sql: str
    columns: tuple[ColumnInfo, ...]
    properties: Mapping[str, str]
    comment: str | None
    version_id: int = 0
    default_catalog: str | None = None
    default_namespace: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    versions: tuple[ViewVersion, ...] = ()


class CatalogReader(Protocol):
    """What the product needs to know of a catalog.

    What is absent is empty or None, never an error. Whatever else fails raises CatalogUnavailable.

    One reader serves all threads of a process at once, so its methods are called concurrently. A client below it that
    serves one thread at a time (a single connection or transport) needs a lock, or one client a thread. Every answer is
    the catalog's state at that moment: no answer is kept between calls. Only what an immutable file holds may be.
    """

    @property
    def name(self) -> str:
        """Return the name of the catalog in Spark."""

    @property
    def has_views(self) -> bool:
        """Return whether views can be kept in the catalog."""

    @property
    def shows_all_views(self) -> bool:
        """Return whether a view that is not among the entries is not there, for sure."""

    def namespaces(self) -> list[str]:
        """Return all namespaces, dotted and sorted."""

    def entries(self, namespace: str) -> list[CatalogEntry]:
        """Return the tables and views of a namespace."""

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        """Return the current metadata of a view. Raises TableNotUnderstood where these are beyond PyIceberg."""

    def table(self, namespace: str, name: str) -> Table | None:
        """Return a table with its current metadata. Raises TableNotUnderstood where these are beyond PyIceberg."""


def table_columns(table: Table) -> tuple[ColumnInfo, ...]:
    """Return the columns of the table's current schema, in order."""
    return schema_columns(table.schema())


def schema_columns(schema: Schema) -> tuple[ColumnInfo, ...]:
    """Return the top-level columns of an Iceberg schema as Spark shows them."""
    return tuple(ColumnInfo(f.name, spark_type(f.field_type), f.doc, f.required) for f in schema.fields)


def column_types(schema: Schema) -> dict[str, str]:
    """Return the types of the top-level columns of an Iceberg schema, in Spark's words, by their names."""
    return {f.name: spark_type(f.field_type) for f in schema.fields}


def stored_columns(schema: Schema) -> list[tuple[int, str, IcebergType]]:
    """Return what makes the columns of a schema what they are (id, name, type): comments do not."""
    return [(f.field_id, f.name, f.field_type) for f in schema.fields]


def schema_id_at(table: Table, snapshot: Snapshot) -> int:
    """Return the schema of a snapshot; that of today where it does not say (Iceberg spec, "Snapshots")."""
    return table.metadata.current_schema_id if snapshot.schema_id is None else snapshot.schema_id


def summary_count(table: Table, snapshot_id: int, what: str) -> int | None:
    """Return a count in the summary of a snapshot (`total-records`); None where it does not say."""
    snapshot = table.snapshot_by_id(snapshot_id)
    summary = None if snapshot is None else snapshot.summary
    count = None if summary is None else summary.get(what)
    return int(count) if count is not None and count.isdecimal() else None


def spellings(namespace: str) -> Iterator[tuple[str, ...]]:
    """Yield the names that a dotted namespace can stand for: one with dots in it, as our SQL names it, or nested."""
    yield (namespace,)
    if "." in namespace:
        yield tuple(namespace.split("."))
