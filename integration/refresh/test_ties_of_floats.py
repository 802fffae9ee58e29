"""Windows whose rows tie but for the sign of a zero, on Spark."""

from __future__ import annotations

from integration.support.lake import LakeProject


def test_zeros_that_tie_have_one_order(lake: LakeProject) -> None:
    table = f"lake.{lake.schema}.zeros_that_tie"
    lake.sql(f"create table {table} (id int, day date, x double) using iceberg")
    lake.sql(
        f"insert into {table} select cast(id % 50 as int), date '2024-01-01', "
        "element_at(array(0.0D, -0.0D, double('NaN'), null, 2.5D), cast(id % 7 % 5 as int) + 1) from range(600)"
    )
    first = f"(select *, row_number() over (partition by id order by day) as n from {table})"
    lake.model("tied_zeros", f"select cast(x as string) as s, count(*) as c from {first} where n = 3 group by x")
    lake.model("last_zeros", f"select id, n, cast(x as string) as s from {first}")
    lake.run("--select", "tied_zeros", "last_zeros")
    lake.sql(f"delete from {table} where id = 7 and x = 2.5D")
    found = lake.run("--select", "tied_zeros", "last_zeros")
    assert found["last_zeros"]["refresh_kind"] == "overwrite"
    views = [f"select * from {lake.view(name)}" for name in ("tied_zeros", "last_zeros")]
    in_part = [sorted(map(repr, lake.sql(view))) for view in views]
    lake.run("--select", "tied_zeros", "last_zeros", "--full-refresh")
    assert [sorted(map(repr, lake.sql(view))) for view in views] == in_part
