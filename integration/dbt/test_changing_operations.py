"""The operations that change something, as `dbt run-operation` on a real lake."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from typing import Any

import pytest

from integration.support.lake import LakeProject

BY_DAY = "select day, count(*) as orders, sum(amount) as total from lake.{0}.orders group by day"


@pytest.fixture(scope="module")
def shop(lake: LakeProject) -> LakeProject:
    """The lake with one table of orders; each test has views of its own."""
    lake.sql(f"create table lake.{lake.schema}.orders (id int, day date, amount bigint) partitioned by (day)")
    sell(lake, 1, 2, 3)
    return lake


def sell(lake: LakeProject, *amounts: int) -> None:
    rows = ", ".join(f"({n}, date'2024-01-0{n % 3 + 1}', {n})" for n in amounts)
    lake.sql(f"insert into lake.{lake.schema}.orders values {rows}")


def operation(lake: LakeProject, name: str, **arguments: Any) -> Any:
    """Run an operation; return what it printed, as JSON says it."""
    with redirect_stdout(io.StringIO()) as printed:
        answer = lake.dbt("--quiet", "run-operation", name, "--args", json.dumps({"format": "json", **arguments}))
    assert answer.success, printed.getvalue()
    return json.loads(printed.getvalue())


def test_an_orphan_is_listed_then_dropped(shop: LakeProject) -> None:
    for name in ("gone", "stays"):
        shop.model(name, BY_DAY.format(shop.schema))
    shop.run("--select", "gone", "stays")
    shop.sql(f"drop view lake.{shop.schema}.gone")
    assert operation(shop, "drop_orphaned_storage_tables")[0]["kept"].endswith("a refresh may be building it")
    (listed,) = operation(shop, "drop_orphaned_storage_tables", older_than="0 seconds")
    assert (listed["name"], listed["kept"], listed["dropped"]) == (
        f"lake.{shop.schema}.__mv_storage__gone",
        None,
        False,
    )
    assert listed["size"] > 0
    (dropped,) = operation(shop, "drop_orphaned_storage_tables", older_than="0 seconds", dry_run=False)
    assert dropped["dropped"]
    tables = {row.tableName for row in shop.sql(f"show tables in lake.{shop.schema}")}
    assert "__mv_storage__gone" not in tables
    assert operation(shop, "drop_orphaned_storage_tables", older_than="0 seconds", dry_run=False) == []
    shop.remove_model("gone")
    shop.assert_equals_definition("stays")
