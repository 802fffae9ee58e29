"""Columns of UUIDs, which Spark shows as texts: other engines write them, and Iceberg hashes and compares their bytes."""

from __future__ import annotations

from uuid import UUID

import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, IdentityTransform, Transform, VoidTransform
from pyiceberg.types import IntegerType, NestedField, UUIDType

from integration.support.following import assert_follows, filled
from integration.support.lake import LakeProject

KEYS = [UUID(int=n * 2**124 + n) for n in range(12)]
"""The last ones are less than the first for Iceberg, and greater for Spark."""

VIEWS = {
    "uuids_joined": "select t.k, t.v, u.v as w from {t} t join {u} u on t.k = u.k",
    "uuids_left": "select t.k, t.v, u.v as w from {t} t left join {u} u on t.k = u.k",
    "uuids_alone": "select k, percentile(v, 0.5) as median from {u} group by k",
    "uuids_shown": "select k, v from {u}",
    "uuids_grouped": "select u.k, count(t.v) as n from {u} u left join {t} t on t.k = u.k group by u.k",
}
CHANGES = (
    f"update {{t}} set v = v + 1 where k = '{KEYS[3]}'",
    f"insert into {{t}} values ('{KEYS[4]}', 9), ('{KEYS[7]}', 9), ('no uuid', 8)",
    f"delete from {{t}} where k = '{KEYS[5]}'",
    "insert into {t} values ('another one', 8), ('', 7)",
    "update {u} set v = v + 100 where v in (2, 4, 9, 11)",
)


@pytest.mark.long
@pytest.mark.parametrize("transform", [BucketTransform(4), IdentityTransform(), VoidTransform()])
def test_a_text_beside_uuids_in_buckets(lake: LakeProject, transform: Transform[object, object]) -> None:
    prefix = f"{transform}"[:6] + "_"
    by = "bucket(4, k)" if isinstance(transform, BucketTransform) else "k"
    rows = ", ".join(f"('{key}', {n})" for n, key in enumerate(KEYS[:6]))
    names = filled(lake, prefix, {"t": ("k string, v int", rows)}, {"t": f"partitioned by ({by})"})
    schema = Schema(NestedField(1, "k", UUIDType()), NestedField(2, "v", IntegerType()))
    spec = PartitionSpec(PartitionField(1, 1000, transform, "k_part"))
    catalog = load_catalog("lake", **lake.credentials().catalog_settings("lake").pyiceberg)
    catalog.create_table((lake.schema, f"{prefix}u"), schema, partition_spec=spec)
    names["u"] = f"lake.{lake.schema}.{prefix}u"
    lake.sql(f"insert into {names['u']} values " + ", ".join(f"('{key}', {n})" for n, key in enumerate(KEYS)))
    views = {f"{prefix}{view}": sql.format(**names) for view, sql in VIEWS.items()}
    for view, sql in views.items():
        lake.model(view, sql, refresh_policy="incremental")
    lake.run("--select", *views)
    lake.assert_equals_definition(*views)
    for change in CHANGES:
        found = assert_follows(lake, names, ([change], {}), views)
        assert {response["refresh_kind"] for response in found.values()} <= {"overwrite", "append", "merge", "none"}
