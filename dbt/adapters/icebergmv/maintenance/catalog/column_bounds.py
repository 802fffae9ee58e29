"""What the column metrics of a data file say about its rows.

Iceberg spec, "Manifests", data_file fields 109, 110, 125 and 128, and "Appendix D: Single-value serialization". Metrics
are optional, file by file and column by column: what is missing, or cannot be understood, constrains nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TypeVar

from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import DataFile
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    NestedField,
    PrimitiveType,
    StringType,
    TimestampType,
    TimestamptzType,
)

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain

_BOUNDED = (
    BooleanType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
)
"""Types whose bounds enclose all values but NULL. Floats have NaN and two zeros; the others have no use as keys."""

_REPLACED = frozenset("\ufffd\ufffe")
"""In a bound, the place of bytes that are no UTF-8 (or for its successor, when an upper bound was truncated).

Such a bound does not enclose the bytes themselves, which is what Spark compares.
"""

_LONGEST_DECIMAL = 16
T = TypeVar("T")


def bounded_rows(file: DataFile, columns: Iterable[NestedField]) -> TupleDomain:
    """Return the rows that a data file can hold, by the metrics of the given top-level columns."""
    found = ((ColumnKey(c.name), column_domain(file, c)) for c in columns)
    return TupleDomain.where({key: domain for key, domain in found if domain is not None})


def column_domain(file: DataFile, column: NestedField) -> Domain | None:
    """Return a superset of the values of a column in a data file; None when nothing is known of them."""
    field_type = column.field_type
    if not isinstance(field_type, _BOUNDED):
        return None
    lower, upper = _metric(file.lower_bounds, column), _metric(file.upper_bounds, column)
    nulls = _metric(file.null_value_counts, column)
    if lower is None and upper is None:
        only_null = nulls is not None and nulls == _metric(file.value_counts, column) == file.record_count
        return Domain.only_null() if only_null else None
    low, high = _value(field_type, lower), _value(field_type, upper)
    if low is None or high is None or low > high:  # type: ignore[operator]
        return None
    values = Domain.of(low, high) if isinstance(field_type, BooleanType) else Domain.between(Range(low, high))
    return values if nulls == 0 else values.union(Domain.only_null())


def _metric(metrics: Mapping[int, T] | None, column: NestedField) -> T | None:
    return None if metrics is None else metrics.get(column.field_id)


def _value(field_type: PrimitiveType, bound: bytes | None) -> bool | int | str | Decimal | None:
    """Return a bound as domain.Value; None when its bytes are no value of the type.

    The bounds of an int column that became a long keep their 4 bytes. Those of a date that became a timestamp have 4
    bytes too, which is no timestamp.
    """
    if bound is None:
        return None
    if isinstance(field_type, DecimalType) and not 0 < len(bound) <= _LONGEST_DECIMAL:
        return None
    try:
        value = from_bytes(field_type, bound)
    except (struct.error, UnicodeDecodeError):
        return None
    if isinstance(value, str) and not _REPLACED.isdisjoint(value):
        return None
    return value if isinstance(value, (bool, int, str, Decimal)) else None
