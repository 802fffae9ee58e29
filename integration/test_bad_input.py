"""Bad input: one clear error that names the model and the mend, and nothing that existed is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest

from integration.lake import Lake


@pytest.fixture(scope="module")
def base(lake: Lake) -> str:
    table = f"lake.{lake.schema}.base"
    lake.sql(f"CREATE TABLE {table} (k string, ts timestamp, v int) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {table} VALUES ('a', timestamp'2024-01-01 00:00:00Z', 1), (NULL, NULL, 2)")
    return table


@pytest.mark.parametrize(
    ("name", "sql", "config", "words"),
    [
        ("unknown_transform", "select k, v from {b}", {"partition_by": "weeks(ts)"}, ["weeks(ts)", "days"]),
        ("unknown_column", "select k, v from {b}", {"partition_by": ["k", "days(ts)"]}, ["no column ts", "k, v"]),
        ("not_a_field", "select k, v from {b}", {"partition_by": "k + 1"}, ["k + 1"]),
        ("duplicate", "select k, v, v as K from {b}", {}, ["two columns named", "AS"]),
        ("duplicate_star", "select *, 1 as k from {b}", {}, ["two columns named", "AS"]),
        ("unnamed", "select k, count(*) from {b} group by k", {}, ["no name", "COUNT(*)", "AS"]),
        ("policy", "select k from {b}", {"refresh_policy": "sometimes"}, ["sometimes", "incremental_strict"]),
        ("layout", "select k from {b}", {"layout": "table"}, ["layout", "not available"]),
        ("behavior", "select k from {b}", {"stale_read_behavior": "stitch"}, ["stitch", "use_stitching"]),
        ("window", "select k from {b}", {"staleness_window": "a while"}, ["a while", "15 minutes"]),
        (
            "reserved",
            "with icebergmv_base_0 as (select k from {b}) select k from icebergmv_base_0",
            {"stale_read_behavior": "use_stitching"},
            ["icebergmv_base_0", "Rename it"],
        ),
        (
            "strict_random",
            "select k, rand() as x from {b}",
            {"refresh_policy": "incremental_strict"},
            ["rand()", "auto"],
        ),
        ("missing_table", "select k from lake.nowhere.nothing", {}, ["nowhere"]),
        ("itself", "select k from lake.{s}.itself", {}, ["reads the view itself"]),
        ("syntax", "select k frm {b}", {}, []),
        ("interval", "select k, interval 1 day as i from {b}", {}, []),
    ],
)
def test_refused(lake: Lake, base: str, name: str, sql: str, config: dict[str, Any], words: list[str]) -> None:
    before = {e.name for e in lake.reader().entries(lake.schema)}
    lake.model(name, sql.format(b=base, s=lake.schema), **config)
    message = lake.fail("--select", name)
    assert name in message
    for word in words:
        assert word in message, message
    assert "Unhandled" not in message
    assert {e.name for e in lake.reader().entries(lake.schema)} == before
    lake.remove_model(name)


def test_refusal_leaves_an_existing_view_alone(lake: Lake, base: str) -> None:
    lake.model("kept", f"select k, v from {base}")
    lake.run("--select", "kept")
    state = lake.state("kept")
    for config in ({"partition_by": "weeks(ts)"}, {"refresh_policy": "x"}):
        lake.model("kept", f"select k, v from {base}", **config)
        lake.fail("--select", "kept")
    lake.model("kept", f"select k, cast(raise_error('stop') as int) as v from {base}")
    assert "stop" in lake.fail("--select", "kept")
    assert lake.state("kept") == state
    assert len(lake.sql(f"SELECT * FROM {lake.view('kept')}")) == 2
    lake.model("kept", f"select k, v from {base}")
    assert lake.run("--select", "kept")["kept"]["refresh_kind"] in ("none", "full")
    lake.assert_equals_definition("kept")


@pytest.mark.parametrize("expression", ["rand() as x", "current_timestamp() as x", "uuid() as x", "current_date as x"])
def test_non_deterministic_sql_is_warned_of_and_always_full(lake: Lake, base: str, expression: str) -> None:
    lake.model("moody", f"select k, {expression} from {base}")
    assert lake.run("--select", "moody", "--full-refresh")["moody"]["refresh_kind"] == "full"
    response = lake.run("--select", "moody")["moody"]
    assert response["refresh_kind"] == "full"
    assert "new value at every run" in response["refresh_reason"]
    assert any("refreshed in full at every run" in m for m in lake.last_messages)
    assert not lake.dbt("--warn-error", "run", "--select", "moody").success


def test_base_that_is_not_iceberg(lake: Lake) -> None:
    lake.sql("CREATE TABLE spark_catalog.default.plain (k string, v int) USING parquet")
    lake.sql("INSERT INTO spark_catalog.default.plain VALUES ('a', 1)")
    lake.model("over_parquet", "select k, sum(v) as v from spark_catalog.default.plain group by k")
    for _ in range(2):
        response = lake.run("--select", "over_parquet")["over_parquet"]
        lake.assert_equals_definition("over_parquet")
        assert response["refresh_kind"] == "full"
    assert "spark_catalog.default.plain is not an Iceberg table" in response["refresh_reason"]
    lake.sql("DROP TABLE spark_catalog.default.plain")


def test_base_that_is_a_view_that_cannot_be_read_as_its_sql(lake: Lake, base: str) -> None:
    lake.sql(f"CREATE VIEW lake.{lake.schema}.plain_view AS SELECT {base}.k, v FROM {base}")
    lake.model("over_view", f"select k, sum(v) as v from lake.{lake.schema}.plain_view group by k")
    lake.run("--select", "over_view")
    lake.sql(f"INSERT INTO {base} VALUES ('z', NULL, 26)")
    response = lake.run("--select", "over_view")["over_view"]
    lake.assert_equals_definition("over_view")
    assert (response["refresh_kind"], "is a view" in response["refresh_reason"]) == ("full", True)


def test_state_of_a_newer_version(lake: Lake, base: str) -> None:
    lake.model("newer", f"select k, v from {base}")
    lake.run("--select", "newer")
    lake.sql(f"ALTER VIEW {lake.view('newer')} SET TBLPROPERTIES ('icebergmv.format-version' = '2')")
    message = lake.fail("--select", "newer")
    assert "newer" in message
    assert "Upgrade dbt-icebergmv" in message
    assert lake.run("--select", "newer", "--full-refresh")["newer"]["refresh_kind"] == "full"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("base-tables", "[nonsense"),
        ("base-tables", "[]"),
        ("storage-snapshot-id", "12x"),
        ("storage-snapshot-id", "1"),
        ("storage-table", "a.b"),
        ("definition-hash", ""),
        ("format-version", "one"),
        ("config", json.dumps({"partition-by": 3})),
        ("checksum", "0"),
    ],
)
def test_state_edited_into_nonsense(lake: Lake, base: str, key: str, value: str) -> None:
    lake.model("edited", f"select k, v from {base}")
    lake.run("--select", "edited", "--full-refresh")
    rows = lake.sql(f"SELECT * FROM {lake.view('edited')}")
    lake.sql(f"ALTER VIEW {lake.view('edited')} SET TBLPROPERTIES ('icebergmv.{key}' = '{value}')")
    message = lake.fail("--select", "edited")
    assert "edited" in message
    assert "--full-refresh" in message
    assert lake.sql(f"SELECT * FROM {lake.view('edited')}") == rows


def test_storage_of_another_view(lake: Lake, base: str) -> None:
    store, other = f"{lake.schema}_store", f"{lake.schema}_other"
    lake.model("shared", f"select k, v from {base}", storage_schema=store)
    lake.run("--select", "shared")
    lake.model("shared_too", f"select k from {base}", storage_schema=store, schema="other", alias="shared")
    message = lake.fail("--select", "shared_too")
    assert "is the storage table of lake." in message
    assert "storage_table_prefix" in message
    lake.assert_equals_definition("shared")
    assert lake.reader().view(other, "shared") is None


def test_table_that_is_not_ours_in_place_of_the_storage(lake: Lake, base: str) -> None:
    lake.sql(f"CREATE TABLE lake.{lake.schema}.__mv_storage__squatted (precious int) USING iceberg")
    lake.model("squatted", f"select k, v from {base}")
    message = lake.fail("--select", "squatted")
    assert "__mv_storage__squatted" in message
    assert "storage_table_prefix" in message
    lake.sql(f"SELECT precious FROM lake.{lake.schema}.__mv_storage__squatted")
