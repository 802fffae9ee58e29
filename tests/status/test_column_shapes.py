"""What a reader sees of columns, and which rows of older columns can be shown under those of today."""

from __future__ import annotations

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import IcebergType, IntegerType, ListType, MapType, NestedField, StringType, StructType

from dbt.adapters.icebergmv.maintenance.status.tables.column_shapes import can_bridge, shape
from dbt.adapters.icebergmv.maintenance.status.tables.schema_change import changed_meaning


def nested(doc: str | None, name: str = "kind", more: tuple[NestedField, ...] = ()) -> list[IcebergType]:
    """Return types with a struct inside whose field has a comment."""
    inner = StructType(NestedField(10, name, StringType(), required=False, doc=doc), *more)
    return [
        inner,
        ListType(11, inner, element_required=False),
        MapType(12, StringType(), 13, inner, value_required=False),
        StructType(NestedField(14, "deeper", inner, required=False)),
    ]


def table_of(type_: IcebergType, doc: str | None = None) -> Schema:
    return Schema(NestedField(1, "payload", type_, required=False, doc=doc))


@pytest.mark.parametrize("place", range(4))
def test_comments_are_no_part_of_it(place: int) -> None:
    before, now = table_of(nested(None)[place]), table_of(nested("what it is")[place], "a payload")
    assert shape(before.fields[0]) == shape(now.fields[0])
    assert can_bridge(now, before)
    assert changed_meaning(before, now, frozenset(["payload"]), by_shape=True) is None


@pytest.mark.parametrize("place", range(4))
def test_nested_names_and_columns_are(place: int) -> None:
    more = (NestedField(15, "n", IntegerType(), required=False),)
    before = table_of(nested(None)[place])
    for now in (table_of(nested(None, "sort")[place]), table_of(nested(None, more=more)[place])):
        assert shape(before.fields[0]) != shape(now.fields[0])
        assert not can_bridge(now, before)
        assert "another type" in (changed_meaning(before, now, frozenset(["payload"]), by_shape=False) or "")


def test_new_columns_are_null_in_old_rows_unless_they_have_a_default() -> None:
    before = table_of(StringType())
    new = NestedField(2, "n", IntegerType(), required=False)
    assert can_bridge(Schema(*before.fields, new), before)
    assert not can_bridge(Schema(*before.fields, new.model_copy(update={"initial_default": 3})), before)
    assert can_bridge(Schema(*before.fields, new), None)
