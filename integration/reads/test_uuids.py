"""Readers of stale views over tables partitioned by UUIDs, of which Iceberg and Spark compare other things."""

from __future__ import annotations

from uuid import UUID

import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, IdentityTransform, Transform
from pyiceberg.types import IntegerType, NestedField, UUIDType

from integration.support.lake import LakeProject

KEYS = [UUID(int=n * 2**124 + n) for n in range(12)]
VIEWS = {
    "shown": "select k, v from {u}",
    "grouped": "select k, count(*) as n, sum(v) as s from {u} group by k",
    "joined": "select a.k, a.v, b.v as w from {u} as a join {u} as b on a.k = b.k",
}


@pytest.mark.long
@pytest.mark.parametrize("transform", [IdentityTransform(), BucketTransform(4)])
def test_readers_find_the_rows_of_every_uuid(lake: LakeProject, transform: Transform[object, object]) -> None:
    prefix = f"read_{transform}"[:9] + "_"
    schema = Schema(NestedField(1, "k", UUIDType()), NestedField(2, "v", IntegerType()))
    spec = PartitionSpec(PartitionField(1, 1000, transform, "k_part"))
    catalog = load_catalog("lake", **lake.credentials().catalog_settings("lake").pyiceberg)
    lake.sql("select 1")
    lake.sql(f"create namespace if not exists lake.{lake.schema}")
    catalog.create_table((lake.schema, f"{prefix}u"), schema, partition_spec=spec)
    table = f"lake.{lake.schema}.{prefix}u"
    lake.sql(f"insert into {table} values " + ", ".join(f"('{key}', {n})" for n, key in enumerate(KEYS)))
    views = {f"{prefix}{view}": sql.format(u=table) for view, sql in VIEWS.items()}
    for view, sql in views.items():
        lake.model(view, sql, stale_read_behavior="use_stitching", definition_below_rows=0)
    lake.run("--select", *views)
    lake.sql(f"update {table} set v = v + 100 where v in (2, 4, 9, 11)")
    lake.sql(f"insert into {table} values ('{KEYS[6]}', 7), (null, 5), ('{UUID(int=2**128 - 1)}', 3)")
    for view, sql in views.items():
        assert "icebergmv_whole" in lake.published(view).sql, "no part of it is told by keys"
        found = sorted(map(str, lake.sql(f"select * from {lake.view(view)}")))
        assert found == sorted(map(str, lake.sql(sql))), view
