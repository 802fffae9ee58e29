"""A rival publishes while a job of this refresh runs, and drops its branch: one of the two wins, never a mix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.upkeep import UpkeepOptions, upkeep
from dbt.adapters.icebergmv.maintenance.status.recorded_state import read_state
from dbt.adapters.icebergmv.maintenance.status.table_layout import found_view
from tests.refresh.refreshes import ROWS, VIEW, Model, Stage, sell
from tests.support.rivals import BesideARival

LAYOUTS = [ROWS, replace(ROWS, config={"layout": "table"})]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.close()


def sell_and_refresh(stage: Stage, model: Model, kind: str = "append") -> None:
    sell("US")(stage.tables())
    assert stage.refresh(model)[0].kind == kind


def recorded(stage: Stage) -> int | None:
    """Return the snapshot of the base table that the view records."""
    found = found_view(stage.catalog, VIEW)
    assert found is not None
    return read_state("v", found.properties).base_tables[0].version.snapshot_id


@pytest.mark.parametrize("model", LAYOUTS, ids=["view", "table"])
def test_another_refresh_publishes_meanwhile(stage: Stage, model: Model) -> None:
    stage.refresh(model)
    sell_and_refresh(stage, model)
    sell("EU")(stage.tables())
    spark = BesideARival(
        stage.catalog, model.columns, words="INSERT INTO", rival=lambda: sell_and_refresh(stage, model)
    )
    assert stage.refresh(model, spark)[0].kind == "none", "it starts again from what the rival published"
    assert bool(spark.dropped) is ("layout" in model.config), "a version of a view keeps its branch"
    assert recorded(stage) == stage.tables()["orders"].metadata.current_snapshot_id
    assert stage.refresh(model)[0].kind == "none"


@pytest.mark.parametrize("model", LAYOUTS, ids=["view", "table"])
def test_a_refresh_publishes_while_rows_are_compacted(stage: Stage, model: Model) -> None:
    stage.refresh(model)
    for _ in range(6):
        sell_and_refresh(stage, model)
    spark = BesideARival(
        stage.catalog, model.columns, words="rewrite_data_files", rival=lambda: sell_and_refresh(stage, model)
    )
    done = upkeep(Lake(stage.catalog, spark), VIEW, UpkeepOptions(), datetime.now(timezone.utc))
    assert spark.has_met
    assert (done.error, done.note) == (None, "not compacted: the view or its table was changed meanwhile")
    assert recorded(stage) == stage.tables()["orders"].metadata.current_snapshot_id
    assert stage.refresh(model)[0].kind == "none"
