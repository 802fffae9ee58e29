"""A hidden key that Spark refuses: the view has none then, and its readers get what it allows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.maintenance.definition.hidden_names import HIDDEN_KEY
from dbt.adapters.icebergmv.maintenance.definition.parsing import definition_hash
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.status.inspection import RefreshRequest, inspect
from dbt.adapters.icebergmv.maintenance.status.stale_read_config import StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import STORAGE, VIEW, Stage
from tests.support.recording_spark import SETTINGS, RecordingSpark

SQL = "SELECT id, amount FROM orders"
COLUMNS = (("id", "bigint"), ("amount", "bigint"))


class Reluctant(RecordingSpark):
    """A Spark that refuses hidden keys."""

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        if sql.startswith("DESCRIBE QUERY") and HIDDEN_KEY in sql:
            raise ValueError("the name means several columns here")
        return super().__call__(sql)


@pytest.mark.parametrize("behavior", ["use_data_table", "use_view_query", "fail", "use_stitching"])
def test_the_view_has_none_then(tmp_path: Path, behavior: StaleReadBehavior) -> None:
    stage = Stage(tmp_path)
    config = ViewConfig(definition_hash(SQL), STORAGE, settings=SETTINGS, stale_read_behavior=behavior)
    inspection = inspect(stage.catalog, RefreshRequest(VIEW, SQL, "ns", config, "ann"))
    assert inspection.definition.keys == ("`orders`.`region`",), "one is wanted at first"
    spark = Reluctant(stage.catalog, COLUMNS)
    result = refresh(Lake(stage.catalog, spark), inspection, read_plan(inspection))
    stage.close()
    given = behavior if behavior != "use_stitching" else "use_view_query"
    assert (result.kind, result.stale_read_behavior) == ("full", given)
    assert [s for s in spark.said if HIDDEN_KEY in s and not s.startswith("DESCRIBE")] == []
