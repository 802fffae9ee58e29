"""Refreshes of a view that is a table, played to the statements that Spark gets, and how they die."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.lake import Lake, Spark
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import TableView, found_view
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import VIEW, Model, Stage
from tests.support.recording_spark import RecordingSpark


class Dead(Exception):
    """The process is gone."""


def request(stage: Stage, model: Model) -> RefreshRequest:
    return stage.request(replace(model, config={**model.config, "layout": "table"}))


def play(stage: Stage, model: Model, spark: Spark | None = None) -> tuple[RefreshResult, list[str]]:
    """Refresh the view of a model as a table; return the outcome, and what Spark was given."""
    recorder = RecordingSpark(stage.catalog, model.columns)
    inspection = inspect(stage.catalog, request(stage, model))
    return refresh(Lake(stage.catalog, spark or recorder), inspection, read_plan(inspection)), recorder.said


def dying(stage: Stage, step: int, model: Model | None = None) -> tuple[Spark, list[str]]:
    """Return a Spark that dies before the n-th statement, and what it has run."""
    recorder, ran = RecordingSpark(stage.catalog, (model or Model()).columns), list[str]()

    def spark(sql: str) -> Sequence[Sequence[object]]:
        if len(ran) + 1 >= step:
            raise Dead
        ran.append(sql)
        return recorder(sql)

    return spark, ran


def deaths(stage: Stage, model: Model, prepare: Callable[[Stage], object]) -> Iterator[list[str]]:
    """Let the refresh of a view die before its n-th statement, for every n; yield what each had run."""
    for step in itertools.count(1):
        prepare(stage)
        spark, ran = dying(stage, step, model)
        try:
            play(stage, model, spark)
        except Dead:
            yield ran
        else:
            return


def view(stage: Stage) -> TableView:
    found = found_view(stage.catalog, VIEW)
    assert isinstance(found, TableView)
    return found


def names(stage: Stage) -> set[str]:
    tables = {".".join(name[1:]) for name in stage.catalog.iceberg.list_tables("ns")}
    return (tables | set(stage.catalog.views)) - {"orders", "regions"}


def first_words(said: Sequence[str]) -> list[str]:
    """Return the statements that change something, each by its first two words."""
    return [" ".join(s.split()[:2]) for s in said if not s.startswith(("SET", "DESCRIBE"))]


def to(layout: str) -> Callable[[Stage], RefreshResult]:
    return lambda stage: play(stage, Model())[0] if layout == "table" else stage.refresh(Model())[0]
