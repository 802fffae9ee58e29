"""A session that is in another namespace than the profile's: bare names mean what they mean in the profile's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from integration.support.lake import LakeProject

VIEWS = {
    "plain_rows": "select d, v from orders",
    "shown_by_its_select": "select d, v from orders",
    "through_a_view": "select d, v from v_orders",
    "above": "select d, sum(v) as v from {{ ref('shown_by_its_select') }} group by d",
}


@pytest.fixture
def elsewhere(lake: LakeProject) -> Iterator[str]:
    """Give a namespace in which the session may stay for the time of a test."""
    found = lake.sql("SELECT current_catalog(), current_schema()")[0]
    name = f"{lake.schema}_elsewhere"
    lake.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.{name}")
    yield name
    lake.sql(f"USE {found[0]}.{found[1]}" if found[1] else f"USE {found[0]}")


def test_names_without_a_schema(lake: LakeProject, elsewhere: str) -> None:
    for schema, value in ((lake.schema, 1), (elsewhere, 1000)):
        lake.sql(f"CREATE TABLE lake.{schema}.orders USING iceberg PARTITIONED BY (d) AS SELECT 1 AS d, {value} AS v")
        lake.sql(f"CREATE VIEW lake.{schema}.v_orders AS SELECT d, v FROM lake.{schema}.orders")
    live = {"stale_read_behavior": "use_stitching"}
    for name, sql in VIEWS.items():
        config = live if name == "shown_by_its_select" else {}
        lake.model(name, sql, pre_hook=f"use lake.{elsewhere}", **config)
    lake.run("--select", *VIEWS)
    assert {name: [tuple(row) for row in lake.rows(name)] for name in VIEWS} == {name: [(1, 1)] for name in VIEWS}
    lake.sql(f"INSERT INTO lake.{lake.schema}.orders VALUES (2, 2)")
    lake.sql(f"INSERT INTO lake.{elsewhere}.orders VALUES (2, 2000)")
    lake.run("--select", *VIEWS)
    rows = {name: sorted(tuple(row) for row in lake.rows(name)) for name in VIEWS}
    assert rows == {name: [(1, 1), (2, 2)] for name in VIEWS}
