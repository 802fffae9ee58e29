"""Views that people changed by hand, and a base table that could not be followed when the view was built."""

from __future__ import annotations

from typing import Any

import pytest

from integration.support.lake import LakeProject


def base_table(lake: LakeProject, name: str) -> str:
    base = f"lake.{lake.schema}.{name}"
    lake.sql(f"CREATE TABLE {base} (d int, v int) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {base} VALUES (1, 10), (2, 20)")
    return base


def kinds(lake: LakeProject, name: str, *arguments: str) -> tuple[Any, Any]:
    response = lake.run("--select", name, *arguments)[name]
    return response["refresh_kind"], response["refresh_reason"]


@pytest.mark.parametrize("behavior", ["use_stitching", pytest.param("use_view_query", marks=pytest.mark.long)])
def test_a_view_with_other_names_of_columns_is_built_anew(lake: LakeProject, behavior: str) -> None:
    name = f"swapped_{behavior}"
    base = base_table(lake, f"base_{name}")
    lake.model(name, f"select d, max(v) as v from {base} group by d", stale_read_behavior=behavior)
    assert lake.behaviors(name) == {name: behavior}
    assert kinds(lake, name)[0] == "none"
    lake.sql(f"CREATE OR REPLACE VIEW {lake.view(name)} (v, d) AS {lake.published(name).sql}")
    assert kinds(lake, name) == ("full", "the view was redefined by hand")
    assert [column.name for column in lake.published(name).columns] == ["d", "v"]
    lake.assert_equals_definition(name)
    assert kinds(lake, name)[0] == "none"


def test_a_property_named_as_ours_goes_with_a_full_refresh(lake: LakeProject) -> None:
    base = base_table(lake, "base_noted")
    lake.model("noted", f"select d, v from {base}", stale_read_behavior="use_stitching")
    lake.run("--select", "noted")
    lake.sql(f"ALTER VIEW {lake.view('noted')} SET TBLPROPERTIES ('icebergmv.note' = 'x', 'people.note' = 'y')")
    assert "--full-refresh" in lake.fail("--select", "noted")
    assert kinds(lake, "noted", "--full-refresh") == ("full", "--full-refresh")
    assert lake.state("noted").get("icebergmv.note") is None
    assert lake.state("noted")["people.note"] == "y"
    assert kinds(lake, "noted")[0] == "none"
    lake.sql(f"INSERT INTO {base} VALUES (3, 30)")
    lake.assert_equals_definition("noted")
    assert kinds(lake, "noted")[0] == "append"


@pytest.mark.parametrize("behavior", ["use_view_query", "fail"])
def test_readers_do_not_look_at_a_table_that_was_not_followed_at_the_last_refresh(
    lake: LakeProject, behavior: str
) -> None:
    name = f"left_{behavior}"
    base, other = f"lake.{lake.schema}.base_{name}", base_table(lake, f"other_{name}")
    lake.sql(f"CREATE TABLE {base} (d int, p struct<a: int>) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {base} VALUES (1, named_struct('a', 1)), (2, named_struct('a', 2))")
    lake.sql(f"ALTER TABLE {base} ADD COLUMN p.b int")
    select = f"select b.d, b.p.a as a, o.v from {base} b join {other} o on o.d = b.d"
    lake.model(name, select, refresh_on_run=False)
    lake.run("--select", name)
    rows = lake.rows(name)
    lake.sql(f"INSERT INTO {base} VALUES (1, named_struct('a', 3, 'b', 4))")
    lake.model(name, select, refresh_on_run=False, stale_read_behavior=behavior)
    response = lake.run("--select", name)[name]
    assert response["stale_read_behavior"] == "use_data_table"
    assert f"it is not recorded of which rows of {base} these are" in response["refresh_reason"]
    assert lake.rows(name) == rows
    assert kinds(lake, name) == ("none", "refresh_on_run is false")
    lake.run("--select", name, "--full-refresh")
    assert lake.behaviors(name) == {name: behavior}
    lake.assert_equals_definition(name)
