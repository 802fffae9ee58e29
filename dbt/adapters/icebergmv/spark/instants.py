"""Timestamps as Python gets them: in the zone of the session, as all SQL shows them.

PySpark turns an instant into the local time of the machine. Put back into a statement (`timestamp'{{ found }}'`), that
would be another instant wherever the two zones differ; and the first and the last year of a zone cannot be shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from dbt.adapters.icebergmv.spark.cursor import Frame


def in_zone_of_session(frame: Frame) -> Frame:
    """Return the frame with every TIMESTAMP, also inside other values, as the TIMESTAMP_NTZ that the session shows."""
    wanted = [without_zone(field.dataType) for field in frame.schema.fields]
    if all(field.dataType == type_ for field, type_ in zip(frame.schema.fields, wanted, strict=True)):
        return frame
    # Several columns of a result may have one name.
    numbered = frame.toDF(*(f"c{number}" for number in range(len(wanted))))
    columns = [numbered[f"c{number}"].cast(type_) for number, type_ in enumerate(wanted)]
    return numbered.select(*columns).toDF(*frame.columns)


def without_zone(type_: DataType) -> DataType:
    """Return a type with TIMESTAMP_NTZ in place of each TIMESTAMP."""
    from pyspark.sql import types  # noqa: PLC0415 - slow to import, and Spark is there by now

    match type_:
        case types.TimestampType():
            return types.TimestampNTZType()
        case types.ArrayType():
            return types.ArrayType(without_zone(type_.elementType), type_.containsNull)
        case types.MapType():
            keys, values = without_zone(type_.keyType), without_zone(type_.valueType)
            return types.MapType(keys, values, type_.valueContainsNull)
        case types.StructType():
            return types.StructType(
                [types.StructField(f.name, without_zone(f.dataType), f.nullable) for f in type_.fields]
            )
    return type_
