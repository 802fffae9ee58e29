"""The adapter's side of `dbt seed`: is what would be loaded in the table already?

A load leaves three properties with the table: a hash of all that decides the stored rows, the snapshot that it ended
in, and the table's UUID. They are written after the rows, and only when the table's history shows that these rows are
all that the table holds. So a load that is killed, or that another writer got in between, leaves no hash that counts.
A fourth one is a hash of the clauses that the table was made with.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import BaseRelation, available
from dbt.adapters.base.meta import AdapterMeta
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot

from dbt.adapters.icebergmv.maintenance.catalog.append_window import operation
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import PREFIX
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import (
    lets_rows_aside,
    meaning_settings,
    rows_go_aside,
)
from dbt.adapters.icebergmv.maintenance.status.tables.column_shapes import shape
from dbt.adapters.icebergmv.spark.seed_values import literal

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.credentials import IcebergMVCredentials
    from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader

HASH_KEY = PREFIX + "seed-hash"
SNAPSHOT_KEY = PREFIX + "seed-snapshot-id"
UUID_KEY = PREFIX + "seed-table-uuid"
CLAUSES_KEY = PREFIX + "seed-clauses"
LOAD_KEY = PREFIX + "seed-load"
"""Snapshot property of every INSERT of a load: which load it belongs to."""

_BEYOND_BIGINT = 2**63
_BEYOND_DECIMAL = 10**38
_ROUNDED = 10**28
"""From here on agate rounds the numbers of a file."""

_MEANING = 1
"""Raise it when the same file, columns and settings come to be stored as other rows: every seed is loaded again."""

PLAIN = "using iceberg"
"""The clauses of a seed without configuration."""


@dataclass(frozen=True)
class SeedLoad:
    """What a load puts into the table: `hash` covers all that decides the stored rows.

    `names` are the columns in order, `rows` is their number. `settings` give the statements their meaning. `clauses`
    are those of CREATE TABLE behind its columns: partitions, location, properties.
    """

    hash: str
    names: tuple[str, ...]
    rows: int
    settings: Mapping[str, str]
    clauses: str


def seed_load(
    columns: Sequence[Sequence[str]],
    rows: Sequence[Sequence[object]],
    settings: Mapping[str, str],
    clauses: str = PLAIN,
) -> SeedLoad:
    """Return what a load of the rows into columns, each as (name, Spark type), puts into the table.

    The delimiter, `quote_columns` and `column_types` count by what they make of the file. So the clauses of a plain
    Iceberg table do not count.
    """
    clauses = " ".join(clauses.split())
    others = [] if clauses == PLAIN else [clauses]
    digest = hashlib.sha256()
    first = [_MEANING, sorted(settings.items()), [list(c) for c in columns], *others]
    for part in (first, *([*map(literal, r)] for r in rows)):
        digest.update(json.dumps(part).encode() + b"\n")
    return SeedLoad(digest.hexdigest(), tuple(c[0] for c in columns), len(rows), settings, clauses)


def is_loaded(table: Table, load: SeedLoad) -> bool:
    """Return whether the table holds exactly the rows of the load, as it recorded them; no row is read."""
    recorded = {key: table.properties.get(key) for key in (HASH_KEY, SNAPSHOT_KEY, UUID_KEY)}
    return recorded == _properties(table, load)


def properties_after(table: Table, load: SeedLoad, invocation: str) -> dict[str, str] | None:
    """Return the table properties that record a load which `invocation` has ended.

    None when it cannot be proven that the table holds the rows of the load and no others.
    """
    is_proven = _has_columns_of(table, load) and _holds_only(table, load.rows, invocation)
    return _properties(table, load) if is_proven else None


def is_made_with(table: Table, clauses: str) -> bool:
    """Return whether a seed's table was made with these clauses, as its last load recorded; none are a plain table."""
    return table.properties.get(CLAUSES_KEY, _clauses_hash(PLAIN)) == _clauses_hash(clauses)


def clauses_property(load: SeedLoad) -> dict[str, str]:
    """Return the property that says with which clauses the table of a load was made."""
    return {CLAUSES_KEY: _clauses_hash(load.clauses)}


def _clauses_hash(clauses: str) -> str:
    return hashlib.sha256(" ".join(clauses.split()).encode()).hexdigest()[:16]


def _properties(table: Table, load: SeedLoad) -> dict[str, str]:
    """Return what is recorded of the load; the hash is over the stored columns too, which may be renamed or altered."""
    stored = [[str(part) for part in shape(f)] for f in table.schema().fields]
    return {
        HASH_KEY: hashlib.sha256(json.dumps([load.hash, stored]).encode()).hexdigest(),
        SNAPSHOT_KEY: str(_last_change(table) or ""),
        UUID_KEY: str(table.metadata.table_uuid),
    }


def _last_change(table: Table) -> int | None:
    """Return the last snapshot that changed a row: compaction (`replace`) changes none."""
    head = table.metadata.current_snapshot_id
    made = () if head is None else ancestry(table.metadata, head)
    return next((s.snapshot_id for s in made if operation(s) != Operation.REPLACE), head)


def _has_columns_of(table: Table, load: SeedLoad) -> bool:
    """Return whether the columns are those of the load, and were when the last rows were written."""
    snapshot, now = table.current_snapshot(), [shape(f) for f in table.schema().fields]
    if [name for _, name, _ in now] != list(load.names):
        return False
    if snapshot is None:
        return True
    written = table.schemas().get(-1 if snapshot.schema_id is None else snapshot.schema_id)
    return written is not None and [shape(f) for f in written.fields] == now


def _holds_only(table: Table, rows: int, invocation: str) -> bool:
    """Return whether the history, back to where the table was empty, is that of one load of so many rows."""
    snapshot = table.current_snapshot()
    if rows == 0:
        return snapshot is None or _count(snapshot, "total-records") == 0
    if snapshot is None or _count(snapshot, "total-records") != rows:
        return False
    for made in ancestry(table.metadata, snapshot.snapshot_id):
        if made.summary is None or made.summary.get(LOAD_KEY) != invocation:
            return False
        if _count(made, "added-records") == _count(made, "total-records"):
            return True
    return False


def _count(snapshot: Snapshot, key: str) -> int:
    """Return a count of the summary; -1 where it does not say."""
    count = None if snapshot.summary is None else snapshot.summary.get(key)
    return int(count) if count is not None and count.isdecimal() else -1


class SeedMixin(metaclass=AdapterMeta):
    """Methods that the seed materialization calls."""

    if TYPE_CHECKING:
        credentials: IcebergMVCredentials

        def catalog_reader_of(self, database: str | None) -> CatalogReader:
            """Return the reader of a catalog."""

        def execute(self, sql: str, fetch: bool = False) -> tuple[Any, Any]:
            """Run a statement."""

    @classmethod
    def convert_number_type(cls, agate_table: Any, col_idx: int) -> str:
        """Return the type of a column of numbers: one that holds them all as agate has read them."""
        values = [value for value in agate_table.columns[col_idx].values() if value is not None]
        if any(not value.is_finite() or abs(value) >= _ROUNDED or value != int(value) for value in values):
            return "double"
        return cls.convert_integer_type(agate_table, col_idx)

    @classmethod
    def convert_integer_type(cls, agate_table: Any, col_idx: int) -> str:
        """Return the type of a column of whole numbers: one that holds them all, if Spark has one."""
        values = agate_table.columns[col_idx].values()
        most = max((abs(int(value)) for value in values if value is not None), default=0)
        if most < _BEYOND_BIGINT:
            return "bigint"
        return "decimal(38,0)" if most < _BEYOND_DECIMAL else "double"

    @available.parse(lambda *_, **__: None)
    def seed_load(self, columns: Sequence[Sequence[str]], agate_table: Any, clauses: str) -> SeedLoad:
        """Return what a load of the file puts into the columns, each as [name, Spark type]."""
        return seed_load(columns, agate_table.rows, meaning_settings(self.credentials.session_conf()), clauses)

    @available.parse(lambda *_, **__: False)
    def is_seed_loaded(self, relation: BaseRelation, load: SeedLoad) -> bool:
        """Return whether the table holds the rows of the load already. No row is read.

        Never so where the session reads another branch than main, of which the properties speak. Spark is started to
        find that out, if the table allows it, and for nothing else.
        """
        table = self._seed_table(relation)
        return table is not None and is_loaded(table, load) and not self._is_aside(table)

    @available.parse(lambda *_, **__: True)
    def is_seed_made_with(self, relation: BaseRelation, clauses: str) -> bool:
        """Return whether the table of a seed was made with these clauses, so that it can be emptied and filled.

        Also so where the session writes to another branch than main: no other one gets the table without its rows.
        """
        table = self._seed_table(relation)
        return table is not None and (is_made_with(table, clauses) or self._is_aside(table))

    @available.parse(lambda *_, **__: {})
    def seed_properties(self, relation: BaseRelation, load: SeedLoad, invocation: str) -> dict[str, str]:
        """Return the table properties that record a finished load, none when the next run has to load again.

        A session with other settings than the profile's may have given the values another meaning.
        """
        table = self._seed_table(relation)
        if table is None:
            return {}
        found = properties_after(table, load, invocation)
        made = {} if is_made_with(table, load.clauses) else clauses_property(load)
        if not (found or made) or self._is_aside(table):
            return {}
        return {**made, **(found or {})} if meaning_settings(self._session_settings()) == load.settings else made

    @available.parse_none
    def comment_of_table(self, relation: BaseRelation) -> str | None:
        """Return the comment of a table, none when it has none or is absent."""
        table = self._seed_table(relation)
        return None if table is None else table.properties.get("comment")

    def _is_aside(self, table: Table) -> bool:
        """Return whether the session writes to another branch of a table than main, and reads it."""
        return lets_rows_aside(table.properties) and rows_go_aside(self._session_settings()) is not None

    def _session_settings(self) -> dict[str, str]:
        _, rows = self.execute("set", fetch=True)
        return {str(row[0]): str(row[1]) for row in rows}

    def _seed_table(self, relation: BaseRelation) -> Table | None:
        return self.catalog_reader_of(relation.database).table(str(relation.schema), str(relation.identifier))
