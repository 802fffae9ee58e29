"""A SELECT that changes what it was: columns of other types, policies that forbid the rebuild, readers of the old rows."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject
from tests.support.shares import one_of


@pytest.fixture(scope="module")
def events(lake: LakeProject) -> str:
    name = f"lake.{lake.schema}.events"
    lake.sql(
        f"CREATE TABLE {name} (at timestamp, day date, qty bigint, name string) USING iceberg PARTITIONED BY (day)"
    )
    rows = "timestamp'2024-01-01 10:00:00' + make_dt_interval(cast(id as int)), date_add(date'2024-01-01', cast(id as int))"
    lake.sql(f"INSERT INTO {name} SELECT {rows}, id, string(id) FROM range(4)")
    return name


@pytest.mark.parametrize(
    ("name", "before", "transform", "after"),
    one_of(
        2,
        [
            ("day_of_bigint", "at as k", "days(k)", "qty as k"),
            ("month_of_text", "day as k", "months(k)", "name as k"),
            ("width_of_time", "name as k", "truncate(2, k)", "at as k"),
            ("case_differs", "at as K", "days(K)", "qty as k"),
        ],
    ),
)
@pytest.mark.parametrize(
    "how", [(), pytest.param(("--full-refresh",), marks=pytest.mark.long)], ids=["run", "full_refresh"]
)
def test_a_column_that_keeps_its_name_and_loses_its_transform(
    lake: LakeProject, events: str, name: str, before: str, transform: str, after: str, how: tuple[str, ...]
) -> None:
    """The new type cannot take the transform that partitioned the stored rows by the old one."""
    name = f"{name}_{'full' if how else 'run'}"
    lake.model(name, f"select {before}, count(*) as n from {events} group by 1", partition_by=transform)
    lake.run("--select", name)
    read_before = sorted(map(repr, lake.sql(f"SELECT * FROM {lake.view(name)}")))
    pinned = lake.state(name)["icebergmv.storage-snapshot-id"]
    lake.model(name, f"select {after}, count(*) as n from {events} group by 1")
    assert lake.run("--select", name, *how)[name]["refresh_kind"] == "full"
    lake.assert_equals_definition(name)
    storage = f"lake.{lake.schema}.__mv_storage__{name}"
    old = lake.sql(f"SELECT * FROM {storage} VERSION AS OF {pinned}")
    assert sorted(map(repr, old)) == read_before, "a reader of the former version sees other rows"
    lake.sql(f"INSERT INTO {events} VALUES (timestamp'2024-02-01 00:00:00', date'2024-02-01', 7, 'x')")
    lake.run("--select", name)
    lake.assert_equals_definition(name)
    lake.model(name, f"select {before}, count(*) as n from {events} group by 1", partition_by=transform)
    lake.run("--select", name)
    lake.assert_equals_definition(name)


def test_a_rebuild_that_fails_leaves_the_old_rows_readable(lake: LakeProject, events: str) -> None:
    """The storage table has other columns by then; filters of readers still meet the columns of the old rows."""
    name = "fails_after_the_replace"
    before = "date'2024-01-02'"
    lake.model(name, f"select day as k, count(*) as n from {events} where qty < 4 group by 1", partition_by="days(k)")
    lake.run("--select", name)
    lake.model(name, f"select if(qty >= 0, raise_error('no'), qty) as k, count(*) as n from {events} group by 1")
    assert "no" in lake.fail("--select", name)
    storage = lake.reader().table(lake.schema, f"__mv_storage__{name}")
    assert storage is not None
    assert str(storage.schema().find_field("k").field_type) != "date", "the storage table was not replaced"
    assert len(lake.rows(name)) == 4
    for filter_, rows in (
        (f"k = {before}", 1),
        (f"k >= {before}", 3),
        (f"k = {before} AND n = 1", 1),
        ("k IS NULL", 0),
    ):
        assert len(lake.sql(f"SELECT * FROM {lake.view(name)} WHERE {filter_}")) == rows, filter_
    assert lake.sql(f"SELECT sum(n) AS n FROM {lake.view(name)} WHERE k > {before}")[0]["n"] == 2
    lake.model(name, f"select qty as k, count(*) as n from {events} group by 1")
    assert lake.run("--select", name)[name]["refresh_kind"] == "full"
    lake.assert_equals_definition(name)


@pytest.mark.long
def test_strict_and_never_incremental(lake: LakeProject, events: str) -> None:
    """The error comes with the first build, and what it advises works."""
    lake.model("total", f"select percentile(qty, 0.5) as n from {events}", refresh_policy="incremental_strict")
    error = lake.fail("--select", "total")
    assert "only a full refresh is right: no output column follows a column of any base table" in error
    assert error.count("Cannot refresh") == 1
    assert lake.run("--select", "total", "--full-refresh")["total"]["refresh_kind"] == "full"
    lake.assert_equals_definition("total")
    lake.sql(f"DELETE FROM {events} WHERE qty = 3")
    assert "incremental_strict" in lake.fail("--select", "total")
    assert lake.run("--select", "total", "--full-refresh")["total"]["refresh_kind"] == "full"
    lake.assert_equals_definition("total")


def test_what_is_recorded_is_what_readers_get(lake: LakeProject, events: str) -> None:
    """USING takes its column from one side, in the other's case: the analysis and Spark may name it differently."""
    sql = f"select a.day, a.qty from {events} a where a.qty > 0"
    lake.model("reads", sql, stale_read_behavior="use_stitching")
    response = lake.run("--select", "reads")["reads"]
    assert response["stale_read_behavior"] == lake.state("reads")["icebergmv.stale-read-behavior"] == "use_stitching"
    assert lake.run("--select", "reads")["reads"]["stale_read_behavior"] == "use_stitching"
    lake.model(
        "reads",
        sql.replace("qty > 0", "qty > (select min(qty) from " + events + ")"),
        stale_read_behavior="use_stitching",
    )
    response = lake.run("--select", "reads")["reads"]
    assert response["stale_read_behavior"] == lake.state("reads")["icebergmv.stale-read-behavior"] == "use_view_query"
    lake.assert_equals_definition("reads")


def test_an_error_names_the_view_once(lake: LakeProject, events: str) -> None:
    lake.model("wrong", f"select day, qty from {events}", partition_by="region")
    error = lake.fail("--select", "wrong")
    assert "partition_by is 'region' and the view has no column region" in error
    assert error.count("Cannot refresh lake.") == 1
    lake.remove_model("wrong")
