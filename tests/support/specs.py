"""Partition specs over the columns of the base tables."""

from __future__ import annotations

from pyiceberg.partitioning import PartitionField as IcebergField
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import parse_transform
from pyiceberg.types import NestedField

from tests.support.bases import COLUMNS

SCHEMA = Schema(*(NestedField(i, name, t, required=False) for i, (name, (t, _)) in enumerate(COLUMNS.items(), start=1)))

IDS = {name: i for i, name in enumerate(COLUMNS, start=1)}


def spec(*fields: tuple[str, str]) -> PartitionSpec:
    return PartitionSpec(
        *(IcebergField(IDS[c], 1000 + i, parse_transform(t), f"p{i}") for i, (t, c) in enumerate(fields))
    )
