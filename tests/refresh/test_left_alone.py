"""Runs that leave stored rows as they are (`refresh_on_run: false`), and readers who are to get something else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from tests.refresh.refreshes import JOINED, Model, Stage, reading, sell

LEFT = Model(JOINED.sql, JOINED.columns, {"refresh_on_run": False})
UNKNOWN = "it is not recorded of which rows of lake.ns.regions these are"


def built_before_a_table_was_understood(stage: Stage) -> None:
    """Build the view while nothing can be known of one of its two tables, which can be read from then on."""
    stage.catalog.not_understood = {"regions"}
    stage.refresh(LEFT)
    stage.catalog.not_understood = set()
    sell("EU")(stage.tables())


@pytest.mark.parametrize("behavior", ["use_view_query", "fail"])
def test_a_base_table_that_was_not_recorded_cannot_be_watched(stage: Stage, behavior: str) -> None:
    built_before_a_table_was_understood(stage)
    model = reading(behavior, LEFT)
    result, _ = stage.refresh(model)
    assert (result.kind, result.stale_read_behavior) == ("none", "use_data_table")
    assert UNKNOWN in result.reason
    view = stage.catalog.views["sales"]
    assert view.sql == f"SELECT `region`, `manager`, `total` FROM {pinned(view.properties)}"
    again, said = stage.refresh(model)
    assert (again.kind, again.stale_read_behavior, said) == ("none", "use_data_table", [])


def test_readers_who_look_at_nothing_get_the_definition(stage: Stage) -> None:
    built_before_a_table_was_understood(stage)
    result, _ = stage.refresh(reading("use_view_query", LEFT, definition_below_rows=100))
    assert result.stale_read_behavior == "use_view_query"
    assert UNKNOWN not in result.reason


@pytest.mark.parametrize("behavior", ["use_view_query", "fail"])
def test_base_tables_that_were_recorded_are_watched(stage: Stage, behavior: str) -> None:
    stage.refresh(LEFT)
    sell("EU")(stage.tables())
    result, _ = stage.refresh(reading(behavior, LEFT))
    assert result.stale_read_behavior == behavior
    assert "not recorded" not in result.reason


def pinned(properties: Mapping[str, str]) -> str:
    state = read_state("sales", properties)
    return f"`lake`.`ns`.`{state.storage_table[2]}` VERSION AS OF {state.storage_snapshot_id}"
