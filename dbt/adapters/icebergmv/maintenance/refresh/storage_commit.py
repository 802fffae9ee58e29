"""The commit protocol: write on a branch, compare-and-swap main, publish the view.

1. A branch of the storage table starts at the snapshot that the view pins, never at a stray head.
2. The rows are replaced on the branch, where no reader looks.
   After each statement it is checked that it was committed on top of the one before.
3. `fast_forward` moves main to it. It fails unless main is an ancestor of it, so of two refreshers one wins.
4. CREATE OR REPLACE VIEW publishes SQL and state in one commit: the atomic point for readers.

The branch stays and keeps the pinned snapshot from being expired, for as long as a retained version of the view reads
it. Killed at any point, readers see the old rows; the next run finds main ahead of the view and takes it back (step 0).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta, timezone

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, InvalidConfig, RefreshConflict
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.write import Write
from dbt.adapters.icebergmv.maintenance.refresh import statements
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.snapshots import snapshots_named
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import STORAGE_SNAPSHOT_ID
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows

BRANCH_PREFIX = "icebergmv_"
_ABANDONED_AFTER = timedelta(days=1)
"""A branch that no view version reads may belong to a refresh that still runs; after this it is taken for dead."""

_STAMP = "%Y%m%dT%H%M%S"


def new_branch_name() -> str:
    """Return a branch name that no other refresh uses; it says when it was made."""
    return f"{BRANCH_PREFIX}{datetime.now(timezone.utc).strftime(_STAMP)}_{secrets.token_hex(4)}"


def take_main_back(lake: Lake, stored: StoredRows) -> None:
    """Set main to the rows that a view pins, where it was ahead of them when they were read: its refresh has died."""
    if stored.table.metadata.current_snapshot_id != stored.snapshot_id:
        lake.spark(statements.set_main(stored.name, stored.snapshot_id))


def write_storage(lake: Lake, start: StoredRows, write: Write, options: Mapping[str, str]) -> StoredRows:
    """Write on a new branch that starts at given rows, move main to it, and return the rows that are stored then.

    `options` are Iceberg's for the rows that are written. Raises RefreshConflict when another refresh moved main
    meanwhile; the branch is dropped then, as on any error.
    """
    return commit_on_branch(lake, start, lambda branch: statements.write_rows(start.name, branch, write, options))


def commit_on_branch(
    lake: Lake,
    start: StoredRows,
    written_by: Callable[[str], Iterable[str]],
    is_wanted: Callable[[StoredRows], bool] | None = None,
) -> StoredRows:
    """Run statements on a new branch, whose name they are given, and move main to it, as `write_storage` does.

    What `written_by` raises after its last statement keeps main where it was. If the rows are not wanted that are there
    then, the branch is dropped, and those of the start are returned.
    """
    storage, branch = start.name, new_branch_name()
    try:
        take_main_back(lake, start)
        lake.spark(statements.create_branch(storage, branch, start.snapshot_id))
        written = start
        for statement in written_by(branch):
            lake.spark(statement)
            written = _after(lake, written, branch, start, writes=statement.startswith("INSERT"))
        if is_wanted is not None and not is_wanted(written):
            _drop_if_alone(lake, storage, branch)
            return start
        _fast_forward(lake, storage, branch)
    except BaseException as error:
        with suppress(Exception):
            lake.spark(statements.drop_branch(storage, branch))
        if isinstance(error, Exception) and _is_overtaken(lake, start, branch, error):
            raise lost_race(storage) from error
        raise
    table = load_storage(lake, storage)
    head = table.metadata.refs.get(branch)
    if head is None:
        raise lost_race(storage)
    return StoredRows(storage, table, head.snapshot_id)


def _after(lake: Lake, before: StoredRows, branch: str, start: StoredRows, *, writes: bool) -> StoredRows:
    """Return the rows of a branch after a statement, which makes one snapshot at most, and always if it writes rows.

    Raises RefreshConflict where it is not on top of the one before, or rows came under other columns than those of the
    start, and InvalidConfig where rows were written aside (`spark.wap.id`). Iceberg looks for the branch when it plans
    a statement; if the branch is dropped while the job runs, the commit makes it again, on top of main
    (SnapshotUtil.latestSnapshot): over rows of another refresh, or without what an earlier statement did.
    """
    storage, table = start.name, load_storage(lake, start.name)
    ref = table.metadata.refs.get(branch)
    head = None if ref is None else table.metadata.snapshot_by_id(ref.snapshot_id)
    if writes and head is not None and head.snapshot_id == before.snapshot_id:
        raise InvalidConfig(
            f"rows that are written to {show(storage)} do not come into it: spark.wap.id is set, and write.wap.enabled "
            "is true. Unset one of the two."
        )
    if head is None or before.snapshot_id not in (head.snapshot_id, head.parent_snapshot_id):
        raise lost_race(storage)
    if writes and head.schema_id != start.table.metadata.current_schema_id:
        raise lost_race(storage)
    return StoredRows(storage, table, head.snapshot_id)


def _is_overtaken(lake: Lake, start: StoredRows, branch: str, error: Exception) -> bool:
    """Return whether a statement failed because another refresh got in between.

    Two first builds at once show in the table's UUID: the later CREATE OR REPLACE makes a new table. One that replaces
    the table while this refresh writes may take the branch with it.
    """
    try:
        now = load_storage(lake, start.name).metadata
    except CatalogUnavailable:
        # Whatever hides the catalog has stopped the statement, too: its own error says more.
        return False
    before = start.table.metadata
    is_replaced = branch not in now.refs and now.current_snapshot_id != before.current_snapshot_id
    return is_replaced or now.table_uuid != before.table_uuid or _is_commit_conflict(error)


def _is_commit_conflict(error: Exception) -> bool:
    """Return whether another commit to the table came first. Iceberg retries no commit that moves a branch."""
    return "CommitFailedException" in str(error)


def drop_unneeded_branches(lake: Lake, storage: TableName, view: ViewInfo | None) -> None:
    """Drop the branches of earlier refreshes that no retained version of the view reads, nor may read.

    Where another refresh commits to the table meanwhile, they are left for the next one: the view is published by now.
    """
    for branch in unneeded_branches(load_storage(lake, storage), view):
        if not _drop_if_alone(lake, storage, branch):
            return


def _drop_if_alone(lake: Lake, storage: TableName, branch: str) -> bool:
    """Drop a branch that nobody needs; return whether that was done. Another commit to the table comes first."""
    try:
        lake.spark(statements.drop_branch(storage, branch))
    except Exception as error:
        # Whatever is wrong besides must be seen.
        if not _is_commit_conflict(error):
            raise
        return False
    return True


def unneeded_branches(table: Table, view: ViewInfo | None) -> list[str]:
    """Return the branches of refreshes that no retained version of a view reads, nor may read.

    Main's own snapshot keeps its branch: a refresh may be about to publish the view over it.
    """
    pinned = set() if view is None else pinned_by(view)
    head = table.metadata.current_snapshot_id
    published = set() if head is None else {s.snapshot_id for s in ancestry(table.metadata, head)}
    return [
        name
        for name, ref in table.metadata.refs.items()
        if name.startswith(BRANCH_PREFIX)
        and ref.snapshot_id not in pinned
        and ref.snapshot_id != head
        and (ref.snapshot_id in published or _is_abandoned(name))
    ]


def protect(lake: Lake, storage: TableName, table: Table, read: Collection[int], dropped: Collection[str] = ()) -> None:
    """Give each of some snapshots that is there a branch, should it have none: nothing may expire what a view reads.

    Branches that are `dropped` next do not count.
    """
    others = {statements.MAIN, *dropped}
    named = {ref.snapshot_id for name, ref in table.metadata.refs.items() if name not in others}
    for snapshot_id in sorted({*read} - named):
        if table.metadata.snapshot_by_id(snapshot_id) is not None:
            lake.spark(statements.create_branch(storage, new_branch_name(), snapshot_id))


def pinned_by(view: ViewInfo) -> set[int]:
    """Return the snapshots that a view reads in some retained version, and the one that its state names.

    The next refresh starts there, and another `stale_read_behavior` reads it without a refresh.
    """
    read = {snapshot_id for version in view.versions for snapshot_id in snapshots_named(version.sql)}
    recorded = view.properties.get(STORAGE_SNAPSHOT_ID)
    return read if recorded is None else {*read, int(recorded)}


def load_storage(lake: Lake, storage: TableName) -> Table:
    """Return the storage table as it is now. Raises RefreshConflict when it is gone."""
    table = lake.catalog.table(storage[1], storage[2])
    if table is None:
        raise RefreshConflict(
            f"the storage table {show(storage)} was dropped during the refresh. Nothing was published; run again."
        )
    return table


def _fast_forward(lake: Lake, storage: TableName, branch: str) -> None:
    try:
        lake.spark(statements.fast_forward_main(storage, branch))
    except Exception as error:
        # Whatever the statement failed of, a head that another refresh moved meanwhile is the reason that counts.
        try:
            metadata = load_storage(lake, storage).metadata
        except CatalogUnavailable:
            raise error from None
        ref, head = metadata.refs.get(branch), metadata.current_snapshot_id
        if ref is None or head not in {s.snapshot_id for s in ancestry(metadata, ref.snapshot_id)}:
            raise lost_race(storage) from error
        raise


def _is_abandoned(branch: str) -> bool:
    stamp = branch.removeprefix(BRANCH_PREFIX).split("_")[0]
    try:
        made = datetime.strptime(stamp, _STAMP).replace(tzinfo=timezone.utc)
    except ValueError:
        return False
    return datetime.now(timezone.utc) - made > _ABANDONED_AFTER


def lost_race(storage: TableName) -> RefreshConflict:
    """Return the error of a refresh that another one overtook."""
    return RefreshConflict(
        f"another refresh moved the storage table {show(storage)} meanwhile. "
        "Nothing of this one was published; run again."
    )
