"""Texts of too many levels for Python's stack: their views are refreshed in full, and so are views over them."""

from __future__ import annotations

from integration.support.lake import LakeProject

CHAIN = " or ".join(f"v = {n}" for n in range(600))


def test_a_chain_of_hundreds_of_operators(lake: LakeProject) -> None:
    table, plain = (f"lake.{lake.schema}.{name}" for name in ("deep_rows", "deep_plain"))
    lake.sql(f"create table {table} using iceberg as select int(id) as id, int(id * 7) as v from range(200)")
    lake.sql(f"create view {plain} as select id, v from {table} where {CHAIN}")
    lake.model("deep_itself", f"select id, v from {table} where {CHAIN}", stale_read_behavior="use_stitching")
    lake.model("deep_below", f"select id, v from {plain}", stale_read_behavior="use_stitching")
    for change in ("select 1", f"insert into {table} values (900, 3)", f"delete from {table} where id < 5"):
        lake.sql(change)
        found = lake.run("--select", "deep_itself", "deep_below")
        assert found["deep_itself"]["refresh_kind"] == "full"
        assert "hundreds of operators" in found["deep_itself"]["refresh_reason"] or change == "select 1"
        for name in ("deep_itself", "deep_below"):
            lake.assert_equals_definition(name)
