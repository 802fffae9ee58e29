"""Every kind of base change, one after the other on the most usual view of all: days(ts) seen by date(ts)."""

from __future__ import annotations

from typing import Any

import pytest

from integration.support.lake import LakeProject
from integration.support.requests import names_of_tests
from tests.support.shares import one_of


class Events:
    """A base table of events by day and region, with two views on it."""

    def __init__(self, lake: LakeProject, name: str) -> None:
        self.lake, self.name = lake, name
        self.table = f"lake.{lake.schema}.{name}"
        self.views = [f"{name}_daily", f"{name}_rows"]
        lake.model(
            f"{name}_daily",
            f"select date(ts) as d, r, count(*) as n, sum(v) as v from {self.table} group by date(ts), r",
        )
        lake.model(f"{name}_rows", f"select id, ts, r as region, v from {self.table} where v >= 0")

    def creation(self) -> str:
        return (
            f"CREATE TABLE {self.table} USING iceberg PARTITIONED BY (days(ts), r) AS "
            "SELECT id, cast(date'2024-01-01' + cast(id % 10 as int) as timestamp) AS ts, "
            "if(id % 2 = 0, 'EU', 'US') AS r, cast(id as int) AS v FROM range(40)"
        )

    def insert(self, day: str, region: str, rows: int) -> None:
        self.lake.sql(
            f"INSERT INTO {self.table} SELECT id, cast({day} as timestamp), {region}, cast(id as int) FROM range({rows})"
        )

    def do(self, statement: str) -> None:
        self.lake.sql(statement.format(t=self.table, name=f"{self.lake.schema}.{self.name}"))

    def added(self, stale: int | None = None) -> dict[str, dict[str, Any]]:
        """Refresh after nothing but appends: the groups are recomputed, and the new rows are added to the others."""
        return self.refreshed("overwrite", stale, rows="append")

    def refreshed(
        self, kind: str, stale: int | None = None, reason: str = "", rows: str | None = None
    ) -> dict[str, dict[str, Any]]:
        responses = self.lake.run("--select", *self.views)
        self.lake.assert_equals_definition(*self.views)
        for view in self.views:
            response = responses[view]
            assert response["refresh_kind"] == (rows or kind if view == self.views[1] else kind), response
            assert reason in response["refresh_reason"], response
            if stale is not None:
                assert response["stale_partitions"] == stale, response
        return responses

    def head(self) -> int:
        return int(self.lake.sql(f"SELECT snapshot_id FROM {self.table}.refs WHERE name = 'main'")[0][0])


@pytest.fixture(scope="module")
def built(lake: LakeProject, request: pytest.FixtureRequest) -> dict[str, Events]:
    """The tables and views of all tests that ask for `events`, built by one run."""
    made = {name: Events(lake, f"of_{number}") for number, name in enumerate(names_of_tests(request, "events"))}
    lake.at_once(events.creation() for events in made.values())
    views = [view for events in made.values() for view in events.views]
    responses = lake.run("--select", *views)
    assert {responses[view]["refresh_kind"] for view in views} == {"full"}
    lake.assert_equals_definition(*views)
    return made


@pytest.fixture
def events(built: dict[str, Events], request: pytest.FixtureRequest) -> Events:
    return built[request.node.name]


def test_append(events: Events) -> None:
    events.insert("date'2024-01-01'", "'EU'", 2)
    events.insert("date'2023-06-01'", "'LATE'", 2)
    responses = events.added(stale=2)
    response = responses[events.views[0]]
    (base,) = response["base_tables"]
    assert (response["total_partitions"], response["rows_affected"]) == (11, 2)
    assert response["refresh_reason"] == f"{events.name}: 2 partitions changed"
    size = events.lake.sql(f"SELECT sum(file_size_in_bytes) AS size FROM {events.table}.files")[0]["size"]
    assert 0 < response["estimated_bytes"] < size
    assert base["name"] == events.table
    assert base["status"] == "stale"
    assert base["changed_partitions"] == 2
    assert base["to_snapshot_id"] == events.head() != base["from_snapshot_id"]
    events.refreshed("none")


@pytest.mark.parametrize("mode", one_of(2, ["merge-on-read", "copy-on-write"]))
def test_row_level(events: Events, mode: str) -> None:
    events.do(
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ('write.delete.mode'='{mode}', 'write.update.mode'='{mode}', 'write.merge.mode'='{mode}')"
    )
    events.do("UPDATE {t} SET v = v + 1000 WHERE id = 0")
    events.refreshed("overwrite", stale=1)
    events.do("DELETE FROM {t} WHERE id IN (10, 21)")
    events.refreshed("overwrite", stale=2)
    events.do("UPDATE {t} SET ts = ts + interval 100 days, r = NULL WHERE id = 13")
    events.refreshed("overwrite", stale=2)
    events.do(
        "MERGE INTO {t} t USING (SELECT 0 AS id UNION ALL SELECT 1 UNION ALL SELECT 999) s ON t.id = s.id "
        "WHEN MATCHED AND s.id = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = -1 "
        "WHEN NOT MATCHED THEN INSERT (id, ts, r, v) VALUES (s.id, timestamp'2030-01-01 00:00:00Z', 'EU', 1)"
    )
    events.refreshed("overwrite", stale=3)


def test_emptied_partition(events: Events) -> None:
    events.do("DELETE FROM {t} WHERE date(ts) = date'2024-01-03'")
    responses = events.refreshed("overwrite", stale=1)
    assert responses[events.views[0]]["rows_affected"] == 0
    assert responses[events.views[0]]["rows_deleted"] == 1


@pytest.mark.long
def test_everything_deleted(events: Events) -> None:
    events.do("DELETE FROM {t}")
    events.refreshed("overwrite", stale=10)
    events.insert("date'2024-01-03'", "'EU'", 1)
    events.added(stale=1)


@pytest.mark.long
def test_null_partition(events: Events) -> None:
    events.insert("null", "null", 3)
    events.added(stale=1)
    events.insert("null", "'EU'", 3)
    events.added(stale=1)
    events.do("DELETE FROM {t} WHERE ts IS NULL AND r IS NULL")
    events.refreshed("overwrite", stale=1)


@pytest.mark.long
def test_compaction(events: Events) -> None:
    events.insert("date'2024-01-01'", "'EU'", 2)
    events.added(stale=1)
    events.do("CALL lake.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    version = events.lake.state(events.views[0])["icebergmv.storage-snapshot-id"]
    responses = events.refreshed("none")
    assert responses[events.views[0]]["refresh_reason"].startswith("nothing changed since 20")
    state = events.lake.state(events.views[0])
    assert state["icebergmv.storage-snapshot-id"] == version
    assert f'"snapshot-id": {events.head()}' in state["icebergmv.base-tables"]
    events.insert("date'2024-01-02'", "'US'", 2)
    events.added(stale=1)


def test_delete_that_matches_nothing(events: Events) -> None:
    events.do("DELETE FROM {t} WHERE id = -12345")
    events.refreshed("none")


def test_rollback(events: Events) -> None:
    before = events.head()
    events.insert("date'2024-01-01'", "'EU'", 2)
    events.insert("date'2025-01-01'", "'EU'", 2)
    events.added(stale=2)
    events.do("CALL lake.system.rollback_to_snapshot('{name}', " + str(before) + ")")
    events.refreshed("overwrite", stale=2)
    events.insert("date'2024-01-05'", "'EU'", 1)
    events.added(stale=1)


@pytest.mark.long
def test_rollback_and_another_line(events: Events) -> None:
    before = events.head()
    events.insert("date'2024-01-01'", "'EU'", 2)
    events.added(stale=1)
    events.do("CALL lake.system.set_current_snapshot('{name}', " + str(before) + ")")
    events.insert("date'2024-01-02'", "'US'", 2)
    events.refreshed("overwrite", stale=2)


def test_create_or_replace(events: Events) -> None:
    columns = "id bigint, ts timestamp, r string, v int"
    events.do(f"CREATE OR REPLACE TABLE {{t}} ({columns}) USING iceberg PARTITIONED BY (days(ts), r)")
    events.insert("date'2024-01-01' + cast(id % 10 as int)", "if(id % 2 = 0, 'EU', 'US')", 40)
    events.refreshed("none")  # The rows are those that were there.
    events.insert("date'2024-01-02'", "'US'", 2)
    events.added(stale=1)


@pytest.mark.long
def test_replaced_by_select(events: Events) -> None:
    events.do(
        "CREATE OR REPLACE TABLE {t} USING iceberg PARTITIONED BY (r) AS SELECT id, ts, r, v FROM {t} WHERE id < 5"
    )
    responses = events.lake.run("--select", *events.views)
    assert {responses[view]["refresh_kind"] for view in events.views} <= {"overwrite", "full"}
    events.lake.assert_equals_definition(*events.views)


@pytest.mark.long
def test_drop_and_recreate(events: Events) -> None:
    events.do("DROP TABLE {t}")
    events.lake.sql(events.creation())
    events.refreshed("full", reason="was dropped and created again")


def test_schema_evolution(events: Events) -> None:
    events.do("ALTER TABLE {t} ADD COLUMN note string FIRST")
    events.refreshed("none")
    events.do("ALTER TABLE {t} ALTER COLUMN v TYPE bigint")
    events.refreshed("full", reason="column")
    events.do("INSERT INTO {t} VALUES ('x', 1, timestamp'2024-01-04 10:00:00Z', 'EU', 5000000000)")
    events.added(stale=1)
    events.do("ALTER TABLE {t} RENAME COLUMN v TO w")
    assert "`v`" in events.lake.fail("--select", *events.views)
    events.do("ALTER TABLE {t} RENAME COLUMN w TO v")
    events.refreshed("none")
    events.do("ALTER TABLE {t} DROP COLUMN note")
    events.insert("date'2024-01-06'", "'US'", 2)
    events.refreshed("overwrite", stale=1)


@pytest.mark.long
def test_renamed_key_column(events: Events) -> None:
    events.do("ALTER TABLE {t} RENAME COLUMN r TO area")
    lake = events.lake
    lake.model(events.views[0], f"select date(ts) as d, area, count(*) as n from {events.table} group by 1, 2")
    lake.model(events.views[1], f"select id, area from {events.table}")
    events.refreshed("full", reason="the SELECT changed")
    events.do("INSERT INTO {t} VALUES (1, timestamp'2024-01-04 10:00:00Z', 'EU', 5)")
    events.added()


@pytest.mark.long
def test_star_gains_a_column(lake: LakeProject) -> None:
    lake.sql(f"CREATE TABLE lake.{lake.schema}.star_base (id int, k string) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO lake.{lake.schema}.star_base VALUES (1, 'a'), (2, NULL)")
    lake.model("star", f"select * from lake.{lake.schema}.star_base")
    assert lake.run("--select", "star")["star"]["refresh_kind"] == "full"
    lake.sql(f"ALTER TABLE lake.{lake.schema}.star_base ADD COLUMN extra double FIRST")
    assert lake.run("--select", "star")["star"]["refresh_kind"] == "full"
    lake.assert_equals_definition("star")
    lake.sql(f"INSERT INTO lake.{lake.schema}.star_base VALUES (1.5, 3, 'b')")
    response = lake.run("--select", "star")["star"]
    assert (response["refresh_kind"], response["stale_partitions"]) == ("append", 1)
    lake.assert_equals_definition("star")


def test_partition_evolution(events: Events) -> None:
    events.do("ALTER TABLE {t} REPLACE PARTITION FIELD days(ts) WITH months(ts)")
    events.insert("date'2024-01-04'", "'EU'", 2)
    events.added()
    events.do("ALTER TABLE {t} DROP PARTITION FIELD r")
    events.insert("date'2024-03-04'", "'EU'", 2)
    events.added()
    events.do("ALTER TABLE {t} DROP PARTITION FIELD months(ts)")
    events.insert("date'2024-03-04'", "'EU'", 2)
    events.added()  # by the bounds of the new files
    events.do("ALTER TABLE {t} ADD PARTITION FIELD bucket(4, r)")
    events.insert("date'2024-03-04'", "'EU'", 2)
    events.added()


def test_expired_snapshots(events: Events) -> None:
    events.insert("date'2024-01-04'", "'EU'", 2)
    events.do(
        "CALL lake.system.expire_snapshots(table => '{name}', older_than => timestamp'2100-01-01 00:00:00', retain_last => 1)"
    )
    events.refreshed("full", reason="has expired the snapshot")
    events.insert("date'2024-01-04'", "'EU'", 2)
    events.added(stale=1)


@pytest.mark.long
def test_recorded_snapshot_kept_by_a_tag(events: Events) -> None:
    events.do("ALTER TABLE {t} CREATE TAG kept")
    events.insert("date'2024-01-04'", "'EU'", 2)
    events.insert("date'2024-01-05'", "'EU'", 2)
    events.insert("date'2024-01-05'", "'EU'", 2)
    events.do(
        "CALL lake.system.expire_snapshots(table => '{name}', older_than => timestamp'2100-01-01 00:00:00', retain_last => 1)"
    )
    events.refreshed("overwrite", stale=2)


@pytest.mark.long
def test_base_without_snapshot(lake: LakeProject) -> None:
    base = f"lake.{lake.schema}.empty_base"
    lake.sql(f"CREATE TABLE {base} (k int, v int) USING iceberg PARTITIONED BY (k)")
    lake.model("of_empty", f"select k, count(*) as n from {base} group by k")
    assert lake.run("--select", "of_empty")["of_empty"]["refresh_kind"] == "full"
    lake.assert_equals_definition("of_empty")
    assert lake.run("--select", "of_empty")["of_empty"]["refresh_kind"] == "none"
    lake.sql(f"INSERT INTO {base} VALUES (1, 1), (NULL, 2)")
    response = lake.run("--select", "of_empty")["of_empty"]
    assert (response["refresh_kind"], response["stale_partitions"]) == ("overwrite", 2)
    lake.assert_equals_definition("of_empty")


@pytest.mark.long
def test_view_on_view(events: Events) -> None:
    lake = events.lake
    monthly = f"{events.name}_monthly"
    lake.model(
        monthly, f"select date_trunc('month', d) as m, sum(n) as n from {{{{ ref('{events.views[0]}') }}}} group by 1"
    )
    lake.run("--select", monthly)
    events.insert("date'2024-02-01'", "'EU'", 3)
    responses = lake.run("--select", monthly, events.views[0])
    assert responses[monthly]["refresh_kind"] == "overwrite"
    assert responses[monthly]["stale_partitions"] == 1
    lake.assert_equals_definition(monthly)
    assert lake.run("--select", monthly, events.views[0])[monthly]["refresh_kind"] == "none"


@pytest.mark.long
def test_storage_of_another_grain_or_without_partitions(events: Events) -> None:
    """A region that is not whole partitions of the storage is replaced by DELETE and INSERT."""
    lake = events.lake
    partitions = {f"{events.name}_grain": "months(d)", f"{events.name}_flat": []}
    for name, partition_by in partitions.items():
        sql = f"select date(ts) as d, count(*) as n from {events.table} group by 1"
        lake.model(name, sql, partition_by=partition_by)
    lake.run("--select", *partitions)
    events.insert("date'2024-01-04'", "'EU'", 3)
    responses = lake.run("--select", *partitions)
    lake.assert_equals_definition(*partitions)
    for response in responses.values():
        assert response["refresh_kind"] == "overwrite"
        assert (response["rows_affected"], response["rows_deleted"]) == (1, 1)
    assert responses[f"{events.name}_grain"]["stale_partitions"] == 1
