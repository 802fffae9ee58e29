"""The commit protocol: write on a branch, compare-and-swap main, publish the view.

1. A branch of the storage table starts at the snapshot that the view pins, never at a stray head.
2. The rows are replaced on the branch, where no reader looks.
3. `fast_forward` moves main to it. It fails unless main still is where the branch started: the compare-and-swap that
   lets one of two refreshers win.
4. CREATE OR REPLACE VIEW publishes SQL and state in one commit: the atomic point for readers.

The branch stays and keeps the pinned snapshot from being expired, for as long as a retained version of the view reads
it. Killed at any point, readers see the old rows; the next run finds main ahead of the view and takes it back (step 0).
"""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Protocol

from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.errors import RefreshConflict
from dbt.adapters.icebergmv.maintenance.planning import pinned_queries as render
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show

BRANCH_PREFIX = "icebergmv_"
BACKUP_SUFFIX = "__dbt_backup"
_ABANDONED_AFTER = timedelta(days=1)
"""A branch that no view version reads may belong to a refresh that still runs; after this it is taken for dead."""

_STAMP = "%Y%m%dT%H%M%S"
_PINNED = re.compile(r"VERSION AS OF (\d+)")


class Spark(Protocol):
    """What the engine needs of Spark."""

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        """Run one statement and return its rows."""


@dataclass(frozen=True)
class Lake:
    """The two ways to the tables: the catalog, read directly, and Spark, which does all writing."""

    catalog: CatalogReader
    spark: Spark


@dataclass(frozen=True)
class Publication:
    """A view to publish over a storage snapshot, with what the refresh found before (None: no view)."""

    view: render.View
    found: ViewInfo | None
    storage: TableName
    snapshot_id: int


def new_branch_name() -> str:
    """Return a branch name that no other refresh uses; it tells when it was made."""
    return f"{BRANCH_PREFIX}{datetime.now(timezone.utc).strftime(_STAMP)}_{secrets.token_hex(4)}"


def write_storage(lake: Lake, storage: TableName, start: int, write: render.Write) -> int:
    """Write on a new branch that starts at the snapshot `start`, move main to it, and return the new snapshot id.

    Raises RefreshConflict when another refresh moved main meanwhile; the branch is dropped then, as on any error.
    """
    branch, before = new_branch_name(), load_storage(lake, storage).metadata
    try:
        if before.current_snapshot_id != start:
            lake.spark(render.set_main(storage, start))
        lake.spark(render.create_branch(storage, branch, start))
        for statement in render.write_rows(storage, branch, write):
            lake.spark(statement)
        _fast_forward(lake, storage, branch)
    except BaseException as error:
        with suppress(Exception):
            lake.spark(render.drop_branch(storage, branch))
        if isinstance(error, Exception) and _is_overtaken(lake, storage, before, error):
            raise _lost_race(storage) from error
        raise
    written = load_storage(lake, storage).metadata.refs.get(branch)
    if written is None:
        raise _lost_race(storage)
    return written.snapshot_id


def _is_overtaken(lake: Lake, storage: TableName, before: TableMetadata, error: Exception) -> bool:
    """Return whether a statement failed because another refresh got in between.

    Two first builds at once show in the table's UUID: the later CREATE OR REPLACE makes a new table.
    """
    uuid = load_storage(lake, storage).metadata.table_uuid
    return uuid != before.table_uuid or "CommitFailedException" in str(error)


def publish(lake: Lake, publication: Publication, table_in_the_way: bool) -> None:
    """Run the statement that publishes the view, unless the view or main of the storage moved since they were read.

    A table of the view's name is renamed first, and dropped once the view stands. Between the check and the statement
    another refresh can still slip in; the view then shows the older of two complete cuts until the next run.
    """
    view = publication.view
    backup = _free_name(lake, view.name)
    if view_moved(lake.catalog, view.name, publication.found):
        raise _lost_race(publication.storage)
    if load_storage(lake, publication.storage).metadata.current_snapshot_id != publication.snapshot_id:
        raise _lost_race(publication.storage)
    if table_in_the_way:
        lake.spark(render.rename_table(view.name, backup))
    try:
        lake.spark(render.create_view(view))
    except BaseException as error:
        if table_in_the_way:
            with suppress(Exception):
                lake.spark(render.rename_table(backup, view.name))
        elif isinstance(error, Exception) and view_moved(lake.catalog, view.name, publication.found):
            raise _lost_race(publication.storage) from error
        raise
    if table_in_the_way:
        lake.spark(render.drop_table(backup, purge=False))


def _free_name(lake: Lake, view: TableName) -> TableName:
    """Return a name for a table that has to make way, which nothing bears yet."""
    taken = {entry.name for entry in lake.catalog.entries(view[1])}
    names = (view[2] + BACKUP_SUFFIX + (str(number) if number else "") for number in itertools.count())
    return (view[0], view[1], next(name for name in names if name not in taken))


def view_moved(catalog: CatalogReader, view: TableName, expected: ViewInfo | None) -> bool:
    """Return whether the view is no longer what was read before (None: absent)."""
    now = catalog.view(view[1], view[2])
    if now is None or expected is None:
        return now is not expected
    return (now.uuid, now.properties) != (expected.uuid, expected.properties)


def drop_unneeded_branches(lake: Lake, storage: TableName, view: ViewInfo | None) -> None:
    """Drop the branches of earlier refreshes that no retained version of the view reads."""
    table = load_storage(lake, storage)
    pinned = {int(found) for sql in (view.retained_sql if view else ()) for found in _PINNED.findall(sql)}
    head = table.metadata.current_snapshot_id
    published = set() if head is None else {s.snapshot_id for s in ancestry(table.metadata, head)}
    for name, ref in table.metadata.refs.items():
        if not name.startswith(BRANCH_PREFIX) or ref.snapshot_id in pinned:
            continue
        if ref.snapshot_id in published or _is_abandoned(name):
            lake.spark(render.drop_branch(storage, name))


def load_storage(lake: Lake, storage: TableName) -> Table:
    """Return the storage table as it is now. Raises RefreshConflict when it is gone."""
    table = lake.catalog.table(storage[1], storage[2])
    if table is None:
        raise RefreshConflict(
            f"The storage table {show(storage)} was dropped during the refresh. Nothing was published; run again."
        )
    return table


def _fast_forward(lake: Lake, storage: TableName, branch: str) -> None:
    try:
        lake.spark(render.fast_forward_main(storage, branch))
    except Exception as error:
        metadata = load_storage(lake, storage).metadata
        ref, head = metadata.refs.get(branch), metadata.current_snapshot_id
        if ref is None or head not in {s.snapshot_id for s in ancestry(metadata, ref.snapshot_id)}:
            raise _lost_race(storage) from error
        raise


def _is_abandoned(branch: str) -> bool:
    stamp = branch.removeprefix(BRANCH_PREFIX).split("_")[0]
    try:
        made = datetime.strptime(stamp, _STAMP).replace(tzinfo=timezone.utc)
    except ValueError:
        return False
    return datetime.now(timezone.utc) - made > _ABANDONED_AFTER


def _lost_race(storage: TableName) -> RefreshConflict:
    return RefreshConflict(
        f"Another refresh moved the storage table {show(storage)} meanwhile. "
        "Nothing of this one was published; run again."
    )
