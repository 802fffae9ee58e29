"""What a changed configuration asks for, in words that say what it was and what it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import (
    ConfigurationChanges,
    ViewConfig,
    configuration_changes,
    recorded_view_config,
    written_at_columns,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState

STORAGE = ("lake", "ns", "s")
HAD = ViewConfig("h", STORAGE, tblproperties={"a": "1", "b": "2"}, settings={"tz": "UTC"}, spark_release="4.0")
STATE = ViewState(
    definition="select 1",
    definition_hash="h",
    storage_table=STORAGE,
    storage_uuid="u",
    storage_snapshot_id=1,
    base_tables=(),
    refresh_kind="full",
    refresh_reason="first build",
    started_at="2024-01-02T03:04:05.006+00:00",
    refreshed_at="2024-01-02T03:04:06.006+00:00",
    owner="anna",
    settings=HAD.settings,
    config=HAD.recorded(),
)


def test_nothing_changed() -> None:
    assert configuration_changes(HAD, STATE) == ConfigurationChanges()
    # States of former versions did not record it.
    not_recorded = {"stale-read-behavior", "staleness-window", "spark-release"}
    former = {k: v for k, v in STATE.config.items() if k not in not_recorded}
    assert configuration_changes(HAD, replace(STATE, config=former)) == ConfigurationChanges()


@pytest.mark.parametrize(
    ("wanted", "rebuild", "alter"),
    [
        ({"definition_hash": "x"}, ["the SELECT changed"], []),
        ({"partition_by": ("days(ts)", "id")}, ["partition_by is days(ts), id, and was derived"], []),
        ({"partition_by": ()}, ["partition_by is empty, and was derived"], []),
        ({"storage_table": ("lake", "x", "s")}, ["the storage table is to be lake.x.s"], []),
        ({"settings": {"tz": "CET", "a": "1"}}, ["a is 1, and was not set", "tz is CET, and was UTC"], []),
        ({"spark_release": "4.1"}, ["Spark is 4.1, and was 4.0"], []),
        ({"spark_release": ""}, [], []),
        ({"settings": {}}, ["tz is not set, and was UTC"], []),
        ({"tblproperties": {"a": "1", "b": "3", "c": "4"}}, [], ["tblproperties changed (b, c)"]),
        ({"tblproperties": {}}, [], ["tblproperties changed (a, b)"]),
        ({"comment": "x"}, [], ["the description changed"]),
        ({"column_comments": {"n": "x"}}, [], ["column descriptions changed (n)"]),
        ({"stale_read_behavior": "fail"}, [], ["stale_read_behavior is fail, and was use_data_table"]),
        ({"staleness_window": 900}, [], ["staleness_window is 900 seconds, and was not set"]),
    ],
)
def test_a_change_says_from_what_to_what(wanted: dict[str, Any], rebuild: list[str], alter: list[str]) -> None:
    changes = configuration_changes(replace(HAD, **wanted), STATE)
    assert (list(changes.rebuild), list(changes.alter)) == (rebuild, alter)


def test_a_former_partitioning_is_shown() -> None:
    state = replace(STATE, config=replace(HAD, partition_by=("days(ts)",)).recorded())
    assert configuration_changes(HAD, state).rebuild == ("partition_by is derived, and was days(ts)",)


@pytest.mark.parametrize(
    "config",
    [
        HAD,
        ViewConfig(
            "h",
            STORAGE,
            partition_by=("days(ts)", "region"),
            tblproperties={"a": "1"},
            comment="What it is",
            column_comments={"id": "its key"},
            settings={"spark.sql.session.timeZone": "UTC"},
            refresh_on_run=False,
            stale_read_behavior="use_stitching",
            staleness_window=60,
            definition_below_rows=0,
            cluster_by=("id",),
            keep_versions=3,
            written_at_columns=("loaded_at",),
            deterministic_functions=("cents",),
        ),
        ViewConfig("h", STORAGE, partition_by=(), layout="table"),
    ],
)
def test_a_view_is_asked_for_as_it_was_recorded(config: ViewConfig) -> None:
    state = replace(STATE, settings=config.settings, config=config.recorded())
    assert recorded_view_config(state) == config
    assert configuration_changes(recorded_view_config(state), state) == ConfigurationChanges()


def test_a_view_of_a_former_version_is_asked_for_as_it_was_built() -> None:
    assert recorded_view_config(replace(STATE, settings={}, config={})) == ViewConfig("h", STORAGE)


def test_the_columns_that_say_when_a_row_was_written() -> None:
    assert written_at_columns(None) == written_at_columns([]) == ()
    assert written_at_columns("Loaded_At") == ("loaded_at",)
    assert written_at_columns(["loaded_at", "LOADED_AT", "by"]) == ("loaded_at", "by")
    for bad in (3, {"a": 1}, ["a", 1], [""]):
        with pytest.raises(InvalidConfig, match="Give the name of a column, or a list of names"):
            written_at_columns(bad)
    state = replace(STATE, config=HAD.recorded())
    changes = configuration_changes(replace(HAD, written_at_columns=("loaded_at",)), state)
    assert changes.alter == ("written_at_columns is loaded_at, and was not set",)


def test_functions_that_are_named_or_not_need_no_new_rows() -> None:
    named = replace(HAD, deterministic_functions=("cents", "tools.f"))
    changes = configuration_changes(HAD, replace(STATE, config=named.recorded()))
    assert changes.rebuild == ()
    assert changes.alter == ("deterministic_functions is not set, and was cents, tools.f",)
    assert named.given("ns").deterministic_functions == {"cents", "tools.f"}
