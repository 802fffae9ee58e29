"""The base tables behind the names in a SELECT: what is read for each, and at which snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace

from pyiceberg.schema import Schema
from pyiceberg.table import Table, TableProperties
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.types import NestedField

from dbt.adapters.icebergmv.maintenance.catalog.reader import (
    CatalogReader,
    ColumnInfo,
    ViewInfo,
    schema_columns,
    schema_id_at,
    summary_count,
)
from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.errors import StateUnreadable, TableNotUnderstood
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import LIVE
from dbt.adapters.icebergmv.maintenance.status.recorded.hidden_columns import shown
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import is_published
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import (
    ViewState,
    is_materialized_view,
    read_state,
)
from dbt.adapters.icebergmv.maintenance.status.tables.column_shapes import can_bridge, not_shown

_IN_DOUBT: Remembered[Mapping[int, str]] = Remembered(20_000, lambda columns: 1 + len(columns))


@dataclass(frozen=True)
class IcebergSource:
    """An Iceberg table to read at one snapshot, under one schema.

    `table_schema` is the schema to present; `snapshot_schema` the one that reading the snapshot gives (None: no
    snapshot). They differ when columns changed after the last write. `unread` are ids of columns that nobody reads.
    """

    table: Table
    storage: TableName
    version: TableVersion
    table_schema: Schema
    snapshot_schema: Schema | None
    unread: frozenset[int] = frozenset()

    @property
    def row_count(self) -> int:
        """Return the number of rows that the snapshot says it has; 0 where it does not say."""
        return self.most_rows or 0

    @property
    def most_rows(self) -> int | None:
        """Return the number of rows that the snapshot says it has, or had and deleted; None where it does not say."""
        return self.count("total-records")

    def count(self, what: str) -> int | None:
        """Return a count of the snapshot's summary, 0 without a snapshot; None where it does not say."""
        snapshot = self.version.snapshot_id
        return 0 if snapshot is None else summary_count(self.table, snapshot, what)

    @property
    def has_other_columns_now(self) -> bool:
        """Return whether an append scan, which reads under the columns of today, would not show those wanted."""
        return self.version.schema_id != self.table.metadata.current_schema_id

    @property
    def in_doubt(self) -> Mapping[int, str]:
        """Return the columns, by their ids, that some snapshot may not show as a query of the table does.

        Imported files, which have no field ids, are read by the names that the columns of today have (Iceberg spec,
        "Column Projection"); so they may have columns that came after the snapshot.
        """
        schemas = self.table.schemas()
        if len(schemas) == 1:
            return {}

        def find_out() -> Mapping[int, str]:
            doubtful = [f for schema in schemas.values() for f in not_shown(self.table_schema, schema)]
            return {field.field_id: field.name for field in (*doubtful, *self._found_by_name())}

        return _IN_DOUBT.get((str(self.table.metadata_location), self.version, self.table_schema.schema_id), find_out)

    def _found_by_name(self) -> list[NestedField]:
        if self.snapshot_schema is None or TableProperties.DEFAULT_NAME_MAPPING not in self.table.properties:
            return []
        had = {field.field_id for field in self.snapshot_schema.fields}
        return [field for field in self.table_schema.fields if field.field_id not in had]

    def why_not_shown(self) -> str | None:
        """Return why a column that is read may not be seen at the snapshot, or None."""
        if not can_bridge(self.table_schema, self.snapshot_schema, self.unread):
            return "changed its columns since it was last written"
        found = [field.name for field in self._found_by_name() if field.field_id not in self.unread]
        if not found:
            return None
        return f"got a column {found[0]} since it was last written, which its imported files may have already"

    def columns_ever(self) -> tuple[ColumnInfo, ...]:
        """Return the columns of every schema that the table has had."""
        return tuple(c for schema in self.table.schemas().values() for c in schema_columns(schema))


@dataclass(frozen=True)
class BaseTable:
    """What a name in the SELECT means.

    `source` is None when it cannot be read at a recorded snapshot; `untrackable` then says why. `view` is the plain
    view behind the name, if it is one, or the materialized view that is read as its SELECT.
    """

    name: TableName
    source: IcebergSource | None
    untrackable: str | None = None
    view: ViewInfo | None = None

    @property
    def columns(self) -> tuple[ColumnInfo, ...] | None:
        """Return the columns that the SELECT sees, None when only Spark knows them."""
        return None if self.source is None else schema_columns(self.source.table_schema)


class BaseTables:
    """Looks up base tables once each, so that every occurrence of a name reads the same snapshot.

    `live` says of some materialized views whether they are read as their SELECT (else as their stored rows); of all
    others their configuration says it.
    """

    def __init__(self, catalog: CatalogReader, live: Mapping[TableName, bool] | None = None) -> None:
        self._catalog = catalog
        self._live = live or {}
        self._known: dict[TableName, BaseTable] = {}

    @property
    def catalog_name(self) -> str:
        """Return the name of the catalog in Spark."""
        return self._catalog.name

    def of(self, reference: TableReference) -> BaseTable:
        """Return the base table of a reference; absent and foreign tables are untrackable, not errors."""
        name = (reference.catalog or self._catalog.name, reference.namespace, reference.name)
        if name not in self._known:
            self._known[name] = self._look_up(name)
        return self._known[name]

    def source_of(self, reference: TableReference) -> IcebergSource | None:
        """Return what is read of a reference at a recorded snapshot; None where there is no such snapshot.

        So too for a reference at a snapshot of its own.
        """
        return None if reference.pinned else self.of(reference).source

    def sources(self, references: Iterable[TableReference]) -> dict[TableReference, IcebergSource]:
        """Return the sources of the references that are read at a recorded snapshot."""
        found = ((r, self.source_of(r)) for r in references)
        return {r: source for r, source in found if source is not None}

    def columns_of(self, reference: TableReference) -> tuple[ColumnInfo, ...] | None:
        """Return the columns of the base table of a reference; None at a snapshot of its own, which may have others."""
        return None if reference.pinned else self.of(reference).columns

    def not_expanded(self, name: TableName, reason: str) -> None:
        """Note why a plain view stays a name in the SQL."""
        known = self._known[name]
        self._known[name] = replace(known, untrackable=f"{_live(name)}: {reason}")

    def leave_unpinned(self, read: Callable[[], Set[str]]) -> None:
        """Read the tables as they are now whose snapshots may not show a column that is read.

        `read` gives the words, in lower case, that may be such a column; with `*` any may be.
        """
        words: Set[str] | None = None
        for name, base in self._known.items():
            source = base.source
            if source is None or not source.in_doubt:
                continue
            words = read() if words is None else words
            unread = {i for i, column in source.in_doubt.items() if not words & {"*", column.lower()}}
            source = replace(source, unread=frozenset(unread))
            why = source.why_not_shown()
            reason = None if why is None else f"{show(name)} {why}"
            self._known[name] = replace(base, source=source if why is None else None, untrackable=reason)

    def _look_up(self, name: TableName) -> BaseTable:
        if name[0] != self._catalog.name:
            return BaseTable(name, None, f"{show(name)} is not an Iceberg table of the catalog {self._catalog.name}")
        try:
            return self._found(name)
        except TableNotUnderstood:
            return BaseTable(name, None, f"the metadata of {show(name)} hold something that PyIceberg does not know")

    def _found(self, name: TableName) -> BaseTable:
        catalog, namespace, table_name = name
        table = self._catalog.table(namespace, table_name)
        if table is not None:
            return BaseTable(name, _current(table, name))
        view = self._catalog.view(namespace, table_name)
        if view is None:
            return BaseTable(name, None, f"the catalog {catalog} has no Iceberg table {show(name)}")
        if not is_materialized_view(view.properties):
            return BaseTable(name, None, _live(name), view)
        return self._materialized_view(name, view)

    def _materialized_view(self, name: TableName, view: ViewInfo) -> BaseTable:
        view_name = show(name)
        try:
            state = read_state(view_name, view.properties)
        except StateUnreadable:
            return BaseTable(name, None, f"the state of the materialized view {view_name} cannot be read")
        if not is_published(view, state):
            return BaseTable(name, None, f"the materialized view {view_name} was redefined by hand")
        if self._live.get(name, state.stale_read_behavior in LIVE):
            # It shows what its base tables hold, as a plain view of the same SELECT does.
            return BaseTable(name, None, _live(name), as_plain_view(view, state, self._catalog.name))
        table = self._catalog.table(state.storage_table[1], state.storage_table[2])
        snapshot = table.metadata.snapshot_by_id(state.storage_snapshot_id) if table is not None else None
        if table is None or snapshot is None:
            return BaseTable(name, None, f"the storage table of the materialized view {view_name} is gone")
        version = version_at(table, snapshot)
        schema = table.schemas()[version.schema_id]
        return BaseTable(name, IcebergSource(table, state.storage_table, version, shown(schema), schema))


def as_plain_view(view: ViewInfo, state: ViewState, catalog: str) -> ViewInfo:
    """Return a materialized view as the plain view of its SELECT, whose bare names mean what its refresh took them for.

    The session that created the view may have been in any namespace.
    """
    if not state.default_namespace:
        return replace(view, sql=state.definition)
    known = view.default_catalog in (None, catalog)
    return replace(
        view,
        sql=state.definition,
        default_catalog=view.default_catalog if known else catalog,
        default_namespace=(state.default_namespace,),
    )


def version_at(table: Table, snapshot: Snapshot) -> TableVersion:
    """Return a table at a snapshot, with the columns that it had then."""
    return TableVersion(str(table.metadata.table_uuid), snapshot.snapshot_id, schema_id_at(table, snapshot))


def _live(view: TableName) -> str:
    return f"{show(view)} is a view, which cannot be read at a recorded snapshot"


def at_snapshot(source: IcebergSource, snapshot_id: int | None) -> IcebergSource | None:
    """Return the source as it was at an earlier snapshot, under the columns of today; None if that cannot be shown.

    Without a snapshot (None) it was empty.
    """
    if snapshot_id is None:
        return replace(source, version=replace(source.version, snapshot_id=None), snapshot_schema=None)
    snapshot = source.table.metadata.snapshot_by_id(snapshot_id)
    if snapshot is None:
        return None
    stored = source.table.schemas()[schema_id_at(source.table, snapshot)]
    version = replace(source.version, snapshot_id=snapshot_id)
    is_shown = can_bridge(source.table_schema, stored, source.unread)
    return replace(source, version=version, snapshot_schema=stored) if is_shown else None


def _current(table: Table, name: TableName) -> IcebergSource:
    metadata = table.metadata
    snapshot = table.current_snapshot()
    snapshot_schema = None if snapshot is None else table.schemas()[schema_id_at(table, snapshot)]
    version = TableVersion(str(metadata.table_uuid), metadata.current_snapshot_id, metadata.current_schema_id)
    return IcebergSource(table, name, version, table.schema(), snapshot_schema)
