"""Everything a run can know of a materialized view without Spark: definition, recorded state, status, storage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TypeAlias, TypeVar, cast

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.edits.wrapping import without_wrapping
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden
from dbt.adapters.icebergmv.maintenance.definition.partitioning import parse_partition_by
from dbt.adapters.icebergmv.maintenance.definition.references.unread_columns import hash_of_read_columns
from dbt.adapters.icebergmv.maintenance.errors import (
    InvalidConfig,
    NotReadable,
    RefreshConflict,
    StateUnreadable,
    naming,
)
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, parse_name, show
from dbt.adapters.icebergmv.maintenance.status.analysis import Analysis, KeyChoice
from dbt.adapters.icebergmv.maintenance.status.configured.clustering import parse_cluster_by
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest, recorded_request
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import (
    ConfigurationChanges,
    ViewConfig,
    configuration_changes,
    recorded_layout,
)
from dbt.adapters.icebergmv.maintenance.status.read_otherwise import restated
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import is_published
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import (
    STORAGE_OF,
    ExpandedView,
    ViewState,
    is_materialized_view,
    is_storage_table,
    read_state,
    storage_table_of,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.storage_readers import view_stored_in
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import TableView, found_view, storage_found
from dbt.adapters.icebergmv.maintenance.status.session.clock import clock_of, utc_now
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import is_utc, not_understood
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus, status_of, words_read
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.tables.names_in_full import name_in_full, names_in_full
from dbt.adapters.icebergmv.maintenance.status.tables.view_expansion import ExpandedSql, expand, redefined


@dataclass(frozen=True)
class _Inspected:
    """What is known of every view.

    `definition` reads the plain views of the request's SQL, and those below them, as their SQL; `views` are these.
    It is the one of this moment: literals are in place of its clock functions.
    `storage` is the table that now has the name of the storage table. `looked_at` is before anything was read.
    """

    request: RefreshRequest
    definition: ViewDefinition
    bases: BaseTables
    status: MaterializedViewStatus
    views: tuple[ExpandedView, ...]
    storage: Table | None
    looked_at: datetime = field(default_factory=utc_now, kw_only=True)

    @property
    def read_hash(self) -> str:
        """Return a hash of all that is read through plain views; empty without them."""
        return _read_hash(self.definition, self.views)


@dataclass(frozen=True)
class NewView(_Inspected):
    """A view that no refresh is recorded of.

    `found` is another view of its name, or one whose state cannot be read in a run that rebuilds it.
    `table_in_the_way`: a table has its name. `why` it must be built.
    """

    found: ViewInfo | None = None
    table_in_the_way: bool = False
    why: str = "first build"

    @property
    def changes(self) -> ConfigurationChanges:
        """Return no changes: there is nothing to compare with."""
        return ConfigurationChanges()

    @property
    def rebuild(self) -> str:
        """Return why the contents must be built."""
        return self.request.rebuild_reason or self.why


@dataclass(frozen=True)
class _RecordedView(_Inspected):
    """A view whose last refresh is recorded in `state`.

    `changes` is what the model asks for that the stored rows were not built with.
    """

    found: ViewInfo
    state: ViewState
    changes: ConfigurationChanges

    @property
    def rebuild(self) -> str | None:
        """Return why the contents must be rebuilt whatever changed in the bases, or None."""
        if self.request.rebuild_reason is not None:
            return self.request.rebuild_reason
        if self.state.partial is not None:
            return f"the last run was built with {self.state.partial}"
        if not self.state.definition_hash:
            return "it was rolled back to rows of another SELECT"
        return ", ".join(self.changes.rebuild) or None


_OTHER_LAYOUT = "it has another layout"


@dataclass(frozen=True)
class LostView(_RecordedView):
    """A view whose stored rows cannot be kept; `lost` says why."""

    lost: str

    @property
    def is_unreadable(self) -> bool:
        """Return whether readers do not get the rows of the last refresh any more."""
        return self.lost != _OTHER_LAYOUT


@dataclass(frozen=True)
class RefreshedView(_RecordedView):
    """A view whose stored rows are there. `redefined` says which plain view is not what the last refresh read.

    `is_restated`: a view below it is another one now, of which the same rows are read; `state` is in terms of today.
    """

    stored: StoredRows
    redefined: str | None
    is_restated: bool = False


@dataclass(frozen=True)
class _Text:
    """Which text of a SELECT is analysed: with its plain views as their SQL, and with which hidden keys."""

    expand_views: bool = True
    keys: KeyChoice = "stored"


Inspection: TypeAlias = NewView | LostView | RefreshedView
View = TypeVar("View", bound=Inspection)


def inspect(catalog: CatalogReader, request: RefreshRequest) -> Inspection:
    """Read what is recorded and what the base tables are now.

    Raises StateUnreadable (unless the request rebuilds), InvalidDefinition, InvalidConfig, CatalogUnavailable; each
    names the view.
    """
    with naming("refresh", request.name):
        _refuse_without_views(catalog, request.config)
        return _inspect(catalog, request, _Text())


def with_views_as_names(catalog: CatalogReader, view: View) -> View:
    """Inspect a view again; plain views in its SELECT stay names, which Spark reads as they are at that moment.

    No change of such views can be followed, so they need no hidden keys. Raises RefreshConflict when the view was made
    or dropped meanwhile.
    """
    return _again(catalog, view, _Text(expand_views=False, keys="none"))


def with_keys_of_today(catalog: CatalogReader, view: View) -> View:
    """Inspect a view again, with the hidden keys that it would get if it were built now. Raises RefreshConflict."""
    return _again(catalog, view, _Text(keys="wanted"))


def without_keys(catalog: CatalogReader, view: View) -> View:
    """Inspect a view again, without hidden keys. Raises RefreshConflict."""
    return _again(catalog, view, _Text(keys="none"))


def _again(catalog: CatalogReader, view: View, text: _Text) -> View:
    again = _inspect(catalog, view.request, text)
    if type(again) is not type(view):
        raise RefreshConflict("another run made or dropped the view meanwhile. Nothing was changed; run again.")
    if not isinstance(again, NewView) and not isinstance(view, NewView):
        # What the caller makes of changed configuration holds for the second inspection too.
        return cast("View", replace(again, changes=view.changes))
    return cast("View", again)


def _inspect(catalog: CatalogReader, request: RefreshRequest, text: _Text) -> Inspection:
    _, namespace, name = request.view
    moment = request.now()
    bases = BaseTables(catalog)
    view = found_view(catalog, request.view)
    state = state_of(view, request)
    storage = _storage(catalog, view, request)
    expanded = _expanded(request, bases, text)
    clock = clock_of(request.config.settings, moment)
    kept = state if storage is not None and _is_kept(request, state) else None
    tie_breakers = None if kept is None or text.keys != "stored" else kept.tie_breakers
    select, written_at = without_wrapping(expanded.sql), request.config.written_at_columns
    given = request.config.given(request.default_namespace)
    analysis = Analysis(select, bases, given, clock, tie_breakers, written_at)
    keys = text.keys if request.config.keeps_hidden_columns else "none"
    definition = analysis.definition(keys, None if kept is None else storage)
    bases.leave_unpinned(partial(words_read, definition))
    setting = not_understood(request.config.settings)
    if setting is not None:
        definition = replace(definition, always_full=f"the session setting {setting} may change what its SQL means")
    _refuse_self_reference(definition, request.view, catalog.name, expanded.views)
    _refuse_other_columns(definition, request.config)
    _refuse_foreign_storage(catalog, request, storage, is_new=view is None)
    recorded = state
    if state is not None:
        state = restated(catalog, expanded.views, partial(_read_hash, definition, expanded.views), state)
    status = status_of(definition, bases, state)
    known = (request, definition, bases, status, expanded.views, storage)
    if view is None or state is None:
        is_table = isinstance(view, TableView) or (view is None and catalog.table(namespace, name) is not None)
        why = "its table has no readable state of a refresh" if isinstance(view, TableView) else "first build"
        return NewView(*known, view, is_table, why, looked_at=moment)
    is_of_no_model = state.partial is not None or request.partial is not None or not state.definition_hash
    changes = ConfigurationChanges() if is_of_no_model else configuration_changes(request.config, state)
    stored = stored_of(view, state, storage) if recorded_layout(state) == request.config.layout else _OTHER_LAYOUT
    if isinstance(stored, str):
        return LostView(*known, view, state, changes, stored, looked_at=moment)
    said = redefined(expanded.views, state)
    is_restated = state is not recorded
    refreshed = RefreshedView(*known, view, state, changes, stored, said, is_restated, looked_at=moment)
    return replace(refreshed, definition=definition.with_types(stored.types))


def _expanded(request: RefreshRequest, bases: BaseTables, text: _Text) -> ExpandedSql:
    """Return the SELECT of a request with the SQL of plain views in place of them, if that is how it is read."""
    if not text.expand_views:
        return ExpandedSql(names_in_full(request.sql, request.default_namespace, bases))
    in_full = partial(name_in_full, bases=bases)
    return expand(request.sql, request.default_namespace, bases, is_utc(request.config.settings), in_full)


def _refuse_other_columns(definition: ViewDefinition, config: ViewConfig) -> None:
    """Raise InvalidConfig for a `partition_by` or `cluster_by` of columns that the view does not have."""
    if definition.columns is not None:
        names = [c.name for c in definition.columns if not is_hidden(c.name)]
        parse_partition_by(config.partition_by or (), names)
        parse_cluster_by(config.cluster_by, names)


def _read_hash(definition: ViewDefinition, views: tuple[ExpandedView, ...]) -> str:
    return hash_of_read_columns(definition.as_written.sql) if views else ""


def inspect_recorded(catalog: CatalogReader, name: TableName) -> LostView | RefreshedView:
    """Return what a refresh with the recorded SELECT and settings would find, for those who have no model at hand.

    Raises NotReadable for what is no materialized view, and where rows of its SELECT would not be those of the view.
    """
    request = recorded_request(catalog, name)
    inspection = _inspect(catalog, request, _Text())
    if isinstance(inspection, NewView):
        raise NotReadable("it was dropped at this moment. Name another one.")
    # A view is judged as it was configured.
    return replace(inspection, changes=ConfigurationChanges())


def as_written(view: View) -> View:
    """Return the inspection with the definition as readers see it, which gives other rows at another time."""
    return replace(view, definition=view.definition.as_written)


def untracked(view: View, reason: str) -> View:
    """Return the inspection with a definition that any change of a base refreshes in full."""
    definition = replace(view.definition, columns=None, full_when_changed=reason, sorted_lists=None)
    return replace(view, definition=definition)


def _is_kept(request: RefreshRequest, state: ViewState | None) -> bool:
    """Return whether the stored rows, if they are there, are those of the request's SELECT."""
    config = request.config
    if state is None or request.rebuild_reason is not None or state.storage_table != config.storage_table:
        return False
    return state.definition_hash == config.definition_hash and recorded_layout(state) == config.layout


def state_of(view: ViewInfo | None, request: RefreshRequest) -> ViewState | None:
    """Return what is recorded of a view, None for what is no materialized view.

    Raises StateUnreadable unless the request rebuilds.
    """
    if view is None or not is_materialized_view(view.properties):
        return None
    try:
        return read_state(show(request.view), view.properties)
    except StateUnreadable:
        if request.rebuild is None:
            raise
        return None


def stored_of(view: ViewInfo, state: ViewState, storage: Table | None) -> StoredRows | str:
    """Return the rows of the last refresh, or why they are lost."""
    if storage is None:
        return "its storage table was dropped"
    if str(storage.metadata.table_uuid) != state.storage_uuid:
        return "its storage table was dropped and created again"
    if storage.metadata.snapshot_by_id(state.storage_snapshot_id) is None:
        return f"its storage table has expired the snapshot {state.storage_snapshot_id}"
    if not is_published(view, state):
        return (view.foreign if isinstance(view, TableView) else None) or "the view was redefined by hand"
    return StoredRows(state.storage_table, storage, state.storage_snapshot_id)


def _storage(catalog: CatalogReader, view: ViewInfo | None, request: RefreshRequest) -> Table | None:
    """Return the table with the name of the storage table, but no other table that is to make way for the view."""
    name = request.config.storage_table
    table = storage_found(catalog, view, name)
    if table is None or name != request.view:
        return table
    is_ours = is_storage_table(table.properties) and table.metadata.current_snapshot_id is not None
    return table if is_ours else None


def _refuse_without_views(catalog: CatalogReader, config: ViewConfig) -> None:
    if config.layout == "view" and not catalog.has_views:
        raise InvalidConfig(
            f"the catalog {catalog.name} offers no views. Leave layout out, or set it to table. If "
            "it is a REST server that has them and does not say so, add `view-endpoints-supported: true` to "
            "`catalog_properties`."
        )


def _refuse_foreign_storage(
    catalog: CatalogReader, request: RefreshRequest, storage: Table | None, *, is_new: bool
) -> None:
    """Refuse a view in place of the storage table, and a table that is nobody's storage, or another view's.

    A view that was renamed keeps its storage table, and another view may get its name.
    """
    _, schema, table = request.config.storage_table
    name, mend = show(request.config.storage_table), "Set storage_table_prefix or storage_schema to have another one"
    if storage is None:
        if request.config.storage_table != request.view and catalog.view(schema, table) is not None:
            raise InvalidConfig(f"the view {name} is in the way of its storage table. {mend}, or rename that one.")
        return
    owner = storage.properties.get(STORAGE_OF)
    if owner is None:
        raise InvalidConfig(f"the table {name} is in the way of its storage table. {mend}, or rename that one.")
    if owner == show(request.view):
        renamed = view_stored_in(storage, catalog, request.view) if is_new else None
        if renamed is not None:
            # In the same schema a run finds the table again, of which views above are to be told (left_storage.py).
            mend = "Set storage_table_prefix to have another one"
            raise InvalidConfig(f"the table {name} is the storage table of {renamed}. {mend}.")
        return
    try:
        _, namespace, view_name = parse_name(owner)
    except ValueError:
        return
    other = catalog.view(namespace, view_name)
    if other is not None and storage_table_of(other.properties) == request.config.storage_table:
        raise InvalidConfig(f"the table {name} is the storage table of {owner}. {mend}.")


def _refuse_self_reference(
    definition: ViewDefinition, view: TableName, catalog: str, views: Sequence[ExpandedView]
) -> None:
    if any((r.catalog or catalog, r.namespace, r.name) == view for r in definition.references):
        through = f", perhaps through {' or '.join(show(v.name) for v in views)}" if views else ""
        raise InvalidConfig(f"its SELECT reads the view itself{through}. Read other tables only.")
