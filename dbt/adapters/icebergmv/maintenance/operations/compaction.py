"""Stored rows are compacted, and what people read is put over the new files.

It is committed as a refresh is: on a branch, main moved by compare-and-swap. A view is then published over the new
snapshot. A view that is a table needs no second commit; its state is recorded again on the branch, so that no older
snapshot is needed to know it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import find_names
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import parse_query
from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError, RefreshConflict, SparkLost, first_line
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.kept_rows import KeptRows, kept_rows
from dbt.adapters.icebergmv.maintenance.refresh.publish import ViewText, publish_as_found
from dbt.adapters.icebergmv.maintenance.refresh.statements import drop_branch, rewrite_files
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import commit_on_branch
from dbt.adapters.icebergmv.maintenance.refresh.table_layout import state_alone
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.sql.queries import describe_query
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.sql.snapshots import table_at
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import stale_read_behavior
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import is_compaction
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows


class NotCompacted(MaintenanceError):
    """Rows are left in their files; the message says why."""


def check_compactable(kept: KeptRows) -> None:
    """Raise NotCompacted where a refresh is on its way, and where the view could not read other files."""
    before = kept.stored
    if before.table.metadata.current_snapshot_id != before.snapshot_id:
        raise NotCompacted(
            "its table is not at the rows of the view: a refresh runs, or one died and the next that writes mends it"
        )
    if not before.is_written_as_read:
        # Spark would write the rows again with the columns that the table has now.
        raise NotCompacted("the columns of its table were altered; a full refresh mends that")
    if not kept.is_table:
        _text_of(kept)


def compacted(lake: Lake, kept: KeptRows, min_input_files: int) -> StoredRows | None:
    """Compact the rows of a view; return them in their new files, None where Iceberg found nothing to do.

    Raises NotCompacted where `check_compactable` does, and where the view or its table changes meanwhile.
    """
    check_compactable(kept)
    before = kept.stored
    try:
        stored = _table(lake, kept, min_input_files) if kept.is_table else _view(lake, kept, min_input_files)
    except RefreshConflict as error:
        raise NotCompacted("the view or its table was changed meanwhile") from error
    written = takewhile(
        lambda s: s.snapshot_id != before.snapshot_id, ancestry(stored.table.metadata, stored.snapshot_id)
    )
    return stored if any(map(is_compaction, written)) else None


def recorded_on_top(lake: Lake, kept: KeptRows) -> KeptRows:
    """Record the state of a view that is a table in a snapshot above those that changed no row of it."""
    commit_on_branch(lake, kept.stored, lambda branch: state_alone(kept.stored, branch, kept.state))
    return kept_rows(lake, kept.name)


def _table(lake: Lake, kept: KeptRows, min_input_files: int) -> StoredRows:
    before = kept.stored
    return commit_on_branch(
        lake,
        before,
        lambda branch: [rewrite_files(before.name, branch, min_input_files), *state_alone(before, branch, kept.state)],
    )


def _view(lake: Lake, kept: KeptRows, min_input_files: int) -> StoredRows:
    text, name, branches = _text_of(kept), kept.stored.name, list[str]()
    _check_names(lake, kept, text)
    _check_readable(lake, kept, text)

    def rewritten(branch: str) -> list[str]:
        branches.append(branch)
        return [rewrite_files(name, branch, min_input_files)]

    stored = commit_on_branch(lake, kept.stored, rewritten)
    if stored.snapshot_id == kept.stored.snapshot_id:
        # Iceberg found nothing to do after all; the rows have a branch already.
        drop_branches(lake, name, branches)
        return stored
    state = replace(kept.state, storage_snapshot_id=stored.snapshot_id)
    query = text.query.replace(_pinned(kept.stored), _pinned(stored))
    publish_as_found(lake, kept.found, state, replace(text, query=query), stored)
    return stored


def _text_of(kept: KeptRows) -> ViewText:
    """Return the text of a view, which is to be put over another snapshot of its storage table. Raises NotCompacted.

    The SELECT of a user may stand in it, but does not name our table at our snapshot.
    """
    columns = tuple(c.name for c in kept.found.columns)
    text = ViewText(kept.found.sql.strip(), columns, stale_read_behavior(kept.state.stale_read_behavior))
    if str(kept.stored.snapshot_id) in text.query.replace(_pinned(kept.stored), ""):
        raise NotCompacted("its SQL cannot be put over another snapshot")
    return text


def _check_names(lake: Lake, kept: KeptRows, text: ViewText) -> None:
    """Raise NotCompacted where this session would give the names in a text another meaning.

    Iceberg records the namespace of the session that creates a view, and readers find names without a schema there.
    """
    # A stitched text is long, and names all tables in full.
    if text.query == kept.stored.query or not all(map(_has_short_names, (kept.state.definition, text.query))):
        return
    found = kept.found
    ((catalog, schema),) = lake.spark("SELECT current_catalog(), current_schema()")
    meant = (found.default_catalog or lake.catalog.name, ".".join(found.default_namespace))
    if (catalog, schema) != meant:
        raise NotCompacted(
            "its SQL names tables without their schema, which would be those of another one in this session. "
            f"Run `USE {'.'.join(meant)}` before"
        )


def _has_short_names(sql: str) -> bool:
    """Return whether a query may name a table without its catalog or its schema."""
    query = parse_query(sql)
    if query is None:
        return True
    references = find_names(query, "")
    return references.opaque is not None or not all(r.catalog and r.namespace for r in references.tables)


def _check_readable(lake: Lake, kept: KeptRows, text: ViewText) -> None:
    """Raise NotCompacted where Spark cannot read the text of a view, and so would refuse it over new files, too.

    A stitched text reads the base tables, which may have been dropped and made again with other partitions.
    """
    if text.query == kept.stored.query:
        return
    try:
        lake.spark(describe_query(text.query))
    except SparkLost:
        raise
    except Exception as error:
        # Whatever Spark says of it, it would say the same of the text over new files.
        raise NotCompacted(
            f"its SQL cannot be read any more; a refresh mends that. Spark: {first_line(error)}"
        ) from error


def _pinned(stored: StoredRows) -> str:
    return table_at(qualified(*stored.name), stored.snapshot_id)


def drop_branches(lake: Lake, storage: TableName, branches: Sequence[str]) -> list[str]:
    """Drop branches; return those that were dropped, as a refresh that commits meanwhile comes first."""
    gone = []
    for branch in branches:
        try:
            lake.spark(drop_branch(storage, branch))
        except Exception:
            # Whatever it failed of, the branch does no harm and the next upkeep finds it.
            break
        gone.append(branch)
    return gone
