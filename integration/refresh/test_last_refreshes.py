"""What did not pay at the last refreshes is left out for a while, unless much less changed."""

from __future__ import annotations

import time
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv.maintenance.lake import Limit
from dbt.adapters.icebergmv.spark.cursor import TAGS_IN_THIS_PROCESS, SessionHandle
from integration.support.lake import LakeProject

IN_VAIN = "cheaper than an overwrite of 67% of the rows by their keys"
LEFT_OUT = "are not asked, because about as many were asked in vain at the last refreshes"


def test_questions_in_vain_are_left_out_for_a_while(lake: LakeProject) -> None:
    name, base, names = "asked_in_vain", f"lake.{lake.schema}.of_many", f"lake.{lake.schema}.names_of_many"
    lake.sql(f"CREATE TABLE {base} USING iceberg AS SELECT id % 3000 AS k, id AS v FROM range(6000)")
    lake.sql(f"CREATE TABLE {names} USING iceberg AS SELECT id, concat('n', id) AS name FROM range(3000)")
    lake.model(name, f"select n.name, median(b.v) as m from {base} b join {names} n on b.k = n.id group by n.name")
    many, few = f"UPDATE {base} SET v = v + 1 WHERE k < 2000", f"INSERT INTO {base} VALUES (7, 7)"
    lake.run("--select", name)
    # Far fewer rows are asked, which pays; so what was in vain before is forgotten.
    steps = [
        (many, IN_VAIN),
        (many, IN_VAIN),
        (few, "of_many: 1 row appended"),
        (many, IN_VAIN),
        (many, IN_VAIN),
        (many, LEFT_OUT),
    ]
    for number, (change, reason) in enumerate(steps):
        lake.sql(change)
        response = lake.run("--select", name)[name]
        assert reason in response["refresh_reason"], number
        assert response["refresh_kind"] == ("overwrite" if change == few else "full"), number
        lake.assert_equals_definition(name)


@pytest.mark.long
def test_groups_that_are_always_reached_are_merged_without_a_question(lake: LakeProject) -> None:
    """Where the next change reaches none, the rows that are there are written again; after that it is asked again."""
    name, base = "always_reached", f"lake.{lake.schema}.of_days"
    days = "date_add(date'2024-01-01', cast(id % 20 as int))"
    lake.sql(
        f"CREATE TABLE {base} USING iceberg PARTITIONED BY (d)"
        f" AS SELECT id % 1500 AS k, id AS v, {days} AS d FROM range(120000)"
    )
    lake.model(name, f"select k, sum(v) as s, count(*) as n from {base} where v > 5 group by k")
    lake.run("--select", name)
    reached = f"UPDATE {base} SET v = v + 1 WHERE d = date'2024-01-07'"
    missed = f"UPDATE {base} SET v = v - 1 WHERE d = date'2024-01-01' AND v < 1"
    steps = [(reached, "merge"), (reached, "merge"), (missed, "merge"), (missed, "none"), (reached, "merge")]
    for number, (change, kind) in enumerate(steps):
        lake.sql(change)
        assert lake.run("--select", name)[name]["refresh_kind"] == kind, number
        lake.assert_equals_definition(name)


def test_a_question_is_stopped_while_it_runs(lake: LakeProject) -> None:
    """The connection goes on with the next statement."""
    lake.sql("SELECT 1")
    handle = SessionHandle(SparkSession.active, (), TAGS_IN_THIS_PROCESS)
    started = time.monotonic()
    with handle.stopped_at(Limit(started + 1)), pytest.raises(DbtRuntimeError, match="cancelled"):
        rows(handle, "SELECT count(*) FROM range(1000000000000) WHERE id % 7 = 3")
    assert 1 <= time.monotonic() - started < 20
    with handle.stopped_at(Limit(time.monotonic() + 60)):
        assert rows(handle, "SELECT 1")[0][0] == 1
    assert rows(handle, "SELECT count(*) FROM range(10)")[0][0] == 10


def rows(handle: SessionHandle, sql: str) -> list[Any]:
    cursor = handle.cursor()
    cursor.execute(sql)
    return cursor.fetchall()
