"""Iceberg types in Spark's words."""

from __future__ import annotations

import re
from collections.abc import Callable

from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)

from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier

_PRIMITIVES: dict[type[IcebergType], str] = {
    BooleanType: "boolean",
    IntegerType: "int",
    LongType: "bigint",
    FloatType: "float",
    DoubleType: "double",
    DateType: "date",
    TimestampType: "timestamp_ntz",
    StringType: "string",
    UUIDType: "string",
    FixedType: "binary",
    BinaryType: "binary",
}


_EXACT = frozenset(
    [
        *("boolean", "tinyint", "smallint", "int", "bigint", "string", "binary"),
        *("date", "timestamp", "timestamp_ntz"),
    ]
)


AVERAGED_AS_DOUBLES = 11
"""The precision of decimals up to which Spark averages the digits as doubles (DecimalAggregates)."""

EXACT_IN_DOUBLE = 2**53
"""Up to so much a double has every whole number."""

_FLOATS = frozenset(["float", "double"])
_DECIMAL = re.compile(r"decimal\((\d+), ?(\d+)\)")
_COMPARABLE = frozenset(
    ["boolean", "int", "bigint", "string", "binary", "date", "timestamp", "timestamp_ntz", *_FLOATS]
)
"""Types of which GROUP BY and EXCEPT keep apart what can be kept apart (floats as texts, for the sake of -0.0)."""


def is_float(spark_type: str) -> bool:
    """Return whether a type is of floating point."""
    return spark_type in _FLOATS


def decimal_of(spark_type: str) -> tuple[int, int] | None:
    """Return precision and scale of a decimal type, be it as Spark or as the parser writes it; None for others."""
    found = _DECIMAL.fullmatch(spark_type)
    return None if found is None else (int(found[1]), int(found[2]))


def is_primitive(spark_type: str) -> bool:
    """Return whether a type of Iceberg tables is one of single values that can be compared."""
    return spark_type in _COMPARABLE or decimal_of(spark_type) is not None


def is_comparable(spark_type: str) -> bool:
    """Return whether rows can be compared by a column of a type of Iceberg tables.

    Not so maps, and floats in arrays and structs: Spark takes -0.0 and 0.0 there for one.
    """
    if spark_type.startswith("array<") and spark_type.endswith(">"):
        return _is_comparable_inside(spark_type[len("array<") : -1])
    if spark_type.startswith("struct<") and spark_type.endswith(">"):
        fields = _split_outside(spark_type[len("struct<") : -1])
        return all(_is_comparable_inside(field.partition(":")[2]) for field in fields)
    return is_primitive(spark_type)


def _is_comparable_inside(spark_type: str) -> bool:
    return is_comparable(spark_type) and not is_float(spark_type)


def _split_outside(text: str) -> list[str]:
    """Return the parts of a text between commas outside all brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def is_exact(spark_type: str) -> bool:
    """Return whether equal values of a type cannot be told apart, as floats can, and texts of a collation."""
    return spark_type in _EXACT or spark_type.startswith("decimal(")


def spark_type(iceberg_type: IcebergType) -> str:
    """Return the Spark SQL type that Spark shows for an Iceberg type (Iceberg docs, "Type compatibility").

    A type without a Spark counterpart is returned in Iceberg's own words.
    """
    return _text(iceberg_type, str)


def ddl_type(iceberg_type: IcebergType) -> str:
    """Return the same type as a CAST names it: names of struct fields are quoted."""
    return _text(iceberg_type, identifier)


def reader_type(iceberg_type: IcebergType) -> str:
    """Return the type as a CAST names it in the text of a view, whatever `spark.sql.timestampType` its readers have."""
    return _text(iceberg_type, identifier, "timestamp_ltz")


def _text(iceberg_type: IcebergType, name: Callable[[str], str], instant: str = "timestamp") -> str:
    """Return the words for a type; `name` writes the names of fields, `instant` is the word for a timestamp."""
    match iceberg_type:
        case DecimalType():
            return f"decimal({iceberg_type.precision},{iceberg_type.scale})"
        case ListType():
            return f"array<{_text(iceberg_type.element_type, name, instant)}>"
        case MapType():
            return f"map<{_text(iceberg_type.key_type, name, instant)},{_text(iceberg_type.value_type, name, instant)}>"
        case StructType():
            inner = ",".join(f"{name(f.name)}:{_text(f.field_type, name, instant)}" for f in iceberg_type.fields)
            return f"struct<{inner}>"
        case TimestamptzType():
            return instant
        case _:
            return _PRIMITIVES.get(type(iceberg_type), str(iceberg_type))
