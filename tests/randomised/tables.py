"""Base tables: their columns, the values they hold, how they are partitioned, and what a change looks like."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pyiceberg.transforms import parse_transform
from pyiceberg.types import DateType, DoubleType, IcebergType, IntegerType, LongType, StringType, TimestamptzType

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import (
    MICROS_PER_DAY,
    MICROS_PER_HOUR,
    days_from_civil,
    partition_domain,
)
from tests.randomised.choices import Choices

TABLES = ("t0", "t1", "t2", "t3")
ZONES = ("UTC", "America/New_York", "Asia/Kolkata")
"""Time zones of a session; the first is the usual one."""

COLUMNS: dict[str, tuple[IcebergType, str]] = {
    "id": (IntegerType(), "int"),
    "ts": (TimestamptzType(), "timestamp"),
    "d": (DateType(), "date"),
    "region": (StringType(), "string"),
    "v": (IntegerType(), "int"),
    "x": (DoubleType(), "double"),
    "w": (LongType(), "bigint"),
}
SPARK_TYPES = {name: spark for name, (_, spark) in COLUMNS.items()}
COLUMN_INFOS = tuple(ColumnInfo(name, spark, None) for name, spark in SPARK_TYPES.items())

Row = tuple[Any, ...]
"""The values in the order of COLUMNS, in Iceberg's internal form. `w` is a number that no other row has."""

DAYS = [days_from_civil(*ymd) for ymd in [(2024, 1, 1), (2023, 12, 31), (2024, 2, 29), (1970, 1, 1), (1969, 12, 31)]]
POOLS: dict[str, list[Any]] = {
    "id": [0, 1, 2, 3, None],
    "ts": [
        *(day * MICROS_PER_DAY + m for day in DAYS[:3] for m in (0, 1, MICROS_PER_HOUR, MICROS_PER_DAY - 1)),
        -1,
        None,
    ],
    "d": [*DAYS, None],
    "region": ["a", "b", "ab", "it's\\", None],
    "v": [0, 3, -1, 9, 10, -10, -11, None],
    "x": [0.0, 1.0, math.nan, -0.0, None],
}
_INDEX = {name: i for i, name in enumerate(COLUMNS)}
_OF_TYPE = {
    "id": ["identity", "truncate[2]", "bucket[2]", "bucket[4]"],
    "ts": ["day", "hour", "month", "year", "identity", "bucket[3]"],
    "d": ["identity", "month", "year", "day", "bucket[3]"],
    "region": ["identity", "truncate[1]", "truncate[2]", "bucket[2]", "bucket[4]"],
    "v": ["identity", "truncate[10]", "bucket[3]", "truncate[3]"],
    "x": ["identity"],
    "w": ["truncate[4]", "identity", "bucket[2]"],
}


@dataclass(frozen=True)
class Spec:
    """A partition spec as (transform, column). Without fields and with `bounds`, files are known by column bounds."""

    fields: tuple[tuple[str, str], ...]
    bounds: bool = False


@dataclass(frozen=True)
class Change:
    """Rows that left a table and rows that came; an UPDATE has its old and its new row."""

    removed: tuple[Row, ...]
    added: tuple[Row, ...]
    after: tuple[Row, ...]


def value(row: Row, column: str) -> Any:
    """Return the value of one column."""
    return row[_INDEX[column]]


def with_value(row: Row, column: str, new: Any) -> Row:
    """Return the row with another value in one column."""
    at = _INDEX[column]
    return (*row[:at], new, *row[at + 1 :])


def make_spec(choices: Choices, key: str) -> Spec:
    """Return a random spec, most often with the key among its fields."""
    if choices.chance(0.12):
        return Spec((), bounds=choices.chance(0.6))
    fields: list[tuple[str, str]] = []
    if not choices.chance(0.15):
        fields.append((choices.pick(_OF_TYPE[key]), key))
    while len(fields) < 3 and (not fields or choices.chance(0.25)):
        column = choices.pick(list(_OF_TYPE))
        field = ("void" if choices.chance(0.08) else choices.pick(_OF_TYPE[column]), column)
        if field not in fields:
            fields.append(field)
    return Spec(tuple(fields))


def make_partitioning(choices: Choices, types: Mapping[str, str | None]) -> tuple[tuple[str, str], ...]:
    """Return how a storage table with these columns is partitioned: not at all, or by one or two of them."""
    of = {"int": "v", "bigint": "v", "timestamp": "ts", "date": "d", "string": "region"}
    found = [(name, transform) for name, t in types.items() if t in of for transform in _OF_TYPE[of[t]]]
    if not found or choices.chance(0.4):
        return ()
    return tuple(choices.pick(found) for _ in range(1 + choices.chance(0.3)))


class RowMaker:
    """Makes rows that nothing else is equal to."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._made = 0

    def row(self) -> Row:
        self._made += 1
        return (*(self._choices.pick(pool) for pool in POOLS.values()), self._made)

    def rows(self, chance: float, most: int) -> tuple[Row, ...]:
        made: list[Row] = []
        while len(made) < most and self._choices.chance(chance):
            made.append(self.row())
        return tuple(made)

    def change(self, rows: Sequence[Row], key: str, spec: Spec) -> Change:
        """Return one to three operations on a table of the rows."""
        now, removed, added = list(rows), [], []
        operations = [self._insert, self._delete, self._update, self._move, self._to_null]
        operations += [self._empty_partition, self._wipe, self._rewrite]
        weights = (5, 4, 3, 4, 2, 2, 0.4, 0.7)
        more = True
        for _ in range(3):
            if not more:
                break
            operation: Callable[..., tuple[list[Row], list[Row]]] = self._choices.weighted(
                list(zip(weights, operations, strict=True))
            )
            gone, come = operation(now, key, spec)
            now = [r for r in now if r not in gone] + come
            removed += gone
            added += come
            more = self._choices.chance(0.3)
        return Change(tuple(removed), tuple(added), tuple(now))

    def _insert(self, rows: list[Row], key: str, spec: Spec) -> tuple[list[Row], list[Row]]:
        return [], [self.row()]

    def _one(self, rows: list[Row]) -> list[Row]:
        return [self._choices.pick(rows)] if rows else []

    def _delete(self, rows: list[Row], key: str, spec: Spec) -> tuple[list[Row], list[Row]]:
        return self._one(rows), []

    def _update(self, rows: list[Row], key: str, spec: Spec) -> tuple[list[Row], list[Row]]:
        gone = self._one(rows)
        column = self._choices.pick(list(POOLS))
        return gone, [with_value(r, column, self._choices.pick(POOLS[column])) for r in gone]

    def _move(self, rows: list[Row], key: str, spec: Spec) -> tuple[list[Row], list[Row]]:
        gone = self._one(rows)
        return gone, [with_value(r, key, self._choices.pick(POOLS[key])) for r in gone]

    def _to_null(self, rows: list[Row], key: str, spec: Spec) -> tuple[list[Row], list[Row]]:
        gone = self._one(rows)
        return gone, [with_value(r, key, None) for r in gone]

    def _empty_partition(self, rows: list[Row], key: str, spec: Spec) -> tuple[list[Row], list[Row]]:
        wanted = [repr(partition_of(r, spec)) for r in self._one(rows)]
        return [r for r in rows if repr(partition_of(r, spec)) in wanted], []

    def _wipe(self, rows: list[Row], key: str, spec: Spec) -> tuple[list[Row], list[Row]]:
        return rows, []

    def _rewrite(self, rows: list[Row], key: str, spec: Spec) -> tuple[list[Row], list[Row]]:
        gone = self._one(rows)
        return gone, gone


@cache
def _transform(name: str, column: str) -> Callable[[Any], Any]:
    return parse_transform(name).transform(COLUMNS[column][0])


def bucket(width: int, column: str, plain: Any) -> int | None:
    """Return the bucket that PyIceberg puts a value in."""
    found: int | None = _transform(f"bucket[{width}]", column)(plain)
    return found


def partition_of(row: Row, spec: Spec) -> tuple[Any, ...]:
    """Return the partition that PyIceberg's transforms put a row in."""
    return tuple(_transform(t, c)(value(row, c)) for t, c in spec.fields)


def changed_partitions(rows: Iterable[Row], spec: Spec) -> tuple[TupleDomain, ...]:
    """Return the disjuncts of the partitions, or of the files, that hold the rows."""
    if spec.bounds:
        found = list(rows)
        return tuple(_bounds(found[i : i + 2]) for i in range(0, len(found), 2))
    partitions = {repr(p): p for p in (partition_of(r, spec) for r in rows)}
    return tuple(_rows_of(spec, p) for _, p in sorted(partitions.items()))


def _rows_of(spec: Spec, partition: tuple[Any, ...]) -> TupleDomain:
    constraints: dict[ColumnKey, Domain] = {}
    for (transform, column), part in zip(spec.fields, partition, strict=True):
        found = partition_domain(parse_transform(transform), column, COLUMNS[column][0], part)
        if found is not None:
            key, domain = found
            constraints[key] = domain.intersect(constraints.get(key, Domain.all()))
    return TupleDomain.where(constraints)


def _bounds(rows: Sequence[Row]) -> TupleDomain:
    constraints = {}
    for column in ("id", "ts", "d", "region", "v"):
        values = [value(r, column) for r in rows]
        plain = [v for v in values if v is not None]
        inside = Domain.between(Range(min(plain), max(plain))) if plain else Domain.none()
        constraints[ColumnKey(column)] = Domain(inside.ranges, null=len(plain) < len(values))
    return TupleDomain.where(constraints)


def live_values(rows: Iterable[Row], spec: Spec, column: str) -> Domain | None:
    """Return the values of a column that the partitions of the rows can hold; None when it is no partition column."""
    if all(c != column for _, c in spec.fields):
        return None
    found = [d.domains.get(ColumnKey(column)) for d in changed_partitions(rows, spec)]
    if any(d is None for d in found):
        return None
    domains = [d for d in found if d is not None]
    ranges = Domain.between(*(r for d in domains for r in d.ranges)).ranges
    return Domain(ranges, any(d.null for d in domains), any(d.nan for d in domains))
