"""The tables of a case as the engine sees them: Iceberg metadata without files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from pyiceberg.table import Table
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
)

from tests.randomised.database import BEFORE, NOW
from tests.randomised.tables import COLUMNS, Spec
from tests.support.bare_tables import bare_table

_TYPES: dict[str, IcebergType] = {
    "int": IntegerType(),
    "bigint": LongType(),
    "date": DateType(),
    "timestamp": TimestamptzType(),
    "timestamp_ntz": TimestampType(),
    "string": StringType(),
    "double": DoubleType(),
    "boolean": BooleanType(),
}


_SAID_ROWS = {"t0": 200}
"""How many rows tables say they have, so that others are small beside the first."""

_FEW_ROWS = 40
_ELEMENT = 1000
"""The id of the elements of lists."""


@cache
def base_table(name: str, spec: Spec) -> Table:
    """Return a base table with its snapshots BEFORE and NOW."""
    types = {column: kind for column, (kind, _) in COLUMNS.items()}
    return bare_table(name, types, spec.fields, (BEFORE, NOW), _SAID_ROWS.get(name, _FEW_ROWS))


def _type_of(spark_type: str) -> IcebergType:
    if spark_type.startswith("array<"):
        return ListType(_ELEMENT, _type_of(spark_type.removeprefix("array<").removesuffix(">")), element_required=False)
    if not spark_type.startswith("decimal("):
        return _TYPES[spark_type]
    precision, scale = spark_type.removeprefix("decimal(").removesuffix(")").split(",")
    return DecimalType(int(precision), int(scale))


def storage_table(types: Mapping[str, str], partitioning: Sequence[tuple[str, str]]) -> Table:
    """Return the storage table of a view with these columns, partitioned by (column, transform)."""
    fields = tuple(dict.fromkeys((transform, column) for column, transform in partitioning))
    return bare_table("stored", {column: _type_of(kind) for column, kind in types.items()}, fields, (NOW,))
