"""Columns of floats and UUIDs in a form that Spark evaluates itself, and does not hand to Iceberg.

Iceberg leaves out files and row groups by bounds that NaN is no part of, and in which -0.0 is less than 0.0. For Spark
NaN is greater than everything, and the zeros are equal. So whether `where x > 1` finds a row would depend on the other
rows of its file, and a row that did not change could come and go. A product with one has every value as it is.

Iceberg compares UUIDs by their halves as signed numbers, and leaves out files that hold what is looked for. Buckets are
those of their bytes. Spark has their texts, which stay as they are with nothing behind them.
"""

from __future__ import annotations

from pyiceberg.types import DoubleType, FloatType, NestedField, StructType, UUIDType


def unpushed(value: str, column: NestedField) -> str:
    """Return the SQL of a column's value, which stays the same value, with nothing that Iceberg would compare by."""
    match column.field_type:
        case DoubleType():
            return f"{value} * 1D"
        case FloatType():
            return f"{value} * 1F"
        case UUIDType():
            return f"({value} || '')"
        case StructType() if _is_other(column):
            return f"element_at(array({value}), 1)"
    return value


def is_compared_otherwise(column: NestedField, compared: frozenset[str] | None) -> bool:
    """Return whether a column is, or has as a field, a float or a UUID that may be compared by some names (None: any).

    The names are in lower case; who names a field of a struct names the struct, too. What is inside of arrays and maps
    Iceberg compares with nothing.
    """
    return _is_other(column) and (compared is None or column.name.lower() in compared)


def _is_other(column: NestedField) -> bool:
    of = column.field_type
    is_itself = isinstance(of, (DoubleType, FloatType, UUIDType))
    return is_itself or (isinstance(of, StructType) and any(map(_is_other, of.fields)))
