"""What a schema holds, as a person sees it: tables, views, materialized views, and no storage tables."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeVar

from dbt.adapters.contracts.relation import RelationConfig

from dbt.adapters.icebergmv.maintenance.catalog.over_spark.reader import SparkReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.understood import understood_table
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, TableNotUnderstood
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import (
    PREFIX,
    is_materialized_view,
    is_storage_table,
    may_delete_files,
    storage_table_of,
    view_of_storage,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import (
    TableView,
    found_view,
    is_view_table,
    table_as_view,
)

# Only tables named like this are opened to see whether they are storage: opening every table of a big schema
# would make each run slow. Storage of a view in the same schema is known from the view, whatever its name.
STORAGE_PREFIXES = ("__mv_storage__", "$materialized_view_storage$")
PARALLEL_READS = 8

RelationKind = Literal["table", "view", "materialized_view"]
MATERIALIZED_VIEW: RelationKind = "materialized_view"
In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True)
class ListedRelation:
    """A relation of a schema; `view` is set for materialized views, and for views whose metadata can be read."""

    name: str
    kind: RelationKind
    view: ViewInfo | None = None


def list_relations(
    reader: CatalogReader, namespace: str, may_be_views: Container[str] = frozenset()
) -> list[ListedRelation]:
    """Return the relations of a schema, without the storage tables behind materialized views.

    `may_be_views` are names whose tables are opened to see whether they are materialized views (layout `table`).

    An absent schema is empty. A view whose metadata cannot be read is listed as a plain one: it is in nobody's way, and
    whoever needs what is in it gets the error. Raises CatalogUnavailable when the catalog cannot be read.
    """
    entries = reader.entries(namespace)
    tables = [entry.name for entry in entries if entry.kind == "table"]
    names = [entry.name for entry in entries if entry.kind == "view"]
    # A view dropped since the listing is simply gone.
    views = [view for view in _parallel(_view_of(reader, namespace), names) if view is not None]
    hidden = _storage_of((v.view for v in views if v.view is not None), reader.name, namespace)
    suspects = [name for name in tables if name not in hidden and name.startswith(STORAGE_PREFIXES)]
    hidden.update(
        name
        for name, is_storage in zip(suspects, _parallel(_storage_test(reader, namespace), suspects), strict=True)
        if is_storage
    )
    shown = [name for name in tables if name not in hidden]
    asked = [name for name in shown if name in may_be_views]
    of_tables = dict(zip(asked, _parallel(_view_of_table(reader, namespace), asked), strict=True))
    found = [
        ListedRelation(name, "table" if (view := of_tables.get(name)) is None else "materialized_view", view)
        for name in shown
    ]
    return found + views


def relations_in_spark(reader: SparkReader, namespace: str) -> list[ListedRelation] | None:
    """Return the relations of a schema in a catalog of any kind, of which only names are read.

    An absent schema is empty; None if Spark has no such catalog. Raises CatalogUnavailable when it cannot be read.
    """
    if not reader.is_there:
        return None
    return [ListedRelation(entry.name, entry.kind) for entry in reader.entries(namespace)]


def listed_relation(reader: CatalogReader, namespace: str, name: str) -> ListedRelation:
    """Return an entry of a schema as it would be listed, an absent one as a table. Raises CatalogUnavailable."""
    view = found_view(reader, (reader.name, namespace, name))
    return ListedRelation(name, "table") if view is None else _listed_view(view)


def _listed_view(view: ViewInfo) -> ListedRelation:
    return ListedRelation(view.name, "materialized_view" if is_materialized_view(view.properties) else "view", view)


def _view_of(reader: CatalogReader, namespace: str) -> Callable[[str], ListedRelation | None]:
    def look(name: str) -> ListedRelation | None:
        try:
            view = reader.view(namespace, name)
        except CatalogUnavailable:
            return ListedRelation(name, "view")
        return None if view is None else _listed_view(view)

    return look


def names_of_tables_to_open(nodes: Iterable[RelationConfig]) -> frozenset[str]:
    """Return the names under which a table may be a materialized view, to models that would do other things with it."""
    wanted = (MATERIALIZED_VIEW, "incremental")
    return frozenset(
        name
        for node in nodes
        if node.config is not None and str(getattr(node.config, "materialized", "")) in wanted
        for name in (str(node.identifier), str(node.identifier).lower())
    )


def storage_table_name(reader: CatalogReader, namespace: str, name: str) -> TableName | None:
    """Return (catalog, schema, table) of the storage behind a materialized view, None when it has none to drop.

    A table that was made for another view, or by somebody else, is never returned: the name comes from a property that
    people can edit, and they may have given the name to another table since.
    """
    view, schema = found_view(reader, (reader.name, namespace, name)), (reader.name, namespace)
    if isinstance(view, TableView):
        return (*schema, name)
    storage = None if view is None else storage_table_of(view.properties, schema)
    if storage is None or storage[0] != reader.name:
        return None
    table = reader.table(storage[1], storage[2])
    if table is None or view_of_storage(table.properties, schema) != (*schema, name):
        return None
    return storage


def view_properties(reader: CatalogReader, namespace: str, name: str) -> list[str]:
    """Return the names of the properties that make a table a materialized view; [] if it is none."""
    table = understood_table(reader, namespace, name)
    if table is None or not is_view_table((reader.name, namespace, name), table.properties):
        return []
    return sorted(key for key in table.properties if key.startswith(PREFIX))


def deletes_files(reader: CatalogReader, namespace: str, name: str) -> bool:
    """Return whether Iceberg deletes the files of the storage behind a materialized view when that is dropped."""
    parts = storage_table_name(reader, namespace, name)
    table = None if parts is None else reader.table(parts[1], parts[2])
    return table is not None and may_delete_files(table.properties)


def rendered_storage_table(reader: CatalogReader, namespace: str, name: str) -> str | None:
    """Return the storage table behind a materialized view as quoted SQL, None when it has none."""
    parts = storage_table_name(reader, namespace, name)
    return None if parts is None else qualified(*parts)


def _storage_of(views: Iterable[ViewInfo], catalog: str, namespace: str) -> set[str]:
    names = (storage_table_of(view.properties, (catalog, namespace)) for view in views)
    return {name[2] for name in names if name is not None and name[:2] == (catalog, namespace)}


def _storage_test(reader: CatalogReader, namespace: str) -> Callable[[str], bool]:
    def test(name: str) -> bool:
        try:
            table = reader.table(namespace, name)
        except TableNotUnderstood:
            # It has the name of storage.
            return True
        return table is not None and is_storage_table(table.properties)

    return test


def _view_of_table(reader: CatalogReader, namespace: str) -> Callable[[str], ViewInfo | None]:
    def look(name: str) -> ViewInfo | None:
        table = understood_table(reader, namespace, name)
        return None if table is None else table_as_view((reader.name, namespace, name), table)

    return look


def _parallel(read: Callable[[In], Out], items: list[In]) -> list[Out]:
    if len(items) < 2:
        return [read(item) for item in items]
    with ThreadPoolExecutor(min(PARALLEL_READS, len(items))) as pool:
        return list(pool.map(read, items))
