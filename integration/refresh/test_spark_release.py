"""Another release of Spark than the one that computed the rows: its functions may give other values."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv import refresh_materialized_view
from dbt.adapters.icebergmv.spark.release import installed_release
from integration.support.lake import LakeProject


def run(lake: LakeProject, model: str) -> tuple[str, str]:
    """Run a model, and return the kind of its refresh and the reason."""
    response = lake.run("--select", model)[model]
    return response["refresh_kind"], response["refresh_reason"]


@pytest.mark.parametrize("layout", ["view", "table"])
def test_the_view_is_refreshed_in_full_once(lake: LakeProject, monkeypatch: pytest.MonkeyPatch, layout: str) -> None:
    here, orders, model = installed_release(), lake.view("released"), f"of_a_release_{layout}"
    lake.sql(f"CREATE OR REPLACE TABLE {orders} (region string, amount bigint) USING iceberg PARTITIONED BY (region)")
    lake.sql(f"INSERT INTO {orders} VALUES ('EU', 1), ('US', 2), (NULL, 3)")
    lake.model(model, f"select region, sum(amount) as total from {orders} group by region", layout=layout)
    assert run(lake, model) == ("full", "first build")
    with monkeypatch.context() as upgraded:
        upgraded.setattr("dbt.adapters.icebergmv.credentials.installed_release", lambda: "9.9")
        assert run(lake, model) == ("full", f"Spark is 9.9, and was {here}")
        assert run(lake, model)[0] == "none"
        lake.sql(f"INSERT INTO {orders} VALUES ('EU', 10)")
        assert run(lake, model)[0] == "overwrite"
    by_name = refresh_materialized_view(SparkSession.active(), f"lake.{lake.schema}.{model}")
    assert (by_name.kind, by_name.reason) == ("full", f"Spark is {here}, and was 9.9")
    assert run(lake, model)[0] == "none"
