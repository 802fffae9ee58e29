"""What the last refresh of a view read, where a view below it is another one or is read otherwise since.

A plain view may have got, lost or changed columns that the SELECT does not read: what it reads has the same hash.

A view reads the stored rows of one that shows these, and the SELECT of one that shows what is current (use_stitching,
use_view_query). The stored rows are those of the SELECT at the snapshots that were recorded with them. So where the
SELECT is the same, and gives the same rows again, the one says what the other is, and to switch between them changes no
row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.errors import StateUnreadable, TableNotUnderstood
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import (
    BaseTableState,
    ExpandedView,
    ViewState,
    is_materialized_view,
    read_state,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import state_of_snapshot
from dbt.adapters.icebergmv.maintenance.status.same_rows_again import gives_the_same_rows
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import as_plain_view, version_at
from dbt.adapters.icebergmv.maintenance.status.tables.view_expansion import hash_of_view, redefined

_MOST_SNAPSHOTS = 20
"""So many snapshots of a storage table are looked at for the rows that were read."""


def restated(
    catalog: CatalogReader, views: tuple[ExpandedView, ...], read_hash: Callable[[], str], state: ViewState
) -> ViewState:
    """Return a state in terms of what is read today; `views` are those that are read as their SELECT now.

    `read_hash` gives the hash of all that is read through them. It is the same state where nothing below is another
    one or is read otherwise, or where it is not known that the rows are the same.
    """
    if redefined(views, state) is not None and state.read_hash and state.read_hash == read_hash():
        return replace(state, views=views)
    now, recorded = {view.name: view for view in views}, state
    for view in recorded.views:
        if view.name not in now:
            state = _by_its_rows(catalog, view, now, recorded, state)
    # The SELECT of one view may have read the rows of another one that is read as its SELECT now.
    looked_at = set[BaseTableState]()
    while (base := next((b for b in state.base_tables if b.name in now and b not in looked_at), None)) is not None:
        looked_at.add(base)
        state = _by_its_select(catalog, base, now, state)
    return state


def _by_its_select(
    catalog: CatalogReader, base: BaseTableState, now: Mapping[TableName, ExpandedView], state: ViewState
) -> ViewState:
    """Return the state with what the SELECT of a view had read in place of its stored rows."""
    found = _below(catalog, base.name)
    if found is None:
        return state
    _, below, table = found
    if below.storage_table != base.storage or str(table.metadata.table_uuid) != base.version.uuid:
        return state
    written = next(_states(below, table, base.version.snapshot_id), None)
    if written is None or not _are_rows_of(catalog, written, below, state):
        return state
    if any(v.name not in now or now[v.name].definition_hash != v.definition_hash for v in written.views):
        return state
    kept = {b.name: b for b in state.base_tables if b.name != base.name}
    if any(b.name in kept and kept[b.name].version != b.version for b in written.base_tables):
        return state
    read = {**kept, **{b.name: b for b in written.base_tables}}
    views = {v.name: v for v in (*state.views, *written.views, now[base.name])}
    return replace(state, base_tables=tuple(read.values()), views=tuple(views.values()))


def _by_its_rows(
    catalog: CatalogReader,
    view: ExpandedView,
    now: Mapping[TableName, ExpandedView],
    recorded: ViewState,
    state: ViewState,
) -> ViewState:
    """Return the state with the stored rows of a view in place of what its SELECT had read, if there are such rows.

    `recorded` is the state as it was before other views were looked at.
    """
    found = _below(catalog, view.name)
    if found is None:
        return state
    info, below, table = found
    if hash_of_view(as_plain_view(info, below, catalog.name)) != view.definition_hash:
        return state
    read = {b.name: b.version for b in recorded.base_tables}
    views = {v.name: v.definition_hash for v in recorded.views}
    kept_snapshots = islice(ancestry(table.metadata, below.storage_snapshot_id), _MOST_SNAPSHOTS)
    for snapshot, written in ((s, one) for s in kept_snapshots for one in _states(below, table, s.snapshot_id)):
        is_same = all(read.get(b.name) == b.version for b in written.base_tables)
        is_same = is_same and all(views.get(v.name) == v.definition_hash for v in written.views)
        if is_same and _are_rows_of(catalog, written, below, recorded):
            base = BaseTableState(view.name, below.storage_table, version_at(table, snapshot))
            gone = {view.name, *(v.name for v in written.views if v.name not in now)}
            kept = tuple(v for v in state.views if v.name not in gone)
            return replace(state, base_tables=(*state.base_tables, base), views=kept)
    return state


def _below(catalog: CatalogReader, name: TableName) -> tuple[ViewInfo, ViewState, Table] | None:
    """Return a materialized view, its state and its storage table; None for anything else."""
    view = catalog.view(name[1], name[2]) if name[0] == catalog.name else None
    if view is None or not is_materialized_view(view.properties):
        return None
    try:
        state = read_state(show(name), view.properties)
        table = catalog.table(*state.storage_table[1:])
    except (StateUnreadable, TableNotUnderstood):
        return None
    return None if table is None else (view, state, table)


def _states(below: ViewState, table: Table, snapshot_id: int | None) -> Iterator[ViewState]:
    """Yield what was recorded of the rows of a snapshot of a storage table.

    With the rows that the view shows, ids may have been recorded that moved since without a change of rows.
    """
    if snapshot_id == below.storage_snapshot_id:
        yield below
    recorded = None if snapshot_id is None else state_of_snapshot(below.storage_table, table, snapshot_id)
    if recorded is not None:
        yield recorded.state


def _are_rows_of(catalog: CatalogReader, written: ViewState, below: ViewState, above: ViewState) -> bool:
    """Return whether rows are those of the SELECT that a view below has now, in a session such as that of one above."""
    is_whole = written.partial is None and not written.clock
    is_same = written.definition_hash == below.definition_hash and written.default_namespace == below.default_namespace
    is_same = is_same and dict(written.settings) == dict(above.settings)
    return is_whole and is_same and gives_the_same_rows(catalog, below, written)
