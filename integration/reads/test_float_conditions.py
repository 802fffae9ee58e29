"""Readers of views with conditions on floats: what they get of a row does not depend on the others in its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from integration.support.following import filled
from integration.support.lake import LakeProject
from tests.support.shares import one_of

TABLES = {
    "n": ("id bigint, x double, r string", "(1, double('NaN'), 'a'), (2, 0.5D, 'a'), (3, 9D, 'b')"),
    "z": ("id bigint, x double, r string", "(1, -0.0D, 'a'), (2, -4D, 'a'), (3, 3D, 'b')"),
}
VIEWS = {
    "nans": "select r, id, x from {n} where x > 1",
    "twice": "select r, id, x from (select * from {n} where x > 1 union all select * from {n} where x > 1)",
    "zeros": "select r, count(*) as n from {z} where x >= 0 group by r",
    "joined": "select v.r, v.id, n.id as other from {z} as v join {n} as n on v.r = n.r and n.x > 1 where v.x >= 0",
}
BEHAVIORS: Mapping[str, Mapping[str, Any]] = {
    "stitched": {"stale_read_behavior": "use_stitching", "definition_below_rows": 0},
    "computed": {"stale_read_behavior": "use_view_query", "definition_below_rows": 0},
    "small": {"stale_read_behavior": "use_stitching", "definition_below_rows": 1_000_000},
}
NOW = {
    "nans": ["a 1 nan", "a 4 5.0", "b 3 9.0"],
    "twice": ["a 1 nan", "a 1 nan", "a 4 5.0", "a 4 5.0", "b 3 9.0", "b 3 9.0"],
    "zeros": ["a 2", "b 1"],
    "joined": ["a 1 1", "a 1 4", "a 4 1", "a 4 4", "b 3 3"],
}


@pytest.mark.parametrize("behavior", one_of(3, BEHAVIORS))
def test_readers_find_nan_and_both_zeros(lake: LakeProject, behavior: str) -> None:
    names = filled(lake, f"read_{behavior}_", TABLES, dict.fromkeys(TABLES, "PARTITIONED BY (r)"))
    views = {f"{behavior}_{view}": view for view in VIEWS}
    for name, view in views.items():
        lake.model(name, VIEWS[view].format(**names), **BEHAVIORS[behavior])
    lake.run("--select", *views)
    lake.sql(f"insert into {names['n']} values (4, 5D, 'a')")
    lake.sql(f"insert into {names['z']} values (4, 0D, 'a')")
    for name, view in views.items():
        found = [" ".join(map(str, row)) for row in lake.sql(f"select * from {lake.view(name)}")]
        assert sorted(found) == NOW[view], name
        assert ("icebergmv_keys_0" in lake.published(name).sql) is (behavior == "stitched")
        assert ("icebergmv_whole" in lake.published(name).sql) is (behavior != "small")
