"""What readers of a view with a hidden key get, and of one whose hidden key Spark refuses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.maintenance.definition.hidden_names import HIDDEN_KEY
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import STORAGE, VIEW, Model, Stage
from tests.support.recording_spark import SETTINGS, RecordingSpark

SQL = "SELECT id, amount FROM orders"
COLUMNS = (("id", "bigint"), ("amount", "bigint"))
BEHAVIORS: tuple[StaleReadBehavior, ...] = ("use_data_table", "use_view_query", "fail", "use_stitching")


class Reluctant(RecordingSpark):
    """A Spark that refuses hidden keys."""

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        if sql.startswith("DESCRIBE QUERY") and HIDDEN_KEY in sql:
            raise ValueError("the name means several columns here")
        return super().__call__(sql)


def refreshed(stage: Stage, behavior: StaleReadBehavior, spark: RecordingSpark) -> RefreshResult:
    config = ViewConfig(
        definition_hash(SQL), STORAGE, settings=SETTINGS, stale_read_behavior=behavior, definition_below_rows=0
    )
    inspection = inspect(stage.catalog, RefreshRequest(VIEW, SQL, "ns", config, "ann"))
    assert inspection.definition.keys == ("`orders`.`region`",)
    return refresh(Lake(stage.catalog, spark), inspection, read_plan(inspection))


@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_a_view_whose_key_is_refused_has_none(tmp_path: Path, behavior: StaleReadBehavior) -> None:
    stage = Stage(tmp_path)
    spark = Reluctant(stage.catalog, COLUMNS)
    result = refreshed(stage, behavior, spark)
    stage.close()
    given = behavior if behavior != "use_stitching" else "use_view_query"
    assert (result.kind, result.stale_read_behavior) == ("full", given)
    assert [s for s in spark.said if HIDDEN_KEY in s and not s.startswith("DESCRIBE")] == []


@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_only_stitching_reads_it(tmp_path: Path, behavior: StaleReadBehavior) -> None:
    """A column that the SELECT does not name may be renamed, which must not keep anybody from reading the view."""
    stage = Stage(tmp_path)
    spark = RecordingSpark(stage.catalog, COLUMNS)
    result = refreshed(stage, behavior, spark)
    stage.close()
    assert (result.kind, result.stale_read_behavior) == ("full", behavior)
    (published,) = (s for s in spark.said if s.startswith("CREATE OR REPLACE VIEW"))
    assert (HIDDEN_KEY in published) == (behavior == "use_stitching")


def test_a_view_that_reads_the_clock_has_one(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    sql = f"{SQL} WHERE day >= current_date - 30"
    config = ViewConfig(definition_hash(sql), STORAGE, settings=SETTINGS)
    definition = inspect(stage.catalog, RefreshRequest(VIEW, sql, "ns", config, "ann")).definition
    stage.close()
    assert definition.keys == definition.as_written.keys == ("`orders`.`region`",)


def test_a_view_that_is_computed_anew_at_every_run_has_none(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    sql = "SELECT o.id, c.name FROM orders o JOIN elsewhere.ns.customers c ON o.id = c.id"
    config = ViewConfig(definition_hash(sql), STORAGE, settings=SETTINGS)
    definition = inspect(stage.catalog, RefreshRequest(VIEW, sql, "ns", config, "ann")).definition
    stage.close()
    assert (definition.columns is not None, definition.keys) == (True, ())


@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_the_column_of_a_key_gets_another_name(stage: Stage, behavior: StaleReadBehavior) -> None:
    """The SELECT does not name it, so the view goes on: its next refresh stores the rows anew."""
    reads = {"stale_read_behavior": behavior, "definition_below_rows": 0}
    model = Model(SQL, COLUMNS, reads)
    stage.refresh(model)
    assert inspect(stage.catalog, stage.request(model)).definition.keys == ("`orders`.`region`",)
    with stage.tables()["orders"].update_schema() as update:
        update.rename_column("region", "area")
    inspection = inspect(stage.catalog, stage.request(model))
    assert (inspection.definition.always_full, inspection.definition.keys) == (None, ())
    # Without a key there is no partition to stitch by.
    assert read_plan(inspection).behavior == (behavior if behavior != "use_stitching" else "use_view_query")
    assert stage.refresh(model)[0].kind == "full"
    assert inspect(stage.catalog, stage.request(model)).definition.keys == ("`orders`.`area`",)
    assert stage.refresh(model)[0].kind == "none"
