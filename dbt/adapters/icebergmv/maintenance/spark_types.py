"""Iceberg types in Spark's words."""

from __future__ import annotations

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

_PRIMITIVES: dict[type[IcebergType], str] = {
    BooleanType: "boolean",
    IntegerType: "int",
    LongType: "bigint",
    FloatType: "float",
    DoubleType: "double",
    DateType: "date",
    TimestamptzType: "timestamp",
    TimestampType: "timestamp_ntz",
    StringType: "string",
    UUIDType: "string",
    FixedType: "binary",
    BinaryType: "binary",
}


def spark_type(iceberg_type: IcebergType) -> str:
    """Return the Spark SQL type that Spark shows for an Iceberg type (Iceberg docs, "Type compatibility").

    A type without a Spark counterpart is returned in Iceberg's own words.
    """
    match iceberg_type:
        case DecimalType():
            return f"decimal({iceberg_type.precision},{iceberg_type.scale})"
        case ListType():
            return f"array<{spark_type(iceberg_type.element_type)}>"
        case MapType():
            return f"map<{spark_type(iceberg_type.key_type)},{spark_type(iceberg_type.value_type)}>"
        case StructType():
            inner = ",".join(f"{f.name}:{spark_type(f.field_type)}" for f in iceberg_type.fields)
            return f"struct<{inner}>"
        case _:
            return _PRIMITIVES.get(type(iceberg_type), str(iceberg_type))
