"""target_lag in real runs: which views a run leaves alone, and that it asks Spark nothing for them."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pyspark.sql import SparkSession

from integration.support.lake import LakeProject

BY_REGION = "select region, count(*) as n, sum(amount) as total from lake.{0}.orders group by region"


@pytest.fixture(scope="module")
def shop(lake: LakeProject) -> LakeProject:
    """A table, a view over it that may be an hour old, and one above that follows at once."""
    lake.sql(f"create table lake.{lake.schema}.orders (id int, region string, amount int) partitioned by (region)")
    lake.sql(f"insert into lake.{lake.schema}.orders values (1, 'EU', 5), (2, 'US', 7), (3, null, 9)")
    lake.model("hourly", BY_REGION.format(lake.schema), target_lag="1 hour")
    lake.model("above", "select region, total from {{ ref('hourly') }}")
    lake.run("-s", "hourly", "above")
    return lake


def sell(lake: LakeProject, region: str) -> None:
    lake.sql(f"insert into lake.{lake.schema}.orders values (9, '{region}', 1)")


def kinds(found: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: response["refresh_kind"] for name, response in found.items()}


def test_a_run_leaves_a_younger_view_alone(shop: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    sell(shop, "EU")

    def refuse(self: object, statement: str, *_: object, **__: object) -> None:
        raise AssertionError(f"Spark was asked: {statement}")

    with monkeypatch.context() as patch:
        patch.setattr(SparkSession, "sql", refuse)
        found = shop.run("-s", "hourly", "above")
    hourly = found["hourly"]
    assert hourly["refresh_reason"].startswith("refreshed ")
    assert hourly["refresh_reason"].endswith(", target_lag is 1 hour")
    assert (kinds(found), hourly["base_tables"]) == ({"hourly": "none", "above": "none"}, [])
    assert found["above"]["refresh_reason"].startswith("nothing changed since")
    assert kinds(shop.run("-s", "hourly", "above", "--full-refresh")) == {"hourly": "full", "above": "full"}
    shop.assert_equals_definition("hourly", "above")


def test_the_first_run_after_the_lag_refreshes_it(shop: LakeProject) -> None:
    shop.model("hourly", BY_REGION.format(shop.schema), target_lag="1 second")
    shop.run("-s", "hourly", "above")
    sell(shop, "US")
    time.sleep(1)
    assert kinds(shop.run("-s", "hourly", "above")) == {"hourly": "overwrite", "above": "overwrite"}
    shop.assert_equals_definition("hourly", "above")


def test_a_span_that_is_none_is_an_error(shop: LakeProject) -> None:
    shop.model("bad_lag", BY_REGION.format(shop.schema), target_lag="downstream")
    message = shop.fail("-s", "bad_lag")
    shop.remove_model("bad_lag")
    assert "bad_lag" in message
    assert "target_lag is 'downstream'. Give a number of seconds, minutes, hours, days or weeks" in message
