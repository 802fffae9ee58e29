"""Tables that make way for a view, that are made to become one, or that a view has left."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh import statements
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import may_delete_files, view_of_storage
from dbt.adapters.icebergmv.maintenance.status.recorded.storage_readers import may_be_read
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import is_view_table

BACKUP_SUFFIX = "__dbt_backup"


@contextmanager
def out_of_the_way(lake: Lake, view: TableName) -> Iterator[None]:
    """Rename the table that has the view's name; drop it once another one has the name, or give it its name back."""
    backup = _free_name(lake, view)
    lake.spark(statements.rename_table(view, backup))
    try:
        yield
    except BaseException:
        with suppress(Exception):
            lake.spark(statements.rename_table(backup, view))
        raise
    lake.spark(statements.drop_table(backup, purge=False))


def drop_backup(lake: Lake, view: TableName) -> None:
    """Drop the table that the view was in another layout, where the refresh that put it out of the way has died."""
    name = (view[0], view[1], view[2] + BACKUP_SUFFIX)
    table = lake.catalog.table(name[1], name[2])
    if table is not None and is_view_table(view, table.properties):
        # People may have given the name to a copy whose files another table has, too.
        lake.spark(statements.drop_table(name, purge=False))


def staging_name(view: TableName) -> TableName:
    """Return the name under which a table is made that is to get the name of a view."""
    return (view[0], view[1], f"__mv_storage__{view[2]}__next")


def drop_if_ours(lake: Lake, table: TableName, view: TableName) -> None:
    """Drop a table that was made for a view, if it is there."""
    found = lake.catalog.table(table[1], table[2])
    if found is not None and table != view and view_of_storage(found.properties) == view:
        drop_with_files(lake, table, found)


def drop_unless_read(lake: Lake, table: TableName, view: TableName) -> None:
    """Drop a table that was made for a view, unless other views read it: they do until they are refreshed.

    It is an orphan then, which `drop_orphaned_storage_tables` drops.
    """
    found = lake.catalog.table(table[1], table[2])
    if found is not None and not may_be_read(lake.catalog, table, found, view):
        drop_if_ours(lake, table, view)


def drop_with_files(lake: Lake, name: TableName, table: Table) -> None:
    """Drop a table, and its files but where Iceberg refuses to delete them (`gc.enabled` is false)."""
    lake.spark(statements.drop_table(name, purge=may_delete_files(table.properties)))


def _free_name(lake: Lake, view: TableName) -> TableName:
    """Return a name for a table that has to make way, which no other entry has yet."""
    taken = {entry.name for entry in lake.catalog.entries(view[1])}
    names = (view[2] + BACKUP_SUFFIX + (str(number) if number else "") for number in itertools.count())
    return (view[0], view[1], next(name for name in names if name not in taken))
