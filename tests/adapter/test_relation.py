"""Relations and columns as SQL."""

from __future__ import annotations

from dbt.adapters.icebergmv.column import IcebergMVColumn
from dbt.adapters.icebergmv.relation import IcebergMVRelation


def test_relations_have_three_quoted_parts() -> None:
    relation = IcebergMVRelation.create(database="lake", schema="a", identifier="b`c")
    assert relation.render() == "`lake`.`a`.`b``c`"
    assert relation.is_catalogued
    assert not relation.include(database=False, schema=False).is_catalogued


def test_columns_are_quoted() -> None:
    assert IcebergMVColumn(column="a`b", dtype="int").quoted == "`a``b`"
