"""Which refreshes leave out what did not pay at the last ones, and how long that is remembered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.settle import PlanOptions, request_of
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.reports.what_if import trial
from dbt.adapters.icebergmv.maintenance.status.inspection import RefreshedView, inspect
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from dbt.adapters.icebergmv.maintenance.status.recorded.streaks import Streak, Streaks
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import COUNTED, VIEW, Model, Stage, sell
from tests.support.recording_spark import RecordingSpark

VAIN: Streaks = {"questions": Streak(1, 5.0, 3)}


def asked_in_vain(stage: Stage, model: Model) -> RefreshedView:
    """Return a view that is stale, whose last refreshes asked in vain."""
    sell("EU")(stage.tables())
    view = inspect(stage.catalog, stage.request(model))
    assert isinstance(view, RefreshedView)
    return replace(view, state=replace(view.state, full_seconds=10.0, full_rows=10, streaks=VAIN))


def recorded_after(stage: Stage, model: Model, view: RefreshedView) -> tuple[str, Streaks]:
    """Refresh a view; return the kind of the refresh and what is recorded of the last ones after it."""
    result = refresh(Lake(stage.catalog, RecordingSpark(stage.catalog, model.columns)), view, read_plan(view))
    found = stage.catalog.view(*VIEW[1:])
    assert found is not None
    return result.kind, read_state("lake.ns.sales", found.properties).streaks


@pytest.mark.parametrize("policy", ["auto", "incremental", "incremental_strict", "full"])
def test_only_runs_of_the_policy_auto_leave_them_out(stage: Stage, policy: str) -> None:
    model = Model(config={"refresh_policy": policy})
    stage.refresh(model)
    view = asked_in_vain(stage, model)
    options = PlanOptions.of_run(view.request.config)
    assert request_of(view, options, (), None).left_out == ({*VAIN} if policy == "auto" else set())


def test_reads_ask_and_so_does_what_is_said_of_changes_to_come(stage: Stage) -> None:
    """A read records nothing, so nothing would ever be asked again."""
    stage.refresh(Model())
    view = asked_in_vain(stage, Model())
    assert not request_of(view, PlanOptions(), (), None).left_out
    assert not trial(view).request.left_out


def test_a_refresh_without_questions_says_nothing_of_them(stage: Stage) -> None:
    stage.refresh(Model())
    assert recorded_after(stage, Model(), asked_in_vain(stage, Model())) == ("overwrite", VAIN)


def test_a_question_left_out_for_the_order_of_rows_is_asked_again_after_some_refreshes(stage: Stage) -> None:
    model = Model("SELECT region, amount FROM orders LIMIT 3", (("region", "string"), ("amount", "bigint")))
    stage.refresh(model)
    stage.tables()["orders"].delete("region = 'EU'")
    kind, streaks = recorded_after(stage, model, asked_in_vain(stage, model))
    assert (kind, streaks["questions"].waited) == ("full", 1)


@pytest.mark.parametrize("model", [COUNTED, Model(config={"partition_by": ()})], ids=["SELECT", "partition_by"])
def test_another_view_begins_anew(stage: Stage, model: Model) -> None:
    stage.refresh(Model())
    assert recorded_after(stage, model, asked_in_vain(stage, model)) == ("full", {})
