"""Storage tables that no view reads any more: found without Spark, dropped on demand.

Only a table with our marker is ever looked at. It is an orphan when its view is gone, or reads another table, when no
other view of the catalog knows it, and when nothing was written to it for a while: a first refresh writes the storage
table before there is a view. A table that was a materialized view itself (`layout: table`) is none under any name:
people renamed it, or registered it a second time, and then its files are those of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo, summary_count
from dbt.adapters.icebergmv.maintenance.catalog.understood import understood_table
from dbt.adapters.icebergmv.maintenance.errors import first_line
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.replaced_tables import drop_with_files, staging_name
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import load_storage
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, parse_name, show
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import ago
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import (
    STORAGE_OF,
    is_storage_table,
    view_of_storage,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import (
    STATE_KEY,
    recorded_text,
    table_of_rows,
    writer_of,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.storage_readers import all_views, folded, knows, why_needed
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import found_view

_NO_OWNER = "its view is not recorded readably"


@dataclass(frozen=True)
class LooseStorage:
    """A storage table that its view does not read.

    `storage_of` is the view that it was made for. `size` is in bytes, of the files of its current snapshot, None where
    the table does not say. `changed_at` is ISO 8601 in UTC. `kept` says why it is not dropped; None: it is an orphan.
    """

    name: str
    storage_of: str
    size: int | None
    changed_at: str
    reason: str
    kept: str | None
    dropped: bool = False

    @property
    def is_orphan(self) -> bool:
        """Return whether it may be dropped."""
        return self.kept is None


def loose_storage(
    catalog: CatalogReader, schemas: Iterable[str], older_than: int, now: datetime
) -> tuple[LooseStorage, ...]:
    """Return the storage tables in some schemas that their views do not read, in the order of their names.

    Tables that changed in the last `older_than` seconds are kept, and all of them while a view of the catalog cannot be
    read: what is not known to be an orphan is none. Raises CatalogUnavailable when the catalog cannot list its content.
    """
    tables = dict(_storage_tables(catalog, schemas))
    found = {n: reason for n, table in tables.items() if (reason := _why_loose(catalog, n, table)) is not None}
    # Every view of the catalog is read only where there is something to lose.
    views = list(all_views(catalog)) if found else []

    def kept(name: TableName, table: Table) -> str | None:
        owned = _why_not_owned(catalog, name, table, views) or _why_shared(name, table, tables)
        return owned or _why_young(table, older_than, now)

    return tuple(_judged(n, tables[n], reason, kept(n, tables[n])) for n, reason in sorted(found.items()))


def drop_orphans(lake: Lake, found: Sequence[LooseStorage]) -> tuple[LooseStorage, ...]:
    """Drop those that are orphans still, with their files; return all as they are then.

    A table that was written since, or that a view reads by now, is kept. So is one that cannot be dropped, with the
    error.
    """
    return tuple(_dropped(lake, loose) if loose.is_orphan else loose for loose in found)


def _dropped(lake: Lake, loose: LooseStorage) -> LooseStorage:
    name = parse_name(loose.name)
    try:
        kept = _why_not_dropped(lake.catalog, name, loose)
        if kept is None:
            drop_with_files(lake, name, load_storage(lake, name))
    except Exception as error:
        # Spark and catalogs fail in many kinds. What was dropped before is reported, and the others are tried.
        kept = f"it could not be dropped: {first_line(error)}"
    return replace(loose, kept=kept, dropped=kept is None)


def _why_not_dropped(catalog: CatalogReader, name: TableName, loose: LooseStorage) -> str | None:
    """Return why an orphan is none any more: to delete the files of those before it may have taken minutes."""
    table = catalog.table(name[1], name[2])
    if table is None:
        return "it was dropped meanwhile"
    if _changed_at(table) != loose.changed_at or _why_loose(catalog, name, table) is None:
        return "it changed meanwhile"
    return _why_not_owned(catalog, name, table, list(all_views(catalog)))


def _storage_tables(catalog: CatalogReader, schemas: Iterable[str]) -> Iterator[tuple[TableName, Table]]:
    for schema in sorted(set(schemas)):
        for entry in catalog.entries(schema):
            table = understood_table(catalog, schema, entry.name) if entry.kind == "table" else None
            if table is not None and is_storage_table(table.properties):
                yield (catalog.name, schema, entry.name), table


def _why_loose(catalog: CatalogReader, name: TableName, table: Table) -> str | None:
    """Return why the view that a storage table was made for does not read it; None if it does, or may.

    The name of the catalog does not count: it may have another one in another profile.
    """
    owner = view_of_storage(table.properties, name[:2])
    if owner is None:
        return _NO_OWNER
    if folded(owner) == folded(name):
        # People query this table itself.
        return None
    view = found_view(catalog, owner)
    if view is None:
        return "its view is gone"
    return None if knows(view, name, table) else "its view reads another table"


def _why_not_owned(
    catalog: CatalogReader, name: TableName, table: Table, views: Sequence[tuple[str, ViewInfo | None]]
) -> str | None:
    """Return why a table that its view does not read is kept whatever its age; None: nobody needs it."""
    owner = view_of_storage(table.properties, name[:2])
    if owner is None:
        return _NO_OWNER
    if not (views or catalog.shows_all_views):
        # It was made where there are views: this profile may not see them.
        return f"no view of the catalog {catalog.name} can be seen with this profile, so it is not known who reads it"
    needed = why_needed(views, name, table)
    if needed is not None:
        return needed
    if STATE_KEY not in table.properties:
        return _why_kept_by_people(name, table)
    if folded(name) != folded(staging_name(owner)):
        return "it was a materialized view itself (layout table). Drop it by hand if nobody queries it"
    return None


def _why_kept_by_people(name: TableName, table: Table) -> str | None:
    """Return why the newest rows may be there because somebody wants them; None where a refresh left them.

    CREATE OR REPLACE keeps the mark of a storage table, and so does who gives it another name. A refresh that died may
    have left a table without rows, which nobody misses.
    """
    current = table.metadata.current_snapshot_id
    writer = None if current is None else writer_of(table, current)
    if writer is None or summary_count(table, writer.snapshot_id, "total-records") == 0:
        return None
    text = recorded_text(writer)
    if text is None:
        return "its rows are not those of a refresh: it was made anew. Drop it by hand if nobody queries it"
    # The name of the catalog does not count.
    written = table_of_rows(text)
    if written is not None and folded(written) != folded(name):
        return "its rows were written under another name. Drop it by hand if nobody queries it"
    return None


def _why_shared(name: TableName, table: Table, tables: Mapping[TableName, Table]) -> str | None:
    """Return why a table is kept that was registered under a second name: its files are those of both."""
    uuid = table.metadata.table_uuid
    other = next((n for n, found in tables.items() if n != name and found.metadata.table_uuid == uuid), None)
    if other is None:
        return None
    return f"{show(other)} is the same table under another name. Drop one by hand, without PURGE"


def _why_young(table: Table, older_than: int, now: datetime) -> str | None:
    age = int(now.timestamp() - table.metadata.last_updated_ms / 1000)
    return f"it changed {ago(max(age, 0))}: a refresh may be building it" if age < older_than else None


def _judged(name: TableName, table: Table, reason: str, kept: str | None) -> LooseStorage:
    snapshot = table.metadata.current_snapshot_id
    size = None if snapshot is None else summary_count(table, snapshot, "total-files-size")
    return LooseStorage(show(name), table.properties[STORAGE_OF], size, _changed_at(table), reason, kept)


def _changed_at(table: Table) -> str:
    changed = datetime.fromtimestamp(table.metadata.last_updated_ms / 1000, tz=timezone.utc)
    return changed.isoformat(timespec="milliseconds")
