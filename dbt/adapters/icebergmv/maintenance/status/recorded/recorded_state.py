"""What is recorded with a refresh, and how it is written in the properties of the view.

The view's commit publishes SQL and state together, so the state always describes the rows that readers see. A checksum
over it distinguishes a state that was edited by hand from one that we wrote.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock
from dbt.adapters.icebergmv.maintenance.errors import StateUnreadable
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, parse_name, show, split_name
from dbt.adapters.icebergmv.maintenance.status.recorded.streaks import Streaks, from_json, to_json

FORMAT_VERSION = 1
PREFIX = "icebergmv."
FORMAT_KEY = PREFIX + "format-version"
OWNER_KEY = PREFIX + "owner"
STORAGE_KEY = PREFIX + "storage-table"
STORAGE_UUID = PREFIX + "storage-uuid"
STORAGE_SNAPSHOT_ID = PREFIX + "storage-snapshot-id"
STORAGE_OF = PREFIX + "storage-of"
"""Table property of a storage table: the view it belongs to."""
_CHECKSUM_KEY = PREFIX + "checksum"
_STREAKS_KEY = PREFIX + "vain-questions"
"""As former versions name what they record of questions: a property that nobody writes any more stays, unlike the
checksum."""


@dataclass(frozen=True)
class BaseTableState:
    """One base table as the last refresh read it. `name` is what the SELECT names, `storage` what was read for it.

    `metadata_location` is the table's metadata file at that time; states of former versions have none.
    """

    name: TableName
    storage: TableName
    version: TableVersion
    metadata_location: str | None = None


@dataclass(frozen=True)
class ExpandedView:
    """A plain view as the last refresh read it. `definition_hash` covers all that its rows depend on but the tables."""

    name: TableName
    uuid: str
    version_id: int
    definition_hash: str


@dataclass(frozen=True)
class FullRefresh:
    """How long a full refresh took to write its rows, and how many rows its base tables had together."""

    seconds: float
    rows: int


@dataclass(frozen=True)
class ViewState:
    """The state of a materialized view.

    `definition` is the SQL as compiled. `settings` are the session settings that give it its meaning, `config` is the
    model configuration that shaped the storage table. `views` are the plain views in place of whose names their SQL
    was read; states of former versions have none. `read_hash` is the hash of all that the SELECT reads through them;
    empty without views, and in states of former versions. `partial` names the dbt flag (`--empty`, `--sample`) under
    which the rows were built: such rows are not those of the definition. `view_sql_hash` is that of the SQL which the
    view holds; empty where that is a plain read of the storage table. `stale_read_behavior` is the one that readers
    get, which may be less than was asked for. `clock` holds what the clock functions that it reads gave; states of
    former versions have none. `tie_breakers` are what the rows of its windows were ordered by besides. `full_seconds`
    is how long the last full refresh took to write its rows, and `full_rows` how many its base tables had, where that
    is known. `streaks` say what did not pay at the last refreshes. Names without a namespace meant tables of
    `default_namespace`; states of former versions do not say it (empty). Times are ISO 8601 in UTC.
    """

    definition: str
    definition_hash: str
    storage_table: TableName
    storage_uuid: str
    storage_snapshot_id: int
    base_tables: tuple[BaseTableState, ...]
    refresh_kind: str
    refresh_reason: str
    started_at: str
    refreshed_at: str
    owner: str
    settings: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, object] = field(default_factory=dict)
    partial: str | None = None
    views: tuple[ExpandedView, ...] = ()
    read_hash: str = ""
    view_sql_hash: str = ""
    stale_read_behavior: str = "use_data_table"
    clock: Clock = field(default_factory=dict)
    full_seconds: float | None = None
    full_rows: int | None = None
    streaks: Streaks = field(default_factory=dict)
    default_namespace: str = ""
    tie_breakers: tuple[str, ...] = ()

    @property
    def last_full(self) -> FullRefresh | None:
        """Return what is known of the last full refresh; None if not all is."""
        if self.full_seconds is None or self.full_rows is None:
            return None
        return FullRefresh(self.full_seconds, self.full_rows)

    @property
    def refreshed_for_people(self) -> str:
        """Return the time of the last refresh to the minute, as messages show it."""
        return datetime.fromisoformat(self.refreshed_at).strftime("%Y-%m-%d %H:%M UTC")

    def to_properties(self) -> dict[str, str]:
        """Return the view properties that record the state."""
        properties = {
            FORMAT_KEY: str(FORMAT_VERSION),
            PREFIX + "definition": self.definition,
            PREFIX + "definition-hash": self.definition_hash,
            STORAGE_KEY: show(self.storage_table),
            STORAGE_UUID: self.storage_uuid,
            STORAGE_SNAPSHOT_ID: str(self.storage_snapshot_id),
            PREFIX + "base-tables": json.dumps([_base_to_json(b) for b in self.base_tables], ensure_ascii=False),
            PREFIX + "refresh-kind": self.refresh_kind,
            PREFIX + "refresh-reason": self.refresh_reason,
            PREFIX + "started-at": self.started_at,
            PREFIX + "refreshed-at": self.refreshed_at,
            OWNER_KEY: self.owner,
            PREFIX + "settings": json.dumps(dict(self.settings), sort_keys=True),
            PREFIX + "config": json.dumps(dict(self.config), sort_keys=True, ensure_ascii=False),
            PREFIX + "partial": self.partial or "",
            PREFIX + "views": json.dumps([_view_to_json(v) for v in self.views], ensure_ascii=False),
            PREFIX + "read-hash": self.read_hash,
            PREFIX + "view-sql-hash": self.view_sql_hash,
            PREFIX + "stale-read-behavior": self.stale_read_behavior,
            PREFIX + "clock": json.dumps(dict(self.clock), sort_keys=True),
            PREFIX + "default-namespace": self.default_namespace,
            PREFIX + "tie-breakers": json.dumps(self.tie_breakers, ensure_ascii=False),
        }
        if self.full_seconds is not None:
            properties[PREFIX + "full-seconds"] = f"{self.full_seconds:.1f}"
        if self.full_rows is not None:
            properties[PREFIX + "full-rows"] = str(self.full_rows)
        # A property that is left out keeps its former value.
        properties[_STREAKS_KEY] = to_json(self.streaks)
        return {**properties, _CHECKSUM_KEY: _checksum(properties)}


def is_materialized_view(properties: Mapping[str, str]) -> bool:
    """Return whether the properties of a view are those of a materialized view."""
    return FORMAT_KEY in properties


def is_storage_table(properties: Mapping[str, str]) -> bool:
    """Return whether the properties of a table are those of a storage table."""
    return STORAGE_OF in properties


def may_delete_files(properties: Mapping[str, str]) -> bool:
    """Return whether Iceberg deletes the files of a table with these properties (`gc.enabled`)."""
    return properties.get("gc.enabled", "true").lower() != "false"


def storage_table_of(properties: Mapping[str, str], schema: tuple[str, ...] = ()) -> TableName | None:
    """Return the storage table of a materialized view, or None when it is not recorded readably.

    The state as a whole need not be readable. Parts that the name lacks are those of `schema`, catalog and namespace.
    """
    return _full_name(properties.get(STORAGE_KEY), schema)


def view_of_storage(properties: Mapping[str, str], schema: tuple[str, ...] = ()) -> TableName | None:
    """Return the view that a storage table belongs to, or None when it is not recorded readably.

    Parts that the name lacks are those of `schema`, catalog and namespace.
    """
    return _full_name(properties.get(STORAGE_OF), schema)


def read_state(view_name: str, properties: Mapping[str, str]) -> ViewState:
    """Return the state recorded in the properties of a materialized view.

    Raises StateUnreadable when it was written by a newer version, is incomplete, or was edited.
    """
    version = properties.get(FORMAT_KEY, "")
    if re.fullmatch(r"[0-9]{1,9}", version) and int(version) > FORMAT_VERSION:
        raise StateUnreadable(
            f"it was written in format {version} and this version of dbt-icebergmv reads up to {FORMAT_VERSION}. "
            "Upgrade dbt-icebergmv, or rebuild with --full-refresh.",
            subject=f"Cannot use the state of {view_name}",
        )
    recorded = {k: v for k, v in properties.items() if k.startswith(PREFIX) and k != _CHECKSUM_KEY}
    if properties.get(_CHECKSUM_KEY) != _checksum(recorded):
        raise _unreadable(view_name, "it was changed by hand or by another program")
    try:
        return parse_state(recorded)
    except (KeyError, ValueError, TypeError) as error:
        raise _unreadable(view_name, f"{type(error).__name__}: {error}") from error


def _full_name(text: str | None, schema: tuple[str, ...]) -> TableName | None:
    try:
        parts = split_name(text or "")
    except ValueError:
        return None
    full = (*schema[: 3 - len(parts)], *parts)
    return (full[0], full[1], full[2]) if len(full) == 3 else None


def parse_state(recorded: Mapping[str, str]) -> ViewState:
    """Return the state in some properties, unchecked. Raises KeyError, ValueError or TypeError for what is none."""

    def text(key: str) -> str:
        return recorded[PREFIX + key]

    return ViewState(
        definition=text("definition"),
        definition_hash=text("definition-hash"),
        storage_table=parse_name(recorded[STORAGE_KEY]),
        storage_uuid=text("storage-uuid"),
        storage_snapshot_id=int(text("storage-snapshot-id")),
        base_tables=tuple(_base_from_json(b) for b in json.loads(text("base-tables"))),
        refresh_kind=text("refresh-kind"),
        refresh_reason=text("refresh-reason"),
        started_at=text("started-at"),
        refreshed_at=text("refreshed-at"),
        owner=recorded[OWNER_KEY],
        settings=json.loads(text("settings")),
        config=json.loads(text("config")),
        partial=text("partial") or None,
        views=tuple(_view_from_json(v) for v in json.loads(recorded.get(PREFIX + "views", "[]"))),
        read_hash=recorded.get(PREFIX + "read-hash", ""),
        view_sql_hash=recorded.get(PREFIX + "view-sql-hash", ""),
        stale_read_behavior=recorded.get(PREFIX + "stale-read-behavior", "use_data_table"),
        clock={str(kind): str(value) for kind, value in json.loads(recorded.get(PREFIX + "clock", "{}")).items()},
        full_seconds=float(seconds) if (seconds := recorded.get(PREFIX + "full-seconds")) else None,
        full_rows=int(rows) if (rows := recorded.get(PREFIX + "full-rows")) else None,
        streaks=from_json(recorded.get(_STREAKS_KEY, "")),
        default_namespace=recorded.get(PREFIX + "default-namespace", ""),
        tie_breakers=tuple(map(str, json.loads(recorded.get(PREFIX + "tie-breakers", "[]")))),
    )


def _base_to_json(base: BaseTableState) -> dict[str, object]:
    return {
        "name": show(base.name),
        "storage": show(base.storage),
        "uuid": base.version.uuid,
        "snapshot-id": base.version.snapshot_id,
        "schema-id": base.version.schema_id,
        "metadata-location": base.metadata_location,
    }


def _base_from_json(value: Mapping[str, object]) -> BaseTableState:
    snapshot_id = value["snapshot-id"]
    return BaseTableState(
        name=parse_name(str(value["name"])),
        storage=parse_name(str(value["storage"])),
        version=TableVersion(
            uuid=str(value["uuid"]),
            snapshot_id=None if snapshot_id is None else int(str(snapshot_id)),
            schema_id=int(str(value["schema-id"])),
        ),
        metadata_location=None if value.get("metadata-location") is None else str(value["metadata-location"]),
    )


def _view_to_json(view: ExpandedView) -> dict[str, object]:
    return {
        "identifier": show(view.name),
        "uuid": view.uuid,
        "version-id": view.version_id,
        "definition-hash": view.definition_hash,
    }


def _view_from_json(value: Mapping[str, object]) -> ExpandedView:
    return ExpandedView(
        name=parse_name(str(value["identifier"])),
        uuid=str(value["uuid"]),
        version_id=int(str(value["version-id"])),
        definition_hash=str(value["definition-hash"]),
    )


def _checksum(properties: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(dict(properties), sort_keys=True).encode()).hexdigest()[:16]


def _unreadable(view_name: str, cause: str) -> StateUnreadable:
    return StateUnreadable(
        f"{cause}. Rebuild the view with --full-refresh; its rows are untouched.",
        subject=f"Cannot use the state of {view_name}",
    )
