"""What readers get when base tables have moved on, for every `stale_read_behavior`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from integration.support.lake import LakeProject
from integration.support.requests import names_of_tests
from integration.support.spark_settings import with_settings
from integration.support.stitched import stale_keys

DAILY = "select region, day, count(*) as n, sum(amount) as total from {t} group by region, day"


@pytest.fixture(scope="module")
def tables(lake: LakeProject, request: pytest.FixtureRequest) -> dict[str, str]:
    """A table by region and day, with NULLs in both, for each test that asks for one."""
    made = {
        name: f"lake.{lake.schema}.orders_{number}" for number, name in enumerate(names_of_tests(request, "orders"))
    }
    lake.at_once(
        f"CREATE TABLE {table} USING iceberg PARTITIONED BY (region, day) TBLPROPERTIES "
        "('format-version'='2', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read') AS "
        "SELECT id, element_at(array('EU', 'US', NULL), cast(id % 3 as int) + 1) AS region,"
        " if(id % 7 = 0, null, date_add(date'2024-01-01', cast(id % 4 as int))) AS day,"
        " cast(id as int) AS amount FROM range(60)"
        for table in made.values()
    )
    return made


@pytest.fixture
def orders(tables: dict[str, str], request: pytest.FixtureRequest) -> str:
    """The table of the test."""
    return tables[request.node.name]


CHANGES = {
    "insert": "INSERT INTO {t} VALUES (100, 'EU', date'2024-01-02', 5)",
    "new partition": "INSERT INTO {t} VALUES (101, 'APAC', date'2024-02-02', 5)",
    "null partition": "INSERT INTO {t} VALUES (102, NULL, NULL, 7), (103, 'EU', NULL, 8)",
    "update": "UPDATE {t} SET amount = amount + 1 WHERE id = 8",
    "row moves": "UPDATE {t} SET region = 'US', day = date'2024-01-01' WHERE id = 9",
    "null to value": "UPDATE {t} SET region = 'APAC' WHERE region IS NULL AND id < 20",
    "delete": "DELETE FROM {t} WHERE id IN (3, 4, 5)",
    "partition emptied": "DELETE FROM {t} WHERE region = 'US'",
    "merge": "MERGE INTO {t} t USING (SELECT 8 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET amount = 0",
    "everything": "UPDATE {t} SET amount = -amount",
    "truncated": "TRUNCATE TABLE {t}",
}


IN_EVERY_RUN = ("insert", "null partition", "row moves", "partition emptied", "everything")


@pytest.mark.parametrize(
    "changes", [IN_EVERY_RUN, pytest.param(tuple(CHANGES), marks=pytest.mark.long)], ids=["some", "all"]
)
def test_stitched_reads_follow_every_change(lake: LakeProject, orders: str, changes: tuple[str, ...]) -> None:
    lake.model("stitched", DAILY.format(t=orders), stale_read_behavior="use_stitching")
    lake.model("viewed", DAILY.format(t=orders), stale_read_behavior="use_view_query")
    lake.model("stored", DAILY.format(t=orders))
    lake.run("--select", "stitched", "viewed", "stored")
    before = lake.sql(f"SELECT * FROM {lake.view('stored')} ORDER BY ALL")
    lake.assert_equals_definition("stitched", "viewed", "stored")
    for change in changes:
        lake.sql(CHANGES[change].format(t=orders))
        lake.assert_equals_definition("stitched", "viewed")
        assert lake.sql(f"SELECT * FROM {lake.view('stored')} ORDER BY ALL") == before


SEVERAL_USES = {
    "joined_with_itself": "select a.region, a.id, b.amount from {t} a join {t} b on a.id = b.id + 1",
    "share_of_total": "select a.region, a.id, b.s from {t} a cross join (select sum(amount) as s from {t}) b",
    "above_average": "select region, id, amount from {t} where amount > (select avg(amount) from {t})",
    "cte_used_twice": "with c as (select region, id, amount from {t}) select a.region, a.id, b.amount from c a"
    " left join c b on a.id = b.id + 1",
    "filled_in": "select coalesce(o.region, 'none') as region, l.id from {l} l left join {t} o on l.id = o.id",
    "filled_in_case": "select case when o.region is null then 'none' else o.region end as region, count(*) as n"
    " from {l} l left join {t} o on l.id = o.id group by 1",
    "one_table_told": "select l.region, l.id, o.s from {l} l cross join (select sum(amount) as s from {t}) o"
    " left join {t} p on p.region = l.region and p.id = l.id + 1",
}


@pytest.mark.long
def test_a_use_of_a_table_that_tells_no_key(lake: LakeProject, orders: str) -> None:
    labels = f"lake.{lake.schema}.labels"
    lake.sql(f"CREATE TABLE {labels} (id bigint, region string) USING iceberg PARTITIONED BY (region)")
    lake.sql(f"INSERT INTO {labels} SELECT id, if(id % 2 = 0, 'EU', 'US') FROM range(0, 200, 3)")
    for name, sql in SEVERAL_USES.items():
        lake.model(name, sql.format(t=orders, l=labels), stale_read_behavior="use_stitching")
    behaviors = lake.behaviors(*SEVERAL_USES)
    # The first two have hidden keys.
    stitched = ("joined_with_itself", "filled_in", "one_table_told")
    assert behaviors == {name: "use_stitching" if name in stitched else "use_view_query" for name in SEVERAL_USES}
    lake.sql(f"UPDATE {orders} SET amount = 1000 WHERE id = 7")
    lake.assert_equals_definition(*SEVERAL_USES)
    lake.sql(f"INSERT INTO {orders} VALUES (102, 'EU', NULL, 50)")
    lake.sql(f"INSERT INTO {labels} VALUES (300, 'APAC')")
    lake.assert_equals_definition("filled_in", "filled_in_case", "one_table_told")


@pytest.mark.long
def test_a_computed_key_reached_through_a_column_of_another_type(lake: LakeProject) -> None:
    small, large = (f"lake.{lake.schema}.{name}" for name in ("small_keys", "large_keys"))
    for table, type_ in ((small, "int"), (large, "bigint")):
        lake.sql(f"CREATE TABLE {table} (k {type_}, v int) USING iceberg PARTITIONED BY (k)")
        lake.sql(f"INSERT INTO {table} VALUES (1, 1), (5000, 1)")
    lake.model(
        "multiplied",
        f"select l.k * 1000000 as m, count(*) as n from {small} s join {large} l on s.k = l.k group by l.k * 1000000",
        stale_read_behavior="use_stitching",
    )
    lake.run("--select", "multiplied")
    assert "icebergmv_keys_0" in lake.published("multiplied").sql
    lake.sql(f"INSERT INTO {small} VALUES (5000, 2)")
    lake.assert_equals_definition("multiplied")


@pytest.mark.long
def test_a_file_that_is_added_once_more(lake: LakeProject, orders: str) -> None:
    lake.model("added_again", DAILY.format(t=orders), stale_read_behavior="use_stitching")
    assert lake.run("--select", "added_again")["added_again"]["stale_read_behavior"] == "use_stitching"
    assert "icebergmv_keys_0" in lake.published("added_again").sql
    table = lake.java_table(orders)
    file = table.newScan().planFiles().iterator().next().file()
    table.newFastAppend().appendFile(file).commit()
    lake.assert_equals_definition("added_again")
    lake.run("--select", "added_again")
    lake.assert_equals_definition("added_again")


def test_columns_changed_by_a_writer_whose_clock_is_behind(lake: LakeProject, orders: str) -> None:
    """The last snapshot came from a clock that is 40 seconds ahead; the columns change by one that is right."""
    lake.sql(f"INSERT INTO {orders} VALUES (200, 'EU', date'2024-01-02', 5)")
    file = Path(str(lake.java_table(orders).operations().current().metadataFileLocation()).removeprefix("file:"))
    text = file.read_text()
    metadata = json.loads(text)
    moments = {metadata["last-updated-ms"], metadata["snapshots"][-1]["timestamp-ms"]}
    # The adapter reads a metadata file once, so this is done before it does.
    for moment in moments:
        text = text.replace(str(moment), str(moment + 40_000))
    file.write_text(text)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    lake.model("behind", DAILY.format(t=orders), stale_read_behavior="use_stitching")
    lake.run("--select", "behind")
    table = lake.java_table(orders)
    spark: Any = SparkSession.active()
    number = spark._jvm.org.apache.iceberg.types.Types.IntegerType.get()
    table.updateSchema().deleteColumn("amount").addColumn("amount", number).commit()
    lake.assert_equals_definition("behind")


def test_fail_names_the_view_and_its_last_refresh(lake: LakeProject, orders: str) -> None:
    lake.model("failing", DAILY.format(t=orders), stale_read_behavior="fail")
    lake.run("--select", "failing")
    lake.assert_equals_definition("failing")
    lake.sql(CHANGES["insert"].format(t=orders))
    for query in ("SELECT * FROM {v}", "SELECT count(*) FROM {v}", "SELECT n FROM {v} WHERE region = 'nowhere'"):
        with pytest.raises(PySparkException, match=r"failing is stale: .* last refresh at 20.*dbt run"):
            lake.sql(query.format(v=lake.view("failing")))


@pytest.mark.long
def test_fail_over_columns_of_every_kind(lake: LakeProject, orders: str) -> None:
    columns = "map(1, named_struct('a b', array(amount))) as m, named_struct('x', amount, 'y', map(id, day)) as s"
    sql = f"select region, {columns}, amount > 5 as b, unhex('00') as u from {orders}"
    lake.model("failing_kinds", sql, stale_read_behavior="fail")
    lake.run("--select", "failing_kinds")
    assert lake.sql(f"SELECT count(m), count(s), count(u) FROM {lake.view('failing_kinds')}") == [(60, 60, 60)]
    lake.sql(CHANGES["insert"].format(t=orders))
    with with_settings({"spark.sql.ansi.enabled": "true"}):
        for where in ("m IS NULL", "m[1] IS NOT NULL", "s.x = 7", "u = X'01'", "region IS NULL", "b IS NULL", "b"):
            with pytest.raises(PySparkException, match="failing_kinds is stale"):
                lake.sql(f"SELECT region FROM {lake.view('failing_kinds')} WHERE {where}")


@pytest.mark.long
def test_keys_that_would_fail_where_the_definition_does_not(lake: LakeProject) -> None:
    """A computed key is not evaluated on partitions that the WHERE leaves out, nor of a type that cannot be a key."""
    table = f"lake.{lake.schema}.codes"
    lake.sql(f"CREATE TABLE {table} (code string, n int) USING iceberg PARTITIONED BY (code)")
    lake.sql(f"INSERT INTO {table} VALUES ('1', 1), ('2', 2), ('abc', 3)")
    lake.model(
        "cast_codes",
        f"select cast(code as int) as c, sum(n) as s from {table} where code rlike '^[0-9]+$' group by 1",
        stale_read_behavior="use_stitching",
    )
    lake.model(
        "mapped_codes",
        f"select code, upper(code) as u, map('c', code) as m, n from {table}",
        stale_read_behavior="use_stitching",
    )
    assert lake.behaviors("cast_codes", "mapped_codes") == {
        "cast_codes": "use_view_query",
        "mapped_codes": "use_stitching",
    }
    sql = lake.published("mapped_codes").sql
    assert ("icebergmv_keys_0" in sql, "UPPER" in sql.upper().split("UNION ALL")[0]) == (True, False)
    lake.sql(f"INSERT INTO {table} VALUES ('abc', 4), ('2', 5)")
    reader = SparkSession.active().newSession()
    for key, value in SparkSession.active().sql("SET").collect():
        if key.startswith("spark.sql.catalog.lake"):
            reader.conf.set(key, value)
    reader.conf.set("spark.sql.session.timeZone", "UTC")
    reader.conf.set("spark.sql.ansi.enabled", "true")
    assert sorted(map(tuple, reader.table(lake.view("cast_codes")).collect())) == [(1, 1), (2, 7)]
    found = reader.sql(f"SELECT code, m['c'], n FROM {lake.view('mapped_codes')} ORDER BY ALL").collect()
    assert [tuple(r) for r in found] == [
        ("1", "1", 1),
        ("2", "2", 2),
        ("2", "2", 5),
        ("abc", "abc", 3),
        ("abc", "abc", 4),
    ]


def test_keys_that_would_fail_in_the_session_of_a_reader(lake: LakeProject) -> None:
    """They are not made there; the SELECT leaves out the rows on which they fail."""
    table = f"lake.{lake.schema}.multiples"
    lake.sql(f"CREATE TABLE {table} (k int, v int) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {table} VALUES (1, 1), (2, 2)")
    sql = f"select k * 1000000 as m, sum(v) as s from {table} where k < 2000 group by k * 1000000"
    lake.model("of_multiples", sql, stale_read_behavior="use_stitching")
    assert lake.behaviors("of_multiples") == {"of_multiples": "use_stitching"}
    lake.sql(f"INSERT INTO {table} VALUES (5000, 5), (2, 7)")
    reader = lake.session({"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"})
    for run in (lake.sql, reader):
        assert sorted(map(tuple, run(f"SELECT * FROM {lake.view('of_multiples')}"))) == [(1000000, 1), (2000000, 9)]


def test_a_partition_column_of_another_type(users_lake: LakeProject) -> None:
    """The lists of files then and now cannot be compared any more: they are not read, as everything is computed."""
    lake, table = users_lake, f"lake.{users_lake.schema}.retyped"
    lake.sql(f"CREATE TABLE {table} (k string, v int) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {table} VALUES ('a', 1), ('b', 2)")
    lake.model("of_retyped", f"select k, sum(v) as s from {table} group by k", stale_read_behavior="use_stitching")
    assert lake.behaviors("of_retyped") == {"of_retyped": "use_stitching"}
    lake.sql(f"CREATE OR REPLACE TABLE {table} USING iceberg PARTITIONED BY (k) AS SELECT 1 AS k, 2 AS v")
    assert lake.rows("of_retyped") == [("1", 2)]


@pytest.mark.long
def test_fields_of_a_struct_behind_an_alias(lake: LakeProject) -> None:
    """`o.place.city` is no column of a schema."""
    table, view = f"lake.{lake.schema}.places", f"lake.{lake.schema}.near_places"
    columns = "region string, place struct<city: string, zip: int>, n int"
    lake.sql(f"CREATE TABLE {table} ({columns}) USING iceberg PARTITIONED BY (region)")
    lake.sql(
        f"INSERT INTO {table} SELECT if(id % 2 = 0, 'EU', 'US'), named_struct('city', concat('c', id % 3), 'zip', int(id)),"
        " 1 FROM range(20)"
    )
    lake.sql(f"CREATE VIEW {view} AS SELECT o.region, o.place.city AS city, o.n FROM {table} o WHERE o.place.zip < 15")
    select = "select p.region, p.place.city as city, sum(p.n) as n from {} p where p.place.zip > 1 group by 1, 2"
    lake.model("of_places", select.format(table), stale_read_behavior="use_stitching")
    lake.model("of_near_places", f"select region, city, n from {view}", stale_read_behavior="use_stitching")
    names = ("of_places", "of_near_places")
    assert lake.behaviors(*names) == dict.fromkeys(names, "use_stitching")
    for change in (
        "INSERT INTO {t} VALUES ('EU', named_struct('city', 'c9', 'zip', 3), 5), ('EU', NULL, 6)",
        "UPDATE {t} SET place = named_struct('city', 'c8', 'zip', 0) WHERE place.zip = 3",
    ):
        lake.sql(change.format(t=table))
        lake.assert_equals_definition(*names)
        kinds = {name: r["refresh_kind"] for name, r in lake.run("--select", *names).items()}
        assert "full" not in kinds.values(), kinds
        lake.assert_equals_definition(*names)


def test_a_computed_key_that_cannot_fail_is_stitched_in_ansi_mode(lake: LakeProject) -> None:
    table, name = f"lake.{lake.schema}.of_regions", "by_region_or_none"
    lake.sql(f"CREATE TABLE {table} (region string, n int) USING iceberg PARTITIONED BY (region)")
    lake.sql(f"INSERT INTO {table} VALUES ('eu', 1), ('EU', 2), ('us', 3), (NULL, 4)")
    select = f"select upper(coalesce(region, 'none')) as r, sum(n) as n from {table} group by 1"
    lake.model(name, select, stale_read_behavior="use_stitching")
    assert lake.run("--select", name)[name]["stale_read_behavior"] == "use_stitching"
    lake.sql(f"INSERT INTO {table} VALUES ('eu', 10), (NULL, 40), ('asia', 5)")
    for ansi in ("true", "false"):
        reader = lake.session({"spark.sql.ansi.enabled": ansi})
        assert stale_keys(reader, lake.published(name).sql) == (3, 0)
        rows = {tuple(row) for row in reader(f"SELECT * FROM {lake.view(name)}")}
        assert rows == {("EU", 13), ("US", 3), ("NONE", 44), ("ASIA", 5)}
