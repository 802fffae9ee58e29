"""A view whose state cannot be read: a run that builds it anew leaves one that can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.errors import StateUnreadable
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.statements import unset_view_properties
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import VIEW, Model, Stage, reading, sell
from tests.support.recording_spark import RecordingSpark

STRAYS = {
    "a note of people": {"icebergmv.note": "ask Ann"},
    "of a version that records more": {"icebergmv.weather": "fine", "icebergmv.it's": "new"},
    "of another format": {"icebergmv.format-version": "2", "icebergmv.weather": "fine"},
}


def set_properties(stage: Stage, properties: Mapping[str, str]) -> None:
    view = stage.catalog.views["sales"]
    stage.catalog.views["sales"] = replace(view, properties={**view.properties, **properties})


def build_anew(stage: Stage, model: Model, spark: RecordingSpark | None = None) -> list[str]:
    """Run with --full-refresh; return the statements that Spark was given."""
    spark = spark or RecordingSpark(stage.catalog, model.columns)
    request = replace(stage.request(model), rebuild="--full-refresh")
    inspection = inspect(stage.catalog, request)
    assert refresh(Lake(stage.catalog, spark), inspection, read_plan(inspection)).kind == "full"
    return spark.said


@pytest.mark.parametrize("model", [Model(), reading("use_stitching")], ids=["stored", "stitched"])
@pytest.mark.parametrize("strays", STRAYS.values(), ids=STRAYS)
def test_after_a_full_refresh_the_state_is_readable(stage: Stage, model: Model, strays: Mapping[str, str]) -> None:
    stage.refresh(model)
    set_properties(stage, {**strays, "people.note": "kept"})
    with pytest.raises(StateUnreadable, match="--full-refresh"):
        stage.refresh(model)
    said = build_anew(stage, model)
    keys = sorted(strays.keys() - {"icebergmv.format-version"})
    unset = said.index(unset_view_properties(VIEW, keys))
    assert said[unset + 1].startswith("CREATE OR REPLACE VIEW"), "the state is whole when it is published"
    assert stage.catalog.views["sales"].properties["people.note"] == "kept"
    assert stage.refresh(model)[0].kind == "none"
    sell("EU")(stage.tables())
    assert stage.refresh(model)[0].kind == "overwrite"


def test_a_plain_view_with_such_a_property_becomes_a_materialized_one(stage: Stage) -> None:
    stage.refresh(Model())
    view = stage.catalog.views["sales"]
    stage.catalog.views["sales"] = replace(view, properties={"icebergmv.note": "x"}, sql="SELECT 1 AS one")
    assert stage.refresh(Model())[0].kind == "full"
    assert stage.refresh(Model())[0].kind == "none"


def test_nothing_is_removed_from_a_view_without_strays(stage: Stage) -> None:
    stage.refresh(Model())
    assert not any(said.startswith("ALTER VIEW") for said in build_anew(stage, Model()))


def test_an_error_after_they_went_is_the_one_that_is_seen(stage: Stage) -> None:
    class Broken(RecordingSpark):
        def __call__(self, sql: str) -> list[tuple[object, ...]]:
            if sql.startswith("CREATE OR REPLACE VIEW"):
                raise OSError("no space left")
            return [tuple(row) for row in super().__call__(sql)]

    stage.refresh(Model())
    set_properties(stage, {"icebergmv.note": "x"})
    with pytest.raises(OSError, match="no space left"):
        build_anew(stage, Model(), Broken(stage.catalog, Model().columns))
