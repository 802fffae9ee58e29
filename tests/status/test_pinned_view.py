"""Whether a view is the one that a refresh published: its SQL, and the names of its columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewInfo
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import is_published, sql_hash
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from tests.refresh.refreshes import Model, Stage, reading

LIVE = ("use_stitching", "use_view_query", "fail")


def is_ours(view: ViewInfo) -> bool:
    return is_published(view, read_state(view.name, view.properties))


@pytest.mark.parametrize("behavior", ["use_data_table", *LIVE])
def test_other_names_of_columns_are_another_view(stage: Stage, behavior: str) -> None:
    model = reading(behavior)
    stage.refresh(model)
    view = stage.catalog.views["sales"]
    swapped = replace(view, columns=view.columns[::-1])
    assert (is_ours(view), is_ours(swapped)) == (True, False)
    assert stage.refresh(model)[0].kind == "none"
    stage.catalog.views["sales"] = swapped
    result, _ = stage.refresh(model)
    assert (result.kind, result.reason) == ("full", "the view was redefined by hand")
    assert stage.catalog.views["sales"].columns == view.columns
    assert stage.refresh(model)[0].kind == "none"


def test_a_view_that_runs_stitched_too(stage: Stage) -> None:
    model = reading("use_stitching", refresh_on_run=False)
    stage.refresh(Model())
    assert stage.refresh(model)[0].kind in ("none", "restitch")
    view = stage.catalog.views["sales"]
    assert (is_ours(view), is_ours(replace(view, columns=view.columns[::-1]))) == (True, False)


@pytest.mark.parametrize("behavior", LIVE)
def test_a_view_of_a_former_version_is_taken_for_its_own(stage: Stage, behavior: str) -> None:
    """Such versions recorded a hash of the SQL alone."""
    stage.refresh(reading(behavior))
    view = stage.catalog.views["sales"]
    state = replace(read_state(view.name, view.properties), view_sql_hash=sql_hash(view.sql))
    stage.catalog.views["sales"] = replace(view, properties=state.to_properties())
    assert stage.refresh(reading(behavior))[0].kind == "none"
    assert not is_published(replace(view, sql=view.sql + " LIMIT 1"), state)
