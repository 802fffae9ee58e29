"""stale_read_behavior and staleness_window as configuration: changing them, switching them off, what is shown of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from integration.support.lake import LakeProject
from integration.support.requests import names_of_tests

DAILY = "select region, count(*) as n, sum(amount) as total from {t} group by region"


@pytest.fixture(scope="module")
def tables(lake: LakeProject, request: pytest.FixtureRequest) -> dict[str, str]:
    """A table of orders by region for each test that asks for one."""
    made = {
        name: f"lake.{lake.schema}.orders_{number}" for number, name in enumerate(names_of_tests(request, "orders"))
    }
    lake.at_once(
        f"CREATE TABLE {table} USING iceberg PARTITIONED BY (region) AS "
        "SELECT id, if(id % 2 = 0, 'EU', 'US') AS region, 1 AS amount FROM range(20)"
        for table in made.values()
    )
    return made


@pytest.fixture
def orders(tables: dict[str, str], request: pytest.FixtureRequest) -> str:
    """The table of the test."""
    return tables[request.node.name]


def rows(lake: LakeProject, name: str) -> list[Any]:
    return lake.sql(f"SELECT * FROM {lake.view(name)} ORDER BY ALL")


def view_sql(lake: LakeProject, name: str) -> str:
    view = lake.reader().view(lake.schema, name)
    assert view is not None
    return view.sql


def stitched(lake: LakeProject, name: str) -> bool:
    """Return whether the view separates fresh rows from stale ones."""
    return "icebergmv_keys_0" in view_sql(lake, name)


def insert(lake: LakeProject, orders: str) -> None:
    lake.sql(f"INSERT INTO {orders} VALUES (100, 'EU', 5)")


def test_a_changed_behavior_is_an_alter_without_a_refresh(lake: LakeProject, orders: str) -> None:
    lake.model("altered", DAILY.format(t=orders))
    lake.run("--select", "altered")
    built = lake.state("altered")
    for behavior, word in (("use_stitching", "icebergmv_keys_0"), ("fail", "assert_true"), ("use_view_query", "gate")):
        lake.model("altered", DAILY.format(t=orders), stale_read_behavior=behavior)
        response = lake.run("--select", "altered")["altered"]
        assert response["refresh_kind"] == "none"
        assert f"stale_read_behavior is {behavior}, and was" in response["refresh_reason"]
        assert response["stale_read_behavior"] == behavior
        assert word in view_sql(lake, "altered")
    lake.model("altered", DAILY.format(t=orders), stale_read_behavior="use_view_query", staleness_window="2 days")
    assert "staleness_window is 172800 seconds" in lake.run("--select", "altered")["altered"]["refresh_reason"]
    assert lake.state("altered")["icebergmv.storage-snapshot-id"] == built["icebergmv.storage-snapshot-id"]
    assert lake.run("--select", "altered")["altered"]["refresh_reason"].startswith("nothing changed since")


@pytest.mark.parametrize("behavior", ["use_stitching", "use_view_query"])
def test_a_view_over_small_tables_is_computed_when_it_is_read(lake: LakeProject, orders: str, behavior: str) -> None:
    name = f"small_{behavior}"

    def refreshed(below: int) -> dict[str, Any]:
        sql = DAILY.format(t=orders)
        lake.model(name, sql, stale_read_behavior=behavior, definition_below_rows=below)
        response = lake.run("--select", name)[name]
        assert lake.warnings == []
        return response

    assert refreshed(21)["stale_read_behavior"] == "use_view_query"
    assert "icebergmv" not in view_sql(lake, name)
    insert(lake, orders)
    lake.assert_equals_definition(name)
    assert refreshed(21)["refresh_kind"] == "overwrite"
    assert "icebergmv_gate" in view_sql(lake, name)
    response = refreshed(22)
    assert (response["refresh_kind"], response["stale_read_behavior"]) == ("none", "use_view_query")
    assert "icebergmv" not in view_sql(lake, name)
    insert(lake, orders)
    response = refreshed(0)
    assert (response["refresh_kind"], response["stale_read_behavior"]) == ("overwrite", behavior)
    lake.assert_equals_definition(name)


@pytest.mark.long
def test_within_the_window_readers_get_the_last_refresh(lake: LakeProject, orders: str) -> None:
    lake.model("windowed", DAILY.format(t=orders), stale_read_behavior="use_stitching", staleness_window="1 hour")
    lake.run("--select", "windowed")
    before = rows(lake, "windowed")
    insert(lake, orders)
    assert rows(lake, "windowed") == before
    plan = lake.sql(f"EXPLAIN SELECT * FROM {lake.view('windowed')}")[0][0]
    assert "metadata_log_entries" not in plan.lower()
    # The window counts from the refresh, whose rows the new setting leaves as they are.
    lake.model(
        "windowed",
        DAILY.format(t=orders),
        stale_read_behavior="use_stitching",
        staleness_window="0 seconds",
        refresh_policy="full",
    )
    assert lake.run("--select", "windowed")["windowed"]["refresh_kind"] == "full"
    insert(lake, orders)
    lake.assert_equals_definition("windowed")


def test_static_stitching_is_metadata_only_and_one_cut(lake: LakeProject, orders: str) -> None:
    lake.model("static", DAILY.format(t=orders), stale_read_behavior="use_stitching", refresh_on_run=False)
    assert lake.run("--select", "static")["static"]["refresh_kind"] == "full"
    stored = lake.state("static")["icebergmv.storage-snapshot-id"]
    assert lake.run("--select", "static")["static"]["refresh_kind"] == "none"
    insert(lake, orders)
    response = lake.run("--select", "static")["static"]
    assert (response["refresh_kind"], response["rows_affected"]) == ("restitch", 0)
    (base,) = response["base_tables"]
    assert (base["name"], base["status"], base["changed_partitions"]) == (orders, "stale", 1)
    assert response["stale_partitions"] == 0
    assert lake.state("static")["icebergmv.storage-snapshot-id"] == stored
    assert "files" not in view_sql(lake, "static")
    lake.assert_equals_definition("static")
    cut = rows(lake, "static")
    insert(lake, orders)
    assert rows(lake, "static") == cut
    lake.model("static", DAILY.format(t=orders), stale_read_behavior="use_stitching")
    assert lake.run("--select", "static")["static"]["refresh_kind"] == "overwrite"
    insert(lake, orders)
    lake.assert_equals_definition("static")


@pytest.mark.long
def test_static_stitching_is_not_moved_by_later_columns(lake: LakeProject, orders: str) -> None:
    select = f"select id, amount from {orders} where amount > 0"
    lake.model("filtered", select, stale_read_behavior="use_stitching", refresh_on_run=False)
    lake.run("--select", "filtered")
    insert(lake, orders)
    assert lake.run("--select", "filtered")["filtered"]["refresh_kind"] == "restitch"
    lake.assert_equals_definition("filtered")
    before = rows(lake, "filtered")
    lake.sql(f"ALTER TABLE {orders} RENAME COLUMN amount TO former")
    lake.sql(f"ALTER TABLE {orders} ADD COLUMN amount int")
    assert rows(lake, "filtered") == before


@pytest.mark.long
def test_settings_are_altered_where_rows_are_left_alone(lake: LakeProject, orders: str) -> None:
    lake.model("left", DAILY.format(t=orders), refresh_on_run=False)
    lake.run("--select", "left")
    before = rows(lake, "left")
    insert(lake, orders)
    lake.model("left", DAILY.format(t=orders), refresh_on_run=False, stale_read_behavior="use_view_query")
    response = lake.run("--select", "left")["left"]
    assert response["refresh_kind"] == "none" and "stale_read_behavior is use_view_query" in response["refresh_reason"]
    assert rows(lake, "left") != before
    lake.assert_equals_definition("left")


def test_what_cannot_be_stitched_warns_and_gives_the_definition(lake: LakeProject, orders: str) -> None:
    lake.model("total", f"select sum(amount) as total from {orders}", stale_read_behavior="use_stitching")
    warned = "total cannot have stale_read_behavior use_stitching: no output column follows the partitions of"
    assert warned in lake.fail("--warn-error", "--select", "total")
    response = lake.run("--select", "total")["total"]
    assert response["stale_read_behavior"] == "use_view_query"
    assert [warned in warning for warning in lake.warnings] == [True]
    insert(lake, orders)
    lake.assert_equals_definition("total")
    lake.run("--warn-error", "--select", "total")
    lake.model("drawn", f"select id, rand() as r from {orders}", stale_read_behavior="fail")
    assert "fail cannot be kept" in lake.fail("--select", "drawn")
    lake.remove_model("drawn")


@pytest.mark.long
def test_docs_show_the_behavior(lake: LakeProject, orders: str) -> None:
    lake.model("shown", DAILY.format(t=orders), stale_read_behavior="use_stitching")
    lake.run("--select", "shown")
    assert lake.dbt("docs", "generate", "--select", "shown").success
    catalog = json.loads((lake.folder / "target" / "catalog.json").read_text())
    (shown,) = (n for key, n in catalog["nodes"].items() if key.endswith(".shown"))
    assert shown["stats"]["stale_read_behavior"]["value"] == "use_stitching"


@pytest.mark.parametrize(
    ("flag", "kind", "stitched"),
    [
        ("materialized_view_stitching_enabled", "overwrite", False),
        ("materialized_view_connector_driven_refresh_enabled", "full", True),
    ],
)
@pytest.mark.long
def test_each_half_can_be_switched_off(lake: LakeProject, orders: str, flag: str, kind: str, stitched: bool) -> None:
    project = lake.folder / "dbt_project.yml"
    on = project.read_text()
    content = yaml.safe_load(on)
    content["flags"][flag] = False
    lake.model("switched", DAILY.format(t=orders), stale_read_behavior="use_stitching")
    try:
        project.write_text(yaml.safe_dump(content))
        lake.run("--select", "switched", "--full-refresh")
        insert(lake, orders)
        assert ("icebergmv_keys_0" in view_sql(lake, "switched")) == stitched
        response = lake.run("--select", "switched")["switched"]
        assert response["refresh_kind"] == kind
        assert kind == "overwrite" or f"{flag} is off" in response["refresh_reason"]
    finally:
        project.write_text(on)


@pytest.mark.long
def test_views_over_stitched_views(lake: LakeProject, orders: str) -> None:
    stitched = {"stale_read_behavior": "use_stitching"}
    lake.model("lower", DAILY.format(t=orders), **stitched)
    upper = "select region, total from {{ ref('lower') }} where n > 0"
    lake.model("upper", upper, **stitched)
    lake.model("upper_stored", upper)
    lake.model("upper_view", upper, materialized="view")
    lake.run("--select", "lower+")
    (base,) = json.loads(lake.state("upper")["icebergmv.base-tables"])
    assert base["name"] == orders
    before = rows(lake, "upper_stored")
    insert(lake, orders)
    lake.assert_equals_definition("lower", "upper", "upper_view")
    assert rows(lake, "upper_stored") == before
    assert lake.run("--select", "upper_stored")["upper_stored"]["refresh_kind"] == "overwrite"
    lake.assert_equals_definition("upper_stored")


@pytest.mark.long
def test_a_view_over_one_that_goes_live(lake: LakeProject, orders: str) -> None:
    """What the upper view reads is another thing now, though nothing was refreshed."""
    sql = DAILY.format(t=orders)
    lake.model("turning", sql)
    lake.model(
        "over_turning", "select region, total + 1 as t from {{ ref('turning') }}", stale_read_behavior="use_stitching"
    )
    lake.run("--select", "turning+")
    lake.model("turning", sql, stale_read_behavior="use_stitching")
    assert lake.run("--select", "turning")["turning"]["refresh_kind"] == "none"
    insert(lake, orders)
    assert stitched(lake, "turning") and stitched(lake, "over_turning")
    lake.assert_equals_definition("turning", "over_turning")


@pytest.mark.long
def test_a_column_added_below_a_star(lake: LakeProject) -> None:
    table = f"lake.{lake.schema}.starred"
    lake.sql(f"CREATE TABLE {table} (region string, v int) USING iceberg PARTITIONED BY (region)")
    lake.sql(f"INSERT INTO {table} VALUES ('EU', 1), ('US', 2)")
    lake.model("starred_lower", f"select * from {table}", stale_read_behavior="use_stitching")
    lake.model(
        "starred_upper",
        "select region, sum(v) as s from {{ ref('starred_lower') }} group by region",
        stale_read_behavior="use_stitching",
    )
    lake.run("--select", "starred_lower+")
    lake.sql(f"ALTER TABLE {table} ADD COLUMN z int FIRST")
    lake.sql(f"INSERT INTO {table} VALUES (7, 'EU', 5)")
    lake.assert_equals_definition("starred_upper")
    lake.run("--select", "starred_lower+")
    lake.assert_equals_definition("starred_upper")


SCHEMA_CHANGES = {
    "column added": "ALTER TABLE {t} ADD COLUMN note string",
    "column dropped and added": "ALTER TABLE {t} DROP COLUMN amount; ALTER TABLE {t} ADD COLUMN amount int",
    "names swapped": "ALTER TABLE {t} RENAME COLUMN id TO x; ALTER TABLE {t} RENAME COLUMN other TO id;"
    "ALTER TABLE {t} RENAME COLUMN x TO other",
    "type widened": "ALTER TABLE {t} ALTER COLUMN amount TYPE bigint",
    "partitioned otherwise": "ALTER TABLE {t} REPLACE PARTITION FIELD region WITH bucket(4, id);"
    "INSERT INTO {t} VALUES (7, 'EU', 3, 1)",
    "partitioned by more": "ALTER TABLE {t} ADD PARTITION FIELD id; INSERT INTO {t} VALUES (7, 'EU', 3, 1)",
    "tagged": "ALTER TABLE {t} CREATE TAG t1",
    "replaced": "CREATE OR REPLACE TABLE {t} USING iceberg PARTITIONED BY (region) AS"
    " SELECT id, 'EU' AS region, 2 AS amount, 1L AS other FROM range(5)",
    "compacted": "CALL lake.system.rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true'))",
}


@pytest.mark.long
def test_more_than_rows_changed(lake: LakeProject) -> None:
    tables = {change: f"lake.{lake.schema}.evolving_{number}" for number, change in enumerate(SCHEMA_CHANGES)}
    views = {change: change.replace(" ", "_") for change in SCHEMA_CHANGES}
    lake.at_once(
        f"CREATE TABLE {table} USING iceberg PARTITIONED BY (region) AS "
        "SELECT id, if(id % 2 = 0, 'EU', 'US') AS region, 1 AS amount, id * 10 AS other FROM range(20)"
        for table in tables.values()
    )
    for change, table in tables.items():
        lake.model(views[change], f"select region, id, amount from {table}", stale_read_behavior="use_stitching")
    lake.run("--select", *views.values())
    for change, table in tables.items():
        assert stitched(lake, views[change]), change
        for statement in SCHEMA_CHANGES[change].format(t=table).split(";"):
            lake.sql(statement)
    lake.assert_equals_definition(*views.values())
    lake.run("--select", *views.values())
    lake.assert_equals_definition(*views.values())
    for name, response in lake.run("--select", *views.values()).items():
        assert response["refresh_reason"].startswith("nothing changed since"), name
    lake.at_once(f"INSERT INTO {table} (id, region, amount) VALUES (100, 'US', 9)" for table in tables.values())
    lake.assert_equals_definition(*views.values())
