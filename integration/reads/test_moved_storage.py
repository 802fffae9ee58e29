"""A view gets another storage table, or another name, while others read the one that it had."""

from __future__ import annotations

from typing import Any

import pytest

from integration.support.lake import LakeProject
from tests.support.shares import one_of

LOOKING = ("use_stitching", "use_view_query", "fail")
OTHER: list[dict[str, Any]] = [
    {"storage_table_prefix": "__mv_other__"},
    {"storage_schema": "storage_of_others"},
    {"layout": "table"},
]


def modelled(lake: LakeProject, view: str) -> tuple[str, str]:
    """Make a table and write the model of a view over it; return the table and the SELECT."""
    base = f"lake.{lake.schema}.base_{view}"
    select = f"select d, sum(v) as v from {base} group by d"
    lake.sql(f"CREATE TABLE {base} (d int, v int) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {base} VALUES (1, 1), (2, 2)")
    lake.model(view, select)
    return base, select


@pytest.mark.parametrize("other", one_of(3, OTHER), ids=["prefix", "schema", "layout"])
def test_views_above_read_the_former_table_until_they_are_run(lake: LakeProject, other: dict[str, Any]) -> None:
    end = "_".join(other)
    low, up = f"low_{end}", f"up_{end}"
    _, select = modelled(lake, low)
    lake.model(up, f"select d, v from {{{{ ref('{low}') }}}}", stale_read_behavior="use_stitching")
    lake.model(f"{low}_daily", select)
    lake.run("--select", low, up, f"{low}_daily")
    lake.model(low, select, **other)
    lake.run("--select", low)
    assert sorted(lake.rows(up)) == [(1, 1), (2, 2)]
    lake.run("--select", up)
    lake.assert_equals_definition(low, up)
    dropped = lake.dbt(
        "run-operation", "drop_orphaned_storage_tables", "--args", "{dry_run: false, older_than: 0 seconds}"
    )
    assert dropped.success
    assert lake.sql(f"SHOW TABLES IN lake.{lake.schema} LIKE '__mv_storage__{low}'") == []
    lake.assert_equals_definition(f"{low}_daily")
    lake.assert_equals_definition(up)


def test_a_view_that_was_renamed_keeps_its_rows(lake: LakeProject) -> None:
    base = f"lake.{lake.schema}.base_kept"
    lake.sql(f"CREATE TABLE {base} USING iceberg AS SELECT 1 AS id")
    lake.model("kept", f"select id from {base}")
    lake.run("--select", "kept")
    lake.sql(f"ALTER VIEW {lake.view('kept')} RENAME TO {lake.schema}.kept_by_hand")
    assert "is the storage table of" in lake.fail("--select", "kept")
    assert lake.sql(f"SELECT id FROM lake.{lake.schema}.kept_by_hand") == [(1,)]
    lake.model("kept", f"select id from {base}", storage_table_prefix="__mv_new__")
    lake.run("--select", "kept")
    lake.assert_equals_definition("kept")


def views_above(lake: LakeProject, low: str) -> list[str]:
    """Write a model over a view for each behaviour that looks at what the view reads; return their names."""
    for behavior in LOOKING:
        lake.model(f"{low}_{behavior}", f"select d, v from {{{{ ref('{low}') }}}}", stale_read_behavior=behavior)
    return [f"{low}_{behavior}" for behavior in LOOKING]


def assert_seen(lake: LakeProject, low: str, *above: str) -> None:
    """Check that views above show what the view shows now, or are stale."""
    stitched, queried, failing = above
    assert lake.rows(stitched) == lake.rows(queried) == lake.rows(low)
    with pytest.raises(Exception, match=f"{failing} is stale"):
        lake.rows(failing)


@pytest.mark.parametrize(
    "other", [OTHER[0], pytest.param(OTHER[1], marks=pytest.mark.long), OTHER[2]], ids=["prefix", "schema", "layout"]
)
def test_views_above_see_rows_that_came_with_another_storage(lake: LakeProject, other: dict[str, Any]) -> None:
    low = f"moved_{'_'.join(other)}"
    base, select = modelled(lake, low)
    above = views_above(lake, low)
    built = lake.run("--select", low, *above)
    assert [built[name]["stale_read_behavior"] for name in above] == list(LOOKING)
    lake.sql(f"INSERT INTO {base} VALUES (1, 100), (3, 3)")
    lake.model(low, select, **other)
    lake.run("--select", low)
    assert lake.rows(low) == [(1, 101), (2, 2), (3, 3)]
    assert_seen(lake, low, *above)


@pytest.mark.parametrize("other", [OTHER[0], pytest.param(OTHER[2], marks=pytest.mark.long)], ids=["prefix", "layout"])
def test_views_above_see_a_view_in_place_of_one_that_was_renamed(lake: LakeProject, other: dict[str, Any]) -> None:
    low = f"renamed_{'_'.join(other)}"
    base, select = modelled(lake, low)
    above = views_above(lake, low)
    lake.run("--select", low, *above)
    lake.sql(f"ALTER VIEW {lake.view(low)} RENAME TO {lake.schema}.{low}_by_hand")
    lake.sql(f"INSERT INTO {base} VALUES (1, 100), (3, 3)")
    lake.model(low, select, **other)
    lake.run("--select", low)
    assert_seen(lake, low, *above)
    assert lake.rows(f"{low}_by_hand") == [(1, 1), (2, 2)]
    lake.run("--select", *above)
    lake.assert_equals_definition(low, *above)
