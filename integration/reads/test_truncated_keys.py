"""Iceberg truncates ints with Java's arithmetic, which wraps round at the smallest one; a bigint does not, there."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject

SMALLEST = -(2**31)


@pytest.mark.long
@pytest.mark.parametrize("shown", ["b", "i"])
def test_the_smallest_int_is_joined_to_a_bigint(lake: LakeProject, shown: str) -> None:
    ints, bigints = (f"lake.{lake.schema}.truncated_{shown}_{kind}" for kind in ("ints", "bigints"))
    keys = (SMALLEST, SMALLEST + 8, -1, 0, 2**31 - 1)
    for table, type_ in ((ints, "int"), (bigints, "bigint")):
        lake.sql(f"CREATE TABLE {table} (k {type_}, v int) USING iceberg PARTITIONED BY (truncate(10, k))")
        lake.sql(f"INSERT INTO {table} VALUES {', '.join(f'({k}, 1)' for k in keys)}, (NULL, 1)")
    name = f"truncated_{shown}"
    lake.model(
        name,
        f"select {shown}.k, i.v, b.v as w from {ints} i join {bigints} b on i.k = b.k",
        stale_read_behavior="use_stitching",
    )
    assert lake.run("--select", name)[name]["stale_read_behavior"] == "use_stitching"
    for table in (ints, bigints):
        for key in (SMALLEST, 0):
            lake.sql(f"INSERT INTO {table} VALUES ({key}, 2)")
            lake.assert_equals_definition(name)
        lake.run("--select", name)
        lake.assert_equals_definition(name)


def test_an_int_that_was_widened(lake: LakeProject) -> None:
    """Older files keep what was truncated as an int."""
    table = f"lake.{lake.schema}.truncated_widened"
    lake.sql(f"CREATE TABLE {table} (k int, v int) USING iceberg PARTITIONED BY (truncate(10, k))")
    keys = {SMALLEST: 2, SMALLEST + 8: 1, -1: 3, 0: 1, 2**31 - 1: 1}
    lake.sql(f"INSERT INTO {table} VALUES {', '.join(f'({k}, {v})' for k, v in keys.items())}, (NULL, 1)")
    lake.sql(f"ALTER TABLE {table} ALTER COLUMN k TYPE bigint")
    lake.sql(f"INSERT INTO {table} VALUES ({-(2**63)}, 4), ({2**63 - 1}, 1)")
    name = "over_widened"
    lake.model(name, f"select k, sum(v) as v from {table} group by k", stale_read_behavior="use_stitching")
    assert lake.run("--select", name)[name]["stale_read_behavior"] == "use_stitching"
    # By another column: Iceberg looks for the smallest int where a bigint would be.
    for change in ("DELETE FROM {t} WHERE v = 2", "UPDATE {t} SET v = 5 WHERE v IN (3, 4)"):
        before = lake.sql(f"SELECT count(*), sum(v) FROM {table}")
        lake.sql(change.format(t=table))
        assert lake.sql(f"SELECT count(*), sum(v) FROM {table}") != before
        lake.assert_equals_definition(name)


def test_the_first_characters_of_a_string(lake: LakeProject) -> None:
    table = f"lake.{lake.schema}.truncated_texts"
    lake.sql(f"CREATE TABLE {table} (s string, v int) USING iceberg PARTITIONED BY (truncate(2, s))")
    texts = ("''", "'a'", "'ab'", "'abc'", "'abd'", "'ac'", "'é𝄞x'", "'é𝄞y'", "'𝄞'", "NULL")
    lake.sql(f"INSERT INTO {table} VALUES {', '.join(f'({text}, {n})' for n, text in enumerate(texts))}")
    names = {"over_first": "left(s, 1)", "over_two": "substr(s, 1, 2)", "over_three": "left(s, 3)"}
    for name, key in names.items():
        sql = f"select {key} as k, count(*) as n, sum(v) as v from {table} group by {key}"
        lake.model(name, sql, stale_read_behavior="use_stitching")
    assert lake.behaviors(*names) == dict.fromkeys(names, "use_stitching")
    for change in ("INSERT INTO {t} VALUES ('abc', 7), ('é𝄞z', 8), (NULL, 9)", "DELETE FROM {t} WHERE v IN (1, 3, 8)"):
        lake.sql(change.format(t=table))
        lake.assert_equals_definition(*names)


def test_a_width_at_which_the_arithmetic_of_ints_wraps_round(lake: LakeProject) -> None:
    """Of 1500000000 Iceberg makes -2000000000, so the partition says nothing of its rows."""
    table, name = f"lake.{lake.schema}.truncated_widely", "over_wide"
    lake.sql(f"CREATE TABLE {table} (k int, v int) USING iceberg PARTITIONED BY (truncate(2000000000, k))")
    lake.sql(f"INSERT INTO {table} VALUES (1500000000, 1), (-5, 1), (5, 1)")
    select = f"select k, sum(v) as v from {table} group by k"
    lake.model(name, select, stale_read_behavior="use_stitching", refresh_policy="incremental")
    lake.run("--select", name)
    for v in (5, 6):
        lake.sql(f"INSERT INTO {table} VALUES (1500000000, {v}), (5, {v})")
        lake.assert_equals_definition(name)
        lake.run("--select", name)
        assert lake.sql(f"SELECT max(v), count(*) FROM {lake.view(name)}") == [(v + 1 if v == 5 else 12, 3)]
