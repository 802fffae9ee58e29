"""A view over one whose storage is partitioned by a hidden key, which no column of the SELECT can follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.transforms import IdentityTransform

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import ORDERS, STORAGE, Model, Stage, sell
from tests.support.recording_spark import RecordingSpark

BELOW = Model(
    "WITH c AS (SELECT id, day, region, amount FROM orders)"
    " SELECT a.id, a.region, b.amount FROM c a JOIN c b ON a.id = b.id",
    (("id", "bigint"), ("region", "string"), ("amount", "bigint")),
)
ABOVE = Model(
    "SELECT region, sum(amount) AS s, count(*) AS n FROM sales GROUP BY region",
    (("region", "string"), ("s", "bigint"), ("n", "bigint")),
)


def test_a_view_over_one_that_is_partitioned_by_a_hidden_key(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.catalog.iceberg.drop_table("ns.orders")
    by = (PartitionField(3, 1000, IdentityTransform(), "region"), PartitionField(2, 1001, IdentityTransform(), "day"))
    stage.catalog.iceberg.create_table("ns.orders", ORDERS, partition_spec=PartitionSpec(*by))
    sell("EU", "US")(stage.tables())
    stage.refresh(BELOW)
    names = [field.name for field in stage.tables()[STORAGE[2]].spec().fields]
    assert any(name.startswith("icebergmv_key_") for name in names)
    asked = stage.request(ABOVE)
    config = replace(asked.config, storage_table=("lake", "ns", "__mv_storage__above"))
    inspection = inspect(stage.catalog, replace(asked, view=("lake", "ns", "above"), config=config))
    lake = Lake(stage.catalog, RecordingSpark(stage.catalog, ABOVE.columns))
    assert refresh(lake, inspection, read_plan(inspection)).kind == "full"
    stage.close()
