"""cluster_by: its words, and the order that a table has."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder
from pyiceberg.transforms import BucketTransform, IdentityTransform
from pyiceberg.types import LongType, NestedField

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.status.configured.clustering import (
    SortColumn,
    cluster_by_texts,
    parse_cluster_by,
    stored_order,
)

COLUMNS = ("region", "Day", "odd `name`, here", "desc")


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (None, ()),
        ("region", ("region",)),
        ("region, day desc", ("region", "day desc")),
        (["region", "`a, b`"], ("region", "`a, b`")),
        ([], ()),
    ],
)
def test_a_list_in_one_text_or_in_several(value: object, texts: tuple[str, ...]) -> None:
    assert cluster_by_texts(value) == texts


@pytest.mark.parametrize("value", ["day+1", ["region", "lower(region)"], "day descending"])
def test_texts_of_no_columns(value: object) -> None:
    with pytest.raises(InvalidConfig, match=r"is not a column\. Name a column of the view"):
        cluster_by_texts(value)


@pytest.mark.parametrize("value", [1, {"region": "asc"}, [1], [["region"]]])
def test_what_is_neither_a_text_nor_a_list_of_them(value: object) -> None:
    with pytest.raises(InvalidConfig, match=r"cluster_by is .*Give a column of the view"):
        cluster_by_texts(value)


@pytest.mark.parametrize(
    ("text", "ddl"),
    [
        ("region", "`region` ASC NULLS FIRST"),
        ("DAY", "`Day` ASC NULLS FIRST"),
        (" day  desc ", "`Day` DESC NULLS LAST"),
        ("day Desc nulls First", "`Day` DESC NULLS FIRST"),
        ("`region` nulls last", "`region` ASC NULLS LAST"),
        ("`odd ``name``, here` asc", "`odd ``name``, here` ASC NULLS FIRST"),
        ("desc", "`desc` ASC NULLS FIRST"),
        ("desc desc", "`desc` DESC NULLS LAST"),
    ],
)
def test_the_ddl_of_a_column(text: str, ddl: str) -> None:
    assert [sort.ddl() for sort in parse_cluster_by([text], COLUMNS)] == [ddl]


@pytest.mark.parametrize("text", ["", "region + 1", "days(day)", "region nulls", "region, day", "a b", "region; drop"])
def test_what_is_no_column(text: str) -> None:
    with pytest.raises(InvalidConfig, match=r"is not a column. Name a column of the view"):
        parse_cluster_by([text], COLUMNS)


def test_a_column_that_is_not_there_or_there_twice() -> None:
    with pytest.raises(InvalidConfig, match=r"cluster_by is 'regio' and the view has no column regio. It has region,"):
        parse_cluster_by(["regio"], COLUMNS)
    with pytest.raises(InvalidConfig, match=r"has the column region twice"):
        parse_cluster_by(["region", "REGION desc"], COLUMNS)


def test_the_order_of_a_table(tmp_path: Path) -> None:
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=tmp_path.as_uri())
    catalog.create_namespace("ns")
    fields = [NestedField(n, name, LongType(), required=False) for n, name in enumerate(["a", "b"], 1)]
    table = catalog.create_table("ns.t", Schema(*fields))
    assert stored_order(table) == ()
    with table.update_sort_order() as update:
        update.desc("b", IdentityTransform(), NullOrder.NULLS_LAST).asc("a", BucketTransform(4), NullOrder.NULLS_FIRST)
    found = stored_order(catalog.load_table("ns.t"))
    assert found[:1] == parse_cluster_by(["B desc"], ["a", "b"])
    assert found[1] == SortColumn("a", transform="bucket[4]")
    catalog.close()
