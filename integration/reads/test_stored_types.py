"""Base columns that have other types than at the refresh: values under the stored types, or an error."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from integration.support.lake import LakeProject


@pytest.mark.long
def test_a_value_that_does_not_fit_the_stored_type(lake: LakeProject) -> None:
    table = f"lake.{lake.schema}.widened"
    lake.sql(f"CREATE TABLE {table} (k string, i int, d decimal(4, 1)) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {table} VALUES ('a', 1, 1.5), ('b', NULL, NULL)")
    lake.model("widened_mv", f"select k, i, d from {table}", stale_read_behavior="use_stitching")
    lake.run("--select", "widened_mv")
    lake.sql(f"ALTER TABLE {table} ALTER COLUMN i TYPE bigint")
    lake.sql(f"ALTER TABLE {table} ALTER COLUMN d TYPE decimal(9, 1)")
    lake.sql(f"INSERT INTO {table} VALUES ('b', 7, 2.5)")
    lake.assert_equals_definition("widened_mv")
    lake.sql(f"INSERT INTO {table} VALUES ('c', 3000000000, 1), ('d', 1, 20000.5)")
    for key, column in (("c", "i"), ("d", "d")):
        with pytest.raises(PySparkException, match=f"A value of {column} does not fit"):
            lake.sql(f"SELECT {column} FROM {lake.view('widened_mv')} WHERE k = '{key}'")
    lake.run("--select", "widened_mv")
    lake.assert_equals_definition("widened_mv")


@pytest.fixture(scope="module", params=["small", "use_view_query", "use_stitching"])
def retyped(lake: LakeProject, request: pytest.FixtureRequest) -> str:
    """Return a view over a table whose columns have other types since; by the definition over a small table, too."""
    name = f"retyped_{request.param}"
    table = f"lake.{lake.schema}.{name}_base"
    columns = "k string, f float, s struct<x: int, y: int>, a array<int>, m map<string, int>, o struct<x: int, y: int>"
    lake.sql(f"CREATE TABLE {table} ({columns}, i int, n bigint, d date, t string) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {table} (k) VALUES ('null')")
    behavior = "use_stitching" if request.param == "small" else request.param
    below = 1_000_000 if request.param == "small" else 0
    lake.model(name, f"select * from {table}", stale_read_behavior=behavior, definition_below_rows=below)
    lake.run("--select", name)
    for statement in (
        "ALTER COLUMN f TYPE double",
        "ALTER COLUMN s.x TYPE bigint",
        "ALTER COLUMN a.element TYPE bigint",
        "ALTER COLUMN m.value TYPE bigint",
        "ALTER COLUMN o.y FIRST",
    ):
        lake.sql(f"ALTER TABLE {table} {statement}")
    lake.sql(
        f"INSERT INTO {table} VALUES ('fits', 0.5D, NULL, NULL, NULL, NULL, 7, 8, NULL, 't'),"
        " ('not', 0.1D, named_struct('x', 3000000000L, 'y', 1), array(3000000000L), map('a', 3000000000L),"
        " named_struct('y', 1, 'x', 2), NULL, NULL, NULL, NULL), ('infinite', 1e300, NULL, NULL, NULL, NULL, 1, 1, NULL, '')"
    )
    return name


def test_values_that_fit_are_shown_under_the_stored_types(lake: LakeProject, retyped: str) -> None:
    found = lake.sql(f"SELECT *, typeof(f) FROM {lake.view(retyped)} WHERE k IN ('fits', 'null') ORDER BY k")
    nothing = (None,) * 4
    assert [tuple(row) for row in found] == [
        ("fits", 0.5, *nothing, 7, 8, None, "t", "float"),
        ("null", None, *nothing, None, None, None, None, "float"),
    ]


@pytest.mark.parametrize(("column", "key"), [("f", "not"), ("f", "infinite"), *((c, "not") for c in "samo")])
def test_values_of_other_types_are_an_error(lake: LakeProject, retyped: str, column: str, key: str) -> None:
    with pytest.raises(PySparkException, match=f"A value of {column} does not fit into"):
        lake.sql(f"SELECT {column} FROM {lake.view(retyped)} WHERE k = '{key}'")


REPLACED = {
    "i": ("int", "1.5BD", "an int by a decimal"),
    "n": ("bigint", "'n/a'", "a number by a text"),
    "d": ("date", "timestamp'2024-01-02 03:04:05'", "a date by a time"),
    "b": ("boolean", "2", "a truth value by a number"),
}


def test_columns_that_are_replaced_by_other_types(lake: LakeProject) -> None:
    name, table = "replaced_types", f"lake.{lake.schema}.replaced_types_base"
    nulls = ", ".join(f"CAST(NULL AS {type_}) AS {c}" for c, (type_, _, _) in REPLACED.items())
    others = ", ".join(f"{value} AS {c}" for c, (_, value, _) in REPLACED.items())
    lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT {nulls}, CAST(1 AS int) AS t")
    lake.model(name, f"select *, cast(t as string) as text from {table}", stale_read_behavior="use_stitching")
    lake.run("--select", name)
    lake.sql(f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT {others}, 'any' AS t")
    for column, (_, _, what) in REPLACED.items():
        with pytest.raises(PySparkException, match=f"A value of {column} does not fit into"):
            pytest.fail(f"{what}: {lake.sql(f'SELECT {column} FROM {lake.view(name)}')}")
    assert [tuple(row) for row in lake.sql(f"SELECT text FROM {lake.view(name)}")] == [("any",)]
    lake.run("--select", name)
    lake.assert_equals_definition(name)


def test_types_that_iceberg_stores_as_others_are_read_as_ever(lake: LakeProject) -> None:
    name, table = "short_types", f"lake.{lake.schema}.short_types_base"
    lake.sql(
        f"CREATE TABLE {table} USING iceberg AS SELECT 1 AS v, 'abc' AS t, DOUBLE('NaN') AS f, `x`.* FROM VALUES"
        " (named_struct('odd name', 1, 'smallint', 2, 'A', named_struct('b:c', 'd'))) AS x(`s:t`)"
    )
    sql = (
        "select cast(v as tinyint) as a, cast(v as smallint) as b, cast(t as varchar(3)) as c, cast(t as char(3)) as d,"
        " array(cast(v as smallint)) as e, map(cast(v as tinyint), named_struct('x', cast(v as smallint))) as g,"
        f" named_struct('x', cast(v as tinyint), 'smallint', t) as h, f, cast(f as float) as i, `s:t`, t from {table}"
    )
    lake.model(name, sql, stale_read_behavior="use_view_query", definition_below_rows=0)
    lake.run("--select", name)
    lake.sql(f"INSERT INTO {table} SELECT * FROM {table}")
    counted = "SELECT j, count(*) FROM (SELECT to_json(struct(*)) AS j FROM {}) GROUP BY j"
    shown = lake.sql(counted.format(lake.view(name)))
    assert [row[1] for row in shown] == [2]
    assert shown == lake.sql(counted.format(f"({sql})"))
