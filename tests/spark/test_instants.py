"""Types of what Python gets: every TIMESTAMP, wherever it is, without its zone; nothing else is touched."""

from __future__ import annotations

import pytest
from pyspark.sql import types

from dbt.adapters.icebergmv.spark.instants import without_zone

AT, SHOWN = types.TimestampType(), types.TimestampNTZType()


def struct(type_: types.DataType, *, nullable: bool = False) -> types.StructType:
    return types.StructType([types.StructField("id", types.LongType()), types.StructField("at", type_, nullable)])


@pytest.mark.parametrize("may_be_null", [True, False])
def test_every_timestamp_loses_its_zone(may_be_null: bool) -> None:
    of_days = types.MapType(types.DateType(), SHOWN)
    for found, wanted in (
        (AT, SHOWN),
        (types.ArrayType(AT, may_be_null), types.ArrayType(SHOWN, may_be_null)),
        (types.MapType(AT, AT, may_be_null), types.MapType(SHOWN, SHOWN, may_be_null)),
        (struct(AT, nullable=may_be_null), struct(SHOWN, nullable=may_be_null)),
        (types.ArrayType(struct(types.MapType(types.DateType(), AT))), types.ArrayType(struct(of_days))),
    ):
        assert without_zone(found) == wanted


@pytest.mark.parametrize(
    "type_",
    [
        SHOWN,
        types.DateType(),
        types.DecimalType(38, 3),
        types.VarcharType(3),
        types.ArrayType(types.StringType(), False),
        types.MapType(types.StringType(), types.DoubleType(), False),
        struct(SHOWN),
    ],
)
def test_all_other_types_stay(type_: types.DataType) -> None:
    assert without_zone(type_) == type_
