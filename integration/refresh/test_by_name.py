"""Views by name, from a PySpark session: refreshed as a run of dbt would, which then finds nothing to do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv import (
    explain_materialized_view,
    maintain_materialized_view,
    materialized_view_status,
    materialized_view_versions,
    read_materialized_view,
    refresh_materialized_view,
    rollback_materialized_view,
)
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, MaintenanceError, NotReadable, RefreshRefused
from integration.support.lake import LakeProject

TOTALS = "select region, sum(amount) as total from {} group by region"
TIME_ZONE = "spark.sql.session.timeZone"


@pytest.fixture
def orders(lake: LakeProject) -> Iterator[str]:
    table = lake.view("orders")
    lake.sql(f"CREATE TABLE {table} (region string, amount bigint) USING iceberg PARTITIONED BY (region)")
    lake.sql(f"INSERT INTO {table} VALUES ('EU', 1), ('US', 2), (NULL, 3)")
    yield table
    lake.sql(f"DROP TABLE {table}")


@pytest.fixture
def notebook(lake: LakeProject) -> SparkSession:
    """A session of its own, which has the catalog as dbt has it, and another time zone."""
    session = SparkSession.active().newSession()
    settings = lake.credentials().catalog_settings("lake")
    for key, value in {**settings.spark_conf(), "spark.sql.catalog.lake.cache-enabled": "false"}.items():
        session.conf.set(key, value)
    session.conf.set(TIME_ZONE, "Asia/Tokyo")
    session.conf.set("spark.sql.legacy.timeParserPolicy", "LEGACY")
    return session


def name(lake: LakeProject, model: str) -> str:
    return f"lake.{lake.schema}.{model}"


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"stale_read_behavior": "use_stitching", "partition_by": ["region"], "cluster_by": "total", "keep_versions": 4},
        {"layout": "table", "tblproperties": {"a": "1"}},
    ],
)
def test_a_refresh_leaves_nothing_to_the_next_run(
    lake: LakeProject, orders: str, notebook: SparkSession, config: dict[str, object]
) -> None:
    lake.model("totals", TOTALS.format(orders), **config)
    lake.run("--select", "totals")
    lake.sql(f"INSERT INTO {orders} VALUES ('EU', 10)")
    view = name(lake, "totals")
    (before,) = materialized_view_status(notebook, view)
    assert before.state == "stale"
    assert before.next is not None
    assert before.next.kinds[0] != "full"
    with pytest.raises(MaintenanceError, match="Cannot show a status: no view is named"):
        materialized_view_status(notebook)
    result = refresh_materialized_view(notebook, view)
    assert len(repr(result)) < 1000
    assert result.kind in ("overwrite", "merge")
    assert result.rows_written == 1
    assert notebook.conf.get(TIME_ZONE) == "Asia/Tokyo"
    assert notebook.conf.get("spark.sql.legacy.timeParserPolicy") == "LEGACY"
    lake.assert_equals_definition("totals")
    assert refresh_materialized_view(notebook, view).kind == "none"
    (after,) = materialized_view_status(notebook, view)
    assert after.state == "fresh"
    assert explain_materialized_view(notebook, view).verdict == "incremental"
    recorded = lake.state("totals") if config.get("layout") != "table" else {}
    response = lake.run("--select", "totals")["totals"]
    assert (response["refresh_kind"], response["refresh_reason"].split(" since")[0]) == ("none", "nothing changed")
    assert not recorded or lake.state("totals") == recorded


@pytest.mark.long
def test_a_view_that_runs_leave_alone(lake: LakeProject, orders: str, notebook: SparkSession) -> None:
    lake.model("totals", TOTALS.format(orders), refresh_on_run=False, target_lag="1 day")
    lake.run("--select", "totals")
    lake.sql(f"DELETE FROM {orders} WHERE region = 'US'")
    assert lake.run("--select", "totals")["totals"]["refresh_kind"] == "none"
    assert refresh_materialized_view(notebook, name(lake, "totals")).kind == "overwrite"
    lake.assert_equals_definition("totals")
    lake.sql(f"INSERT INTO {orders} VALUES ('US', 4)")
    assert lake.run("--select", "totals")["totals"]["refresh_kind"] == "none"


def test_a_full_refresh_and_a_refused_one(lake: LakeProject, orders: str, notebook: SparkSession) -> None:
    lake.model("totals", f"select distinct region, first(amount) as total from {orders} group by region")
    lake.run("--select", "totals")
    view = name(lake, "totals")
    result = refresh_materialized_view(notebook, view, full_refresh=True)
    assert (result.kind, result.reason) == ("full", "full_refresh")
    lake.sql(f"UPDATE {orders} SET amount = 5 WHERE region = 'EU'")
    with pytest.raises(RefreshRefused, match="first"):
        refresh_materialized_view(notebook, view, refresh_policy="incremental_strict")
    with pytest.raises(InvalidConfig, match="refresh_policy"):
        refresh_materialized_view(notebook, view, refresh_policy="incremental_stict")  # type: ignore[arg-type]


def test_versions_and_upkeep(lake: LakeProject, orders: str, notebook: SparkSession) -> None:
    lake.model("kept", TOTALS.format(orders))
    lake.run("--select", "kept")
    view, before = name(lake, "kept"), lake.sql(f"SELECT count(*), sum(total) FROM {lake.view('kept')}")
    lake.sql(f"INSERT INTO {orders} VALUES ('EU', 10)")
    refresh_materialized_view(notebook, view)
    assert maintain_materialized_view(notebook, view, dry_run=True).error is None
    newest, first = materialized_view_versions(notebook, view)
    assert newest.obstacle is not None
    assert rollback_materialized_view(notebook, view, first.version_id).next_refresh == "from there"
    assert lake.sql(f"SELECT count(*), sum(total) FROM {lake.view('kept')}") == before
    assert read_materialized_view(SparkSession.active(), view).count() == 3
    assert refresh_materialized_view(notebook, view).kind in ("overwrite", "merge")
    lake.assert_equals_definition("kept")


@pytest.mark.long
def test_what_cannot_be_refreshed(lake: LakeProject, orders: str, notebook: SparkSession) -> None:
    with pytest.raises(NotReadable, match=r"Cannot refresh .*orders: it is not a materialized view of the catalog"):
        refresh_materialized_view(notebook, name(lake, "orders"))
    with pytest.raises(NotReadable, match="Name the view as"):
        refresh_materialized_view(notebook, "orders")
    lake.model("totals", TOTALS.format(orders))
    lake.run("--select", "totals", "--empty")
    with pytest.raises(NotReadable, match="the last run was built with --empty"):
        refresh_materialized_view(notebook, name(lake, "totals"))
    notebook.conf.set("spark.sql.catalog.lake.cache-enabled", "true")
    with pytest.raises(InvalidConfig, match="the session keeps the tables of lake in a cache"):
        refresh_materialized_view(notebook, name(lake, "totals"))
