"""What a view cannot have is said when it is built, and again when it is something else; not at every run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.shortcomings import shortcomings
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import DAYS, ROWS, STORAGE, Model, Stage, reading, sell
from tests.support.recording_spark import RecordingSpark

FIRST_ROWS = replace(ROWS, sql="SELECT id, region, amount FROM orders LIMIT 10")
DRAWN = replace(ROWS, sql="SELECT id, region, rand() AS amount FROM orders")
LIMIT = (
    "lake.ns.sales is refreshed in full when a base table changed: LIMIT may pick other rows at the next evaluation. "
    "Change that part of the SELECT, or accept it with refresh_policy full."
)
AGED = replace(ROWS, sql="SELECT id, region, datediff(current_date, day) AS amount FROM orders")
CLOCK = (
    "lake.ns.sales is refreshed in full when the clock moves: not only conditions on rows read it. "
    "Compare it with a column, in a WHERE for example, name a column that only says when its row was written in "
    "written_at_columns, or leave it so: other changes are followed."
)
LOADED = Model("SELECT id, unix_micros(now()) AS at FROM orders", (("id", "bigint"), ("at", "bigint")))
NOT_STITCHED = (
    "lake.ns.sales cannot have stale_read_behavior use_stitching: no output column follows the partitions of "
    "lake.ns.orders (region) through all its uses. "
    "Readers get use_view_query, which is what to set if you leave the SELECT as it is."
)


class Refused(Exception):
    """What a warning is where warnings are errors."""


def warned(stage: Stage, model: Model, **request: Any) -> list[str]:
    """Refresh the view of a model, and return what is said of it."""
    said: list[str] = []
    inspection = inspect(stage.catalog, replace(stage.request(model), **request))
    lake = Lake(stage.catalog, RecordingSpark(stage.catalog, model.columns), said.append)
    refresh(lake, inspection, read_plan(inspection))
    return said


def test_readers_do_not_follow_a_period_back_to_its_days(stage: Stage) -> None:
    sql = "SELECT id, region, max(amount) OVER (PARTITION BY substr(region, 1, 1)) AS amount FROM orders"
    (said,) = warned(stage, reading("use_stitching", replace(ROWS, sql=sql)))
    assert "through all its uses; readers do not follow a column to a period, as in PARTITION BY " in said


def test_a_clock_that_shows_the_time_moves_at_every_run(stage: Stage) -> None:
    assert warned(stage, LOADED) == [CLOCK.replace("when the clock moves", "at every run, as the clock moves")]


@pytest.mark.parametrize(
    ("model", "sentence"),
    [(FIRST_ROWS, LIMIT), (AGED, CLOCK), (reading("use_stitching", DAYS), NOT_STITCHED)],
    ids=["full", "clock", "reads"],
)
def test_it_is_said_once(stage: Stage, model: Model, sentence: str) -> None:
    assert warned(stage, model) == [sentence]
    assert warned(stage, model) == [], "nothing is done"
    sell("EU")(stage.tables())
    assert warned(stage, model) == [], "refreshed again"
    assert warned(stage, replace(model, config={**model.config, "comment": "x"})) == [], "altered"
    sell("EU")(stage.tables())
    assert warned(stage, replace(model, config={**model.config, "comment": "x"})) == []


def test_it_is_said_again_when_it_is_something_else(stage: Stage) -> None:
    assert warned(stage, FIRST_ROWS) == [LIMIT]
    (sentence,) = warned(stage, DRAWN)
    assert "is refreshed in full at every run: rand() gives a new value" in sentence
    assert warned(stage, DRAWN) == []
    assert warned(stage, ROWS) == []
    assert warned(stage, FIRST_ROWS) == [LIMIT]


def test_what_readers_cannot_have_is_said_when_they_are_to_have_it(stage: Stage) -> None:
    assert warned(stage, DAYS) == []
    assert warned(stage, reading("use_stitching", DAYS)) == [NOT_STITCHED]
    assert warned(stage, reading("use_stitching", DAYS)) == []
    assert warned(stage, reading("use_view_query", DAYS)) == []
    assert warned(stage, reading("use_stitching", DAYS)) == [NOT_STITCHED]


def test_a_table_that_cannot_be_watched_is_named_with_what_readers_get(stage: Stage) -> None:
    model = reading("use_view_query", DRAWN)
    full, reads = warned(stage, model)
    assert "is refreshed in full at every run" in full
    assert "cannot have stale_read_behavior use_view_query: rand()" in reads
    assert "Readers get the definition, always. With use_data_table" in reads


def test_what_was_accepted_is_not_said(stage: Stage) -> None:
    assert warned(stage, replace(FIRST_ROWS, config={"refresh_policy": "full"})) == []
    assert warned(stage, FIRST_ROWS, partial="--empty") == [], "the LIMIT may be dbt's own"


def test_where_a_warning_is_an_error_nothing_is_written(stage: Stage) -> None:
    def refuse(sentence: str) -> None:
        raise Refused(sentence)

    inspection = inspect(stage.catalog, stage.request(FIRST_ROWS))
    spark = RecordingSpark(stage.catalog, FIRST_ROWS.columns)
    with pytest.raises(Refused, match="LIMIT"):
        refresh(Lake(stage.catalog, spark, refuse), inspection, read_plan(inspection))
    assert STORAGE[2] not in stage.tables()
    assert not stage.catalog.views
    assert warned(stage, FIRST_ROWS) == [LIMIT]


def test_files_that_are_read_by_their_path_cannot_be_named_in_a_view(stage: Stage) -> None:
    by_path = Model("SELECT o.region FROM orders o JOIN parquet.`/rates` r ON r.id = o.id", (("region", "string"),))
    ordinary = Model("SELECT o.region FROM orders o JOIN parquet.rates r ON r.id = o.id", (("region", "string"),))
    for behavior in ("use_stitching", "use_view_query"):
        for model, wanted in ((by_path, "use_data_table"), (ordinary, "use_view_query")):
            inspection = inspect(stage.catalog, stage.request(reading(behavior, model)))
            reads = read_plan(inspection)
            assert reads.behavior == wanted
            assert ("is a path" in str(reads.reason)) == (model is by_path)
            said = shortcomings(inspection, reads)[-1]
            assert f"Readers get {'use_data_table' if model is by_path else 'the definition'}" in said
