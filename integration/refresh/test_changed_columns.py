"""Columns of base tables that change without a new row, and what the SELECT means then."""

from __future__ import annotations

import pytest

from integration.support.following import filled
from integration.support.lake import LakeProject

T = ("id bigint, k bigint, x bigint", "(1, 10, 100), (2, 20, 200), (3, 30, 3)")
CASES = {
    "an alias of the list": (
        {"t": T},
        "select id, k * 10 as x, x + 1 as y from {t}",
        ["ALTER TABLE {t} DROP COLUMN x"],
    ),
    "a column around a subquery": (
        {"t": T, "u": ("id bigint, x bigint", "(1, 1), (2, 2), (3, 9)")},
        "select t.id from {t} t where exists (select 1 from {u} u where u.id = t.id and x > 5)",
        ["ALTER TABLE {u} RENAME COLUMN x TO z"],
    ),
    "a field of a struct": (
        {"t": ("id bigint, a bigint, s struct<a: bigint>", "(1, 5, named_struct('a', 6L))")},
        "select s.id, s.a as v from {t} s",
        ["ALTER TABLE {t} DROP COLUMN a"],
    ),
    "a name of a NATURAL JOIN": (
        {"t": ("id bigint, v bigint", "(1, 1), (2, 2)"), "u": ("id bigint, w bigint", "(1, 1), (2, 9)")},
        "select id from {t} natural join {u}",
        ["ALTER TABLE {u} RENAME COLUMN w TO v"],
    ),
    "keys of JSON": (
        {"t": ("id bigint, v bigint", "(1, 1), (2, 2)")},
        "select id, to_json(struct(*)) as j from {t}",
        ["ALTER TABLE {t} RENAME COLUMN v TO w"],
    ),
    "a type behind an alias": (
        {"t": ("id bigint, f float", "(1, 0.1F)")},
        "select x, cast(y as string) as s from {t} as a(x, y)",
        ["ALTER TABLE {t} ALTER COLUMN f TYPE double"],
    ),
    "groups by all columns": (
        {"t": ("id bigint, z bigint", "(1, 1), (1, 2)")},
        "select max(n) as m from (select *, count(*) as n from {t} group by all) q",
        ["ALTER TABLE {t} DROP COLUMN z"],
    ),
    "NULL among what NOT IN lists": (
        {"t": ("id bigint, y bigint not null", "(1, 1), (2, 2), (3, 50)"), "u": ("y bigint", "(1), (null)")},
        "select id, y from {t} where y not in (select y from {u})",
        ["CREATE OR REPLACE TABLE {u} (y bigint not null) USING iceberg", "INSERT INTO {u} VALUES (1), (2)"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_view_is_its_select(lake: LakeProject, case: str) -> None:
    tables, select, changes = CASES[case]
    name = f"columns_{[*CASES].index(case)}"
    names = filled(lake, f"{name}_", tables)
    lake.model(name, select.format(**names))
    lake.run("--select", name)
    for change in changes:
        lake.sql(change.format(**names))
    assert lake.run("--select", name)[name]["refresh_kind"] == "full"
    lake.assert_equals_definition(name)
    assert lake.run("--select", name)[name]["refresh_kind"] == "none"


def test_a_table_that_had_other_columns_at_the_snapshot_that_is_read(lake: LakeProject) -> None:
    days, then = (f"lake.{lake.schema}.pinned_{table}" for table in ("days", "then"))
    lake.sql(f"CREATE TABLE {days} (k date, w bigint) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {days} VALUES (date'2024-01-01', 1), (date'2024-01-02', 3)")
    lake.sql(f"CREATE OR REPLACE TABLE {then} USING iceberg AS SELECT '2024-1-1' AS k UNION ALL SELECT '2024-01-02'")
    snapshot = lake.sql(f"SELECT snapshot_id FROM {then}.snapshots")[0][0]
    lake.sql(f"CREATE OR REPLACE TABLE {then} USING iceberg AS SELECT date'2024-01-01' AS k")
    lake.model(
        "then_read",
        f"select p.k, count(distinct l.w) as n from {days} l join {then} VERSION AS OF {snapshot} p on l.k = p.k "
        "group by p.k",
        refresh_policy="incremental",
    )
    lake.run("--select", "then_read")
    for day in ("2024-01-01", "2024-01-02"):
        lake.sql(f"INSERT INTO {days} VALUES (date'{day}', 7)")
        lake.run("--select", "then_read")
        lake.assert_equals_definition("then_read")


def test_a_renamed_column_of_the_current_snapshot(lake: LakeProject) -> None:
    """Iceberg finds the columns of filters on the current snapshot among those of today alone."""
    table = f"lake.{lake.schema}.renamed"
    lake.sql(f"CREATE TABLE {table} USING iceberg PARTITIONED BY (day) AS SELECT 1 AS day, 5 AS v")
    lake.model("renamed_view", f"select day, v from {table} where v > 3")
    lake.run("--select", "renamed_view")
    lake.sql(f"ALTER TABLE {table} RENAME COLUMN v TO w")
    lake.model("renamed_view", f"select day, w from {table} where w > 3")
    assert lake.run("--select", "renamed_view")["renamed_view"]["refresh_kind"] == "full"
    lake.assert_equals_definition("renamed_view")


def test_a_view_below_whose_columns_spark_casts_up(lake: LakeProject) -> None:
    table, view = f"lake.{lake.schema}.cast_up_t", f"lake.{lake.schema}.cast_up_v"
    lake.sql(
        f"CREATE TABLE {table} USING iceberg AS SELECT cast(id as int) AS id, cast(id as double) AS x, "
        "cast(id as decimal(20, 4)) AS m, cast(id as float) AS f FROM range(10)"
    )
    lake.sql(f"CREATE VIEW {view} AS SELECT id, x * 2 AS y, m, f FROM {table}")
    lake.model("cast_up", f"select * from {view}")
    lake.run("--select", "cast_up")
    lake.sql(
        f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT cast(id as int) AS id, cast(id as int) AS x, "
        "cast(id as decimal(10, 2)) AS m, cast(id as int) AS f FROM range(12)"
    )
    lake.run("--select", "cast_up")
    lake.assert_equals_definition("cast_up")


@pytest.mark.parametrize("reads", ["use_data_table", "use_stitching"])
def test_a_view_below_whose_column_has_another_type_now(lake: LakeProject, reads: str) -> None:
    name = f"widened_{reads}"
    table, view = f"lake.{lake.schema}.{name}_t", f"lake.{lake.schema}.{name}_v"
    lake.sql(f"CREATE TABLE {table} (id int, v int, p string) USING iceberg PARTITIONED BY (p)")
    lake.sql(f"INSERT INTO {table} VALUES (1, 1, 'a'), (2, 2, 'b')")
    lake.sql(f"CREATE VIEW {view} AS SELECT id, v + 1 AS v, p FROM {table}")
    lake.model(name, f"select id, v, p from {view}", stale_read_behavior=reads)
    lake.run("--select", name)
    lake.sql(f"ALTER TABLE {table} ALTER COLUMN v TYPE bigint")
    lake.sql(f"INSERT INTO {table} VALUES (3, 5000000000, 'c')")
    if reads == "use_stitching":
        with pytest.raises(Exception, match="does not fit into the type"):
            lake.sql(f"SELECT * FROM {lake.view(name)}")
    assert "up cast" in lake.fail("--select", name)
    lake.sql(f"CREATE OR REPLACE VIEW {view} AS SELECT id, v + 1 AS v, p FROM {table}")
    lake.run("--select", name)
    lake.assert_equals_definition(name)
