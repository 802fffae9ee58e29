"""What can happen to a base table, made from a random number generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from integration.randomised.history import Change
from integration.randomised.tables import (
    COLUMN_LIST,
    COLUMNS,
    KEYS,
    KeyColumn,
    Table,
    make_partitioning,
    make_row,
    make_table,
    partition_field,
)

EVERYTHING_OLD = "older_than => timestamp'2100-01-01 00:00:00'"
INSERT = f"INSERT INTO {{t}} ({COLUMN_LIST}) VALUES {{rows}}"


@dataclass
class Known:
    """What the generator remembers of a table between changes.

    `fields` are all by which it ever was partitioned: Iceberg refuses another column of such a name.
    """

    name: str
    key: KeyColumn
    partition_by: tuple[str, ...]
    fields: set[str]
    added: int = 0

    @classmethod
    def of(cls, table: Table, key: KeyColumn) -> Known:
        return cls(table.name, key, table.partition_by, set(table.fields))


Maker = Callable[[Random, Known], Change]


def _insert(random: Random, known: Known) -> Change:
    rows = tuple(make_row(random, known.key) for _ in range(random.randint(1, 3)))
    return Change("insert", known.name, (INSERT,), rows)


def _insert_nulls(random: Random, known: Known) -> Change:
    rows = tuple(make_row(random, known.key, null=0.9) for _ in range(random.randint(1, 2)))
    return Change("insert nulls", known.name, (INSERT,), rows)


def _delete(random: Random, known: Known) -> Change:
    return Change("delete", known.name, (f"DELETE FROM {{t}} WHERE {_some(random, known)}",))


def _update(random: Random, known: Known) -> Change:
    value = random.choice(["v + 1", "NULL", "id"])
    return Change("update", known.name, (f"UPDATE {{t}} SET v = {value} WHERE {_some(random, known)}",))


def _move(random: Random, known: Known) -> Change:
    to = _literal(random, known)
    return Change("move", known.name, (f"UPDATE {{t}} SET {known.key.name} = {to} WHERE {_some(random, known)}",))


def _merge(random: Random, known: Known) -> Change:
    rows = {row.split(",", maxsplit=1)[0]: row for row in (make_row(random, known.key) for _ in range(3))}
    values = ", ".join(f"s.{c}" for c in COLUMNS)
    deleted = random.randrange(8)
    statement = (
        f"MERGE INTO {{t}} t USING (SELECT * FROM VALUES {{rows}} AS w({COLUMN_LIST})) s ON t.id = s.id "
        f"WHEN MATCHED AND s.id = {deleted} THEN DELETE "
        f"WHEN MATCHED THEN UPDATE SET v = s.v, {known.key.name} = s.{known.key.name} "
        f"WHEN NOT MATCHED THEN INSERT ({COLUMN_LIST}) VALUES ({values})"
    )
    return Change("merge", known.name, (statement,), tuple(rows.values()))


def _wipe(random: Random, known: Known) -> Change:
    where = f"{known.key.name} <=> {_literal(random, known)}"
    return Change("wipe a partition", known.name, (f"DELETE FROM {{t}} WHERE {where}",))


def _empty(random: Random, known: Known) -> Change:
    again = tuple(make_row(random, known.key) for _ in range(random.randint(0, 2)))
    return Change("empty", known.name, ("DELETE FROM {t}", INSERT), again)


def _overwrite(random: Random, known: Known) -> Change:
    rows = tuple(make_row(random, known.key) for _ in range(random.randint(1, 2)))
    # Without partitions a dynamic overwrite appends or replaces everything; either is a change to be followed.
    return Change("insert overwrite", known.name, (f"INSERT OVERWRITE {{t}} ({COLUMN_LIST}) VALUES {{rows}}",), rows)


def _compact(_random: Random, known: Known) -> Change:
    call = "CALL lake.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))"
    return Change("compact", known.name, (call,), keeps_rows=True)


def _rewrite_manifests(_random: Random, known: Known) -> Change:
    return Change(
        "rewrite manifests", known.name, ("CALL lake.system.rewrite_manifests(table => '{name}')",), keeps_rows=True
    )


def _rewrite_deletes(_random: Random, known: Known) -> Change:
    call = "CALL lake.system.rewrite_position_delete_files(table => '{name}', options => map('rewrite-all', 'true'))"
    return Change("rewrite position deletes", known.name, (call,), keeps_rows=True)


def _delete_nothing(_random: Random, known: Known) -> Change:
    return Change("delete nothing", known.name, ("DELETE FROM {t} WHERE id = -12345",), keeps_rows=True)


def _write_elsewhere(random: Random, known: Known) -> Change:
    branch = f"ALTER TABLE {{t}} CREATE BRANCH IF NOT EXISTS side{random.randrange(3)}"
    insert = INSERT.replace("{t}", f"{{t}}.branch_side{branch[-1]}")
    return Change("write to a branch", known.name, (branch, insert), (make_row(random, known.key),), keeps_rows=True)


def _expire(_random: Random, known: Known) -> Change:
    call = f"CALL lake.system.expire_snapshots(table => '{{name}}', {EVERYTHING_OLD}, retain_last => 1)"
    return Change("expire snapshots", known.name, (call,), keeps_rows=True, breaks="expired")


def _roll_back(random: Random, known: Known) -> Change:
    call = random.choice(
        [
            "CALL lake.system.rollback_to_snapshot('{name}', {snapshot})",
            "CALL lake.system.set_current_snapshot('{name}', {snapshot})",
        ]
    )
    return Change("roll back", known.name, (call,), back=random.randint(1, 3))


def _add_column(random: Random, known: Known) -> Change:
    known.added += 1
    where = random.choice(["", " FIRST", " AFTER id"])
    statement = f"ALTER TABLE {{t}} ADD COLUMN extra{known.added} int{where}"
    return Change("add a column", known.name, (statement,), keeps_rows=True, breaks="columns")


def _widen(_random: Random, known: Known) -> Change:
    return Change("widen a column", known.name, ("ALTER TABLE {t} ALTER COLUMN v TYPE bigint",), breaks="types")


def _evolve(random: Random, known: Known) -> Change:
    fields = known.partition_by
    new = partition_field(known.key, random.choice(known.key.transforms))
    if fields and random.random() < 0.5:
        old = random.choice(fields)
        if random.random() < 0.5 or new in fields:
            statement, after = f"DROP PARTITION FIELD {old}", tuple(f for f in fields if f != old)
        else:
            statement = f"REPLACE PARTITION FIELD {old} WITH {new}"
            after = tuple(new if f == old else f for f in fields)
    else:
        statement = f"ADD PARTITION FIELD {new}"
        after = fields if new in fields else (*fields, new)
    known.partition_by = after
    return Change(
        "evolve the partitions", known.name, (f"ALTER TABLE {{t}} {statement}",), keeps_rows=True, partition_by=after
    )


def _replace(random: Random, known: Known) -> Change:
    table = make_table(random, known.name, known.key, random.randint(0, 6))
    known.partition_by = table.partition_by
    known.fields |= {*table.fields}
    create = (*table.create("CREATE OR REPLACE TABLE"), INSERT)
    return Change(
        "create or replace", known.name, create, table.rows, breaks="replaced", partition_by=table.partition_by
    )


def _replace_by_select(random: Random, known: Known) -> Change:
    known.partition_by = make_partitioning(random, known.key)
    known.fields |= {*known.partition_by}
    by = f" PARTITIONED BY ({', '.join(known.partition_by)})" if known.partition_by else ""
    create = f"CREATE OR REPLACE TABLE {{t}} USING iceberg{by} AS SELECT {COLUMN_LIST} FROM {{t}} WHERE id < 5"
    return Change("replace by select", known.name, (create,), breaks="replaced", partition_by=known.partition_by)


def _recreate(random: Random, known: Known) -> Change:
    table = make_table(random, known.name, known.key, random.randint(0, 6))
    known.partition_by = table.partition_by
    known.fields |= {*table.fields}
    create = ("DROP TABLE {t}", *table.create(), INSERT)
    return Change("drop and create", known.name, create, table.rows, breaks="replaced", partition_by=table.partition_by)


def _set_mode(random: Random, known: Known) -> Change:
    mode = random.choice(["copy-on-write", "merge-on-read"])
    modes = ", ".join(f"'write.{what}.mode'='{mode}'" for what in ("delete", "update", "merge"))
    return Change(
        "set the write mode", known.name, (f"ALTER TABLE {{t}} SET TBLPROPERTIES ({modes})",), keeps_rows=True
    )


def _upgrade(_random: Random, known: Known) -> Change:
    statement = "ALTER TABLE {t} SET TBLPROPERTIES ('format-version'='3')"
    return Change("upgrade to format 3", known.name, (statement,), keeps_rows=True)


def _mark(random: Random, known: Known) -> Change:
    statement = f"ALTER TABLE {{t}} CREATE {random.choice(['TAG', 'BRANCH'])} mark{random.randrange(10**6)}"
    return Change("make a tag or branch", known.name, (statement,), keeps_rows=True)


def _column_anew(random: Random, known: Known) -> Change:
    """Another column takes the name of one: by its id it has no rows."""
    columns = [("v", "int"), *((k.name, k.type) for k in KEYS if k is not known.key)]
    name, type_ = random.choice([c for c in columns if c[0] not in known.fields])
    known.added += 1
    away = random.choice([f"DROP COLUMN {name}", f"RENAME COLUMN {name} TO extra{known.added}"])
    statements = (f"ALTER TABLE {{t}} {away}", f"ALTER TABLE {{t}} ADD COLUMN {name} {type_}")
    return Change("another column of a name", known.name, statements, breaks="types")


def _rename(_random: Random, known: Known) -> Change:
    known.added += 1
    away, back = f"RENAME COLUMN v TO extra{known.added}", f"RENAME COLUMN extra{known.added} TO v"
    statements = (f"ALTER TABLE {{t}} {away}", f"ALTER TABLE {{t}} {back}")
    return Change("rename and back", known.name, statements, keeps_rows=True)


def _drop_added(_random: Random, known: Known) -> Change:
    known.added += 1
    statements = (
        f"ALTER TABLE {{t}} ADD COLUMN extra{known.added} int",
        f"ALTER TABLE {{t}} DROP COLUMN extra{known.added}",
    )
    return Change("add and drop a column", known.name, statements, keeps_rows=True, breaks="columns")


MAKERS: dict[str, tuple[Maker, int]] = {
    "insert": (_insert, 24),
    "insert nulls": (_insert_nulls, 8),
    "delete": (_delete, 12),
    "update": (_update, 10),
    "move": (_move, 12),
    "merge": (_merge, 8),
    "wipe a partition": (_wipe, 8),
    "empty": (_empty, 2),
    "insert overwrite": (_overwrite, 6),
    "compact": (_compact, 5),
    "rewrite manifests": (_rewrite_manifests, 3),
    "rewrite position deletes": (_rewrite_deletes, 2),
    "delete nothing": (_delete_nothing, 3),
    "write to a branch": (_write_elsewhere, 2),
    "expire snapshots": (_expire, 2),
    "roll back": (_roll_back, 6),
    "add a column": (_add_column, 2),
    "widen a column": (_widen, 1),
    "evolve the partitions": (_evolve, 4),
    "create or replace": (_replace, 2),
    "replace by select": (_replace_by_select, 1),
    "drop and create": (_recreate, 1),
    "set the write mode": (_set_mode, 3),
    "upgrade to format 3": (_upgrade, 1),
    "make a tag or branch": (_mark, 2),
    "another column of a name": (_column_anew, 2),
    "rename and back": (_rename, 1),
    "add and drop a column": (_drop_added, 1),
}
"""Every kind of change, and how often it happens."""

WRITES = frozenset(
    {"insert", "insert nulls", "delete", "update", "move", "merge", "wipe a partition", "empty", "insert overwrite"}
    | {"compact", "rewrite manifests", "rewrite position deletes", "delete nothing"}
)
"""Kinds of change that leave nothing but new snapshots of main."""


def make_change(random: Random, known: Known, kinds: frozenset[str] | None) -> Change:
    """Return a random change of a table, of one of the kinds, all as likely (None: any, as often as MAKERS says)."""
    return one_of_makers(random, known, MAKERS, kinds)


def one_of_makers(
    random: Random, known: Known, makers: Mapping[str, tuple[Maker, int]], kinds: frozenset[str] | None = None
) -> Change:
    """Return what one of some makers makes, of one of the kinds, all as likely (None: as often as they say)."""
    allowed = [k for k in makers if kinds is None or k in kinds]
    kind = random.choices(allowed, [makers[k][1] if kinds is None else 1 for k in allowed])[0]
    return makers[kind][0](random, known)


def _literal(random: Random, known: Known) -> str:
    return "NULL" if random.random() < 0.2 else random.choice(known.key.literals)


def _some(random: Random, known: Known) -> str:
    """Return a predicate that a few rows satisfy."""
    dice = random.random()
    if dice < 0.4:
        return f"id IN ({random.randrange(8)}, {random.randrange(8)})"
    if dice < 0.7:
        return f"{known.key.name} <=> {_literal(random, known)}"
    if dice < 0.85:
        return f"v = {random.randrange(6)}"
    return f"{known.key.name} IS NULL AND id < 5"
