"""The last step of every run that changes something: one commit of the view's SQL and its state."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewInfo
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh import statements
from dbt.adapters.icebergmv.maintenance.refresh.replaced_tables import out_of_the_way
from dbt.adapters.icebergmv.maintenance.refresh.state_after import moved
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import load_storage, lost_race
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import LIVE, StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import VERSIONS_KEPT
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, NewView, RefreshedView
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import has_moved, sql_hash, view_hash
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import PREFIX, ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import TableView, found_view
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import ReadPlan, over_columns, read_text

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
    if is_table_in_the_way(view):
        with out_of_the_way(lake, made.name):
            lake.spark(statements.create_view(made))
    else:
        _create_view(lake, made, view.found, stored)
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
    _create_view(lake, made, found, stored)


def _mark_storage(lake: Lake, stored: StoredRows, before: str | None, now: StaleReadBehavior) -> None:
    """Let views over this one, which watch its storage table or what is below it, see that the other counts now."""
    if (before in LIVE) != (now in LIVE):
        lake.spark(statements.set_table_properties(stored.name, {_BEHAVIOR_KEY: now}))


def _with_text(state: ViewState, stored: StoredRows, text: ViewText) -> ViewState:
    hashed = "" if text.query == stored.query else view_hash(text.query, text.columns)
    return replace(state, view_sql_hash=hashed, stale_read_behavior=text.behavior)


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


def _create_view(lake: Lake, made: statements.View, found: ViewInfo | None, stored: StoredRows) -> None:
    found = _without_strays(lake, made, found)
    kept = found if found is not None and _is_made(made, found, stored) else None
    statement = statements.set_view_properties(made.name, made.properties) if kept else statements.create_view(made)
    try:
        lake.spark(statement)
    except Exception as error:
        # Whatever the statement failed of, a view that another refresh moved meanwhile is the reason that counts.
        if has_moved(lake.catalog, made.name, found):
            raise lost_race(stored.name) from error
        raise
    if kept is not None:
        check_sql_stayed(lake, made.name, kept, stored)


def _without_strays(lake: Lake, made: statements.View, found: ViewInfo | None) -> ViewInfo | None:
    """Remove properties that are none of the state from a view, which would keep them, and return it as it is then.

    People may have set one, or a version to come that records more. The checksum is of all that are named as ours, so
    the state would not be readable. First they go, as a view that is published is whole at once.
    """
    strays = [] if found is None else [k for k in found.properties if k.startswith(PREFIX) and k not in made.properties]
    if found is None or not strays:
        return found
    lake.spark(statements.unset_view_properties(made.name, sorted(strays)))
    return replace(found, properties={k: v for k, v in found.properties.items() if k not in strays})


def check_sql_stayed(lake: Lake, name: TableName, found: ViewInfo, stored: StoredRows) -> None:
    """Raise RefreshConflict if a view of which only properties were set has other SQL than was found.

    Another refresh published it since. Its properties are lost, so the view is built again.
    """
    now = found_view(lake.catalog, name)
    if now is None or now.sql != found.sql:
        raise lost_race(stored.name)


def _is_made(wanted: statements.View, found: ViewInfo, stored: StoredRows) -> bool:
    """Return whether a view differs from the one that is wanted in nothing but its state.

    To create it again would make a version of it, of which it keeps few. SQL that is more than the stored rows names
    tables as the session does.
    """
    comments = {name.lower(): text for name, text in wanted.column_comments.items()}
    columns = [(name, comments.get(name.lower(), "")) for name in wanted.columns]
    kept = wanted.properties.get(VERSIONS_KEPT, found.properties.get(VERSIONS_KEPT))
    return (
        not isinstance(found, TableView)
        and wanted.query == stored.query == found.sql.strip()
        and (wanted.comment or "") == (found.comment or "")
        and columns == [(column.name, column.comment or "") for column in found.columns]
        and kept == found.properties.get(VERSIONS_KEPT)
    )
