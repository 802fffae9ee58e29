"""A column of the definition under the type that the storage table has, an error where a value of it does not fit.

The text of a view outlives the types of its base columns: they are widened, replaced, or get other fields. A cast alone
wraps, truncates or gives NULL outside ANSI mode, and takes the fields of a struct by position. Spark answers questions
for types when it plans, so all this is gone where the type is the one that is stored.
"""

from __future__ import annotations

from pyiceberg.types import DecimalType, IcebergType, StringType, UUIDType

from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, string_literal
from dbt.adapters.icebergmv.maintenance.sql.spark_types import reader_type, spark_type
from dbt.adapters.icebergmv.maintenance.sql.type_checks import NO_TEXT, SOURCES, has_one_of, has_type


def as_stored(column: str, type_: IcebergType) -> str:
    """Return the SQL of a column `v.column` under its stored type, with an error for a value that this cannot hold."""
    value, ddl = f"v.{identifier(column)}", reader_type(type_)
    message = f"A value of {column} does not fit into {spark_type(type_)}. Run dbt to give the view its new type."
    refused = f"IF({value} IS NULL, NULL, raise_error({string_literal(message)}))"
    return f"IF({has_type(value, ddl)}, CAST({value} AS {ddl}), {_of_another_type(value, type_, ddl, refused)})"


def _of_another_type(value: str, type_: IcebergType, ddl: str, refused: str) -> str:
    """Return a value of another type than the stored one: under that where none of it is lost, else `refused`."""
    if isinstance(type_, (StringType, UUIDType)):
        return f"IF(typeof({value}) RLIKE '{NO_TEXT}', {refused}, CAST({value} AS {ddl}))"
    if isinstance(type_, DecimalType):
        is_number = f"typeof({value}) LIKE 'decimal(%,{type_.scale})'"
    elif ddl in SOURCES:
        is_number = has_one_of(value, SOURCES[ddl])
    else:
        return refused
    cast = f"try_cast({value} AS {ddl})"
    return f"IF({is_number} AND {cast} = {value}, {cast}, {refused})"
