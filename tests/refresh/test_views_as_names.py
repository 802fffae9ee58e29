"""A plain view that Spark reads otherwise than its SQL stays a name, and no reader of the view above can watch it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo, ViewInfo
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import STORAGE, TOTALS_COLUMNS, VIEW, Stage
from tests.support.recording_spark import SETTINGS, RecordingSpark

SQL = "SELECT region, sum(amount) AS total FROM big GROUP BY region"
COLUMNS = (("id", "bigint"), ("day", "date"), ("region", "string"), ("amount", "bigint"))
BIG = ViewInfo(
    namespace="ns",
    name="big",
    uuid="u",
    sql="SELECT id, day, region, amount FROM orders WHERE amount > 5",
    columns=tuple(ColumnInfo(name, type_, None) for name, type_ in COLUMNS),
    properties={},
    comment=None,
    default_namespace=("ns",),
    types=tuple(type_ for _, type_ in COLUMNS),
)


class Reluctant(RecordingSpark):
    """A Spark that refuses the SQL of the view in its place."""

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        if sql.startswith("DESCRIBE QUERY") and "icebergmv_view" in sql:
            raise ValueError("the SQL of the view means something else here")
        return super().__call__(sql)


def refreshed(stage: Stage, behavior: StaleReadBehavior) -> tuple[Any, list[str]]:
    stage.catalog.views["big"] = BIG
    config = ViewConfig(
        definition_hash(SQL), STORAGE, settings=SETTINGS, stale_read_behavior=behavior, definition_below_rows=0
    )
    inspection = inspect(stage.catalog, RefreshRequest(VIEW, SQL, "ns", config, "ann"))
    assert [v.name for v in inspection.views] == [("lake", "ns", "big")], "the view is read as its SQL at first"
    spark = Reluctant(stage.catalog, TOTALS_COLUMNS)
    return refresh(Lake(stage.catalog, spark), inspection, read_plan(inspection)), spark.said


@pytest.mark.parametrize("behavior", ["use_view_query", "use_stitching"])
def test_readers_get_the_definition(tmp_path: Path, behavior: StaleReadBehavior) -> None:
    stage = Stage(tmp_path)
    result, said = refreshed(stage, behavior)
    stage.close()
    assert (result.kind, result.stale_read_behavior) == ("full", "use_view_query")
    (published,) = (s for s in said if s.startswith("CREATE OR REPLACE VIEW"))
    assert "FROM big GROUP BY region" in published


def test_fail_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with pytest.raises(InvalidConfig, match="stale_read_behavior fail cannot be kept"):
        refreshed(stage, "fail")
    assert stage.catalog.table(*STORAGE[1:]) is None
    stage.close()
