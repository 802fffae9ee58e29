"""The storage table that a view leaves for another: views that watch it are told, and it goes once nobody reads it.

A view over another one looks, when it is read, at the storage table that the other had at its own last refresh. Nothing
is committed to a table that was left. So it gets a property, which is a change of it for whoever watches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh import statements
from dbt.adapters.icebergmv.maintenance.refresh.replaced_tables import drop_unless_read
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.inspection import (
    Inspection,
    LostView,
    NewView,
    RefreshedView,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import PREFIX, storage_table_of, view_of_storage
from dbt.adapters.icebergmv.maintenance.status.session.clock import iso_now

LEFT_KEY = f"{PREFIX}left-at"
"""Table property of a storage table: when the view that it was made for left it for another one."""


@contextmanager
def leaving(lake: Lake, view: Inspection, storage: TableName) -> Iterator[None]:
    """Tell those who watch the tables that a view leaves, while it is published over another one.

    Once before, as the run may die after it; once after, for a view above that was refreshed between the two.
    """
    left = [name for name in _may_be_left(lake, view, storage) if _is_known_left(lake, view, storage, name)]
    _mark(lake, left)
    yield
    _mark(lake, left)


def drop_left(lake: Lake, view: LostView | RefreshedView, storage: TableName) -> None:
    """Drop the storage table that a view had, where it has another one now, unless other views read it."""
    for name in _may_be_left(lake, view, storage):
        if _is_left(lake, view, storage, name):
            drop_unless_read(lake, name, view.request.view)


def _may_be_left(lake: Lake, view: Inspection, storage: TableName) -> list[TableName]:
    """Return the names of the tables that a view may leave: that of its state, or of any that was made for its name.

    Of a view that was renamed, or dropped, nothing else is known when another one gets its name.
    """
    names = _may_be_of(lake, view, storage) if isinstance(view, NewView) else [view.state.storage_table]
    return [name for name in dict.fromkeys(names) if name[1:] not in (storage[1:], view.request.view[1:])]


def _may_be_of(lake: Lake, view: NewView, storage: TableName) -> list[TableName]:
    """Return the names of tables that may have been made for a view of the name; a storage table ends with it."""
    catalog, schema, name = view.request.view
    recorded = None if view.found is None else storage_table_of(view.found.properties, (catalog, schema))
    names = [] if recorded is None else [recorded]
    for searched in dict.fromkeys((schema, storage[1])):
        tables = (entry.name for entry in lake.catalog.entries(searched) if entry.kind == "table")
        names += [(catalog, searched, table) for table in tables if table.lower().endswith(name.lower())]
    return names


def _mark(lake: Lake, left: Sequence[TableName]) -> None:
    for name in left:
        try:
            lake.spark(statements.set_table_properties(name, {LEFT_KEY: iso_now()}))
        except Exception:
            # Whatever it failed of: a table that another refresh dropped meanwhile is read by nobody.
            if lake.catalog.table(*name[1:]) is not None:
                raise


def _is_known_left(lake: Lake, view: Inspection, storage: TableName, name: TableName) -> bool:
    """Return whether a table is left; one that cannot be read shows nobody old rows, and must not stop the view."""
    try:
        return _is_left(lake, view, storage, name)
    except CatalogUnavailable:
        return False


def _is_left(lake: Lake, view: Inspection, storage: TableName, name: TableName) -> bool:
    """Return whether the table of a name was made for the view, and is not its storage now.

    Somebody else may have a table of that name by now. And two names may be those of one table: of one that the catalog
    has under two names in Spark, or where it folds case.
    """
    found = lake.catalog.table(*name[1:])
    if found is None:
        return False
    if isinstance(view, NewView):
        is_ours = view_of_storage(found.properties) == view.request.view
    else:
        is_ours = str(found.metadata.table_uuid) == view.state.storage_uuid
    now = lake.catalog.table(*storage[1:]) if is_ours else None
    return is_ours and (now is None or now.metadata.table_uuid != found.metadata.table_uuid)
