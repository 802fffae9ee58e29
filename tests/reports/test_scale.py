"""Status of many views takes little: they share their tables, and most of the time goes into reading SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.reports.one_run import status
from dbt.adapters.icebergmv.maintenance.reports.view_status import Configured
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import DAYS, JOINED, ROWS, Model, Stage, sell
from tests.support.cost import cost
from tests.support.filed_lake import FiledLake
from tests.support.recording_spark import SETTINGS, RecordingSpark

VIEWS = 20
MODELS = (Model(), ROWS, JOINED, DAYS)


@pytest.mark.slow
def test_twenty_views_cost_a_tenth_of_what_two_hundred_may(tmp_path: Path) -> None:
    """200 views may take 3 seconds; the views are in files and a database, as a user's are."""
    stage = Stage(tmp_path / "warehouse", FiledLake(tmp_path / "warehouse"))
    requests = []
    for number in range(VIEWS):
        model = MODELS[number % len(MODELS)]
        storage = ("lake", "ns", f"stored_{number}")
        config = ViewConfig(definition_hash(model.sql), storage, settings=SETTINGS)
        request = RefreshRequest(("lake", "ns", f"view_{number}"), model.sql, "ns", config, "ann")
        inspection = inspect(stage.catalog, request)
        refresh(Lake(stage.catalog, RecordingSpark(stage.catalog, model.columns)), inspection, read_plan(inspection))
        requests.append(request)
    sell("EU")(stage.tables())
    found = status(stage.catalog, map(Configured, requests))
    assert {view.state for view in found} == {"stale"}
    assert cost(lambda: status(stage.catalog, map(Configured, requests)), rounds=6) < 30
    stage.close()
