"""The SQL of views that look when they are read, over real metadata of tables."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType, TimestamptzType

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo, ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.publish import is_outdated
from dbt.adapters.icebergmv.maintenance.refresh.static_stitching import leave
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import drop_unneeded_branches, new_branch_name
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import RefreshedView, inspect
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import sql_hash, view_query
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState, ViewState
from dbt.adapters.icebergmv.maintenance.stitching import small_tables
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan, read_text
from tests.support.stub_catalog import StubCatalog

BASE = Schema(
    NestedField(1, "region", StringType(), required=False),
    NestedField(2, "n", LongType(), required=False),
    NestedField(3, "at", TimestamptzType(), required=False),
)
STORED = Schema(
    NestedField(1, "region", StringType(), required=False), NestedField(2, "total", LongType(), required=False)
)
BY_REGION = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "region"))
SUM = "SELECT region, sum(n) AS total FROM t GROUP BY region"
STORAGE = ("lake", "ns", "v__storage")
TIME = "2024-01-01T00:00:00.000+00:00"


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[dict[str, Table]]:
    made = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=tmp_path.as_uri())
    made.create_namespace("ns")
    row = {"region": ["EU"], "n": [1], "at": [dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)]}
    for name in ("t", "p"):
        made.create_table(f"ns.{name}", BASE, partition_spec=BY_REGION).append(
            pa.table(row, schema=schema_to_pyarrow(BASE))
        )
    properties = {"icebergmv.storage-of": "lake.ns.v"}
    made.create_table("ns.v__storage", STORED, properties=properties).append(
        pa.table({"region": ["EU"], "total": [1]}, schema=schema_to_pyarrow(STORED))
    )
    yield {f"ns.{n}": made.load_table(f"ns.{n}") for n in ("t", "p", "v__storage")}
    made.close()


def recorded(sql: str, tables: dict[str, Table], behavior: StaleReadBehavior, **changed: Any) -> ViewState:
    """Return the state of a refresh that saw the tables as they are."""
    config = request(sql, behavior).config
    storage = tables["ns.v__storage"].metadata
    bases = []
    for name in ("t", "p"):
        table = tables[f"ns.{name}"]
        then = TableVersion(str(table.metadata.table_uuid), table.metadata.current_snapshot_id, 0)
        bases.append(BaseTableState(("lake", "ns", name), ("lake", "ns", name), then, table.metadata_location))
    made = ViewState(
        definition=sql,
        definition_hash=config.definition_hash,
        storage_table=STORAGE,
        storage_uuid=str(storage.table_uuid),
        storage_snapshot_id=storage.current_snapshot_id or 0,
        base_tables=tuple(b for b in bases if b.name[2] in sql.split() or b.name[2] == "t"),
        refresh_kind="full",
        refresh_reason="first build",
        started_at=TIME,
        refreshed_at=TIME,
        owner="me",
        settings=config.settings,
        config=config.recorded(),
        stale_read_behavior=behavior,
    )
    return replace(made, **changed)


def request(sql: str, behavior: StaleReadBehavior, **config: Any) -> RefreshRequest:
    settings = {"spark.sql.session.timeZone": "UTC"}
    made = ViewConfig(
        definition_hash(sql),
        STORAGE,
        settings=settings,
        stale_read_behavior=behavior,
        definition_below_rows=0,
        **config,
    )
    return RefreshRequest(("lake", "ns", "v"), sql, "ns", made, "me")


def inspected(
    sql: str, tables: dict[str, Table], state: ViewState, behavior: StaleReadBehavior, view_sql: str, **config: Any
) -> RefreshedView:
    columns = tuple(ColumnInfo(f.name, "", None) for f in STORED.fields)
    view = ViewInfo("ns", "v", "u", view_sql, columns, state.to_properties(), None)
    found = inspect(StubCatalog({"ns.v": view}, tables), request(sql, behavior, **config))
    assert isinstance(found, RefreshedView)
    return found


def text(sql: str, tables: dict[str, Table], behavior: StaleReadBehavior = "use_stitching") -> str:
    """Return the SQL of a view that was refreshed just now."""
    state = recorded(sql, tables, behavior)
    inspection = inspected(sql, tables, state, behavior, stored_query(state))
    return read_text(inspection, read_plan(inspection), state, inspection.stored)


def outdated(view: RefreshedView) -> bool:
    return is_outdated(view, read_plan(view))


def stored_query(state: ViewState) -> str:
    return view_query(STORAGE, [f.name for f in STORED.fields], state.storage_snapshot_id)


def test_a_partition_spec_may_come_with_its_first_files(tables: dict[str, Table]) -> None:
    """CREATE OR REPLACE TABLE ... AS SELECT shows in the log as one snapshot, as an INSERT does."""
    found = text(SUM, tables)
    assert "partition_spec_id NOT IN (0)" in found
    assert found.index("`FILES` VERSION") < found.index("`MANIFESTS`") < found.index("`REFS`")


def test_all_views_of_a_table_name_what_they_look_at_in_one_order(tables: dict[str, Table]) -> None:
    """A query loads each of these once: where its first view names it, however many views follow."""
    looked_at = ("METADATA_LOG_ENTRIES", "FILES", "MANIFESTS", "REFS", "mETADATA_LOG_ENTRIES")
    for behavior in ("use_stitching", "use_view_query"):
        names = dict.fromkeys(re.findall(r"`lake`\.`ns`\.`t`\.`(\w+)`", text(SUM, tables, behavior)))
        assert [name for name in names if name != "branch_main"] == [*looked_at], behavior


JOINED = "SELECT t.region, count(*) AS total FROM t JOIN p ON t.region = p.region GROUP BY t.region"


def test_what_looks_at_all_tables_is_named_in_few_places(tables: dict[str, Table]) -> None:
    """Spark optimises each copy: where each table's changed files named it, a read of eight tables took a minute."""
    found = text(JOINED, tables)
    relations = dict(re.findall(r"^(?:WITH )?(icebergmv_\w+) AS \((.*)\),?$", found, re.MULTILINE))

    def naming(name: str) -> list[str]:
        return [other for other, query in relations.items() if name in query]

    assert naming("icebergmv_refs_1") == ["icebergmv_gate_1"]
    assert naming("icebergmv_gate_1") == ["icebergmv_changed_1", "icebergmv_found_0", "icebergmv_whole"]


def test_one_gate_looks_at_all_where_one_table_is_followed(tables: dict[str, Table]) -> None:
    """Then it alone says that everything is computed, and the keys need not ask."""
    found = text("SELECT t.region, count(*) AS total FROM t JOIN p ON t.n = p.n GROUP BY t.region", tables)
    assert re.findall(r"^icebergmv_gate_\d+", found, re.MULTILINE) == ["icebergmv_gate_0"]
    assert "icebergmv_found_0 AS (SELECT collect_set(struct(k0)) AS found FROM" in found


def test_files_are_left_out_of_large_tables_alone(tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark looks for values to leave files out by where it sees a comparison, and plans for that."""
    small = text(JOINED, tables)
    for n in range(2):
        assert small.count(f"FROM icebergmv_base_{n} ") == 2, "for the keys, and for everything"
    assert small.count("b.`region` <=> k.k0") == 2
    assert "hash(" not in small
    monkeypatch.setattr(small_tables, "UNPRUNED_FILES", -1)
    large = text(JOINED, tables)
    assert large.count("WHERE hash(k0) <= 2147483647) AS k ON b.`region` = k.k0") == 2
    assert large.count("(SELECT * FROM icebergmv_keys_0 WHERE k0 IS NULL) AS n WHERE b.`region` IS NULL") == 2


def test_what_reads_everything_has_no_comparison(tables: dict[str, Table]) -> None:
    """Or Spark plans to leave out files of each table by the rows of those joined with it, which it plans once more."""
    gates = [f"(SELECT moved FROM icebergmv_gate_{n}) IS NULL" for n in range(2)]
    assert f"icebergmv_whole AS (SELECT 1 AS one WHERE {' OR '.join(gates)})" in text(JOINED, tables)
    assert f"icebergmv_whole AS (SELECT 1 AS one WHERE {gates[0]})" in text(JOINED, tables, "use_view_query")


def test_a_view_that_runs_stitched_is_published_anew_when_runs_refresh_it(tables: dict[str, Table]) -> None:
    state = recorded(SUM, tables, "use_stitching")
    plain = stored_query(state)
    assert outdated(inspected(SUM, tables, state, "use_stitching", plain))
    assert not outdated(inspected(SUM, tables, state, "use_stitching", plain, refresh_on_run=False))
    live = text(SUM, tables)
    published = replace(state, view_sql_hash=sql_hash(live))
    assert not outdated(inspected(SUM, tables, published, "use_stitching", live))
    stored = recorded(SUM, tables, "use_data_table")
    assert not outdated(inspected(SUM, tables, stored, "use_data_table", plain))


@pytest.mark.parametrize(
    ("sql", "reads_the_zone"),
    [
        (SUM, False),
        ("SELECT region, count(at) AS total FROM t GROUP BY region", True),
        ("SELECT t.region, CAST(p.at AS string) AS total FROM t JOIN p VERSION AS OF 1 ON p.n = t.n", True),
        ("SELECT t.region, t.n AS total FROM t NATURAL JOIN p", True),
        ("SELECT a AS region, count(cast(c AS date)) AS total FROM t AS x(a, b, c) GROUP BY a", True),
        # The three letters stand for the offset of a zone in patterns of Spark, as in the last one of this list.
        ("SELECT region, date_format(DATE '2024-01-01', 'XXX') AS total FROM t", True),
        ("SELECT region, dateadd(HOUR, n, DATE '2024-01-01') AS total FROM t", True),
        ("SELECT region, hour(region) AS total FROM t", True),
        ("SELECT region, to_date(region, 'yyyy-MM-dd HH:mm XXX') AS total FROM t", True),
    ],
)
def test_sessions_in_which_values_are_the_same(tables: dict[str, Table], sql: str, reads_the_zone: bool) -> None:
    for behavior in ("use_stitching", "use_view_query"):
        found = text(sql, tables, behavior)
        assert ("current_timezone() IN ('+00:00', " in found) == reads_the_zone
        assert ("typeof(1 + '1') = 'bigint'" in found) == ("NATURAL" in sql or "x(a" in sql)


def test_what_a_run_stitched_is_not_mixed_in_another_session(tables: dict[str, Table]) -> None:
    """The run sees an append: stored rows and appended ones, or the definition where the session is another one."""
    sql = "SELECT region, n AS total FROM t WHERE region <> 5"
    before = recorded(sql, tables, "use_stitching")
    table = tables["ns.t"]
    row = {"region": ["US"], "n": [2], "at": [dt.datetime(2024, 1, 2, tzinfo=dt.timezone.utc)]}
    table.append(pa.table(row, schema=schema_to_pyarrow(BASE)))
    view = inspected(sql, tables, before, "use_stitching", stored_query(before), refresh_on_run=False)
    said: list[str] = []

    def spark(sql: str) -> list[tuple[str, str]]:
        said.append(sql)
        if sql == "SET":
            return [("spark.sql.session.timeZone", "UTC")]
        return [("region", "string"), ("total", "bigint")] if sql.startswith("DESCRIBE QUERY") else []

    leave(Lake(StubCatalog({"ns.v": view.found}, tables), spark), view, read_plan(view))
    (published,) = (s for s in said if s.startswith("CREATE OR REPLACE VIEW"))
    now = table.metadata.current_snapshot_id
    assert ") WHERE typeof(1 + '1') = 'bigint'\nUNION ALL\nSELECT `region`, `total` FROM (\n" in published
    alone = f"FROM `lake`.`ns`.`t` VERSION AS OF {now} WHERE region <> 5"
    assert f"{alone}\n)\n) WHERE NOT (typeof(1 + '1') = 'bigint')" in published


def test_fail_has_no_stored_row_to_satisfy_a_limit_with(tables: dict[str, Table]) -> None:
    state = recorded(SUM, tables, "fail")
    stored = f"VERSION AS OF {state.storage_snapshot_id} AS v LEFT ANTI JOIN icebergmv_whole\nUNION ALL"
    assert stored in text(SUM, tables, "fail")


@pytest.mark.parametrize("behavior", ["use_data_table", "use_stitching", "use_view_query", "fail"])
def test_the_branch_that_a_view_reads_is_kept(tables: dict[str, Table], behavior: StaleReadBehavior) -> None:
    """Else the snapshot could expire while the next refresh has moved main and not yet published."""
    storage = tables["ns.v__storage"]
    storage.manage_snapshots().create_branch(storage.metadata.current_snapshot_id or 0, new_branch_name()).commit()
    live = text(SUM, tables, behavior)
    state = recorded(SUM, tables, behavior, view_sql_hash="" if behavior == "use_data_table" else sql_hash(live))
    view = inspected(SUM, tables, state, behavior, live).found

    def spark(sql: str) -> list[tuple[str, str]]:
        raise AssertionError(f"nothing is to be dropped: {sql}")

    drop_unneeded_branches(Lake(StubCatalog({}, tables), spark), STORAGE, view)
