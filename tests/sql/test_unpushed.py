"""Columns in a form that Iceberg does not see, and where that is needed."""

from __future__ import annotations

import pytest
from pyiceberg.types import DoubleType, FloatType, IcebergType, ListType, LongType, NestedField, StructType, UUIDType

from dbt.adapters.icebergmv.maintenance.sql.unpushed import is_compared_otherwise, unpushed

DOUBLES = StructType(NestedField(2, "inner", StructType(NestedField(3, "Deep", DoubleType()))))
NUMBERS = StructType(NestedField(2, "a", LongType()))


def column(of: IcebergType) -> NestedField:
    return NestedField(1, "C", of)


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (DoubleType(), "c * 1D"),
        (FloatType(), "c * 1F"),
        (UUIDType(), "(c || '')"),
        (DOUBLES, "element_at(array(c), 1)"),
        (NUMBERS, "c"),
        (LongType(), "c"),
        (ListType(2, DoubleType()), "c"),
    ],
)
def test_floats_are_products_and_structs_with_floats_come_out_of_an_array(of: IcebergType, expected: str) -> None:
    assert unpushed("c", column(of)) == expected


@pytest.mark.parametrize(
    ("of", "compared", "expected"),
    [
        (DoubleType(), {"c"}, True),
        (DoubleType(), {"d"}, False),
        (UUIDType(), {"c"}, True),
        (UUIDType(), {"d"}, False),
        (DoubleType(), None, True),
        (LongType(), {"c"}, False),
        (LongType(), None, False),
        (DOUBLES, {"c"}, True),
        (DOUBLES, {"c", "deep"}, True),
        (DOUBLES, {"deep"}, False),
        (DOUBLES, None, True),
        (NUMBERS, {"c", "a"}, False),
    ],
)
def test_a_struct_is_compared_where_it_is_named(of: IcebergType, compared: set[str] | None, expected: bool) -> None:
    names = None if compared is None else frozenset(compared)
    assert is_compared_otherwise(column(of), names) is expected
