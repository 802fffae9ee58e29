"""Questions about several tables that changed are asked at the same time, on one connection of dbt."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv.maintenance.errors import QueryStopped
from dbt.adapters.icebergmv.maintenance.lake import Limit
from dbt.adapters.icebergmv.maintenance.planning.cost import cost
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import Asker
from dbt.adapters.icebergmv.spark.cursor import TAGS_IN_THIS_PROCESS, SessionHandle
from integration.support.lake import LakeProject
from integration.support.said import recorded

ENDLESS = "SELECT count(*) FROM range(0, 1000000000000, 1, 1) WHERE id % 7 = 3"
"""On one core: the other questions need one, too."""


def test_what_is_asked_of_several_tables(lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question of another thread is one of its model: by the connection, and by the comment in its text."""
    name = "of_three"
    tables = [f"lake.{lake.schema}.part_{n}_of_three" for n in range(3)]
    for table in tables:
        lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT id, id % 40 AS k, id % 7 AS v FROM range(2000)")
    # Windows are not merged, and their keys have to be asked of each table.
    each = (f"select k, v, row_number() over (partition by k order by id) as n from {table}" for table in tables)
    lake.model(name, " union all ".join(each), refresh_policy="incremental")
    lake.run("--select", name)
    for n, table in enumerate(tables):
        lake.sql(f"UPDATE {table} SET v = -1 WHERE k = {n}")
    said = recorded(monkeypatch)
    response = lake.run("--select", name)[name]
    assert (response["refresh_kind"], response["rows_affected"]) == ("overwrite", 3 * 3 * 50)
    lake.assert_equals_definition(name)
    of_model = [(thread, sql) for thread, connection, sql in said if connection == f"model.p.{name}"]
    assert len({thread for thread, _ in of_model}) > 1
    assert all(f'"node_id": "model.p.{name}"' in sql.partition("*/")[0] for _, sql in of_model)


def test_no_table_is_asked_where_the_change_of_another_one_is_a_full_refresh(
    lake: LakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "FEW_ROWS", 1000)
    name, facts, dims = "of_kinds", f"lake.{lake.schema}.facts_of_kinds", f"lake.{lake.schema}.kinds"
    lake.sql(f"CREATE TABLE {facts} USING iceberg AS SELECT id, id % 500 AS k, id % 3000 AS kind FROM range(20000)")
    lake.sql(f"CREATE TABLE {dims} USING iceberg AS SELECT id, id % 2 AS open FROM range(3000)")
    lake.model(
        name, f"select k, median(f.id) as m from {facts} f join {dims} d on f.kind = d.id where open = 1 group by k"
    )
    lake.run("--select", name)
    said = recorded(monkeypatch)
    one_kind, all_facts = f"UPDATE {dims} SET open = 1 - open WHERE id = {{}}", f"UPDATE {facts} SET id = id + 1"
    for changes, kind, reason in (
        ([one_kind.format(7)], "overwrite", "kinds: all rows written again"),
        ([one_kind.format(8), all_facts], "full", "cheaper than an overwrite of nearly everything (facts_of_kinds: "),
    ):
        for change in changes:
            lake.sql(change)
        said.clear()
        response = lake.run("--select", name)[name]
        assert (response["refresh_kind"], response["refresh_reason"].startswith(reason)) == (kind, True), response
        assert any("icebergmv_sign" in sql and "INSERT" not in sql for _, _, sql in said) == (kind == "overwrite")
        lake.assert_equals_definition(name)


def test_a_question_that_is_in_vain_is_stopped(lake: LakeProject) -> None:
    """One answer ends it while the other question runs, on the same connection."""
    lake.sql("SELECT 1")
    handle = SessionHandle(SparkSession.active, (), TAGS_IN_THIS_PROCESS)
    stopped: list[str] = []

    def ask(sql: str, limit: Limit) -> list[Any]:
        try:
            with handle.stopped_at(limit):
                cursor = handle.cursor()
                cursor.execute(sql)
                return list(cursor.fetchall())
        except DbtRuntimeError as error:
            stopped.append(str(error))
            raise QueryStopped from error

    started = time.monotonic()
    with ThreadPoolExecutor(1) as beside:
        asker = Asker(ask, beside.submit, Limit())
        texts = ["SELECT count(*) FROM range(0, 1000000, 1, 1) WHERE id % 7 < 0", ENDLESS, ENDLESS]
        found = asker.each(lambda sql, run: run(sql)[0][0], texts, bool)
    assert found == [0] and len(stopped) == 1 and "cancelled" in stopped[0]
    assert time.monotonic() - started < 20
