"""The last step of every run that changes something: one commit of the view's SQL and its state."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewInfo
from dbt.adapters.icebergmv.maintenance.errors import RefreshConflict
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh import statements
from dbt.adapters.icebergmv.maintenance.refresh.state_after import moved
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import load_storage, lost_race, take_main_back
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, NewView, RefreshedView
from dbt.adapters.icebergmv.maintenance.status.pinned_view import has_moved, sql_hash
from dbt.adapters.icebergmv.maintenance.status.recorded_state import (
    PREFIX,
    ViewState,
    may_delete_files,
    view_of_storage,
)
from dbt.adapters.icebergmv.maintenance.status.stale_read_config import LIVE, StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.storage_readers import may_be_read
from dbt.adapters.icebergmv.maintenance.status.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.table_layout import TableView, is_view_table
from dbt.adapters.icebergmv.maintenance.status.view_config import VERSIONS_KEPT
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import ReadPlan, over_columns, read_text

BACKUP_SUFFIX = "__dbt_backup"
_BEHAVIOR_KEY = f"{PREFIX}stale-read-behavior"
_STORED: StaleReadBehavior = "use_data_table"


@dataclass(frozen=True)
class ViewText:
    """The SQL of a view, its columns, and the behaviour that it gives readers."""

    query: str
    columns: tuple[str, ...]
    behavior: StaleReadBehavior


def publish_view(
    lake: Lake, view: Inspection, reads: ReadPlan, state: ViewState, stored: StoredRows
) -> StaleReadBehavior:
    """Publish the state and the SQL that gives readers what was planned for them; return the behaviour they get."""
    return publish_text(lake, view, state, stored, view_text(view, reads, state, stored))


def republish(lake: Lake, view: RefreshedView, reads: ReadPlan, state: ViewState) -> StaleReadBehavior:
    """Publish another state over the rows that are stored already; return the behaviour that readers get.

    Main may be ahead of these rows, where a refresh has died before it published its own.
    """
    take_main_back(lake, view.stored)
    return publish_view(lake, view, reads, state, view.stored)


def publish_text(
    lake: Lake, view: Inspection, state: ViewState, stored: StoredRows, text: ViewText
) -> StaleReadBehavior:
    """Publish the state with the SQL of the view; return the behaviour that readers get."""
    config = view.request.config
    if not isinstance(view, NewView):
        _mark_storage(lake, stored, view.state.stale_read_behavior, text.behavior)
    state = _with_text(state, stored, text)
    made = statements.View(
        name=view.request.view,
        columns=text.columns,
        query=text.query,
        comment=config.comment,
        column_comments=config.column_comments,
        properties={**state.to_properties(), VERSIONS_KEPT: str(config.keep_versions)},
    )
    _check_not_overtaken(lake, made.name, view.found, stored)
    with out_of_the_way(lake, made.name) if is_table_in_the_way(view) else nullcontext():
        _create_view(lake, view, made)
    return text.behavior


def publish_as_found(lake: Lake, found: ViewInfo, state: ViewState, text: ViewText, stored: StoredRows) -> None:
    """Publish another state and SQL of a view over given rows; what people configured of it stays as it was found.

    Raises RefreshConflict when a refresh moved the view or main of the storage table meanwhile.
    """
    name = (stored.name[0], found.namespace, found.name)
    _mark_storage(lake, stored, found.properties.get(_BEHAVIOR_KEY), text.behavior)
    state = _with_text(state, stored, text)
    comments = {c.name: c.comment for c in found.columns if c.comment is not None}
    made = statements.View(name, text.columns, text.query, found.comment, comments, state.to_properties())
    _check_not_overtaken(lake, name, found, stored)
    try:
        lake.spark(statements.create_view(made))
    except Exception as error:
        # Whatever the statement failed of, a view that a refresh moved meanwhile is the reason that counts.
        if has_moved(lake.catalog, name, found):
            raise lost_race(stored.name) from error
        raise


def _mark_storage(lake: Lake, stored: StoredRows, before: str | None, now: StaleReadBehavior) -> None:
    """Let views over this one, which watch its storage table or what is below it, see that the other counts now."""
    if (before in LIVE) != (now in LIVE):
        lake.spark(statements.set_table_properties(stored.name, {_BEHAVIOR_KEY: now}))


def _with_text(state: ViewState, stored: StoredRows, text: ViewText) -> ViewState:
    is_plain = text.query == stored.query
    return replace(state, view_sql_hash="" if is_plain else sql_hash(text.query), stale_read_behavior=text.behavior)


def view_text(view: Inspection, reads: ReadPlan, state: ViewState, stored: StoredRows) -> ViewText:
    """Return the SQL that gives readers what was planned for them, as far as the stored columns allow."""
    reads = over_columns(reads, view.definition, stored.columns_and_keys)
    return ViewText(read_text(view, reads, state, stored), stored.columns, reads.behavior)


def is_outdated(view: RefreshedView, reads: ReadPlan) -> bool:
    """Return whether the SQL of the view would be another one now.

    It holds the metadata files of its base tables. And where runs alone stitched a view (`refresh_on_run: false`), runs
    may refresh it now.
    """
    if view.request.config.stale_read_behavior == _STORED:
        return False
    return sql_hash(view_text(view, reads, moved(view), view.stored).query) != sql_hash(view.found.sql)


def record(lake: Lake, view: RefreshedView, state: ViewState) -> None:
    """Record a state of which nothing but ids moved; the SQL of the view stays."""
    name = view.request.view
    if has_moved(lake.catalog, name, view.found):
        raise RefreshConflict(f"another refresh moved the view {view.request.name} meanwhile. Run again.")
    lake.spark(statements.set_view_properties(name, state.to_properties()))


def _check_not_overtaken(lake: Lake, view: TableName, found: ViewInfo | None, stored: StoredRows) -> None:
    """Raise RefreshConflict if the view or main of the storage moved since they were read.

    Between this check and the commit of the view another refresh can still slip in; the view then shows the older of
    two complete results until the next run.
    """
    if has_moved(lake.catalog, view, found):
        raise lost_race(stored.name)
    if load_storage(lake, stored.name).metadata.current_snapshot_id != stored.snapshot_id:
        raise lost_race(stored.name)


def is_table_in_the_way(view: Inspection) -> bool:
    """Return whether a table has the name of the view: another one, or the rows of the view in another layout."""
    return isinstance(view.found, TableView) or (isinstance(view, NewView) and view.table_in_the_way)


def _create_view(lake: Lake, view: Inspection, made: statements.View) -> None:
    try:
        lake.spark(statements.create_view(made))
    except Exception as error:
        # Whatever the statement failed of, a view that another refresh moved meanwhile is the reason that counts.
        if not is_table_in_the_way(view) and has_moved(lake.catalog, made.name, view.found):
            raise lost_race(view.request.config.storage_table) from error
        raise


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
