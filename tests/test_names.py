"""Full names as text."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.names import join_name, split_name
from dbt.adapters.icebergmv.relation import IcebergMVRelation


@pytest.mark.parametrize("parts", [("a",), ("a", "b"), ("c", "s.x", "we`ird $t")])
def test_there_and_back(parts: tuple[str, ...]) -> None:
    assert split_name(join_name(parts)) == parts


def test_plain_names() -> None:
    assert split_name("lake.a.`b.c`") == ("lake", "a", "b.c")


@pytest.mark.parametrize("text", ["", "a.", ".a", "`a", "`a`b", "a..b"])
def test_no_name(text: str) -> None:
    with pytest.raises(ValueError, match="Cannot read the name"):
        split_name(text)


def test_relations_have_three_quoted_parts() -> None:
    relation = IcebergMVRelation.create(database="lake", schema="a", identifier="b`c")
    assert relation.render() == "`lake`.`a`.`b``c`"
    assert relation.is_catalogued
    assert not relation.include(database=False, schema=False).is_catalogued
