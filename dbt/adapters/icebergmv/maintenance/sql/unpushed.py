"""Columns of floats in a form that Spark evaluates itself, and does not hand to Iceberg.

Iceberg leaves out files and row groups by bounds that NaN is no part of, and in which -0.0 is less than 0.0. For Spark
NaN is greater than everything, and the zeros are equal. So whether `where x > 1` finds a row would depend on the other
rows of its file, and a row that did not change could come and go. A product with one has every value as it is.
"""

from __future__ import annotations

from pyiceberg.types import DoubleType, FloatType, NestedField, StructType


def unpushed(value: str, column: NestedField) -> str:
    """Return the SQL of a column's value, which stays the same value, with nothing that Iceberg would compare by."""
    match column.field_type:
        case DoubleType():
            return f"{value} * 1D"
        case FloatType():
            return f"{value} * 1F"
        case StructType() if _has_floats(column):
            return f"element_at(array({value}), 1)"
    return value


def is_compared_as_float(column: NestedField, compared: frozenset[str] | None) -> bool:
    """Return whether a column is, or has as a field, a float that may be compared by one of some names (None: any).

    The names are in lower case; who names a field of a struct names the struct, too. What is inside of arrays and maps
    Iceberg compares with nothing.
    """
    return _has_floats(column) and (compared is None or column.name.lower() in compared)


def _has_floats(column: NestedField) -> bool:
    of = column.field_type
    return isinstance(of, (DoubleType, FloatType)) or (isinstance(of, StructType) and any(map(_has_floats, of.fields)))
