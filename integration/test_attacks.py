"""Cases that once gave, or could have given, a wrong row on Spark: each must be right, in part or in full."""

from __future__ import annotations

import pytest

from integration.lake import Lake


@pytest.mark.parametrize(
    ("name", "type", "partition", "before", "after"),
    [
        ("zeros", "float", "k", "float('0.0')", "float('-0.0')"),
        ("double_zeros", "double", "k", "double('-0.0')", "double('0.0')"),
        ("tiny_double", "double", "k", "1e-300D", "1e-300D"),
        ("huge_double", "double", "k", "1e300D", "-1e300D"),
        ("int_floor", "int", "truncate(10, k)", "int('-2147483648')", "int('-2147483648')"),
        ("bigint_floor", "bigint", "truncate(7, k)", "bigint('-9223372036854775808')", "5L"),
        (
            "wide_decimal",
            "decimal(38,2)",
            "truncate(10, k)",
            "cast('999999999999999999999999999999999999.99' as decimal(38,2))",
            "cast('-0.01' as decimal(38,2))",
        ),
        ("old_dates", "date", "months(k)", "date'0001-01-01'", "date'1582-10-10'"),
        (
            "old_times",
            "timestamp",
            "hours(k)",
            "timestamp'1969-12-31 23:59:59.999999Z'",
            "timestamp'1582-10-04 00:00:00Z'",
        ),
        ("astral", "string", "truncate(1, k)", "'\U0001f600x'", "'\U0001f600y'"),
        ("like_signs", "string", "k", "'100%'", "'100_'"),
    ],
)
def test_values(lake: Lake, name: str, type: str, partition: str, before: str, after: str) -> None:  # noqa: A002
    base = f"lake.{lake.schema}.{name}_base"
    lake.sql(f"CREATE TABLE {base} (k {type}, v int) USING iceberg PARTITIONED BY ({partition})")
    lake.sql(f"INSERT INTO {base} VALUES ({before}, 1), (NULL, 2)")
    lake.model(name, f"select k, count(*) as n, sum(v) as v from {base} group by k")
    lake.run("--select", name)
    for value in (after, before):
        lake.sql(f"INSERT INTO {base} VALUES ({value}, 5)")
        lake.run("--select", name)
        lake.assert_equals_definition(name)


def test_join_in_parentheses(lake: Lake) -> None:
    left, right = f"lake.{lake.schema}.paren_left", f"lake.{lake.schema}.paren_right"
    lake.sql(f"CREATE TABLE {left} (id int, d date) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"CREATE TABLE {right} (id int, w string) USING iceberg")
    lake.sql(f"INSERT INTO {right} VALUES (1, 'one'), (2, 'two')")
    lake.sql(f"INSERT INTO {left} VALUES (1, date'2024-01-01')")
    lake.model("paren", f"select d, w from ({left} b right join {right} o on b.id = o.id)")
    lake.run("--select", "paren")
    lake.sql(f"INSERT INTO {left} VALUES (2, date'2024-01-02')")
    assert lake.run("--select", "paren")["paren"]["refresh_kind"] == "overwrite"
    lake.assert_equals_definition("paren")


def test_renamed_and_added_again(lake: Lake) -> None:
    base = f"lake.{lake.schema}.swapped_base"
    lake.sql(f"CREATE TABLE {base} (d date, region string) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {base} VALUES (date'2024-01-01', 'EU'), (date'2024-01-02', 'US')")
    lake.model("swapped", f"select d, region from {base}")
    lake.run("--select", "swapped")
    lake.sql(f"ALTER TABLE {base} RENAME COLUMN region TO old_region")
    lake.sql(f"ALTER TABLE {base} ADD COLUMN region string")
    assert "another column" in lake.run("--select", "swapped")["swapped"]["refresh_reason"]
    lake.assert_equals_definition("swapped")


def test_session_setting_changed_by_a_hook_is_refused(lake: Lake) -> None:
    base = f"lake.{lake.schema}.zoned_base"
    lake.sql(f"CREATE TABLE {base} (ts timestamp) USING iceberg PARTITIONED BY (days(ts))")
    lake.sql(f"INSERT INTO {base} VALUES (timestamp'2024-01-01 02:00:00Z')")
    lake.model(
        "zoned",
        f"select date(ts) as d, count(*) as n from {base} group by 1",
        pre_hook="set time zone 'America/New_York'",
    )
    try:
        message = lake.fail("--select", "zoned")
    finally:
        lake.sql("SET TIME ZONE 'UTC'")
    assert "spark.sql.session.timeZone" in message
    assert "server_side_parameters" in message


def test_session_variable_and_substitution(lake: Lake) -> None:
    base = f"lake.{lake.schema}.vars_base"
    lake.sql(f"CREATE TABLE {base} (k int) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {base} VALUES (1), (2), (9)")
    lake.sql("DECLARE OR REPLACE VARIABLE cutoff INT DEFAULT 1")
    lake.model("by_variable", f"select k from {base} where k > cutoff")
    lake.run("--select", "by_variable")
    lake.sql("SET VARIABLE cutoff = 5")
    assert lake.run("--select", "by_variable")["by_variable"]["refresh_kind"] == "full"
    lake.assert_equals_definition("by_variable")


def test_view_below_redefined_by_hand(lake: Lake) -> None:
    base = f"lake.{lake.schema}.below_base"
    lake.sql(f"CREATE TABLE {base} (k int) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {base} VALUES (1), (2)")
    lake.model("below", f"select k from {base}")
    lake.model("above", "select k, count(*) as n from {{ ref('below') }} group by k")
    lake.run("--select", "below", "above")
    lake.sql(f"CREATE OR REPLACE VIEW {lake.view('below')} AS SELECT 7 AS k")
    lake.run("--select", "above")
    lake.assert_equals_definition("above")


def test_a_table_named_like_a_backup_is_left_alone(lake: Lake) -> None:
    base = f"lake.{lake.schema}.precious_base"
    lake.sql(f"CREATE TABLE {base} (k int) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"CREATE TABLE lake.{lake.schema}.precious__dbt_backup (k int) USING iceberg")
    lake.sql(f"CREATE TABLE lake.{lake.schema}.precious (k int) USING iceberg")
    lake.model("precious", f"select k from {base}")
    lake.run("--select", "precious")
    lake.sql(f"SELECT k FROM lake.{lake.schema}.precious__dbt_backup")
    lake.assert_equals_definition("precious")


def test_names_without_a_schema_are_those_of_the_profile(lake: Lake) -> None:
    lake.sql(f"CREATE TABLE lake.{lake.schema}.plain_name (k int) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO lake.{lake.schema}.plain_name VALUES (1)")
    lake.model("unqualified", "select k from plain_name", schema="elsewhere")
    lake.run("--select", "unqualified")
    rows = lake.sql(f"SELECT k FROM lake.{lake.schema}_elsewhere.unqualified")
    assert [r[0] for r in rows] == [1]
