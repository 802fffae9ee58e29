"""Upkeep and rollback die between any two statements, and meet each other, a refresh, and a view that goes away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewVersion
from dbt.adapters.icebergmv.maintenance.errors import RefreshConflict
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.rollback import rollback
from dbt.adapters.icebergmv.maintenance.operations.upkeep import Upkeep, UpkeepOptions, upkeep
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import pinned_by
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from tests.refresh.refreshes import ROWS, STORAGE, VIEW, Model, Stage, reading, sell
from tests.support.recording_spark import RecordingSpark
from tests.support.shares import one_of

AT_ONCE = UpkeepOptions(older_than=0, min_input_files=2)
DEATHS: list[tuple[int, StaleReadBehavior]] = [
    *((after, "use_data_table") for after in range(1, 5)),
    (3, "use_stitching"),
]
"""How many statements were run before, and what the view shows."""


class Killed(BaseException):
    """A process that is gone."""


class Dying(RecordingSpark):
    """A process that dies after so many statements."""

    left = 0

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        if len(self.said) >= self.left:
            raise Killed
        return super().__call__(sql)


class Met(RecordingSpark):
    """A process to which something happens before a statement that holds given words."""

    words, event = "", staticmethod(lambda: None)
    met = False

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        if self.words in sql and not self.met:
            self.met = True
            self.event()
        return super().__call__(sql)


def grow(stage: Stage, model: Model = ROWS, times: int = 3) -> None:
    for _ in range(times):
        sell("EU")(stage.tables())
        stage.refresh(model)


def keep(stage: Stage, spark: RecordingSpark | None = None) -> Upkeep:
    spark = spark or RecordingSpark(stage.catalog, ROWS.columns)
    return upkeep(Lake(stage.catalog, spark), VIEW, AT_ONCE, datetime.now(timezone.utc))


def back(stage: Stage, spark: RecordingSpark | None = None, to: int = 1) -> None:
    rollback(Lake(stage.catalog, spark or RecordingSpark(stage.catalog, ROWS.columns)), VIEW, to)


def dying(stage: Stage, after: int) -> Dying:
    spark = Dying(stage.catalog, ROWS.columns)
    spark.left = after
    return spark


def met(stage: Stage, words: str, event: Callable[[], object]) -> Met:
    spark = Met(stage.catalog, ROWS.columns)
    spark.words, spark.event = words, event  # type: ignore[assignment]
    return spark


def assert_whole(stage: Stage) -> None:
    """All that a kept version reads is there, on a branch of its own, and the view reads what its state names."""
    view, metadata = stage.catalog.views["sales"], stage.tables()[STORAGE[2]].metadata
    named = {ref.snapshot_id for name, ref in metadata.refs.items() if name != "main"}
    state = read_state("v", view.properties)
    # A stitched view names snapshots of base tables, too.
    stored = {s.snapshot_id for s in metadata.snapshots} | {state.storage_snapshot_id}
    assert pinned_by(view) & stored <= named
    assert f"VERSION AS OF {state.storage_snapshot_id}" in view.sql


def assert_goes_on(stage: Stage, model: Model = ROWS) -> None:
    """The next refresh is no full one, and the one after it has nothing to do."""
    assert_whole(stage)
    sell("US")(stage.tables())
    assert stage.refresh(model)[0].kind == "append"
    assert stage.refresh(model)[0].kind == "none"
    assert_whole(stage)


@pytest.mark.parametrize(("after", "behavior"), one_of(8, DEATHS))
def test_upkeep_dies_after_any_statement(stage: Stage, after: int, behavior: StaleReadBehavior) -> None:
    model = reading(behavior, ROWS)
    grow(stage, model)
    try:
        keep(stage, dying(stage, after))
    except Killed:
        assert_whole(stage)
    if after % 2:
        # Once with a refresh before the next upkeep, once without.
        assert_goes_on(stage, model)
    assert keep(stage).error is None
    assert_goes_on(stage, model)


@pytest.mark.parametrize(("after", "behavior"), one_of(4, DEATHS))
def test_rollback_dies_after_any_statement(stage: Stage, after: int, behavior: StaleReadBehavior) -> None:
    model = reading(behavior, ROWS)
    grow(stage, model)
    try:
        back(stage, dying(stage, after))
    except Killed:
        assert_whole(stage)
        back(stage)
    assert_goes_on(stage, model)


@pytest.mark.parametrize("words", one_of(2, ["CREATE OR REPLACE VIEW", "rewrite_data_files"]))
def test_upkeep_meets_upkeep(stage: Stage, words: str) -> None:
    grow(stage)
    first = keep(stage, met(stage, words, lambda: keep(stage)))
    assert first.error is None
    assert_goes_on(stage)


@pytest.mark.parametrize("words", one_of(2, ["CREATE OR REPLACE VIEW", "rewrite_data_files"]))
def test_upkeep_meets_rollback(stage: Stage, words: str) -> None:
    grow(stage)
    done = keep(stage, met(stage, words, lambda: back(stage)))
    assert done.error is None
    assert_goes_on(stage)


@pytest.mark.parametrize("words", ["INSERT", "CREATE OR REPLACE VIEW"])
def test_refresh_meets_upkeep(stage: Stage, words: str) -> None:
    """Of both one wins, or both do; what is published keeps its branch."""
    grow(stage)
    sell("EU")(stage.tables())
    spark = met(stage, words, lambda: keep(stage))
    assert stage.refresh(ROWS, spark)[0].kind == "append"
    assert_goes_on(stage)


@pytest.mark.parametrize("words", ["set_current_snapshot", "CREATE OR REPLACE VIEW"])
def test_rollback_meets_rollback(stage: Stage, words: str) -> None:
    grow(stage)
    spark = met(stage, words, lambda: back(stage, to=2))
    try:
        back(stage, spark)
    except RefreshConflict:
        assert "version 2" in read_state("v", stage.catalog.views["sales"].properties).refresh_reason
    assert_goes_on(stage)


def test_the_view_is_dropped_meanwhile(stage: Stage) -> None:
    grow(stage)
    with pytest.raises(RefreshConflict):
        back(stage, met(stage, "set_current_snapshot", stage.catalog.views.clear))
    assert stage.catalog.views == {}
    assert stage.refresh(ROWS)[0].kind == "full"
    grow(stage)
    refs = stage.tables()[STORAGE[2]].metadata.refs
    done = keep(stage, met(stage, "fast_forward", stage.catalog.views.clear))
    assert done.error == "it is not built."
    assert refs.keys() <= stage.tables()[STORAGE[2]].metadata.refs.keys()
    assert stage.catalog.views == {}
    assert stage.refresh(ROWS)[0].kind == "full"
    assert_goes_on(stage)


def test_spark_fails(stage: Stage) -> None:
    """It is said of this view, and others are looked after."""

    def fail() -> None:
        raise ValueError("no permission\nat org.apache")

    grow(stage)
    done = keep(stage, met(stage, "rewrite_data_files", fail))
    assert done.error == "no permission."
    assert keep(stage).error is None
    assert_goes_on(stage)


def test_the_view_becomes_another_one_meanwhile(stage: Stage) -> None:
    """A plain view has no rows to look after, and one of another layout has others."""
    grow(stage)
    ours = stage.catalog.views["sales"]
    plain = replace(ours, uuid="other", sql="SELECT 1", properties={}, versions=(ViewVersion(1, 0, "SELECT 1"),))
    done = keep(stage, met(stage, "rewrite_data_files", lambda: stage.catalog.views.update(sales=plain)))
    assert done.error == "it is not built."
    stage.catalog.views["sales"] = ours
    assert_goes_on(stage)


def test_the_view_becomes_a_table_meanwhile(stage: Stage) -> None:
    grow(stage)
    table = replace(ROWS, config={"layout": "table"})
    done = keep(stage, met(stage, "rewrite_data_files", lambda: stage.refresh(table)))
    assert (done.error, stage.catalog.views) == (None, {})
    assert stage.refresh(table)[0].kind == "none"


def test_rows_that_were_compacted_are_not_younger_after_a_rollback(stage: Stage) -> None:
    grow(stage)
    refreshed = read_state("v", stage.catalog.views["sales"].properties).refreshed_at
    assert keep(stage).data_files_after is not None
    compacted = stage.catalog.views["sales"].version_id
    assert compacted is not None
    grow(stage, times=1)
    back(stage, to=compacted)
    state = read_state("v", stage.catalog.views["sales"].properties)
    assert state.refreshed_at <= refreshed
    assert state.started_at <= state.refreshed_at
