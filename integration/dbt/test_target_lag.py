"""target_lag in real runs: which views a run leaves alone, and that it asks Spark nothing for them."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stdout
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


@pytest.mark.long
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


def outcomes(lake: LakeProject, command: str, *arguments: str) -> tuple[dict[str, str], str]:
    """Run the tests; return the status of each model's test by the model, and all that was printed."""
    with redirect_stdout(io.StringIO()) as printed:
        answer = lake.dbt(command, *arguments)
    results: Any = answer.result
    tests = [r for r in results.results if str(r.node.resource_type) == "test"]
    return {r.node.attached_node.split(".")[-1]: str(r.status) for r in tests}, printed.getvalue()


def test_the_freshness_test_fails_of_what_is_stale_for_too_long(shop: LakeProject) -> None:
    fresh, orders = "materialized_view_is_fresh", f"lake.{shop.schema}.orders"
    within = {fresh: {"arguments": {"within": "1 second"}}}
    views = {"is_fresh": [fresh], "is_late": [fresh], "may_be_late": [{fresh: {"arguments": {"within": "1 day"}}}]}
    for name in (*views, "never_built", "says_nothing", "filtered"):
        shop.model(
            name, BY_REGION.format(shop.schema), **({} if name == "says_nothing" else {"target_lag": "1 second"})
        )
    said = {
        **views,
        "never_built": [within],
        "says_nothing": [fresh],
        "filtered": [{fresh: {"config": {"where": "region = 'EU'"}}}],
    }
    shop.properties({"models": [{"name": name, "data_tests": tests} for name, tests in said.items()]})
    shop.run("-s", "is_fresh", "is_late", "may_be_late")
    sell(shop, "EU")
    # Ages are whole seconds, and one second old is not too old yet.
    time.sleep(2.1)
    built, printed = outcomes(shop, "build", "-s", "is_fresh")
    assert built == {"is_fresh": "pass"}
    found, printed = outcomes(shop, "test")
    assert found == {
        "is_fresh": "pass",
        "is_late": "fail",
        "may_be_late": "pass",
        "never_built": "fail",
        "says_nothing": "error",
        "filtered": "error",
    }
    schema = f"lake.{shop.schema}"
    assert f"{schema}.is_late is stale since 20" in printed
    assert f"which may be 1 second: {orders}: 1 partition changed (1 row appended)" in printed
    assert f"{schema}.never_built: it was never built" in printed
    assert "its model has no target_lag. Set one, or give the test" in printed
    assert "takes no `where`" in printed
    again, _ = outcomes(shop, "build", "-s", "is_late")
    assert again == {"is_late": "pass"}


@pytest.mark.long
def test_compiling_before_the_first_build_is_no_error(shop: LakeProject) -> None:
    shop.model("never_built", BY_REGION.format(shop.schema), target_lag="1 hour")
    shop.properties({"models": [{"name": "never_built", "data_tests": ["materialized_view_is_fresh"]}]})
    with redirect_stdout(io.StringIO()) as printed:
        assert shop.dbt("compile", "-s", "never_built").success
    assert "it was never built" not in printed.getvalue()
    (file,) = (shop.folder / "target" / "compiled").rglob("materialized_view_is_fresh_never_built_.sql")
    assert "'it was never built' AS `change`" in file.read_text()
    empty, _ = outcomes(shop, "build", "--empty", "-s", "never_built")
    assert empty == {"never_built": "pass"}
    afterwards, printed_then = outcomes(shop, "test", "-s", "never_built", "--store-failures")
    assert afterwards == {"never_built": "fail"}
    assert "the last run was built with --empty" in printed_then
