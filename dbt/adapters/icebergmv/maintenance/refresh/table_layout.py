"""The layout `table`: the table has the name of the view, and the snapshot of a refresh carries its state.

A refresh is written on a branch, the state with the last rows of it. `fast_forward` moves main to the branch: the
atomic point, and the compare-and-swap that lets one of two refreshers win. A table of other columns is made by one
CREATE OR REPLACE … AS SELECT, with the state among its properties (status/recorded/table_as_view.py).

A view has the name that the table is to have? The table is made under another name first; then the view goes and the
table gets its name. Between the two there is nothing under the name.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, RefreshConflict
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.planning.storage_fit import coarser_partitioning, with_grain
from dbt.adapters.icebergmv.maintenance.planning.write import AddRows, Rows
from dbt.adapters.icebergmv.maintenance.refresh import statements
from dbt.adapters.icebergmv.maintenance.refresh.left_storage import leaving
from dbt.adapters.icebergmv.maintenance.refresh.made_table import REPLACES, made_again, made_table
from dbt.adapters.icebergmv.maintenance.refresh.replaced_tables import (
    drop_backup,
    drop_if_ours,
    drop_unless_read,
    out_of_the_way,
    staging_name,
)
from dbt.adapters.icebergmv.maintenance.refresh.shortcomings import recorded_config
from dbt.adapters.icebergmv.maintenance.refresh.state_after import Recording, recorded_with, state_of_rows, state_option
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import (
    drop_unneeded_branches,
    load_storage,
    lost_race,
    new_branch_name,
    write_storage,
)
from dbt.adapters.icebergmv.maintenance.refresh.storage_table import alter_storage, inherits_a_transform, order_rows
from dbt.adapters.icebergmv.maintenance.refresh.writing import Published, write_plan
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, parse_name, show
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, LostView, NewView, RefreshedView
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import has_moved
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import STATE_KEY, state_text
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import (
    BUILT_KEY,
    TableView,
    found_view,
    table_as_view,
)
from dbt.adapters.icebergmv.maintenance.status.session.clock import iso_now
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import ReadPlan

_BEHAVIOR: StaleReadBehavior = "use_data_table"


def write(lake: Lake, settled: Settled, reads: ReadPlan, started_at: str) -> Published:
    """Write the rows of a plan, and the state with them."""
    if settled.makes_storage:
        return _made(lake, settled, reads, started_at)
    view = settled.view
    start = _start(view)
    if not isinstance(view, NewView):
        alter_storage(lake, view)
    state = state_of_rows(settled, view.request.view, _recording(view, reads, started_at))
    written = write_plan(lake, settled, start, recorded_with(view, started_at, state_text(state)))
    settled, stored = written.settled, written.stored
    if written.are_same:
        state = replace(state, refresh_reason=settled.plan.reason)
        stored = write_storage(lake, start, _no_rows(start), state_option(state_text(state)))
    _tidy(lake, view)
    return Published(settled, stored, start.snapshot_id, _BEHAVIOR)


def republish(lake: Lake, view: RefreshedView, reads: ReadPlan, state: ViewState) -> StaleReadBehavior:  # noqa: ARG001
    """Record another state of the rows that are stored, and describe the table as the model does."""
    record(lake, view, state)
    return _BEHAVIOR


def finish(lake: Lake, view: RefreshedView) -> None:
    """Drop what the table took the place of, where the refresh that made it has died."""
    if REPLACES in view.stored.table.properties:
        _tidy(lake, view)


def record(lake: Lake, view: RefreshedView, state: ViewState) -> None:
    """Record another state of the rows that are stored, with a snapshot that changes no row."""
    write_storage(lake, view.stored, _no_rows(view.stored), state_option(state_text(state)))
    _tidy(lake, view)


def state_alone(stored: StoredRows, branch: str, state: ViewState) -> list[str]:
    """Return the statements that record a state of given rows on a branch, with a snapshot that changes no row."""
    return statements.write_rows(stored.name, branch, _no_rows(stored), state_option(state_text(state)))


def _no_rows(stored: StoredRows) -> AddRows:
    return AddRows(Rows(stored.columns, stored.query, "false"))


def _start(view: Inspection) -> StoredRows:
    """Return what main was when the view was inspected: main moves from there, or not at all."""
    table, name = view.storage, view.request.view
    head = None if table is None else table.metadata.current_snapshot_id
    if table is None or head is None:
        raise RefreshConflict(f"the table {show(name)} was replaced meanwhile. Run again.")
    return StoredRows(name, table, head)


def _made(lake: Lake, settled: Settled, reads: ReadPlan, started_at: str) -> Published:
    """Make the table, with its rows and its state, by one statement.

    It gets the name of the view only then where Iceberg cannot replace what has the name.
    """
    view = settled.view
    name = view.request.view
    is_staged = _has_view(view) or _cannot_be_replaced(lake, settled)
    if has_moved(lake.catalog, name, view.found):
        raise lost_race(name)
    made_as = _free_staging_name(lake, name) if is_staged else name
    with nullcontext() if is_staged else leaving(lake, view, name):
        stored = made_table(lake, settled, made_as, _recording(view, reads, started_at))
    coarser = coarser_partitioning(settled, stored)
    if coarser is not None:
        settled = with_grain(settled, stored, coarser)
        stored = made_again(lake, settled, stored, coarser, _recording(view, reads, started_at))
    if is_staged:
        with leaving(lake, view, name):
            stored = _put_in_place(lake, view, stored)
    recorded = table_as_view(name, stored.table)
    if recorded is None or not recorded.properties:
        state = stored.table.properties[STATE_KEY]
        lake.spark(statements.unset_table_properties(stored.name, [BUILT_KEY]))
        stored = write_storage(lake, stored, _no_rows(stored), state_option(state))
    drop_backup(lake, name)
    # The branch keeps the state from being expired with its snapshot, once the table is compacted.
    lake.spark(statements.create_branch(name, new_branch_name(), stored.snapshot_id))
    _tidy(lake, view)
    return Published(settled, stored, None, _BEHAVIOR)


def _has_view(view: Inspection) -> bool:
    return view.found is not None and not isinstance(view.found, TableView)


def _cannot_be_replaced(lake: Lake, settled: Settled) -> bool:
    """Return whether Iceberg cannot replace the table that there is, and another one can take its name.

    A catalog that has no views (Hadoop) may not rename tables: made_table drops the table before it makes it there.
    """
    return lake.catalog.has_views and inherits_a_transform(settled, lake.catalog.table(*settled.view.request.view[1:]))


def _free_staging_name(lake: Lake, view: TableName) -> TableName:
    """Return the name of a table to come. Raises InvalidConfig where the table of that name is not ours."""
    name = staging_name(view)
    # What a dead refresh has left would give its properties and its history to the table that replaces it.
    drop_if_ours(lake, name, view)
    if lake.catalog.table(name[1], name[2]) is not None:
        raise InvalidConfig(f"the table {show(name)} is in the way: its rows are computed there. Rename that one.")
    return name


def _put_in_place(lake: Lake, view: Inspection, stored: StoredRows) -> StoredRows:
    """Give a table that is whole the name of the view, in place of the view or the table that has the name."""
    name = view.request.view
    staged = lake.catalog.table(*stored.name[1:])
    if staged is None or _head(staged) != stored.snapshot_id:
        raise lost_race(name)
    if has_moved(lake.catalog, name, view.found):
        drop_if_ours(lake, stored.name, name)
        raise lost_race(name)
    if _has_view(view):
        lake.spark(statements.drop_view(name))
    with nullcontext() if _has_view(view) else out_of_the_way(lake, name):
        try:
            lake.spark(statements.rename_table(stored.name, name))
        except Exception as error:
            # Whatever it failed of, another refresh that took the table meanwhile is the reason that counts.
            if lake.catalog.table(*stored.name[1:]) is None:
                raise lost_race(name) from error
            raise
    table = load_storage(lake, name)
    if _head(table) != stored.snapshot_id:
        # Another refresh has made the table under the other name again: rows and state are its own.
        raise lost_race(name)
    return StoredRows(name, table, stored.snapshot_id)


def _head(table: Table) -> int | None:
    return table.metadata.current_snapshot_id


def _recording(view: Inspection, reads: ReadPlan, started_at: str) -> Recording:
    return Recording(started_at, iso_now(), recorded_config(view, reads))


def _tidy(lake: Lake, view: Inspection) -> None:
    """Describe the table as the model does, and drop what it replaced and what nobody needs any more.

    The rows are published. Whatever dies here is done by the next refresh.
    """
    name = view.request.view
    # A table that was made anew has no order yet.
    order_rows(lake, view.request.config, view.storage)
    _describe(lake, view)
    table = load_storage(lake, name)
    if isinstance(view, NewView | LostView):
        staging = staging_name(name)
        _drop_replaced(lake, lake.catalog.table(staging[1], staging[2]), name)
        drop_if_ours(lake, staging, name)
    if REPLACES in table.properties:
        _drop_replaced(lake, table, name)
        lake.spark(statements.unset_table_properties(name, [REPLACES]))
    drop_unneeded_branches(lake, name, found_view(lake.catalog, name))


def _drop_replaced(lake: Lake, table: Table | None, view: TableName) -> None:
    replaced = None if table is None else table.properties.get(REPLACES)
    if replaced is not None:
        drop_unless_read(lake, parse_name(replaced), view)


def _describe(lake: Lake, view: Inspection) -> None:
    """Write the comments of the model, where it has some or had."""
    config, name = view.request.config, view.request.view
    had = {} if isinstance(view, NewView) else view.state.config
    if not any((config.comment, config.column_comments, had.get("comment"), had.get("column-comments"))):
        return
    table = load_storage(lake, name)
    comment = config.comment or ""
    if "comment" not in config.tblproperties and comment != table.properties.get("comment", ""):
        lake.spark(statements.set_table_comment(name, comment))
    wanted = {column.lower(): text for column, text in config.column_comments.items()}
    for field in table.schema().fields:
        text = wanted.get(field.name.lower(), "")
        if text != (field.doc or ""):
            lake.spark(statements.set_column_comment(name, field.name, text))
