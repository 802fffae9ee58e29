"""Columns with the names that Iceberg gives to partitions: it takes no table with both."""

from __future__ import annotations

from typing import Any

import pytest

from integration.support.lake import LakeProject


@pytest.fixture(scope="module")
def events(lake: LakeProject) -> str:
    name = f"lake.{lake.schema}.named_events"
    lake.sql(f"CREATE TABLE {name} (created_at timestamp, id int) USING iceberg PARTITIONED BY (days(created_at))")
    lake.sql(f"INSERT INTO {name} SELECT timestamp'2024-01-01' + make_dt_interval(cast(id as int)), id FROM range(3)")
    return name


def build(lake: LakeProject, name: str, sql: str, **config: Any) -> dict[str, Any]:
    lake.model(name, sql, **config)
    response = lake.run("--select", name)[name]
    lake.assert_equals_definition(name)
    return response


def test_a_day_beside_its_time(lake: LakeProject, events: str) -> None:
    name = "day_beside_time"
    built = build(lake, name, f"select created_at, date(created_at) as created_at_day, id from {events}")
    assert built["partition_by"] == ["`created_at_day`"]
    lake.sql(f"INSERT INTO {events} VALUES (timestamp'2024-01-02 05:00:00', 7)")
    assert lake.run("--select", name)[name]["refresh_kind"] == "append"
    lake.assert_equals_definition(name)


def test_something_else_with_the_name_of_a_day(lake: LakeProject, events: str) -> None:
    assert build(lake, "no_day", f"select created_at, id as created_at_day from {events}")["partition_by"] == []
    other = build(lake, "other_case", f"select created_at, id as CREATED_AT_DAY from {events}")
    assert other["partition_by"] == ["days(`created_at`)"]


@pytest.mark.parametrize("layout", ["view", "table"])
def test_a_day_that_comes_later(lake: LakeProject, events: str, layout: str) -> None:
    """The stored rows are partitioned under its name by then."""
    name = f"later_day_{layout}"
    assert build(lake, name, f"select created_at, id from {events}", layout=layout)["partition_by"] == [
        "days(`created_at`)"
    ]
    more = f"select created_at, date(created_at) as created_at_day, id from {events}"
    assert build(lake, name, more, layout=layout)["partition_by"] == ["`created_at_day`"]


def test_a_configured_partitioning_is_refused_before_anything_is_built(lake: LakeProject, events: str) -> None:
    sql = f"select created_at, date(created_at) as created_at_day, id from {events}"
    lake.model("refused", sql, partition_by="days(created_at)")
    said = lake.fail("--select", "refused")
    assert f"Cannot refresh lake.{lake.schema}.refused: partition_by is 'days(created_at)', whose partitions " in said
    assert lake.reader().table(lake.schema, "__mv_storage__refused") is None
