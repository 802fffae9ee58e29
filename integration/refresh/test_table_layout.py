"""The layout `table`: every kind of refresh, configuration that changes, kills, and writes of others."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import TableView, found_view
from integration.support.dying import dies_before
from integration.support.lake import LakeProject
from tests.support.shares import one_of

TABLE = {"layout": "table", "refresh_policy": "incremental"}


def _base(lake: LakeProject, name: str) -> str:
    table = f"lake.{lake.schema}.{name}_base"
    rows = "(date'2024-01-01', 1), (date'2024-01-02', 2), (NULL, 3)"
    lake.sql(f"CREATE TABLE {table} USING iceberg PARTITIONED BY (d) AS SELECT * FROM VALUES {rows} AS v(d, v)")
    return table


def _entries(lake: LakeProject, name: str) -> dict[str, str]:
    """Return what the catalog has for a model, with its kind."""
    entries = lake.reader().entries(lake.schema)
    return {e.name.replace(name, "*"): e.kind for e in entries if name in e.name and not e.name.endswith("_base")}


def _state(lake: LakeProject, name: str) -> TableView:
    found = found_view(lake.reader(), ("lake", lake.schema, name))
    assert isinstance(found, TableView)
    assert found.foreign is None
    assert found.properties
    return found


def _rows(lake: LakeProject, name: str) -> list[str] | None:
    if found_view(lake.reader(), ("lake", lake.schema, name)) is None:
        return None
    return sorted(str(r) for r in lake.sql(f"SELECT * FROM {lake.view(name)}"))


def _kind(lake: LakeProject, name: str, *arguments: str) -> str:
    """Run one model, compare its rows with its definition, and return how it was refreshed."""
    response = lake.run("--select", name, *arguments)[name]
    lake.assert_equals_definition(name)
    assert _entries(lake, name) == {"*": "table"}
    assert _state(lake, name).properties["icebergmv.storage-snapshot-id"] == str(response["storage_snapshot_id"])
    return str(response["refresh_kind"])


def test_every_kind_of_refresh(lake: LakeProject) -> None:
    table = _base(lake, "kinds")
    by_day = f"select d, sum(v) as v from {table} group by d"
    lake.model("kinds", by_day, **TABLE)
    assert _kind(lake, "kinds") == "full"
    assert _kind(lake, "kinds") == "none"
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10), (NULL, 10)")
    assert _kind(lake, "kinds") == "overwrite"
    lake.sql(f"DELETE FROM {table} WHERE d IS NULL")
    assert _kind(lake, "kinds") == "overwrite"
    lake.sql(f"CALL lake.system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))")
    moved = _state(lake, "kinds").properties["icebergmv.base-tables"]
    assert lake.run("--select", "kinds")["kinds"]["refresh_kind"] == "none"
    assert _state(lake, "kinds").properties["icebergmv.base-tables"] != moved
    assert _kind(lake, "kinds", "--full-refresh") == "full"
    lake.model("kinds", f"{by_day} -- {'x' * 9}".replace("sum(v) as v", "sum(v) as w, 'it''s \\\\' as t"), **TABLE)
    assert _kind(lake, "kinds") == "full"
    lake.model("kinds", f"select d, v from {table} where v > 0", partition_by="months(d)", **TABLE)
    assert _kind(lake, "kinds") == "full"
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10), (NULL, 10), (NULL, -1)")
    assert _kind(lake, "kinds") == "append"
    lake.sql(f"DELETE FROM {table} WHERE d = date'2024-01-02'")
    assert _kind(lake, "kinds") == "overwrite"
    # Groups that follow no partition: keys are asked for, as there is no place for hidden columns.
    lake.model("kinds", f"select v % 2 as odd, count(*) as n, avg(v) as mean from {table} group by v % 2", **TABLE)
    assert _kind(lake, "kinds") == "full"
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-05', 7)")
    assert _kind(lake, "kinds") == "overwrite"
    assert {r[0] for r in lake.sql(f"DESCRIBE {lake.view('kinds')}") if r[0]} >= {"odd", "n", "mean"}
    assert [f.name for f in _table(lake, "kinds").schema().fields] == ["odd", "n", "mean"]


@pytest.mark.long
def test_a_partition_column_of_another_type(lake: LakeProject) -> None:
    """Iceberg cannot replace such a table. The rows stay where the new ones cannot be computed."""
    table = _base(lake, "retyped")
    lake.model("retyped", f"select d as k, sum(v) as n from {table} group by d", partition_by="days(k)", **TABLE)
    assert _kind(lake, "retyped") == "full"
    before = _rows(lake, "retyped")
    failing = f"select v as k, cast(raise_error('out of luck') as bigint) as n from {table}"
    lake.model("retyped", failing, partition_by="k", layout="table")
    lake.dbt("run", "--select", "retyped")
    assert "out of luck" in lake.failures()["retyped"]
    assert _rows(lake, "retyped") == (before if lake.reader().has_views else None)
    lake.model("retyped", f"select v as k, count(*) as n from {table} group by v", partition_by="k", **TABLE)
    assert _kind(lake, "retyped") == "full"
    assert _kind(lake, "retyped") == "none"
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-03', 7)")
    assert _kind(lake, "retyped") != "full"


def _table(lake: LakeProject, name: str) -> Any:
    table = lake.reader().table(lake.schema, name)
    assert table is not None
    return table


@pytest.mark.long
def test_groups_are_merged_where_that_needs_no_hidden_columns(lake: LakeProject) -> None:
    table = _base(lake, "merged")
    lake.model("merged", f"select v % 2 as odd, count(*) as n from {table} group by v % 2", **TABLE)
    assert _kind(lake, "merged") == "full"
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-05', 7)")
    assert _kind(lake, "merged") == "merge"


FOREIGN: dict[str, tuple[str, str]] = {
    "append": ("INSERT INTO {t} VALUES (date'2024-01-01', 100)", "full"),
    "delete": ("DELETE FROM {t} WHERE d IS NULL", "full"),
    "overwrite": ("UPDATE {t} SET v = 0", "full"),
    "replaced": ("CREATE OR REPLACE TABLE {t} USING iceberg AS SELECT date'2024-01-01' AS d, 7L AS v", "full"),
    "compacted": (
        "CALL lake.system.rewrite_data_files(table => '{n}', options => map('rewrite-all', 'true'))",
        "overwrite",
    ),
}


@pytest.mark.parametrize("write", one_of(4, FOREIGN))
def test_writes_of_others(lake: LakeProject, write: str) -> None:
    name = f"foreign_{write}"
    table, (statement, kind) = _base(lake, name), FOREIGN[write]
    lake.model(name, f"select d, sum(v) as v from {table} group by d", **TABLE)
    assert _kind(lake, name) == "full"
    lake.sql(statement.format(t=lake.view(name), n=f"{lake.schema}.{name}"))
    if kind == "full":
        assert _kind(lake, name) == kind
    else:
        lake.sql(
            f"CALL lake.system.expire_snapshots(table => '{lake.schema}.{name}', "
            "older_than => timestamp'2100-01-01 00:00:00', retain_last => 1)"
        )
    assert _kind(lake, name) == "none"
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10)")
    assert _kind(lake, name) == "overwrite"


def test_rolled_back_by_hand(lake: LakeProject) -> None:
    """Main is at an earlier refresh: rows and state are those of that refresh."""
    table = _base(lake, "rolled")
    lake.model("rolled", f"select d, sum(v) as v from {table} group by d", **TABLE)
    assert _kind(lake, "rolled") == "full"
    head = _table(lake, "rolled").metadata.current_snapshot_id
    for value in (10, 20):
        lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', {value})")
        assert _kind(lake, "rolled") == "overwrite"
    lake.sql(f"CALL lake.system.set_current_snapshot(table => '{lake.schema}.rolled', snapshot_id => {head})")
    assert _kind(lake, "rolled") == "overwrite"


NEW, CHANGED, MOVED, REPLACED = "dead_new", ("dead_overwrite", "dead_delete_insert"), "dead_moved", "dead_replaced"


@pytest.mark.long
def test_killed_before_any_statement(lake: LakeProject) -> None:
    """Every model dies before its n-th statement, for every n: readers see one cut, and the next run mends the rest."""
    playing = [NEW, *CHANGED, MOVED, REPLACED]
    tables = {name: _base(lake, name) for name in playing}
    for name in playing:
        more = {"partition_by": "months(d)"} if name == "dead_delete_insert" else {}
        lake.model(name, f"select d, sum(v) as v from {tables[name]} group by d", **TABLE, **more)
    lake.run("--select", *playing)
    for step in itertools.count(1):
        for name in playing:
            _prepare(lake, name, tables[name], step)
        before = {name: _rows(lake, name) for name in playing}
        with dies_before(step) as run:
            lake.dbt("run", "--select", *playing)
        died = [name for name in playing if name in lake.failures()]
        for name in died:
            found = found_view(lake.reader(), ("lake", lake.schema, name))
            is_published = any(s.startswith(("CALL", "CREATE OR REPLACE")) for s in run[name])
            if not is_published:
                assert _rows(lake, name) == before[name], (name, run[name])
            elif name != MOVED:
                assert _rows(lake, name) != before[name], (name, run[name])
                lake.assert_equals_definition(name)
            assert found is None or (isinstance(found, TableView) and found.foreign is None and found.properties)
            response = lake.run("--select", name)[name]
            kinds = {"full"} if name in (NEW, REPLACED) else {"overwrite"}
            assert response["refresh_kind"] in ({"none"} if is_published or name == MOVED else kinds), (name, run[name])
            lake.assert_equals_definition(name)
        for name in set(playing) - set(died):
            assert step > 2
            lake.assert_equals_definition(name)
        playing = died
        if not playing:
            return


def _prepare(lake: LakeProject, name: str, table: str, step: int) -> None:
    if name == NEW:
        lake.sql(f"DROP TABLE IF EXISTS {lake.view(name)} PURGE")
    if name in CHANGED:
        lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10), (NULL, 10)")
    if name == MOVED:
        lake.sql(f"DELETE FROM {table} WHERE v > 1000")
        lake.sql(f"INSERT INTO {table} SELECT * FROM {table} WHERE false")
    if name == REPLACED:
        lake.model(name, f"select d, cast(sum(v) as string) as v, {step} as step from {table} group by d", **TABLE)


def _before(lake: LakeProject, statement: str, do: Callable[[], object]) -> pytest.MonkeyPatch:
    """Do something once, right before the first statement of a model that begins so."""
    patch, add_query, done = pytest.MonkeyPatch(), IcebergMVConnectionManager.add_query, list[bool]()

    def watched(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        if not done and sql.rsplit("*/", maxsplit=1)[-1].strip().startswith(statement):
            done.append(True)
            do()
        return add_query(self, sql, *arguments, **named)

    patch.setattr(IcebergMVConnectionManager, "add_query", watched)
    return patch


@pytest.mark.parametrize("statement", one_of(3, ["INSERT INTO", "ALTER TABLE", "CALL `lake`.system.fast_forward"]))
def test_main_moves_during_a_refresh(lake: LakeProject, statement: str) -> None:
    """The refresh starts again from what it finds then: rows of somebody else, so every row is computed."""
    name = "raced_" + statement.split(maxsplit=1)[0].lower()
    table = _base(lake, name)
    lake.model(name, f"select d, sum(v) as v from {table} group by d", **TABLE)
    assert _kind(lake, name) == "full"
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10)")
    patch = _before(lake, statement, lambda: lake.sql(f"INSERT INTO {lake.view(name)} VALUES (date'2024-01-01', 9)"))
    try:
        assert _kind(lake, name) == "full"
    finally:
        patch.undo()
    assert _kind(lake, name) == "none"
    branches = [ref for ref in _table(lake, name).metadata.refs if ref != "main"]
    assert len(branches) <= 2


@pytest.mark.long
def test_iceberg_makes_a_dropped_branch_again_over_main(lake: LakeProject) -> None:
    """Why a refresh looks at the lineage of its branch before it publishes: a rival's rows may be below its own."""
    table = f"lake.{lake.schema}.made_again"
    lake.sql(f"CREATE TABLE {table} (id int, said string) USING iceberg")
    lake.sql(f"INSERT INTO {table} VALUES (1, 'at the start')")
    lake.sql(f"ALTER TABLE {table} CREATE BRANCH mine")
    slowly = "SELECT 3, reflect('java.lang.Thread', 'sleep', 10000L) FROM range(1)"
    jobs = SparkSession.active().sparkContext.statusTracker()
    with ThreadPoolExecutor() as pool:
        job = pool.submit(lake.session({}), f"INSERT INTO {table}.branch_mine {slowly}")
        while not jobs.getActiveStageIds():
            assert not job.done()
            time.sleep(0.1)
        lake.sql(f"INSERT INTO {table} VALUES (2, 'of a rival')")
        lake.sql(f"ALTER TABLE {table} DROP BRANCH mine")
        job.result()
    assert [r.id for r in lake.sql(f"SELECT id FROM {table}.branch_mine ORDER BY id")] == [1, 2, 3]


def test_switched_between_layouts(lake: LakeProject) -> None:
    table = _base(lake, "switched")
    sql = f"select d, sum(v) as v from {table} group by d"
    both = {"*": "view", "__mv_storage__*": "table"}
    lake.model("switched", sql)
    lake.run("--select", "switched")
    assert _entries(lake, "switched") == both
    lake.model("switched", sql, on_configuration_change="continue", **TABLE)
    lake.run("--select", "switched")
    assert "the layout is to be table" in "\n".join(lake.warnings)
    lake.model("switched", sql, on_configuration_change="fail", **TABLE)
    assert "the layout is to be table" in lake.fail("--select", "switched")
    assert _entries(lake, "switched") == both
    lake.model("switched", sql, **TABLE)
    assert _kind(lake, "switched") == "full"
    assert _kind(lake, "switched") == "none"
    lake.model("switched", sql, on_configuration_change="fail")
    assert "the layout is to be view" in lake.fail("--select", "switched")
    lake.model("switched", sql)
    assert lake.run("--select", "switched")["switched"]["refresh_kind"] == "full"
    assert _entries(lake, "switched") == both
    lake.assert_equals_definition("switched")
    assert lake.run("--select", "switched")["switched"]["refresh_kind"] == "none"


@pytest.mark.parametrize("to_table", [True, False])
@pytest.mark.long
def test_killed_while_the_layout_is_switched(lake: LakeProject, *, to_table: bool) -> None:
    name = f"dead_switch_{to_table}".lower()
    table = _base(lake, name)
    sql = f"select d, sum(v) as v from {table} group by d"
    before, after = ({}, TABLE) if to_table else (TABLE, {})
    for step in itertools.count(1):
        lake.model(name, sql, **before)
        lake.run("--select", name)
        rows = _rows(lake, name)
        lake.model(name, sql, **after)
        with dies_before(step):
            lake.dbt("run", "--select", name)
        died = name in lake.failures()
        found = _rows(lake, name)
        assert found in (rows, None)
        lake.run("--select", name)
        lake.assert_equals_definition(name)
        lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', {step})")
        lake.run("--select", name)
        left = _entries(lake, name)
        assert left == ({"*": "table"} if to_table else {"*": "view", "__mv_storage__*": "table"}), (step, left)
        if not died:
            return


@pytest.mark.long
def test_other_materializations_and_drop(lake: LakeProject) -> None:
    table = _base(lake, "other")
    sql = f"select d, v from {table}"
    lake.model("other", sql, **TABLE)
    assert _kind(lake, "other") == "full"
    for materialized in ("view", "table", "incremental"):
        lake.model("other", sql, materialized=materialized)
        lake.run("--select", "other")
        lake.assert_equals_definition("other")
        lake.model("other", sql, **TABLE)
        assert _kind(lake, "other") == "full"
    assert _kind(lake, "other") == "none"


@pytest.mark.long
def test_a_view_over_a_table(lake: LakeProject) -> None:
    """It reads the table as any other table; a refresh that only recorded ids makes no rows of it stale."""
    table = _base(lake, "lower")
    lake.model("lower", f"select d, sum(v) as v from {table} group by d", **TABLE)
    lake.model("upper", "select d, v + 1 as v from {{ ref('lower') }}", refresh_policy="incremental")
    lake.run("--select", "lower", "upper")
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10)")
    found = lake.run("--select", "lower", "upper")
    assert {name: found[name]["refresh_kind"] for name in found} == {"lower": "overwrite", "upper": "overwrite"}
    lake.sql(f"DELETE FROM {table} WHERE v > 1000")
    lake.sql(f"INSERT INTO {table} SELECT * FROM {table} WHERE false")
    found = lake.run("--select", "lower", "upper")
    assert {name: found[name]["refresh_kind"] for name in found} == {"lower": "none", "upper": "none"}
    lake.assert_equals_definition("upper")


def test_behaviours_that_need_a_view_are_refused(lake: LakeProject) -> None:
    table = _base(lake, "refused")
    for behavior in ("use_stitching", "use_view_query", "fail"):
        lake.model("refused", f"select d, v from {table}", stale_read_behavior=behavior, **TABLE)
        message = lake.fail("--select", "refused")
        assert f"stale_read_behavior {behavior} needs a view, and layout is table" in message
        assert f"lake.{lake.schema}.refused" in message
    assert _entries(lake, "refused") == {}
