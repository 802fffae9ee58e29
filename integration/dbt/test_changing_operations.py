"""The operations that change something, as `dbt run-operation` on a real lake."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from datetime import datetime, timezone
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.upkeep import UpkeepOptions, upkeep
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


def files(lake: LakeProject, name: str) -> int:
    """Return how many files a view reads of its storage table."""
    at = lake.state(name)["icebergmv.storage-snapshot-id"]
    return len(lake.sql(f"select distinct _file from lake.{lake.schema}.__mv_storage__{name} version as of {at}"))


def snapshots(lake: LakeProject, name: str) -> set[int]:
    rows = lake.sql(f"select snapshot_id from lake.{lake.schema}.__mv_storage__{name}.snapshots")
    return {row.snapshot_id for row in rows}


def test_upkeep_changes_no_row_and_no_next_refresh(shop: LakeProject) -> None:
    shop.model("rows", f"select id, amount from lake.{shop.schema}.orders", partition_by=[], keep_versions=2)
    shop.model("above", "select count(*) as n, sum(amount) as total from {{ ref('rows') }}")
    shop.model(
        "live",
        f"select id, amount + 1 as more from lake.{shop.schema}.orders",
        stale_read_behavior="use_stitching",
        partition_by=[],
    )
    names = ("rows", "above", "live")
    for n in range(6):
        sell(shop, 10 + n)
        shop.run("--select", *names)
    assert shop.state("rows")["version.history.num-entries"] == "2"
    before, read = files(shop, "rows"), shop.sql(shop.published("rows").sql)
    (planned,) = operation(shop, "maintain_materialized_views", select="rows", dry_run=True, older_than="0 seconds")
    assert planned["compacted_files"] == before
    assert files(shop, "rows") == before
    earlier = snapshots(shop, "rows")
    done = operation(shop, "maintain_materialized_views", select=list(names), older_than="0 seconds")
    by_name = {view["name"].rpartition(".")[2]: view for view in done}
    assert [view["error"] for view in done] == [None] * 3
    assert (files(shop, "rows"), files(shop, "live")) == (1, 1)
    assert by_name["rows"]["data_files_after"] == 1
    assert by_name["rows"]["expired_snapshots"] > 0
    assert len(snapshots(shop, "rows")) < len(earlier)
    assert sorted(shop.sql(shop.published("rows").sql)) == sorted(read)
    for version in shop.published("rows").versions:
        assert shop.sql(version.sql) is not None
    shop.assert_equals_definition(*names)
    main = shop.sql(f"select snapshot_id from lake.{shop.schema}.__mv_storage__rows.refs where name = 'main'")
    assert str(main[0].snapshot_id) == shop.state("rows")["icebergmv.storage-snapshot-id"]
    # Nothing changed for a run, also not for a view above.
    assert {r["refresh_kind"] for r in shop.run("--select", *names).values()} == {"none"}
    sell(shop, 50)
    shop.assert_equals_definition("live")
    kinds = {name: r["refresh_kind"] for name, r in shop.run("--select", *names).items()}
    assert kinds == {"rows": "append", "above": "merge", "live": "append"}
    shop.assert_equals_definition(*names)
    assert files(shop, "rows") == 2
    again = operation(shop, "maintain_materialized_views", select="rows")
    assert (again[0]["compacted_files"], again[0]["data_files_after"]) == (0, None)


@pytest.mark.long
def test_upkeep_expires_nothing_that_stitched_views_above_read(shop: LakeProject) -> None:
    shop.model("below", BY_DAY.format(shop.schema), keep_versions=1, partition_by=["day"])
    above = "select day, total from {{ ref('below') }}"
    shop.model("seen", above, stale_read_behavior="use_stitching")
    shop.model("as_of_run", above, stale_read_behavior="use_stitching", refresh_on_run=False)
    names = ("below", "seen", "as_of_run")
    for n in range(2):
        sell(shop, 90 + n)
        shop.run("--select", *names)
    shown = shop.rows("as_of_run")
    sell(shop, 92)
    shop.run("--select", "below")
    for name in ("below", "as_of_run"):
        (done,) = operation(shop, "maintain_materialized_views", select="below", older_than="0 seconds")
        assert done["error"] is None
        assert shop.rows("as_of_run") == shown
        shop.assert_equals_definition("below", "seen")
        shop.run("--select", name)
    # What the stored rows of `as_of_run` were computed from is kept until they are refreshed.
    shop.run("--select", *names)
    (done,) = operation(shop, "maintain_materialized_views", select="below", older_than="0 seconds")
    assert done["expired_snapshots"] == 0
    shop.model("as_of_run", above, stale_read_behavior="use_stitching")
    shop.run("--select", *names)
    (done,) = operation(shop, "maintain_materialized_views", select="below", older_than="0 seconds")
    assert done["expired_snapshots"] > 0
    shop.assert_equals_definition(*names)


@pytest.mark.long
def test_upkeep_of_a_view_that_is_a_table(shop: LakeProject) -> None:
    """Its state is above the compaction, so the expiry of all else does not lose it."""
    table = f"lake.{shop.schema}.heap"
    shop.model("heap", f"select id, amount from lake.{shop.schema}.orders", partition_by=[], layout="table")
    for n in range(6):
        sell(shop, 30 + n)
        shop.run("--select", "heap")
    rows = sorted(shop.sql(f"select * from {table}"))
    (done,) = operation(shop, "maintain_materialized_views", select="heap", older_than="0 seconds")
    assert (done["error"], done["note"], done["data_files_after"]) == (None, None, 1)
    assert len(shop.sql(f"select distinct _file from {table}")) == 1
    assert sorted(shop.sql(f"select * from {table}")) == rows
    (again,) = operation(shop, "maintain_materialized_views", select="heap", older_than="0 seconds")
    assert (again["error"], again["compacted_files"]) == (None, 0)
    (head,) = shop.sql(f"select summary from {table}.snapshots order by committed_at desc limit 1")
    assert "icebergmv.state" in head.summary
    assert shop.run("--select", "heap")["heap"]["refresh_kind"] == "none"
    sell(shop, 40)
    assert shop.run("--select", "heap")["heap"]["refresh_kind"] == "append"
    shop.assert_equals_definition("heap")


@pytest.mark.long
def test_a_text_that_spark_cannot_read_any_more(shop: LakeProject) -> None:
    table = f"lake.{shop.schema}.remade"
    made = "CREATE TABLE {} USING iceberg PARTITIONED BY ({}) AS SELECT id, id % 5 AS k FROM range({})"
    shop.sql(made.format(table, "k", 20))
    shop.model("over_remade", f"select id, k from {table}", stale_read_behavior="use_stitching")
    for n in range(6):
        shop.run("--select", "over_remade")
        shop.sql(f"INSERT INTO {table} VALUES ({n}, 1)")
    shop.run("--select", "over_remade")
    before, main = files(shop, "over_remade"), snapshots(shop, "over_remade")
    shop.sql(f"DROP TABLE {table}")
    shop.sql(made.format(table, "bucket(4, id)", 30))
    (done,) = operation(shop, "maintain_materialized_views", select="over_remade")
    assert done["error"] is None
    assert done["note"].startswith("not compacted: its SQL cannot be read any more; a refresh mends that. Spark: [")
    assert (files(shop, "over_remade"), snapshots(shop, "over_remade")) == (before, main)
    shop.run("--select", "over_remade")
    shop.assert_equals_definition("over_remade")


@pytest.mark.long
def test_a_refresh_that_comes_first_wins(shop: LakeProject) -> None:
    shop.model("raced", f"select id, amount from lake.{shop.schema}.orders", partition_by=[])
    for n in range(6):
        sell(shop, 60 + n)
        shop.run("--select", "raced")
    sell(shop, 70)
    reader, view = shop.reader(), ("lake", shop.schema, "raced")

    def spark(sql: str) -> Any:
        if "rewrite_data_files" in sql:
            rows = shop.sql(sql)
            shop.run("--select", "raced")
            return rows
        return shop.sql(sql)

    done = upkeep(Lake(reader, spark), view, UpkeepOptions(), datetime.now(timezone.utc))
    assert (done.error, done.note) == (None, "not compacted: the view or its table was changed meanwhile")
    shop.assert_equals_definition("raced")
    assert shop.run("--select", "raced")["raced"]["refresh_kind"] == "none"


def test_back_and_forward(shop: LakeProject) -> None:
    shop.model("daily", BY_DAY.format(shop.schema))
    shop.model("high", "select day, total from {{ ref('daily') }} where total > 0")
    shown = []
    for n in range(3):
        sell(shop, 80 + n)
        shop.run("--select", "daily", "high")
        shown.append(shop.rows("daily"))
    listed = operation(shop, "rollback_materialized_view", model="daily")
    assert [version["refresh_kind"] for version in listed] == ["overwrite", "overwrite", "full"]
    assert [version["obstacle"] for version in listed] == ["the view has its rows now", None, None]
    for version, rows in zip(listed[::-1], shown[:-1], strict=False):
        (done,) = operation(shop, "rollback_materialized_view", model="daily", to=version["version_id"])
        assert done["next_refresh"] == "from there"
        assert shop.rows("daily") == rows
    assert operation(shop, "materialized_view_status", select="daily")[0]["state"] == "stale"
    kinds = {name: r["refresh_kind"] for name, r in shop.run("--select", "daily", "high").items()}
    assert kinds["daily"] == "overwrite"
    assert kinds["high"] != "full"
    assert shop.rows("daily") == shown[-1]
    shop.assert_equals_definition("daily", "high")


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
