"""read_materialized_view gives the rows of the definition on the live tables, and reads no more than it must."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.icebergmv import reading, session_lake
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, NotReadable
from dbt.adapters.icebergmv.maintenance.stitching.current_rows import current_query
from dbt.adapters.icebergmv.reading import read_materialized_view
from integration.support.lake import LakeProject
from integration.support.spark_settings import with_settings


class Sales:
    """A base table, and another one, in a view; `{t}` and `{o}` are their names."""

    def __init__(self, lake: LakeProject, name: str, seen: list[str]) -> None:
        self.lake, self.name, self.model, self.seen = lake, name, f"{name}_mv", seen

    def text(self, sql: str) -> str:
        return sql.format(**{k: self.lake.view(f"{self.name}_{k}") for k in ("t", "o", "v")})

    def do(self, *statements: str) -> None:
        for statement in statements:
            self.lake.sql(self.text(statement))

    def table(self, partitioned: str, properties: str = "'format-version' = '2'", name: str = "t") -> None:
        self.do(
            f"CREATE TABLE {{{name}}} (id bigint, region string, ts timestamp, v int) USING iceberg "
            f"PARTITIONED BY ({partitioned}) TBLPROPERTIES ({properties})"
        )

    def insert(self, *rows: tuple[object, ...], name: str = "t") -> None:
        def literal(value: object) -> str:
            return "NULL" if value is None else str(value) if isinstance(value, int) else f"'{value}'"

        values = ", ".join(
            f"({literal(i)}, {literal(r)}, CAST({literal(ts)} AS timestamp), {literal(v)})" for i, r, ts, v in rows
        )
        self.do(f"INSERT INTO {{{name}}} VALUES {values}")

    def fill(self, name: str = "t") -> None:
        self.insert(
            *((i, "abc"[i % 3] + "x", f"2024-01-0{i % 4 + 1} 1{i % 10}:00:00", i) for i in range(12)),
            (100, None, None, 7),
            (None, "dx", "2024-01-01 23:59:59.999999", None),
            name=name,
        )

    def build(self, sql: str, **config: Any) -> None:
        self.lake.model(self.model, self.text(sql), **config)
        self.lake.run("--select", self.model)
        self.check("none")

    def read(self) -> DataFrame:
        frame = read_materialized_view(SparkSession.active(), f"lake.{self.lake.schema}.{self.model}")
        assert isinstance(frame, DataFrame)
        return frame

    def check(self, plan: str) -> DataFrame:
        """Compare with the definition on the live tables, as bags, and know the plan by the text of the query."""
        frame = self.read()
        found = Counter(map(repr, frame.collect()))
        live = self.lake.definition(self.model).rstrip().rstrip(";")
        wanted = Counter(map(repr, self.lake.sql(live)))
        query = self.seen[-1]
        assert found == wanted, (list(found - wanted)[:3], list(wanted - found)[:3], query)
        assert plan_of(query) == plan, query
        return frame


def plan_of(query: str) -> str:
    stored = "`__mv_storage__" in query
    if "UNION ALL\nSELECT CAST(" not in query:
        return "none" if stored else "full"
    kept = query.split("\nUNION ALL\nSELECT CAST(", maxsplit=1)[0]
    assert stored
    return "overwrite" if " WHERE " in kept else "append"


def files(frame: DataFrame) -> dict[str, int]:
    """Return how many data files the scans of each table read, by the end of the table's name."""
    with with_settings({"spark.sql.adaptive.enabled": "false"}, frame.sparkSession):
        again = frame.select("*")
        again.collect()
    leaves = again._jdf.queryExecution().executedPlan().collectLeaves()
    counts: Counter[str] = Counter()
    for scan in (leaves.apply(i) for i in range(leaves.size())):
        table = re.search(r"\S+?\.\S+?_([a-z]+)[\[ ]", scan.toString())
        assert table is not None, scan.toString()
        counts[table[1]] += scan.metrics().apply("resultDataFiles").value()
    return dict(counts)


@pytest.fixture
def sales(lake: LakeProject, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sales]:
    seen: list[str] = []
    original = current_query

    def noted(*given: Any, **named: Any) -> str:
        seen.append(original(*given, **named))
        return seen[-1]

    monkeypatch.setattr(reading, "current_query", noted)
    name = re.sub(r"\W+", "_", request.node.name.removeprefix("test_"))
    yield Sales(lake, name, seen)


BY = {
    "identity": ("region", "select region, count(*) as n, sum(v) as v from {t} group by region"),
    "days": ("days(ts)", "select date(ts) as d, count(*) as n, sum(v) as v from {t} group by date(ts)"),
    "bucket": ("bucket(4, id)", "select id, count(*) as n, sum(v) as v from {t} group by id"),
    "truncate": ("truncate(1, region)", "select region, count(*) as n, sum(v) as v from {t} group by region"),
    "two": ("region, days(ts)", "select region, ts, max(v) as v from {t} group by region, ts"),
}


@pytest.mark.long
def test_changes_of_every_kind(sales: Sales) -> None:
    each = [Sales(sales.lake, f"{sales.name}_{how}", sales.seen) for how in BY]
    for one, (partitioned, sql) in zip(each, BY.values(), strict=True):
        one.table(partitioned)
        one.fill()
        one.lake.model(one.model, one.text(sql))

    def check(plan: str) -> None:
        for one in each:
            one.check(plan)

    def run() -> None:
        sales.lake.run("--select", *(one.model for one in each))
        check("none")

    run()
    for one in each:
        one.insert((3, "ax", "2024-01-01 05:00:00", 50))
    check("overwrite")
    for one in each:
        one.insert((None, None, None, None))
    check("overwrite")
    for one in each:
        one.do("UPDATE {t} SET region = 'cx', ts = timestamp'2024-01-03 00:00:00', id = 77 WHERE id = 5")
    check("overwrite")
    for one in each:
        one.do("DELETE FROM {t} WHERE region = 'bx' OR region IS NULL")
    check("overwrite")
    run()
    for one in each:
        one.do("DELETE FROM {t} WHERE date(ts) = date'2024-01-01'")
    check("overwrite")


@pytest.mark.parametrize("how", ["identity", "days"])
def test_only_what_changed_is_read(sales: Sales, how: str) -> None:
    partitioned, sql = BY[how]
    sales.table(partitioned)
    sales.fill()
    sales.build(sql)
    sales.insert((3, "bx", "2024-01-02 05:00:00", 50))
    stored = {"identity": 5, "days": 5}[how]
    counted = files(sales.check("overwrite"))
    assert counted == {"mv": stored - 1, "t": 2}


@pytest.mark.long
def test_append_over_a_filter(sales: Sales) -> None:
    sales.table("days(ts)")
    sales.fill()
    sales.build("select id, region, v from {t} where v >= 3")
    sales.insert((3, "bx", "2024-01-02 05:00:00", 50), (3, "bx", "2024-01-02 05:00:00", 1))
    sales.insert((None, None, None, 9))
    sales.check("append")
    sales.do("DELETE FROM {t} WHERE id = 9")
    sales.check("overwrite")


JOIN = "select a.region, a.id, b.v from {{t}} a {kind} join {{o}} b on a.region = b.region"


@pytest.mark.parametrize("kind", ["inner", "left"])
def test_join_of_two_stale_tables(sales: Sales, kind: str) -> None:
    sales.table("region")
    sales.table("region", name="o")
    sales.fill()
    sales.insert((1, "ax", None, 1), (1, None, None, 1), name="o")
    sales.build(JOIN.format(kind=kind))
    sales.insert((8, "dx", None, 5))
    sales.insert((2, "bx", None, 5), (3, "dx", None, 6), name="o")
    sales.check("overwrite" if kind == "left" else "append")
    sales.do("DELETE FROM {o} WHERE region = 'ax'")
    sales.check("overwrite")


def test_stored_rows_of_a_null_partition_beside_a_bucket(sales: Sales) -> None:
    """Iceberg alone evaluates what selects whole partitions, and takes NULL for less than every value."""
    sales.do(
        "CREATE TABLE {t} USING iceberg AS SELECT * FROM VALUES (3, 10), (0, -1), (1, 3), (2, 9), (5, NULL) AS v(id, k)",
        "CREATE TABLE {o} (id bigint, v int, k int) USING iceberg PARTITIONED BY (bucket(3, k), v)",
    )
    sales.build("SELECT l.k AS key, l.id, o.v AS ov FROM {t} AS l LEFT JOIN {o} AS o ON l.k = o.k")
    sales.do("INSERT INTO {o} VALUES (1, 0, -1), (7, 4, 9), (6, 4, NULL)")
    sales.check("overwrite")
    assert "(`ov` IS NOT NULL AND `ov` < 4)" in sales.seen[-1]


def test_every_stored_row_is_stale(sales: Sales) -> None:
    """Spark takes `FROM t WHERE (false)` for an alias of t."""
    sales.do(
        "CREATE TABLE {t} (id bigint, d date) USING iceberg PARTITIONED BY (bucket(2, id))",
        "CREATE TABLE {o} (id bigint, d date) USING iceberg PARTITIONED BY (months(d))",
        "INSERT INTO {t} VALUES (1, DATE '2024-02-29'), (7, DATE '1969-12-31')",
        "INSERT INTO {o} VALUES (7, DATE '1970-01-01'), (0, DATE '1969-12-31')",
    )
    sales.build("SELECT d AS key, l.id, o.id AS oid FROM {t} AS l FULL JOIN {o} AS o USING (d)")
    sales.do("DELETE FROM {t}")
    sales.check("overwrite")
    assert " WHERE false\nUNION ALL\n" in sales.seen[-1]


@pytest.mark.long
def test_rollback_expiry_and_replacement_of_the_base(sales: Sales) -> None:
    sales.table("region")
    sales.fill()
    name = f"{sales.lake.schema}.{sales.name}_t"
    first = sales.lake.sql(sales.text("SELECT snapshot_id FROM {t}.snapshots"))[0][0]
    sales.insert((3, "ax", None, 50))
    sales.build(BY["identity"][1])
    sales.lake.sql(f"CALL lake.system.rollback_to_snapshot('{name}', {first})")
    sales.check("overwrite")
    sales.insert((4, "bx", None, 50))
    sales.check("overwrite")
    sales.lake.run("--select", sales.model)
    sales.insert((5, "bx", None, 50))
    sales.lake.sql(f"CALL lake.system.expire_snapshots(table => '{name}', older_than => now(), retain_last => 1)")
    sales.check("full")
    sales.lake.run("--select", sales.model)
    sales.do("CREATE OR REPLACE TABLE {t} USING iceberg PARTITIONED BY (region) AS SELECT * FROM {t} WHERE id > 3")
    sales.check("overwrite")
    sales.lake.run("--select", sales.model)
    sales.do("DROP TABLE {t}")
    sales.table("region")
    sales.check("full")


@pytest.mark.long
def test_columns_of_the_base_change(sales: Sales) -> None:
    sales.table("region")
    sales.fill()
    sales.build("select * from {t}")
    sales.do("ALTER TABLE {t} ADD COLUMN note string")
    sales.check("full")
    sales.do("INSERT INTO {t} VALUES (9, 'ax', NULL, 9, 'n')")
    sales.check("full")
    sales.lake.run("--select", sales.model)
    sales.check("none")
    sales.do("ALTER TABLE {t} DROP COLUMN note", "ALTER TABLE {t} ADD COLUMN note string")
    sales.check("full")
    sales.lake.run("--select", sales.model)
    sales.do("ALTER TABLE {t} ALTER COLUMN v TYPE bigint", "INSERT INTO {t} VALUES (9, 'ax', NULL, 5000000000, 'n')")
    sales.check("full")


@pytest.mark.long
def test_type_of_a_column_that_is_not_read(sales: Sales) -> None:
    sales.table("region")
    sales.fill()
    sales.build("select region, max(id) as id from {t} group by region")
    sales.do("ALTER TABLE {t} ALTER COLUMN v TYPE bigint", "INSERT INTO {t} VALUES (9, 'ax', NULL, 5000000000)")
    sales.check("overwrite")


@pytest.mark.parametrize("version", [2, 3])
def test_merge_on_read(sales: Sales, version: int) -> None:
    sales.table(
        "region",
        f"'format-version' = '{version}', 'write.delete.mode' = 'merge-on-read', "
        "'write.update.mode' = 'merge-on-read', 'write.distribution-mode' = 'none'",
    )
    sales.fill()
    sales.build(BY["identity"][1])
    sales.do("DELETE FROM {t} WHERE id = 4")
    sales.check("overwrite")
    sales.do("UPDATE {t} SET region = NULL, v = -1 WHERE id IN (3, 7)")
    sales.check("overwrite")


@pytest.mark.long
def test_views_below(sales: Sales) -> None:
    sales.table("days(ts)")
    sales.fill()
    sales.do("CREATE VIEW {o} AS SELECT date(ts) AS d, region, v FROM {t} WHERE v > 1")
    sales.do("CREATE VIEW {v} AS SELECT d, v FROM {o}")
    sales.build("select d, sum(v) as v from {v} group by d")
    sales.insert((3, "ax", "2024-01-01 05:00:00", 50))
    sales.check("overwrite")
    sales.do("CREATE OR REPLACE VIEW {o} AS SELECT date(ts) AS d, region, -v AS v FROM {t}")
    sales.check("full")


def test_materialized_view_below(sales: Sales) -> None:
    lake, below = sales.lake, f"{sales.name}_v"
    sales.table("days(ts)")
    sales.fill()
    lake.model(below, sales.text("select date(ts) as d, sum(v) as v from {t} group by date(ts)"))
    lake.run("--select", below)
    sales.build("select d, v + 1 as v from {v}")
    sales.insert((3, "ax", "2024-01-01 05:00:00", 50))
    sales.check("none")
    lake.run("--select", below)
    sales.check("overwrite")


@pytest.mark.long
def test_computed_key_volatile_and_ordered(sales: Sales) -> None:
    sales.table("region")
    sales.fill()
    sales.build("select upper(region) as r, count(*) as n from {t} group by upper(region)")
    sales.insert((3, "ax", None, 50))
    sales.check("overwrite")
    sales.build("select region, v, count(*) over (partition by region order by v) as n from {t} order by v limit 100")
    sales.insert((3, "ax", None, 51))
    sales.check("full")
    sales.lake.model(sales.model, sales.text("select region, current_user() as u from {t}"))
    sales.lake.run("--select", sales.model)
    sales.check("full")


@pytest.mark.long
def test_bare_names_mean_the_same_in_another_namespace(sales: Sales) -> None:
    sales.table("region")
    sales.fill()
    spark, bare = SparkSession.active(), f"{sales.name}_t"
    before = spark.catalog.currentDatabase()
    spark.sql(f"USE lake.`{sales.lake.schema}`")
    try:
        sales.build(f"select region, sum(v) as v from {bare} group by region")
        sales.insert((3, "ax", None, 50))
        wanted = sorted(map(repr, spark.sql(sales.lake.definition(sales.model)).collect()))
        spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.read_elsewhere")
        spark.sql(f"CREATE OR REPLACE TABLE lake.read_elsewhere.{bare} (region string, v int) USING iceberg")
        spark.sql("USE lake.read_elsewhere")
        assert sorted(map(repr, sales.read().collect())) == wanted
        assert plan_of(sales.seen[-1]) == "overwrite"
    finally:
        spark.sql(f"USE lake.`{before}`")


@pytest.mark.long
def test_session_with_a_table_cache(sales: Sales) -> None:
    """Another session, whose catalog caches tables, pins snapshots that it has not seen."""
    sales.table("region")
    sales.fill()
    sales.build(BY["identity"][1])
    other = SparkSession.active().newSession()
    for key, value in {r[0]: r[1] for r in sales.lake.sql("SET")}.items():
        if key.startswith("spark.sql.catalog.lake."):
            other.conf.set(key, value)
    other.conf.set("spark.sql.catalog.lake.cache-enabled", "true")
    name = f"lake.{sales.lake.schema}.{sales.model}"
    other.sql(sales.text("SELECT * FROM {t}")).collect()
    read_materialized_view(other, name).collect()
    sales.insert((3, "ax", None, 50))
    found = sorted(map(repr, read_materialized_view(other, name).collect()))
    assert found == sorted(map(repr, sales.lake.sql(sales.lake.definition(sales.model))))
    assert plan_of(sales.seen[-1]) == "overwrite"


def test_refused(sales: Sales) -> None:
    sales.table("region")
    sales.fill()
    sales.build(BY["identity"][1])
    spark, name = SparkSession.active(), f"lake.{sales.lake.schema}.{sales.model}"
    with pytest.raises(NotReadable, match="not a materialized view"):
        read_materialized_view(spark, f"lake.{sales.lake.schema}.{sales.name}_t")
    other = spark.newSession()
    other.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    with pytest.raises(NotReadable, match=r"session\.timeZone"):
        read_materialized_view(other, name)
    sales.do(f"DROP TABLE lake.{sales.lake.schema}.__mv_storage__{sales.model} PURGE")
    sales.check("full")
    sales.lake.run("--select", sales.model)
    sales.do(f"CREATE OR REPLACE VIEW {name} AS SELECT region, 1L AS n, 2L AS v FROM {{t}}")
    with pytest.raises(NotReadable, match="redefined by hand"):
        read_materialized_view(spark, name)


def test_a_catalog_that_this_process_cannot_read(sales: Sales, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session reads it instead, unless it keeps tables in a cache."""
    sales.table("region")
    sales.fill()
    sales.build("select region, sum(v) as v from {t} group by region")

    def unreachable(settings: object) -> NoReturn:
        raise CatalogUnavailable("this process may not read it.", subject="Cannot read the catalog `lake`")

    monkeypatch.setattr(session_lake, "reader_for", unreachable)
    name = f"lake.{sales.lake.schema}.{sales.model}"
    sales.insert((1, "ax", "2024-01-01 10:00:00", 5))
    wanted = Counter(map(repr, sales.lake.sql(sales.lake.definition(sales.model))))
    session = SparkSession.active().newSession()
    session.conf.set("spark.sql.catalog.lake.cache-enabled", "false")
    assert Counter(map(repr, read_materialized_view(session, name).collect())) == wanted
    assert plan_of(sales.seen[-1]) == "overwrite"
    session.conf.set("spark.sql.catalog.lake.cache-enabled", "true")
    with pytest.raises(CatalogUnavailable, match="this process may not read it"):
        read_materialized_view(session, name)
