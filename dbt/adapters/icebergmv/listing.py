"""What stands in a schema, as a person sees it: tables, views, materialized views, and no storage tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeVar

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo
from dbt.adapters.icebergmv.maintenance.status.inspection import STORAGE_OF
from dbt.adapters.icebergmv.maintenance.status.recorded_state import STORAGE_KEY, is_materialized_view
from dbt.adapters.icebergmv.names import join_name, split_name

# Only tables named like this are opened to see whether they are storage: opening every table of a big schema
# would make each run slow. Storage of a view in the same schema is known from the view, whatever its name.
STORAGE_PREFIXES = ("__mv_storage__", "$materialized_view_storage$")
PARALLEL_READS = 8

RelationKind = Literal["table", "view", "materialized_view"]
In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True)
class ListedRelation:
    """A relation of a schema; `view` is set for views and materialized views."""

    name: str
    kind: RelationKind
    view: ViewInfo | None = None


def list_relations(reader: CatalogReader, namespace: str) -> list[ListedRelation]:
    """Return the relations of a schema, without the storage tables behind materialized views.

    An absent schema is empty. Raises CatalogUnavailable when the catalog or a view's metadata cannot be read.
    """
    entries = reader.entries(namespace)
    tables = [entry.name for entry in entries if entry.kind == "table"]
    names = [entry.name for entry in entries if entry.kind == "view"]
    # A view dropped since the listing is simply gone.
    views = [view for view in _parallel(lambda name: reader.view(namespace, name), names) if view is not None]
    hidden = _storage_of(views, reader.name, namespace)
    suspects = [name for name in tables if name not in hidden and name.startswith(STORAGE_PREFIXES)]
    hidden.update(
        name
        for name, is_storage in zip(suspects, _parallel(_storage_test(reader, namespace), suspects), strict=True)
        if is_storage
    )
    found = [ListedRelation(name, "table") for name in tables if name not in hidden]
    return found + [
        ListedRelation(view.name, "materialized_view" if is_materialized_view(view.properties) else "view", view)
        for view in views
    ]


def storage_table_name(reader: CatalogReader, namespace: str, name: str) -> tuple[str, str, str] | None:
    """Return (catalog, schema, table) of the storage behind a materialized view, None when it has none to drop.

    A table that belongs to another view is never returned: the name comes from a property that people can edit.
    """
    view = reader.view(namespace, name)
    text = view.properties.get(STORAGE_KEY) if view is not None else None
    if view is None or text is None:
        return None
    parts = _full_name(text, reader.name, namespace)
    if parts is None or parts[0] != reader.name:
        return None
    table = reader.table(parts[1], parts[2])
    if table is None:
        return None
    owner = table.properties.get(STORAGE_OF)
    if owner is not None and _full_name(owner, reader.name, namespace) not in {None, (reader.name, namespace, name)}:
        return None
    return parts


def rendered_storage_table(reader: CatalogReader, namespace: str, name: str) -> str | None:
    """Return the storage table behind a materialized view as quoted SQL, None when it has none."""
    parts = storage_table_name(reader, namespace, name)
    return None if parts is None else join_name(parts)


def _storage_of(views: Iterable[ViewInfo], catalog: str, namespace: str) -> set[str]:
    recorded = (view.properties[STORAGE_KEY] for view in views if STORAGE_KEY in view.properties)
    names = (_full_name(text, catalog, namespace) for text in recorded)
    return {parts[2] for parts in names if parts is not None and parts[:2] == (catalog, namespace)}


def _storage_test(reader: CatalogReader, namespace: str) -> Callable[[str], bool]:
    def test(name: str) -> bool:
        table = reader.table(namespace, name)
        return table is not None and STORAGE_OF in table.properties

    return test


def _full_name(text: str, catalog: str, namespace: str) -> tuple[str, str, str] | None:
    """Return a recorded name with all three parts; parts that are left out are those of the view itself."""
    try:
        parts = split_name(text)
    except ValueError:
        return None
    if len(parts) > 3:
        return None
    first, second, third = (catalog, namespace, "")[: 3 - len(parts)] + parts
    return first, second, third


def _parallel(read: Callable[[In], Out], items: list[In]) -> list[Out]:
    if len(items) < 2:
        return [read(item) for item in items]
    with ThreadPoolExecutor(min(PARALLEL_READS, len(items))) as pool:
        return list(pool.map(read, items))
