"""Cases that once gave, or could have given, a wrong row on Spark: each must be right, in part or in full."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from integration.support.lake import LakeProject


@dataclass(frozen=True)
class Values:
    """Values of a key column: one that is there when the view is built, and one that comes in a later commit."""

    name: str
    type: str
    partition: str
    before: str
    after: str


VALUES = (
    Values("zeros", "float", "k", "float('0.0')", "float('-0.0')"),
    Values("double_zeros", "double", "k", "double('-0.0')", "double('0.0')"),
    Values("tiny_double", "double", "k", "1e-300D", "1e-300D"),
    Values("huge_double", "double", "k", "1e300D", "-1e300D"),
    Values("int_floor", "int", "truncate(10, k)", "int('-2147483648')", "int('-2147483648')"),
    Values("bigint_floor", "bigint", "truncate(7, k)", "bigint('-9223372036854775808')", "5L"),
    Values(
        "wide_decimal",
        "decimal(38,2)",
        "truncate(10, k)",
        "cast('999999999999999999999999999999999999.99' as decimal(38,2))",
        "cast('-0.01' as decimal(38,2))",
    ),
    Values("old_dates", "date", "months(k)", "date'0001-01-01'", "date'1582-10-10'"),
    Values(
        "old_times",
        "timestamp",
        "hours(k)",
        "timestamp'1969-12-31 23:59:59.999999Z'",
        "timestamp'1582-10-04 00:00:00Z'",
    ),
    Values("astral", "string", "truncate(1, k)", "'\U0001f600x'", "'\U0001f600y'"),
    Values("like_signs", "string", "k", "'100%'", "'100_'"),
)


@pytest.fixture(scope="module")
def refreshed(lake: LakeProject) -> dict[str, list[str]]:
    """The kinds of the refreshes of every view: the first build, then one for each of two commits; all were right."""
    bases = {v.name: f"lake.{lake.schema}.{v.name}_base" for v in VALUES}
    lake.at_once(
        f"CREATE TABLE {bases[v.name]} USING iceberg PARTITIONED BY ({v.partition}) AS "
        f"SELECT CAST({v.before} AS {v.type}) AS k, 1 AS v UNION ALL SELECT NULL, 2"
        for v in VALUES
    )
    for name, base in bases.items():
        lake.model(name, f"select k, count(*) as n, sum(v) as v from {base} group by k")
    kinds: dict[str, list[str]] = {name: [] for name in bases}
    for number in range(3):
        if number:
            lake.at_once(f"INSERT INTO {bases[v.name]} VALUES ({(v.before, v.after)[number % 2]}, 5)" for v in VALUES)
        for name, response in lake.run("--select", *bases).items():
            kinds[name].append(response["refresh_kind"])
        lake.assert_equals_definition(*bases)
    return kinds


@pytest.mark.parametrize("name", [v.name for v in VALUES])
def test_values(refreshed: dict[str, list[str]], name: str) -> None:
    assert refreshed[name] == ["full", "overwrite", "overwrite"]


def test_join_in_parentheses(lake: LakeProject) -> None:
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


def test_renamed_and_added_again(lake: LakeProject) -> None:
    base = f"lake.{lake.schema}.swapped_base"
    lake.sql(f"CREATE TABLE {base} (d date, region string) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {base} VALUES (date'2024-01-01', 'EU'), (date'2024-01-02', 'US')")
    lake.model("swapped", f"select d, region from {base}")
    lake.run("--select", "swapped")
    lake.sql(f"ALTER TABLE {base} RENAME COLUMN region TO old_region")
    lake.sql(f"ALTER TABLE {base} ADD COLUMN region string")
    assert "another column" in lake.run("--select", "swapped")["swapped"]["refresh_reason"]
    lake.assert_equals_definition("swapped")


def test_session_setting_changed_by_a_hook_is_refused(lake: LakeProject) -> None:
    base = f"lake.{lake.schema}.zoned_base"
    lake.sql(f"CREATE TABLE {base} (ts timestamp) USING iceberg PARTITIONED BY (days(ts))")
    lake.sql(f"INSERT INTO {base} VALUES (timestamp'2024-01-01 02:00:00Z')")
    sql = f"select date(ts) as d, count(*) as n from {base} group by 1"
    lake.model("zoned", sql, pre_hook="set time zone 'America/New_York'")
    try:
        message = lake.fail("--select", "zoned")
    finally:
        # In dbt's session, which need not be the one of this test.
        lake.model("zoned", sql, pre_hook="set time zone 'UTC'")
        lake.run("--select", "zoned")
    assert "spark.sql.session.timeZone" in message
    assert "server_side_parameters" in message


def test_session_variable_and_substitution(lake: LakeProject) -> None:
    base = f"lake.{lake.schema}.vars_base"
    lake.sql(f"CREATE TABLE {base} (k int) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {base} VALUES (1), (2), (9)")
    declare, sql = "DECLARE OR REPLACE VARIABLE cutoff INT DEFAULT {}", f"select k from {base} where k > cutoff"
    lake.model("by_variable", sql, pre_hook=declare.format(1))
    lake.run("--select", "by_variable")
    lake.model("by_variable", sql, pre_hook=declare.format(5))
    lake.sql(declare.format(5))
    assert lake.run("--select", "by_variable")["by_variable"]["refresh_kind"] == "full"
    lake.assert_equals_definition("by_variable")


def test_view_below_redefined_by_hand(lake: LakeProject) -> None:
    base = f"lake.{lake.schema}.below_base"
    lake.sql(f"CREATE TABLE {base} (k int) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {base} VALUES (1), (2)")
    lake.model("below", f"select k from {base}")
    lake.model("above", "select k, count(*) as n from {{ ref('below') }} group by k")
    lake.run("--select", "below", "above")
    lake.sql(f"CREATE OR REPLACE VIEW {lake.view('below')} AS SELECT 7 AS k")
    response = lake.run("--select", "above")["above"]
    assert (response["refresh_kind"], response["rows_affected"]) == ("full", 1)
    assert lake.rows("above") == [(7, 1)]


def test_a_table_named_like_a_backup_is_left_alone(lake: LakeProject) -> None:
    base = f"lake.{lake.schema}.precious_base"
    backup = f"lake.{lake.schema}.precious__dbt_backup"
    lake.sql(f"CREATE TABLE {base} USING iceberg PARTITIONED BY (k) AS SELECT 1 AS k")
    lake.sql(f"CREATE TABLE {backup} USING iceberg AS SELECT 7 AS k")
    lake.sql(f"CREATE TABLE lake.{lake.schema}.precious USING iceberg AS SELECT 8 AS k")
    lake.model("precious", f"select k from {base}")
    response = lake.run("--select", "precious")["precious"]
    assert (response["refresh_kind"], response["rows_affected"]) == ("full", 1)
    assert [tuple(row) for row in lake.sql(f"SELECT k FROM {backup}")] == [(7,)]
    assert lake.rows("precious") == [(1,)]


def test_names_without_a_schema_are_those_of_the_profile(lake: LakeProject) -> None:
    lake.sql(f"CREATE TABLE lake.{lake.schema}.plain_name (k int) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO lake.{lake.schema}.plain_name VALUES (1)")
    lake.model("unqualified", "select k from plain_name", schema="elsewhere")
    lake.run("--select", "unqualified")
    rows = lake.sql(f"SELECT k FROM lake.{lake.schema}_elsewhere.unqualified")
    assert [r[0] for r in rows] == [1]


def test_a_row_that_the_join_condition_can_match_with_nothing(lake: LakeProject) -> None:
    """Of a table that is joined by midnights, a row at noon shows NULL for the other side."""
    days, moments = f"lake.{lake.schema}.of_days", f"lake.{lake.schema}.of_moments"
    lake.sql(f"CREATE TABLE {days} USING iceberg AS SELECT timestamp'2024-01-01 08:00:00' AS ts")
    lake.sql(f"CREATE TABLE {moments} (ts timestamp, v int) USING iceberg PARTITIONED BY (ts)")
    lake.sql(f"INSERT INTO {moments} VALUES (timestamp'2024-01-01 00:00:00', 1)")
    joined = f"from {days} x {{}} join {moments} y on date_trunc('day', x.ts) = y.ts"
    grouped = "select date_trunc('day', x.ts) as k, count(*) as n {} group by 1"
    models = {
        "right_grouped": grouped.format(joined.format("right")),
        "full_grouped": grouped.format(joined.format("full")),
        "right_rows": f"select date_trunc('day', x.ts) as k, y.v {joined.format('right')}",
    }
    for name, sql in models.items():
        lake.model(name, sql)
    lake.run("--select", *models)
    lake.sql(f"INSERT INTO {moments} VALUES (timestamp'2024-01-01 12:00:00', 2)")
    kinds = {response["refresh_kind"] for response in lake.run("--select", *models).values()}
    lake.assert_equals_definition(*models)
    assert "none" not in kinds
