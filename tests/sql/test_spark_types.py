"""Which types of columns rows are compared by."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.sql.spark_types import is_comparable, is_primitive

COMPARABLE = [
    *("int", "string", "binary", "double", "timestamp_ntz", "decimal(38,10)"),
    *("array<string>", "array<array<date>>", "struct<a:int>", "struct<a:int,b:array<struct<c:decimal(9,2),d:string>>>"),
    "struct<map:int,a b:string>",
]
OTHERS = [
    *("map<string,int>", "array<double>", "struct<a:float>", "struct<a:int,b:struct<c:array<double>>>", "variant"),
    *("array<map<int,int>>", "struct<a:map<int,string>,b:int>", "struct<a>", "array<", "time", "struct<a:int,b>"),
    # Names that look like types make no type of them.
    *("struct<a:int,b:x:double>", "struct<int:double>", "struct<x:decimal(:float>"),
]


@pytest.mark.parametrize("of", COMPARABLE)
def test_rows_are_compared_by_it(of: str) -> None:
    assert is_comparable(of)
    assert is_primitive(of) == ("<" not in of)


@pytest.mark.parametrize("of", OTHERS)
def test_rows_are_not_compared_by_it(of: str) -> None:
    assert not is_comparable(of) and not is_primitive(of)
