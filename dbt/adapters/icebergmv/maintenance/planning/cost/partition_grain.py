"""The grain of a partitioning: is it too fine for the rows that are stored, and which coarser one do they fill?

A partitioning is only a layout. Which rows a refresh replaces is decided apart from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import partitions_of
from dbt.adapters.icebergmv.maintenance.definition.partitioning import PartitionField
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import (
    MICROS_PER_DAY,
    TransformName,
    civil_from_days,
)
from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type

_FEW_PARTITIONS = 100
"""Up to so many, files cost little however few rows they hold: about a second to write them all."""

_FEWEST_ROWS = 1_000
"""What a partition has to hold on average where there are more. To write a file takes as long as to write so many."""

_ENOUGH_ROWS = 10_000
"""The same for a coarser grain, so that it pays to make the table again for it."""


@dataclass(frozen=True)
class Grain:
    """A partition field, and the type of its column in Spark's words."""

    field: PartitionField
    spark_type: str


Grains: TypeAlias = tuple[Grain, ...]
Keys: TypeAlias = frozenset[tuple[object, ...]]
"""Partitions, by the values of their fields as they are in manifests."""


def filled_grains(
    grains: Grains, keys: Collection[tuple[object, ...]], rows: int, columns: Collection[str] = ()
) -> Grains | None:
    """Return the finest coarser grains that the rows fill, none at all (`()`) where they fill no partitions.

    None where the partitions that there are, `keys`, are few or filled. `columns` are those of the table, whose names
    no partitions can have.
    """
    if len(keys) <= _FEW_PARTITIONS or rows >= len(keys) * _FEWEST_ROWS:
        return None
    possible = (found for found in _coarser(grains, frozenset(keys)) if _can_be_made(_fields(found[0]), columns))
    return next((coarser for coarser, fewer in possible if rows >= len(fewer) * _ENOUGH_ROWS), ())


def stays_coarser(fields: tuple[PartitionField, ...], rows: int, than: Grains, columns: Collection[str] = ()) -> bool:
    """Return whether so many rows, partitioned by a coarser grain than the one given, would not fill that either.

    `columns` are those that the table gets, as above.
    """
    is_coarser = any(fields == _fields(grains) for grains, _ in _coarser(than, frozenset()))
    return is_coarser and rows < _FEW_PARTITIONS * _FEWEST_ROWS and _can_be_made(fields, columns)


def stored_grains(table: Table, snapshot_id: int) -> tuple[Grains, Keys]:
    """Return the grains of a table and the partitions of a snapshot that was written under its current spec."""
    spec, schema = table.spec(), table.schema()
    known = [n for n, f in enumerate(spec.fields) if TransformName.parse(str(f.transform)).is_known]
    sources = [spec.fields[n] for n in known]
    grains = tuple(
        Grain(
            PartitionField(schema.find_column_name(f.source_id) or "", str(f.transform)),
            spark_type(schema.find_type(f.source_id)),
        )
        for f in sources
    )
    return grains, frozenset(tuple(values[n] for n in known) for _, values in partitions_of(table, snapshot_id))


def _fields(grains: Grains) -> tuple[PartitionField, ...]:
    return tuple(g.field for g in grains)


def _can_be_made(fields: tuple[PartitionField, ...], columns: Collection[str]) -> bool:
    return not any(field.is_named_as_one_of(columns) for field in fields)


def _coarser(grains: Grains, keys: Keys) -> Iterator[tuple[Grains, Keys]]:
    """Yield ever coarser grains, with the partitions that there are of each; the last field is the first to go."""
    while grains:
        *before, last = grains
        found = _next_grain(last)
        if found is None:
            grains, keys = tuple(before), frozenset(key[:-1] for key in keys)
        else:
            coarser, partition_of = found
            grains = (*before, coarser)
            keys = frozenset((*key[:-1], partition_of(key[-1]) if isinstance(key[-1], int) else None) for key in keys)
        yield grains, keys


def _next_grain(grain: Grain) -> tuple[Grain, Callable[[int], int]] | None:
    """Return the next coarser grain, whose partitions are made of whole ones, and in which of them one lies."""
    transform, of = TransformName.parse(grain.field.transform), grain.spark_type

    def by(name: str, partition_of: Callable[[int], int]) -> tuple[Grain, Callable[[int], int]]:
        return replace(grain, field=replace(grain.field, transform=name)), partition_of

    match transform.kind:
        case "bucket" if transform.width % 2 == 0:
            half = transform.width // 2
            return by(str(TransformName("bucket", half)), lambda bucket: bucket % half)
        case "hour":
            return by("day", lambda hours: hours // 24)
        case "identity" if of in ("timestamp", "timestamp_ntz"):
            return by("day", lambda micros: micros // MICROS_PER_DAY)
        case "identity" if of == "date":
            return by("month", _month_of_day)
        case "day":
            return by("month", _month_of_day)
        case "month":
            return by("year", lambda months: months // 12)
        case _:
            return None


def _month_of_day(days: int) -> int:
    year, month, _ = civil_from_days(days)
    return (year - 1970) * 12 + month - 1
