"""Relations and columns as SQL."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.column import IcebergMVColumn
from dbt.adapters.icebergmv.relation import IcebergMVRelation


def test_relations_have_three_quoted_parts() -> None:
    relation = IcebergMVRelation.create(database="lake", schema="a", identifier="b`c")
    assert relation.render() == "`lake`.`a`.`b``c`"
    assert relation.is_catalogued
    assert not relation.include(database=False, schema=False).is_catalogued


def test_columns_are_quoted() -> None:
    assert IcebergMVColumn(column="a`b", dtype="int").quoted == "`a``b`"


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("tinyint", "integer"),
        ("int", "integer"),
        ("bigint", "integer"),
        ("float", "float"),
        ("double", "float"),
        ("decimal(10,2)", "numeric"),
        ("string", "string"),
        ("varchar(20)", "string"),
        ("char(3)", "string"),
        ("date", None),
        ("timestamp_ntz", None),
        ("array<int>", None),
        ("struct<a:string>", None),
    ],
)
def test_kinds_of_types_are_known_by_the_names_of_spark(dtype: str, kind: str | None) -> None:
    column = IcebergMVColumn(column="a", dtype=dtype)
    found = {name for name in ("integer", "float", "numeric", "string") if getattr(column, f"is_{name}")()}
    assert found == ({kind} if kind else set())


def test_no_column_is_widened_for_a_longer_text() -> None:
    short, long = (IcebergMVColumn(column="a", dtype=f"varchar({size})") for size in (1, 9))
    assert not short.can_expand_to(long)
