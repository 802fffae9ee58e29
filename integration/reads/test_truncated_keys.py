"""Iceberg truncates ints with Java's arithmetic, which wraps round at the smallest one; a bigint does not, there."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject

SMALLEST = -(2**31)


@pytest.mark.parametrize("shown", ["b", pytest.param("i", marks=pytest.mark.long)])
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
