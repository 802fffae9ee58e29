"""`dbt clone`: every clone is a view of the original, until its model is built in its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from dbt.tests.adapter.dbt_clone import fixtures
from dbt.tests.adapter.dbt_clone.test_dbt_clone import (
    BaseCloneNotPossible,
    BaseCloneSameSourceAndTarget,
    BaseCloneSameTargetAndState,
)

from integration.support.lake import LakeProject


class _Clone:
    @pytest.fixture(autouse=True)
    def clean_up(self, project: Any) -> Iterator[None]:
        yield
        with project.adapter.connection_named("__test"):
            for suffix in ("", "_seeds", "_other"):
                schema = f"{project.test_schema}{suffix}"
                relation = project.adapter.Relation.create(database=project.database, schema=schema)
                project.adapter.drop_schema(relation)


class TestClone(_Clone, BaseCloneNotPossible):
    pytestmark = pytest.mark.long

    # Without the suite's own macro: it is the adapter that must say that tables cannot be cloned.
    @pytest.fixture(scope="class")
    def macros(self) -> dict[str, str]:
        return {
            "macros.sql": fixtures.macros_sql,
            "infinite_macros.sql": fixtures.infinite_macros_sql,
            "get_schema_name.sql": fixtures.get_schema_name_sql,
        }


class TestCloneSameSourceAndTarget(_Clone, BaseCloneSameSourceAndTarget):
    pass


class TestCloneSameTargetAndState(_Clone, BaseCloneSameTargetAndState):
    pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def cloned(lake: LakeProject) -> LakeProject:
    """The project with a second target, into whose schema all models were cloned."""
    base = f"lake.{lake.schema}.base"
    lake.sql(f"CREATE TABLE {base} (d date, v int) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {base} VALUES (date'2024-01-01', 1), (date'2024-01-02', 2)")
    lake.model("daily", f"select d, sum(v) as v from {base} group by d")
    for kind in ("table", "view", "incremental"):
        lake.model(f"a_{kind}", f"select d, v from {base}", materialized=kind)
    file = lake.folder / "profiles.yml"
    profile = yaml.safe_load(file.read_text())
    outputs = profile["p"]["outputs"]
    outputs["other"] = {**outputs["dev"], "schema": f"{lake.schema}_other"}
    file.write_text(yaml.safe_dump(profile))
    assert lake.dbt("run").success
    (lake.folder / "target" / "manifest.json").rename(lake.folder / "manifest.json")
    assert lake.dbt("clone", "--state", str(lake.folder), "--target", "other").success
    return lake


def listed(lake: LakeProject, schema: str) -> dict[str, str]:
    return {e.name: e.kind for e in lake.reader().entries(schema) if not e.name.startswith("__mv_storage__")}


def test_a_clone_shows_values_under_their_names(cloned: LakeProject) -> None:
    table, clone = f"lake.{cloned.schema}.a_table", f"lake.{cloned.schema}_other.a_table"
    before = cloned.sql(f"SELECT d, v FROM {clone} ORDER BY d")
    cloned.sql(f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT v, d FROM {table}")
    assert cloned.sql(f"SELECT d, v FROM {clone} ORDER BY d") == before


def test_models_are_built_in_place_of_their_clones(cloned: LakeProject) -> None:
    other = f"{cloned.schema}_other"
    models = ("daily", "a_table", "a_view", "a_incremental")
    assert listed(cloned, other) == dict.fromkeys(models, "view")
    clone, original = (f"SELECT * FROM lake.{schema}.daily ORDER BY d" for schema in (other, cloned.schema))
    assert cloned.sql(clone) == cloned.sql(original)

    responses = cloned.run("--target", "other")
    assert (responses["daily"]["refresh_kind"], responses["daily"]["refresh_reason"]) == ("full", "first build")
    assert listed(cloned, other) == {"daily": "view", "a_table": "table", "a_view": "view", "a_incremental": "table"}
    assert cloned.sql(clone) == cloned.sql(original)
    cloned.sql(f"INSERT INTO lake.{cloned.schema}.base VALUES (date'2024-01-01', 5)")
    assert cloned.run("--target", "other", "--select", "daily")["daily"]["refresh_kind"] == "overwrite"
    assert [row["v"] for row in cloned.sql(clone)] == [6, 2]


@pytest.mark.long
def test_a_clone_of_itself_changes_nothing(cloned: LakeProject) -> None:
    before = cloned.state("daily")
    assert cloned.dbt("clone", "--state", str(cloned.folder), "--target", "dev", "--full-refresh").success
    assert cloned.state("daily") == before
    cloned.sql(f"INSERT INTO lake.{cloned.schema}.base VALUES (date'2024-01-02', 7)")
    assert cloned.run("--select", "daily")["daily"]["refresh_kind"] == "overwrite"
    cloned.assert_equals_definition("daily")


@pytest.mark.long
def test_a_clone_can_take_the_place_of_a_materialized_view(cloned: LakeProject) -> None:
    other = f"{cloned.schema}_other"
    cloned.run("--target", "other", "--select", "daily")
    arguments = ("clone", "--state", str(cloned.folder), "--target", "other", "--full-refresh")
    assert cloned.dbt(*arguments).success
    entries = {e.name for e in cloned.reader().entries(other)}
    assert "__mv_storage__daily" not in entries
    view = cloned.reader().view(other, "daily")
    assert view is not None
    assert "icebergmv.storage-table" not in view.properties
