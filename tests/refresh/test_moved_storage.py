"""A model names another storage table: the one that the view had goes, and nothing else that has its name by now."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.status.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import ORDERS, STORAGE, Model, Stage
from tests.support.recording_spark import RecordingSpark

MODEL = Model()
OTHER_STORAGE = ("lake", "ns", "s2_sales")


def run(stage: Stage, request: RefreshRequest) -> list[str]:
    """Refresh; return what was dropped."""
    spark = RecordingSpark(stage.catalog, MODEL.columns)
    inspection = inspect(stage.catalog, request)
    refresh(Lake(stage.catalog, spark), inspection, read_plan(inspection))
    return [said for said in spark.said if said.startswith("DROP TABLE")]


def moved(stage: Stage) -> RefreshRequest:
    request = stage.request(MODEL)
    return replace(request, config=replace(request.config, storage_table=OTHER_STORAGE))


def test_the_old_one_is_dropped(stage: Stage) -> None:
    stage.refresh(MODEL)
    assert run(stage, moved(stage)) == [f"DROP TABLE IF EXISTS `lake`.`ns`.`{STORAGE[2]}` PURGE"]
    assert run(stage, moved(stage)) == []


def test_another_view_has_its_name_by_now(stage: Stage) -> None:
    stage.refresh(MODEL)
    stage.catalog.iceberg.drop_table(".".join(STORAGE[1:]))
    run(stage, replace(stage.request(MODEL), view=("lake", "ns", "other")))
    with pytest.raises(InvalidConfig, match="the storage table of"):
        run(stage, stage.request(MODEL))
    assert run(stage, moved(stage)) == []
    assert run(stage, moved(stage)) == []


def test_two_names_of_one_table(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a catalog folds case, the table of the former name is the one that was just written."""
    stage.refresh(MODEL)
    table, uuid = stage.catalog.table, stage.tables()[STORAGE[2]].metadata.table_uuid

    def of_one_uuid(schema: str, name: str) -> Table | None:
        found = table(schema, name)
        if found is not None and name in (STORAGE[2], OTHER_STORAGE[2]):
            found.metadata = found.metadata.model_copy(update={"table_uuid": uuid})
        return found

    monkeypatch.setattr(stage.catalog, "table", of_one_uuid)
    assert run(stage, moved(stage)) == []


def test_a_table_of_people_has_its_name_by_now(stage: Stage) -> None:
    stage.refresh(MODEL)
    stage.catalog.iceberg.drop_table(".".join(STORAGE[1:]))
    stage.catalog.iceberg.create_table(".".join(STORAGE[1:]), ORDERS)
    with pytest.raises(InvalidConfig, match="in the way"):
        run(stage, stage.request(MODEL))
    assert run(stage, moved(stage)) == []
