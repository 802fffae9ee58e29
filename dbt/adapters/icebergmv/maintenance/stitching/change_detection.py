"""How a view finds out, when it is read, what changed in its base tables: SQL over Iceberg's metadata tables.

Spark loads every table that a query names once, in the order of the text, metadata tables each on their own. So a
writer may commit between two loads. The logs of metadata files are named first, then the base tables, their lists of
files and their refs, and the logs last once more, by another spelling: where both name the same files, what lies
between is of one cut. Where they do not, the view answers with its definition over the tables as loaded, a cut too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, literal, qualified, string_literal
from dbt.adapters.icebergmv.maintenance.sql.snapshots import table_at
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import IcebergSource

CLOCK_SKEW_MS = 60_000
"""How much older than the file before it a metadata file may claim to be (org.apache.iceberg.TableMetadata)."""

Relation = tuple[str, str]
"""A name and its SELECT."""


@dataclass(frozen=True)
class WatchedTable:
    """A base table as a view watches it. `fields` are the partition fields from which keys are made.

    Its changes are followed where there are some; else every change of it concerns everything.

    `apart`: it is watched under names that only views that read it give it. Spark loads a name once a query, where it
    comes first: beside the table itself, or beside another view, the looks would not be in order.
    """

    number: int
    source: IcebergSource
    recorded: BaseTableState
    fields: tuple[str, ...] = ()
    apart: bool = False

    @property
    def base(self) -> str:
        """Return the name of the relation that reads the table itself."""
        return f"icebergmv_base_{self.number}"

    @property
    def gate(self) -> str:
        """Return the name of the relation of one row that says whether the table moved."""
        return f"icebergmv_gate_{self.number}"

    @property
    def changed(self) -> str:
        """Return the name of the relation of the partitions of files that came or went."""
        return f"icebergmv_changed_{self.number}"

    @property
    def log(self) -> str:
        """Return the name of the relation of its metadata files."""
        return f"icebergmv_log_{self.number}"

    @property
    def files(self) -> str:
        """Return the name of the relation of its files, now and then."""
        return f"icebergmv_files_{self.number}"

    @property
    def specs(self) -> str:
        """Return the name of the relation of the partition specs of its manifests."""
        return f"icebergmv_specs_{self.number}"

    @property
    def refs(self) -> str:
        """Return the name of the relation of its main branch."""
        return f"icebergmv_refs_{self.number}"

    @property
    def last_log(self) -> str:
        """Return the name of the relation of its metadata files, looked at last."""
        return f"icebergmv_last_{self.number}"

    @property
    def snapshot_id(self) -> str:
        """Return the recorded snapshot as SQL."""
        found = self.recorded.version.snapshot_id
        return "CAST(NULL AS BIGINT)" if found is None else f"{found}L"

    @property
    def main(self) -> str:
        """Return the name to read: the main branch, whatever a session reads under the table's name.

        Of a materialized view it is its own, as its storage table may be ahead of what it shows.
        """
        if self.recorded.name != self.source.storage:
            return qualified(*self.recorded.name)
        return qualified(*self.source.storage, "branch_main")

    def metadata_table(self, name: str, *, again: bool = False) -> str:
        """Return the name of one of Iceberg's metadata tables of the table; their case is free, and parts the loads."""
        spelled = name.capitalize() if again else name
        return qualified(*self.source.storage, spelled.swapcase() if self.apart else spelled)


def first_looks(tables: Iterable[WatchedTable]) -> list[Relation]:
    """Return the relations that must come before the base tables: a row per metadata file that the table remembers.

    `is_new`: it came after the refresh. Files are compared with those known then by name, because clocks differ.
    """
    return [(table.log, _log(table)) for table in tables]


def file_lists(tables: Iterable[WatchedTable]) -> list[Relation]:
    """Return the relations that must come between the base tables and the last looks: a row per file and side.

    A table that is not followed has one that nobody reads: it is named here, for another view in the query that reads
    it.
    """
    return [(t.files, _files(t) if t.fields else _named(t, "files")) for t in tables]


def spec_looks(tables: Iterable[WatchedTable]) -> list[Relation]:
    """Return the relations of the specs that manifests have; one that is not known gives no key.

    A spec may come in one commit with its first files, as CREATE OR REPLACE TABLE ... AS SELECT makes it; then the log
    of metadata shows nothing but a snapshot. A table that is not followed is named here as in `file_lists`.
    """
    return [(t.specs, _specs(t) if t.fields else _named(t, "manifests")) for t in tables]


def last_looks(tables: Iterable[WatchedTable]) -> list[Relation]:
    """Return the relations that must come after the base tables: a row for the main branch, one per metadata file."""
    relations = []
    for table in tables:
        refs, log = table.metadata_table("refs"), table.metadata_table("metadata_log_entries", again=True)
        relations.append((table.refs, f"SELECT {_look(table, main='snapshot_id')} FROM {refs} WHERE name = 'main'"))
        relations.append((table.last_log, f"SELECT {_look(table, last_file='file')} FROM {log}"))
    return relations


def gates(tables: Sequence[WatchedTable], guard: str | None) -> list[Relation]:
    """Return the gates: one for each table whose changes are followed, and one for all others.

    Each is one row. Its `moved` is NULL where partitions do not show what differs: a metadata file that came since,
    without a new snapshot of main, may have brought other columns or partitions, and so may those that the table
    remembers no more. What moved in a table that is not followed, or a session that `guard` does not admit, concerns
    everything too.

    They are read as scalar subqueries. Spark puts a copy of a relation wherever the text names it, and plans each copy;
    it plans and runs equal scalar subqueries once. But it optimises each, with all that is in it: so a gate looks at
    few tables. Where only one is followed, its gate looks at all.
    """
    return [(name, _gate(looked_at, guard)) for name, looked_at in _gates(tables)]


def everything(tables: Sequence[WatchedTable]) -> str:
    """Return the predicate that everything has to be computed.

    It has no comparison. Spark takes it from one that few rows remain, and where tables are joined it would plan to
    leave out files of each by the rows of the others, which it plans once more for that.
    """
    return " OR ".join(f"(SELECT moved FROM {name}) IS NULL" for name, _ in _gates(tables))


def _gates(tables: Sequence[WatchedTable]) -> list[tuple[str, list[WatchedTable]]]:
    """Return the name of each gate, and the tables that it looks at."""
    followed, others = [t for t in tables if t.fields], [t for t in tables if not t.fields]
    if len(followed) == 1:
        return [(followed[0].gate, [*followed, *others])]
    return [(group[0].gate, group) for group in [*([t] for t in followed), others] if group]


def _gate(tables: Sequence[WatchedTable], guard: str | None) -> str:
    differs = [is_altered(t) for t in tables]
    differs += [_has_moved(t) for t in tables if not t.fields]
    differs += [] if guard is None else [f"NOT ({guard})"]
    moved = next((_has_moved(t) for t in tables if t.fields), "false")
    names = [n for t in tables for n in (t.log, t.refs, t.last_log, *([t.specs] if t.fields else []))]
    looks = " UNION ALL ".join(f"SELECT * FROM {name}" for name in names)
    return f"SELECT CASE WHEN NOT ({' OR '.join(differs)}) THEN {moved} END AS moved FROM ({looks})"


def changed(tables: Iterable[WatchedTable]) -> list[Relation]:
    """Return the relations of changed files: spec_id and p0, p1, ... of the files that one side has more often.

    Nothing is scanned unless the table moved; the gate is above both sides, where Spark does not move it. In format
    version 3 one file holds the deletion vectors of many, each at an offset; and a file may be added once more.
    """
    relations = []
    for table in tables:
        values = "".join(f", max(p{n}) AS p{n}" for n in range(len(table.fields)))
        query = (
            f"SELECT max(spec_id) AS spec_id{values} FROM {table.files}"
            f" CROSS JOIN (SELECT 1 AS one WHERE (SELECT moved FROM {table.gate}) <=> true)"
            " GROUP BY file_path, content_offset HAVING count_if(side = 0) <> count_if(side = 1)"
        )
        relations.append((table.changed, query))
    return relations


def is_altered(table: WatchedTable) -> str:
    """Return the predicate, over the log of a table, that its metadata changed in a way that partitions do not show."""
    n = table.number
    new = f"t = {n} AND is_new"
    snapshots = f"collect_set(nullif(snapshot_id, {table.snapshot_id})) FILTER (WHERE {new})"
    first, last = (f"sort_array(collect_set({f}) FILTER (WHERE t = {n}))" for f in ("first_file", "last_file"))
    return (
        f"NOT {first} <=> {last} OR count_if({new}) <> size({snapshots})"
        f" OR bool_or(t = {n} AND other_shape) OR NOT bool_or(t = {n} AND is_recorded)"
    )


def _has_moved(table: WatchedTable) -> str:
    return f"NOT max(main) FILTER (WHERE t = {table.number}) <=> {table.snapshot_id}"


def _look(table: WatchedTable, **seen: str) -> str:
    """Return the columns of a row of the gate, of which a look sees some."""
    columns = {
        "first_file": "CAST(NULL AS STRING)",
        "last_file": "CAST(NULL AS STRING)",
        "snapshot_id": "CAST(NULL AS BIGINT)",
        "main": "CAST(NULL AS BIGINT)",
        **dict.fromkeys(("is_new", "is_recorded", "other_shape"), "false"),
    }
    return ", ".join([f"{table.number} AS t", *(f"{seen.get(c, nothing)} AS {c}" for c, nothing in columns.items())])


def _log(table: WatchedTable) -> str:
    is_new, is_recorded, other_shape = "true", "false", "true"
    known = _known_files(table)
    if known is not None:
        name = "substring_index(file, '/', -1)"
        since = literal((known.recorded_at - CLOCK_SKEW_MS) * 1000, "timestamp")
        is_new = f"timestamp >= {since} AND {name} NOT IN ({', '.join(map(string_literal, known.names))})"
        is_recorded = f"{name} = {string_literal(known.names[-1])}"
        # Iceberg shows the snapshot of a file's time; of a file that says it is earlier than another, another's.
        is_earlier = f"timestamp < {literal(known.latest * 1000, 'timestamp')}"
        other_columns = f"NOT latest_schema_id <=> {table.recorded.version.schema_id}"
        other_shape = f"{is_new} AND ({other_columns} OR {is_earlier})"
    looked = _look(
        table,
        first_file="file",
        snapshot_id="latest_snapshot_id",
        is_new=is_new,
        is_recorded=is_recorded,
        other_shape=other_shape,
    )
    return f"SELECT {looked} FROM {table.metadata_table('metadata_log_entries')}"


def _named(table: WatchedTable, metadata_table: str) -> str:
    return f"SELECT 1 AS one FROM {table.metadata_table(metadata_table)}"


def _specs(table: WatchedTable) -> str:
    known = ", ".join(map(str, sorted(table.source.table.specs())))
    looked = _look(table, other_shape=f"partition_spec_id NOT IN ({known})")
    return f"SELECT {looked} FROM {table.metadata_table('manifests')}"


def _files(table: WatchedTable) -> str:
    name, then = table.metadata_table("files"), table.recorded.version.snapshot_id
    values = "".join(f", partition.{identifier(f)} AS p{n}" for n, f in enumerate(table.fields))
    columns = f"spec_id, file_path, content_offset{values}"
    now = f"SELECT 0 AS side, {columns} FROM {name}"
    return now if then is None else f"{now} UNION ALL SELECT 1 AS side, {columns} FROM {table_at(name, then)}"


@dataclass(frozen=True)
class _KnownFiles:
    """The metadata files that a table had when it was read for the refresh; times in milliseconds.

    `names` are those that a file which came since could claim to be as old as, that of the refresh last. `latest`: no
    snapshot known then is later.
    """

    recorded_at: int
    latest: int
    names: tuple[str, ...]


def _known_files(table: WatchedTable) -> _KnownFiles | None:
    """Return the files known at the refresh, None when the one of the refresh is in the table's log no more."""
    metadata = table.source.table.metadata
    log = [(e.timestamp_ms, e.metadata_file) for e in metadata.metadata_log]
    log.append((metadata.last_updated_ms, table.source.table.metadata_location))
    at = next((i for i, (_, f) in enumerate(log) if f == table.recorded.metadata_location), None)
    if at is None:
        return None
    then = log[at][0]
    names = tuple(f.rsplit("/", 1)[-1] for ms, f in log[: at + 1] if ms >= then - CLOCK_SKEW_MS)
    return _KnownFiles(then, max([then, *(e.timestamp_ms for e in metadata.snapshot_log)]), names)
