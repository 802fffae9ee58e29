"""Materialized views over plain views: tracked down to the tables, and stale when a view is redefined."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv.spark.cursor import SessionCursor
from integration.support.lake import LakeProject
from integration.support.requests import names_of_tests
from tests.support.shares import one_of


class Orders:
    """A base table of orders by day, a plain view on it, and a materialized view over that."""

    def __init__(self, lake: LakeProject, name: str) -> None:
        self.lake, self.name = lake, name
        self.table, self.view, self.model = f"{name}_base", f"{name}_view", f"{name}_mv"

    def do(self, statement: str) -> None:
        names = {"t": self.table, "v": self.view, "w": f"{self.name}_upper", "o": f"{self.name}_other"}
        self.lake.sql(statement.format(**{k: f"lake.{self.lake.schema}.{n}" for k, n in names.items()}))

    def creation(self) -> str:
        return (
            f"CREATE TABLE {self.lake.view(self.table)} USING iceberg PARTITIONED BY (days(ts)) AS SELECT id, "
            "cast(date'2024-01-01' + cast(id % 10 as int) as timestamp) AS ts, cast(id as int) AS v FROM range(40)"
        )

    def insert(self, rows: int, day: str = "2024-01-01", spread: int = 10) -> None:
        ts = f"cast(date'{day}' + cast(id % {spread} as int) as timestamp)"
        self.do(f"INSERT INTO {{t}} SELECT id, {ts}, cast(id as int) FROM range({rows})")

    def build(self, sql: str, **config: Any) -> None:
        self.lake.model(self.model, sql.format(v=self.lake.view(self.view)), **config)
        self.refreshed("full", reason="first build")

    def refreshed(self, kind: str, stale: int | None = None, reason: str = "") -> dict[str, Any]:
        response = self.lake.run("--select", self.model)[self.model]
        self.lake.assert_equals_definition(self.model)
        assert (response["refresh_kind"], reason in response["refresh_reason"]) == (kind, True), response
        assert stale is None or response["stale_partitions"] == stale, response
        return response


@pytest.fixture(scope="module")
def made(lake: LakeProject, request: pytest.FixtureRequest) -> dict[str, Orders]:
    """A base table for each test that asks for one."""
    found = {name: Orders(lake, f"of_{number}") for number, name in enumerate(names_of_tests(request, "orders"))}
    lake.at_once(orders.creation() for orders in found.values())
    return found


@pytest.fixture
def orders(made: dict[str, Orders], request: pytest.FixtureRequest) -> Orders:
    """The base table of the test."""
    return made[request.node.name]


DAILY = "select d, count(*) as n, sum(v) as v from {v} group by d"


def test_incremental(orders: Orders) -> None:
    orders.do("CREATE VIEW {v} AS SELECT date(ts) AS d, id, v FROM {t} WHERE v >= 0 -- of the base's rows")
    orders.build(DAILY)
    orders.refreshed("none")
    orders.insert(1, "2024-01-03")
    orders.insert(1, "2023-01-01")
    response = orders.refreshed("overwrite", stale=2)
    (base,) = response["base_tables"]
    assert (base["name"], base["changed_partitions"]) == (f"lake.{orders.lake.schema}.{orders.table}", 2)
    orders.do("DELETE FROM {t} WHERE date(ts) = date'2024-01-05'")
    orders.refreshed("overwrite", stale=1)
    orders.refreshed("none")
    assert orders.lake.state(orders.model)["icebergmv.definition"].startswith("select d, count(*)")


@pytest.mark.long
def test_view_made_without_a_current_namespace(orders: Orders) -> None:
    lake, active = orders.lake, SparkSession.active()

    def create() -> None:
        session = active.newSession()
        session.conf.unset("spark.sql.catalog.lake.default-namespace")
        table = f"lake.{lake.schema}.{orders.table}"
        session.sql(f"CREATE VIEW {lake.view(orders.view)} AS SELECT date(ts) AS d, v FROM {table}")

    # A new session becomes the active one of its thread, and all other tests want theirs.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(create).result()
    view = lake.reader().view(lake.schema, orders.view)
    assert view is not None
    assert view.default_namespace == ()
    orders.build(DAILY)
    orders.refreshed("none")
    orders.insert(1, "2024-01-03")
    orders.refreshed("overwrite", stale=1)


def test_nothing_to_do_asks_nothing_of_spark(orders: Orders, monkeypatch: pytest.MonkeyPatch) -> None:
    orders.do("CREATE VIEW {v} AS SELECT date(ts) AS d, v FROM {t}")
    orders.build(DAILY)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a statement reached Spark")

    monkeypatch.setattr(SessionCursor, "execute", refuse)
    assert orders.lake.run("--select", orders.model)[orders.model]["refresh_kind"] == "none"


@pytest.mark.long
def test_column_list_view_over_view_and_join(orders: Orders) -> None:
    orders.do(
        "CREATE VIEW {v} (day, `the count`, total) AS SELECT date(ts), count(*), sum(v) FROM {t} GROUP BY date(ts)"
    )
    orders.do("CREATE VIEW {w} (`d d`, n) AS SELECT day, `the count` FROM {v} ORDER BY day")
    upper = orders.lake.view(f"{orders.name}_upper")
    orders.build(f"select b.`d d` as d, b.n, v.total from {upper} b join {{v}} v on b.`d d` = v.day")
    orders.insert(1, "2024-01-03")
    assert len(orders.refreshed("overwrite", stale=1)["base_tables"]) == 1
    views = json.loads(orders.lake.state(orders.model)["icebergmv.views"])
    assert sorted(v["identifier"].split(".")[-1] for v in views) == [f"{orders.name}_upper", orders.view]


@pytest.mark.long
def test_twice_in_a_cte_of_the_name_of_the_base(orders: Orders) -> None:
    orders.do("CREATE VIEW {v} AS SELECT date(ts) AS d, v FROM {t}")
    orders.build(
        f"with {orders.table} as (select d, v from {{v}} where v > 3), {orders.name} as (select d, v from {{v}}) "
        f"select d, v from {orders.table} union all select d, v from {orders.name}"
    )
    orders.insert(5, "2024-01-03", spread=1)
    orders.refreshed("append", stale=1)


@pytest.mark.long
def test_names_in_the_view_are_those_of_its_namespace(orders: Orders) -> None:
    lake = orders.lake
    lake.sql("CREATE NAMESPACE IF NOT EXISTS lake.views_elsewhere")
    lake.sql(
        f"CREATE OR REPLACE TABLE lake.views_elsewhere.{orders.table} (d date, v int) USING iceberg PARTITIONED BY (d)"
    )
    lake.sql(f"INSERT INTO lake.views_elsewhere.{orders.table} VALUES (date'2024-01-01', 1), (date'2024-01-02', 2)")
    before = lake.sql("SELECT current_catalog(), current_schema()")[0]
    lake.sql("USE lake.views_elsewhere")
    try:
        lake.sql(f"CREATE VIEW {lake.view(orders.view)} AS SELECT d, v FROM {orders.table}")
    finally:
        lake.sql(f"USE `{before[0]}`.`{before[1]}`")
    orders.build(DAILY)
    lake.sql(f"INSERT INTO lake.views_elsewhere.{orders.table} VALUES (date'2024-01-02', 3)")
    (base,) = orders.refreshed("overwrite", stale=1)["base_tables"]
    assert base["name"] == f"lake.views_elsewhere.{orders.table}"


def test_redefined(orders: Orders) -> None:
    name = f"lake.{orders.lake.schema}.{orders.view}"
    orders.do("CREATE VIEW {v} AS SELECT date(ts) AS d, v FROM {t}")
    orders.build(DAILY)
    orders.do("CREATE OR REPLACE VIEW {v} AS SELECT date(ts) AS d, v FROM {t} WHERE v > 20")
    orders.refreshed("full", reason=f"the view {name} was redefined")
    orders.do("CREATE OR REPLACE VIEW {v} AS\n  SELECT date(ts) AS d, v FROM {t} WHERE v > 20 -- the same")
    orders.refreshed("none")
    orders.do("DROP VIEW {v}")
    assert orders.view in orders.lake.fail("--select", orders.model)
    orders.do("CREATE VIEW {v} AS SELECT date(ts) AS d, v FROM {t} WHERE v > 20")
    orders.refreshed("none")
    orders.do("DROP VIEW {v}")
    orders.do("CREATE TABLE {v} USING iceberg AS SELECT date'2024-01-01' AS d, 1 AS v")
    orders.refreshed("full", reason=f"the view {name} was redefined")
    orders.do("DROP TABLE {v}")
    orders.do("CREATE VIEW {v} AS SELECT date(ts) AS d, v FROM {t}")
    orders.refreshed("full", reason=f"the view {name} was redefined")


@pytest.mark.long
@pytest.mark.parametrize("reading", ["use_data_table", "use_stitching"])
def test_columns_that_nobody_reads_come_go_and_change(orders: Orders, reading: str) -> None:
    """As the staging models of a dbt project do, and the models that import them with `select *`."""
    staging = "CREATE OR REPLACE VIEW {{v}} AS WITH r AS (SELECT date(ts) AS d, v{} FROM {{t}}) SELECT * FROM r"
    orders.do(staging.format(""))
    orders.build(
        "with v as (select * from {v}), by_day as (select d, count(*) as n, sum(v) as v from v group by d) "
        "select * from by_day",
        stale_read_behavior=reading,
    )
    for more in (", id", ", id + 1 AS id, 'x' AS note", ", (SELECT max(id) FROM {t}) AS top", ""):
        orders.do(staging.format(more))
        orders.refreshed("none")
        orders.refreshed("none")
    orders.do(staging.format(", id"))
    orders.insert(1, "2024-01-03")
    if reading == "use_stitching":
        orders.lake.assert_equals_definition(orders.model)
    orders.refreshed("overwrite", stale=1)
    orders.do("ALTER TABLE {t} ADD COLUMN note string")
    orders.do("CREATE OR REPLACE VIEW {v} AS SELECT *, date(ts) AS d FROM {t}")
    orders.refreshed("full", reason="was redefined")
    orders.do("ALTER TABLE {t} ADD COLUMN another string")
    orders.do("CREATE OR REPLACE VIEW {v} AS SELECT *, date(ts) AS d FROM {t}")
    orders.refreshed("none")
    orders.do("CREATE OR REPLACE VIEW {v} AS SELECT date(ts) AS d, -v AS v FROM {t}")
    orders.refreshed("full", reason="was redefined")


def test_hidden_keys_are_read(orders: Orders) -> None:
    """What the SELECT does not name is read where it is stored beside it."""
    orders.do("CREATE VIEW {v} AS SELECT id, ts, v FROM {t}")
    orders.build("select id, v from {v} where v > 3")
    columns = orders.lake.sql(f"DESCRIBE {orders.lake.view('__mv_storage__' + orders.model)}")
    assert any(row[0].startswith("icebergmv_key") for row in columns), columns
    orders.do("CREATE OR REPLACE VIEW {v} AS SELECT id, ts + interval 1 day AS ts, v FROM {t}")
    orders.refreshed("full", reason="was redefined")
    orders.do("CREATE OR REPLACE VIEW {v} AS SELECT id, ts + interval 1 day AS ts, v, 1 AS one FROM {t}")
    orders.refreshed("none")
    orders.do("UPDATE {t} SET v = v + 10 WHERE date(ts) = date'2024-01-05' AND v = 14")
    orders.refreshed("overwrite")


@pytest.mark.long
def test_redefined_under_strict_policy_and_frozen(orders: Orders) -> None:
    orders.do("CREATE VIEW {v} AS SELECT date(ts) AS d, v FROM {t}")
    orders.build(DAILY, refresh_policy="incremental_strict")
    orders.do("CREATE OR REPLACE VIEW {v} AS SELECT date(ts) AS d, -v AS v FROM {t}")
    message = orders.lake.fail("--select", orders.model)
    assert "was redefined" in message
    sql = DAILY.format(v=orders.lake.view(orders.view))
    orders.lake.model(orders.model, sql, refresh_on_run=False)
    assert orders.lake.run("--select", orders.model)[orders.model]["refresh_kind"] == "none"
    orders.lake.model(orders.model, sql)
    orders.refreshed("full", reason="was redefined")


@pytest.mark.long
def test_star_view_of_a_table_that_grows(orders: Orders) -> None:
    orders.do("CREATE VIEW {v} AS SELECT * FROM {t}")
    orders.build("select * from {v}")
    orders.do("ALTER TABLE {t} ADD COLUMN note string")
    orders.refreshed("none")
    orders.do("INSERT INTO {t} VALUES (1, timestamp'2024-01-04 10:00:00Z', 7, 'x')")
    orders.refreshed("append", stale=1)
    orders.do("ALTER TABLE {t} ADD COLUMN another bigint AFTER id")
    message = orders.lake.fail("--select", orders.model)
    assert "CANNOT_UP_CAST" in message
    orders.do("ALTER TABLE {t} DROP COLUMN another")
    orders.do("INSERT INTO {t} VALUES (1, timestamp'2024-01-04 10:00:00Z', 7, 'x')")
    orders.refreshed("append", stale=1)


@pytest.mark.long
def test_view_that_spark_refuses_is_refused(orders: Orders) -> None:
    orders.do("CREATE VIEW {v} AS SELECT date(ts) AS d, v + 1 AS v FROM {t}")
    orders.build("select d, v from {v}")
    orders.do("ALTER TABLE {t} ALTER COLUMN v TYPE bigint")
    assert "CANNOT_UP_CAST" in orders.lake.fail("--select", orders.model)


@pytest.mark.long
def test_column_of_the_view_that_the_select_around_it_could_catch(orders: Orders) -> None:
    orders.do("CREATE TABLE {o} (k int, gone int) USING iceberg")
    orders.do("INSERT INTO {o} VALUES (1, 1)")
    orders.do("CREATE VIEW {v} AS SELECT gone FROM {o}")
    table = orders.lake.view(orders.table)
    own = "cast(id as int) as gone"
    orders.build(f"select id, {own} from {table} where exists (select 1 from {{v}} x where x.gone = 1)")
    sql = (
        f"select id, gone from (select id, {own} from {table}) o where exists (select 1 from {{v}} x where x.gone = 1)"
    )
    orders.lake.model(orders.model, sql.format(v=orders.lake.view(orders.view)))
    orders.refreshed("full", reason="the SELECT changed")
    orders.do("ALTER TABLE {o} DROP COLUMN gone")
    orders.do("INSERT INTO {o} VALUES (2)")
    # Spark does so when it reads the view by its name, too; an error would be better.
    orders.refreshed("full")


def test_a_column_that_spark_names_means_that_of_the_view(orders: Orders) -> None:
    orders.do("CREATE TABLE {o} USING iceberg AS SELECT id, cast(id as int) AS v FROM range(5)")
    orders.do("CREATE VIEW {v} (v) AS SELECT CAST(CAST(v AS int) AS int) FROM {t} WHERE v < 3")
    other = orders.lake.view(f"{orders.name}_other")
    orders.build(f"select o.id from {other} o where exists (select 1 from {{v}} x where x.v = o.v)")
    orders.refreshed("none")
    orders.do("DELETE FROM {t} WHERE v = 2")
    response = orders.lake.run("--select", orders.model)[orders.model]
    assert response["refresh_kind"] != "none"
    orders.lake.assert_equals_definition(orders.model)


def test_a_column_that_nobody_names_is_not_read(orders: Orders) -> None:
    orders.do("CREATE TABLE {o} USING iceberg AS SELECT id AS k, cast(id as int) AS w FROM range(5)")
    orders.do("CREATE VIEW {v} AS SELECT w FROM {o}")
    table = orders.lake.view(orders.table)
    orders.build(f"select w from {{v}} where exists (select 1 from {table} t where t.v = w)")
    orders.do("UPDATE {t} SET id = id + 1000 WHERE v = 3")
    orders.refreshed("none")


@pytest.mark.parametrize("rows", [40, pytest.param(120_000, marks=pytest.mark.long)], ids=["listed", "compared"])
@pytest.mark.parametrize("listed", one_of(2, ["*", "id, ts, v, (v + id) * 2 AS w, 'x' AS note"]))
def test_columns_of_a_staging_model_that_nobody_reads(orders: Orders, listed: str, rows: int) -> None:
    """Rows that differ in such columns alone are no change; those that differ in others too are one."""
    if rows > 40:
        orders.do(f"INSERT INTO {{t}} SELECT id + 100, timestamp'2024-02-01', cast(id as int) FROM range({rows})")
    orders.do(f"CREATE OR REPLACE VIEW {{v}} AS WITH r AS (SELECT {listed} FROM {{t}}) SELECT * FROM r")
    orders.do("CREATE OR REPLACE TABLE {o} USING iceberg AS SELECT cast(id as int) AS k, id AS extra FROM range(5)")
    other = orders.lake.view(f"{orders.name}_other")
    sql = (
        "with v as (select * from {v}), o as (select * from " + other + "), "
        "j as (select v.v % 7 as g, count(*) as n, max(v.v) as top from v join o on o.k = v.v % 5 group by v.v % 7) "
        "select g, n, top from j"
    )
    orders.build(sql, refresh_policy="incremental")
    orders.do("UPDATE {t} SET id = id + 1000000 WHERE v IN (3, 11)")
    orders.refreshed("none")
    orders.do("UPDATE {o} SET extra = extra + 7 WHERE k = 3")
    orders.refreshed("none")
    orders.do("UPDATE {t} SET id = id + 1000000, v = v + 1 WHERE v IN (3, 11, 12)")
    response = orders.lake.run("--select", orders.model)[orders.model]
    assert response["refresh_kind"] in ("merge", "overwrite"), response
    orders.lake.assert_equals_definition(orders.model)
    orders.do("DELETE FROM {t} WHERE id > 1000000 AND v = 12")
    orders.do("UPDATE {o} SET extra = 0, k = 9 WHERE k = 2")
    assert orders.lake.run("--select", orders.model)[orders.model]["refresh_kind"] in ("merge", "overwrite")
    orders.lake.assert_equals_definition(orders.model)


@pytest.mark.long
def test_columns_of_any_type_that_nobody_reads(orders: Orders) -> None:
    orders.do("ALTER TABLE {t} ADD COLUMNS (tags array<string>, more map<string, int>, x double)")
    orders.do("CREATE OR REPLACE VIEW {v} AS SELECT id, v, tags, more, x FROM {t}")
    view, models = orders.lake.view(orders.view), [orders.model, f"{orders.model}_grouped", f"{orders.model}_counted"]
    orders.lake.model(models[1], f"select v % 3 as g, count(*) as n, sum(v) as s from {view} group by v % 3")
    orders.lake.model(models[2], f"select count(*) as n from {view}")
    orders.build("select id, v from {v} where v < 100", refresh_policy="incremental")
    orders.lake.run("--select", *models)
    for change, kinds in (
        ("UPDATE {t} SET tags = array('a'), more = map('a', 1), x = 1.5D WHERE id < 30", {"none"}),
        ("UPDATE {t} SET tags = array('b'), v = v + 1 WHERE v IN (3, 13)", {"none", "overwrite", "merge"}),
        ("UPDATE {t} SET x = 2.5D WHERE v < 20", {"none"}),
        ("DELETE FROM {t} WHERE v = 4", {"overwrite", "merge"}),
    ):
        orders.do(change)
        found = orders.lake.run("--select", *models)
        orders.lake.assert_equals_definition(*models)
        assert {found[model]["refresh_kind"] for model in models} <= kinds, found


def test_conditions_of_a_view_under_the_name_of_ours(orders: Orders) -> None:
    orders.do("ALTER TABLE {t} ADD COLUMN x INT")
    view = "CREATE OR REPLACE VIEW {{v}} AS SELECT id, v, x FROM {{t}} AS icebergmv_view WHERE IF(x > {}, true, false)"
    orders.do(view.format(3))
    orders.build("select id, v from {v} as icebergmv_view where (v > 3)")
    orders.do("UPDATE {t} SET x = 5 WHERE id < 20")
    orders.lake.run("--select", orders.model)
    orders.lake.assert_equals_definition(orders.model)
    orders.do(view.format(5))
    orders.lake.run("--select", orders.model)
    orders.lake.assert_equals_definition(orders.model)


def test_a_name_and_an_alias_that_look_like_one_word(orders: Orders) -> None:
    orders.do("CREATE VIEW {v} AS SELECT v AS primary, id FROM {t}")
    orders.build("with r as (select v.primary key, id from {v} v) select id, r.key as k from r")
    orders.do("CREATE OR REPLACE VIEW {v} AS SELECT v + 3 AS primary, id FROM {t}")
    orders.refreshed("full")


def test_one_cut(orders: Orders, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit to the base between the inspection and the statements of the refresh is in neither half."""
    orders.do("CREATE VIEW {v} AS SELECT count(*) AS n FROM {t}")
    orders.do("CREATE VIEW {w} AS SELECT max(n) AS n FROM {v}")
    table, upper = orders.lake.view(orders.table), orders.lake.view(f"{orders.name}_upper")
    original = SessionCursor.execute
    added: list[int] = []

    def execute(self: SessionCursor, sql: str, *arguments: Any) -> Any:
        if not added and "DESCRIBE QUERY" in sql:
            added.append(1)
            orders.insert(3)
        return original(self, sql, *arguments)

    sql = (
        f"select 1 as k, (select count(*) from {table}) as a, (select n from {{v}}) as b, (select n from {upper}) as c"
    )
    orders.lake.model(orders.model, sql.format(v=orders.lake.view(orders.view)))
    monkeypatch.setattr(SessionCursor, "execute", execute)
    orders.lake.run("--select", orders.model)
    (row,) = orders.lake.sql(f"SELECT a, b, c FROM {orders.lake.view(orders.model)}")
    assert (added, list(row)) == ([1], [40, 40, 40])
    orders.refreshed("full")


def test_view_made_by_dbt_in_the_same_run(orders: Orders) -> None:
    lake, upstream = orders.lake, f"{orders.name}_staging"
    lake.model(upstream, f"select date(ts) as d, v from {lake.view(orders.table)}", materialized="view")
    lake.model(orders.model, "select d, sum(v) as v from {{ ref('" + upstream + "') }} group by d")
    for change, kind in ((0, "full"), (0, "none"), (2, "overwrite")):
        if change:
            orders.insert(change, "2024-01-03", spread=1)
        assert lake.run("--select", upstream, orders.model)[orders.model]["refresh_kind"] == kind
        lake.assert_equals_definition(orders.model)


@pytest.mark.long
def test_view_over_a_materialized_view_and_over_itself(orders: Orders) -> None:
    lake, below = orders.lake, f"{orders.name}_below"
    lake.model(below, f"select date(ts) as d, v from {lake.view(orders.table)}")
    lake.run("--select", below)
    lake.sql(f"CREATE VIEW {lake.view(orders.view)} AS SELECT d, v FROM {lake.view(below)}")
    orders.build(DAILY)
    orders.insert(2, "2024-01-03", spread=1)
    orders.refreshed("none")
    lake.run("--select", below)
    orders.refreshed("overwrite", stale=1)
    lake.model(below, f"select d, v from {lake.view(orders.view)}")
    message = lake.fail("--select", below)
    assert "reads the view itself" in message
    assert orders.view in message


def test_temporary_view_in_the_way(orders: Orders) -> None:
    """Spark reads a temporary view for a name without a schema; then the SELECT is read as it is."""
    orders.do("CREATE VIEW {v} AS SELECT date(ts) AS d, v FROM {t}")
    # Hooks run in dbt's session, which need not be the one of this test.
    hooks = {
        "pre_hook": f"create temporary view {orders.view} as select 'x' as d, 1L as v",
        "post_hook": f"drop view {orders.view}",
    }
    orders.lake.model(orders.model, f"select d, v from {orders.view}", **hooks)
    orders.lake.run("--select", orders.model)
    assert [list(r) for r in orders.lake.sql(f"SELECT * FROM {orders.lake.view(orders.model)}")] == [["x", 1]]
