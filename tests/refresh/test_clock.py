"""Refreshes of a view that reads the clock: what Spark is asked as the days go by, and what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo, ViewInfo
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from dbt.adapters.icebergmv.maintenance.stitching.current_rows import current_query
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import ORDERS, STORAGE, TOTALS_COLUMNS, VIEW, Stage, sell
from tests.support.recording_spark import SETTINGS, RecordingSpark

RECENT = "SELECT region, sum(amount) AS total FROM orders WHERE day >= current_date - 3000 GROUP BY region"
MONDAY, LATE, TUESDAY = "2026-11-23T08:00:00+00:00", "2026-11-23T23:59:59+00:00", "2026-11-24T00:00:00+00:00"
DIFFERENCE = "<=> (day >= DATE '2026-11-23' - 3000)"


class Answering(RecordingSpark):
    """A Spark that knows which regions a question is about."""

    regions: Sequence[str | None] = ()

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        if not sql.startswith("SELECT DISTINCT "):
            return super().__call__(sql)
        self.said.append(sql)
        return [(region,) for region in self.regions]


def run(
    stage: Stage, moment: str, *regions: str | None, sql: str = RECENT, **config: Any
) -> tuple[RefreshResult, list[str]]:
    """Refresh at a moment; a question about the clock or a table is about the regions."""
    spark = Answering(stage.catalog, TOTALS_COLUMNS)
    spark.regions = regions
    settings = config.pop("settings", SETTINGS)
    config_ = ViewConfig(definition_hash(sql), STORAGE, settings=settings, **config)
    request = RefreshRequest(VIEW, sql, "ns", config_, "ann", now=lambda: datetime.fromisoformat(moment))
    inspection = inspect(stage.catalog, request)
    return refresh(Lake(stage.catalog, spark), inspection, read_plan(inspection)), spark.said


def recorded(stage: Stage) -> dict[str, str]:
    return dict(read_state("v", stage.catalog.views[VIEW[2]].properties).clock)


def test_the_rows_are_those_of_one_date(stage: Stage) -> None:
    result, said = run(stage, MONDAY, refresh_policy="incremental_strict")
    assert result.kind == "full"
    assert not any("current_date" in s for s in said if not s.startswith("CREATE OR REPLACE VIEW"))
    assert any("WHERE day >= DATE '2026-11-23' - 3000 GROUP BY region" in s for s in said)
    assert recorded(stage) == {"date": "2026-11-23"}


def test_on_the_same_day_spark_is_not_asked(stage: Stage) -> None:
    run(stage, MONDAY)
    result, said = run(stage, LATE)
    assert (result.kind, said) == ("none", [])


def test_on_the_next_day_what_the_clock_moves_is_replaced(stage: Stage) -> None:
    run(stage, MONDAY)
    result, said = run(stage, TUESDAY, "EU", None, refresh_policy="incremental_strict")
    assert result.kind == "overwrite"
    assert result.reason == "the date moved from 2026-11-23 to 2026-11-24"
    (asked,) = (s for s in said if s.startswith("SELECT DISTINCT"))
    assert DIFFERENCE in asked
    (written,) = (s for s in said if s.startswith("INSERT INTO"))
    assert "REPLACE WHERE (`region` IS NULL OR `region` <=> 'EU'" in written
    assert "WHERE day >= DATE '2026-11-24' - 3000 GROUP BY region" in written
    assert recorded(stage) == {"date": "2026-11-24"}


def test_a_day_that_moves_nothing_is_recorded(stage: Stage) -> None:
    run(stage, MONDAY)
    result, said = run(stage, TUESDAY)
    assert result.kind == "none"
    assert result.reason == "no row of the view can be affected (the date moved from 2026-11-23 to 2026-11-24)"
    assert any(DIFFERENCE in s for s in said)
    assert recorded(stage) == {"date": "2026-11-24"}
    assert run(stage, TUESDAY)[1] == []


def test_the_clock_may_go_back(stage: Stage) -> None:
    run(stage, TUESDAY)
    result, _ = run(stage, MONDAY, "EU")
    assert (result.kind, result.reason) == ("overwrite", "the date moved from 2026-11-24 to 2026-11-23")


def test_tables_that_change_on_the_same_day_are_followed(stage: Stage) -> None:
    run(stage, MONDAY)
    sell("EU")({"orders": stage.catalog.iceberg.load_table("ns.orders")})
    result, said = run(stage, LATE, refresh_policy="incremental_strict")
    assert (result.kind, result.reason) == ("overwrite", "orders: 1 partition changed")
    assert not any("<=> (day" in s for s in said)


def test_tables_are_asked_as_they_were_while_the_clock_is(stage: Stage) -> None:
    run(stage, MONDAY)
    orders = stage.catalog.iceberg.load_table("ns.orders")
    before = orders.metadata.current_snapshot_id
    sell("US")({"orders": orders})
    result, said = run(stage, TUESDAY, "EU")
    assert result.reason == "orders: 1 partition changed; the date moved from 2026-11-23 to 2026-11-24"
    (asked,) = (s for s in said if DIFFERENCE in s)
    assert f"VERSION AS OF {before}" in asked
    (written,) = (s for s in said if s.startswith("INSERT INTO"))
    assert "REPLACE WHERE (`region` IN ('EU', 'US')" in written


def test_tables_that_change_before_the_time_of_the_view_are_no_change_of_it(stage: Stage) -> None:
    sql = RECENT.replace("3000", "30")
    run(stage, MONDAY, sql=sql)
    sell("US")({"orders": stage.catalog.iceberg.load_table("ns.orders")})
    result, said = run(stage, LATE, sql=sql)
    assert (result.kind, result.reason) == ("none", "no row of the view can be affected (orders: 1 partition changed)")
    assert [s for s in said if s.startswith("SELECT")] == []
    sell("EU")({"orders": stage.catalog.iceberg.load_table("ns.orders")})
    result, said = run(stage, TUESDAY, "US", sql=sql)
    effect = "orders: 1 partition changed, without effect"
    assert result.reason == f"{effect}; the date moved from 2026-11-23 to 2026-11-24"
    (written,) = (s for s in said if s.startswith("INSERT INTO"))
    assert "REPLACE WHERE (`region` <=> 'US')" in written


def test_a_state_without_a_clock_is_refreshed_in_full_once(stage: Stage) -> None:
    run(stage, MONDAY)
    view = stage.catalog.views[VIEW[2]]
    before = replace(read_state("v", view.properties), clock={})
    stage.catalog.views[VIEW[2]] = replace(view, properties=before.to_properties())
    result, _ = run(stage, MONDAY)
    assert (result.kind, result.reason) == ("full", "the date of the last refresh is not recorded")
    assert run(stage, LATE)[0].kind == "none"


def test_midnight_is_that_of_the_session(stage: Stage) -> None:
    settings = {"spark.sql.session.timeZone": "America/New_York"}
    request = RefreshRequest(VIEW, RECENT, "ns", ViewConfig("", STORAGE, settings=settings), "ann")
    inspection = inspect(stage.catalog, replace(request, now=lambda: datetime.fromisoformat(TUESDAY)))
    assert inspection.definition.clock is not None
    assert inspection.definition.clock.values == {"date": "2026-11-23"}


def test_in_a_zone_that_is_not_known_it_stays_always_full(stage: Stage) -> None:
    settings = {"spark.sql.session.timeZone": "PST"}
    inspection = inspect(
        stage.catalog, RefreshRequest(VIEW, RECENT, "ns", ViewConfig("", STORAGE, settings=settings), "ann")
    )
    assert inspection.definition.always_full == "current_date() gives a new value at every run"
    assert inspection.status.clock is None


def test_a_clock_in_a_plain_view_is_read_with_it(stage: Stage) -> None:
    columns = tuple((f.name, str(f.field_type).replace("long", "bigint")) for f in ORDERS.fields)
    stage.catalog.views["recent"] = ViewInfo(
        namespace="ns",
        name="recent",
        uuid="u",
        sql="SELECT * FROM orders WHERE day >= current_date - 3000",
        columns=tuple(ColumnInfo(name, type_, None) for name, type_ in columns),
        properties={},
        comment=None,
        default_namespace=("ns",),
        types=tuple(type_ for _, type_ in columns),
    )
    sql = "SELECT region, sum(amount) AS total FROM recent GROUP BY region"
    run(stage, MONDAY, sql=sql)
    assert recorded(stage) == {"date": "2026-11-23"}
    result, said = run(stage, TUESDAY, "EU", sql=sql)
    assert result.kind == "overwrite"
    assert any(DIFFERENCE in s for s in said)


def test_readers_get_the_definition_with_its_clock(stage: Stage) -> None:
    run(stage, MONDAY, stale_read_behavior="use_stitching")
    assert "day >= current_date - 30" in stage.catalog.views[VIEW[2]].sql
    with pytest.raises(InvalidConfig, match="current_date"):
        run(stage, MONDAY, stale_read_behavior="fail")


def test_reads_from_pyspark_compute_it(stage: Stage) -> None:
    run(stage, MONDAY)
    spark = Answering(stage.catalog, TOTALS_COLUMNS)
    query = current_query(Lake(stage.catalog, spark), VIEW)
    assert "day >= current_date - 30" in query
    assert "__mv_storage__" not in query
