"""What a run does with a view, after what the same run does first with a view below it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult, left_alone
from dbt.adapters.icebergmv.maintenance.reports.one_run import status
from dbt.adapters.icebergmv.maintenance.reports.view_status import Configured, Recorded, Subject, Unread, ViewStatus
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.status.resting import RestingView, inspect_for_run
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import VIEW, Model, Stage, reading, sell
from tests.support.recording_spark import SETTINGS, RecordingSpark
from tests.support.shares import one_of

BEHAVIORS = ("use_data_table", "use_view_query", "use_stitching")
COLUMNS = (("region", "string"), ("total", "bigint"))
SQL = "SELECT region, total FROM sales WHERE total > 0 OR total IS NULL"


def above(stage: Stage, name: str = "above", sql: str = SQL, **config: object) -> RefreshRequest:
    """Return a request for a view over the stage's view."""
    storage = ("lake", "ns", f"__mv_storage__{name}")
    configured = replace(ViewConfig(definition_hash(sql), storage, settings=SETTINGS), **config)  # type: ignore[arg-type]
    return RefreshRequest(("lake", "ns", name), sql, "ns", configured, "ann", now=stage.now)


def build(stage: Stage, request: RefreshRequest) -> RefreshResult:
    view = inspect(stage.catalog, request)
    return refresh(Lake(stage.catalog, RecordingSpark(stage.catalog, COLUMNS)), view, read_plan(view))


def run(stage: Stage, request: RefreshRequest) -> RefreshResult:
    """Do what a run does with a view, which may leave it alone."""
    found = inspect_for_run(stage.catalog, request)
    return left_alone(found) if isinstance(found, RestingView) else build(stage, request)


def build_below(stage: Stage, model: Model) -> RefreshResult:
    """Refresh the stage's view, and note what a real catalog does besides."""
    result, _ = stage.refresh(model)
    view = stage.catalog.views[VIEW[2]]
    stage.catalog.views[VIEW[2]] = replace(view, default_namespace=("ns",), types=("string", "bigint"))
    return result


def look(stage: Stage, *subjects: Subject) -> tuple[ViewStatus, ...]:
    return status(stage.catalog, subjects, stage.now())


@pytest.mark.parametrize("target_lag", [None, 3600])
@pytest.mark.parametrize(("was", "becomes"), one_of(3, [(a, b) for a in BEHAVIORS for b in BEHAVIORS if a != b]))
def test_a_view_that_is_read_otherwise_changes_no_row_of_those_above(
    was: str, becomes: str, target_lag: int | None, stage: Stage
) -> None:
    build_below(stage, reading(was))
    build(stage, above(stage, target_lag=target_lag))
    assert build(stage, above(stage)).kind == "none"
    model = reading(becomes)
    upper = Configured(above(stage, target_lag=target_lag), built_first=(VIEW,))
    lower_said, said = look(stage, Configured(stage.request(model)), upper)
    assert lower_said.next is not None
    assert said.next is not None
    assert lower_said.next.kinds == (build_below(stage, model).kind,) == ("none",)
    crosses = "use_data_table" in (was, becomes)
    assert lower_said.next.is_read_otherwise is crosses
    assert said.next.held_by == (None if target_lag is None or crosses else "target_lag")
    done = run(stage, above(stage, target_lag=target_lag))
    assert done.kind == "none"
    assert done.kind in said.next.kinds
    # It has recorded what it reads now, so that it follows that from then on.
    sell("EU")(stage.tables())
    build_below(stage, model)
    assert run(stage, above(stage)).kind in ("append", "overwrite")


BESIDE = "SELECT s.region, s.total FROM sales s WHERE s.total > (SELECT min(amount) FROM orders)"


def test_a_table_that_was_read_at_two_snapshots_is_read_anew(stage: Stage) -> None:
    """Stored rows below are of one snapshot, and rows beside them of another: no state says both."""
    build_below(stage, reading("use_data_table"))
    sell("EU")(stage.tables())
    build(stage, above(stage, sql=BESIDE))
    build_below(stage, reading("use_stitching"))
    assert run(stage, above(stage, sql=BESIDE)).kind == "full"
    assert run(stage, above(stage, sql=BESIDE)).kind == "none"


def test_a_table_that_was_read_at_one_snapshot_goes_on(stage: Stage) -> None:
    build_below(stage, reading("use_data_table"))
    build(stage, above(stage, sql=BESIDE))
    for behavior in ("use_stitching", "use_data_table", "use_view_query"):
        build_below(stage, reading(behavior))
        assert run(stage, above(stage, sql=BESIDE)).kind == "none"


@pytest.mark.parametrize(("was", "becomes"), [("use_data_table", "use_stitching"), ("use_stitching", "use_data_table")])
def test_another_select_below_is_no_other_way_to_read_it(was: str, becomes: str, stage: Stage) -> None:
    build_below(stage, reading(was))
    build(stage, above(stage))
    model = reading(becomes)
    build_below(stage, replace(model, sql=model.sql.replace("GROUP BY", "WHERE amount > 0 GROUP BY")))
    assert run(stage, above(stage)).kind == "full"


@pytest.mark.parametrize(("was", "becomes"), [("use_data_table", "use_stitching"), ("use_stitching", "use_data_table")])
def test_rows_that_came_with_the_setting_are_followed(was: str, becomes: str, stage: Stage) -> None:
    build_below(stage, reading(was))
    build(stage, above(stage))
    sell("EU")(stage.tables())
    build_below(stage, reading(becomes))
    assert run(stage, above(stage)).kind in ("append", "overwrite")


def test_a_strict_view_may_fail_of_that(stage: Stage) -> None:
    build_below(stage, reading("use_data_table"))
    build(stage, above(stage))
    strict = Configured(above(stage, refresh_policy="incremental_strict"), built_first=(VIEW,))
    _, said = look(stage, Configured(stage.request(reading("use_view_query"))), strict)
    assert said.next is not None
    assert "error" in said.next.kinds
    assert "full" not in said.next.kinds


def test_what_is_above_a_view_that_fails_is_skipped(stage: Stage) -> None:
    build_below(stage, Model())
    build(stage, above(stage))
    sell("EU")(stage.tables())
    middle = Configured(above(stage, sql=f"{SQL} AND total > 1"), built_first=(VIEW,))
    behind_a_table = Configured(
        above(stage, "top", "SELECT id FROM orders"), built_first=(("lake", "ns", "made"),), needs=frozenset({VIEW})
    )
    asked = Unread(("lake", "ns", "asked"), "its SELECT asks Spark", frozenset({VIEW}))
    _, *found = look(stage, Recorded(VIEW, problem="its model is broken"), middle, behind_a_table, asked)
    for said in found:
        assert said.next is not None
        assert (said.next.kinds, said.next.held_by) == (("none",), "upstream_error")
        assert said.next.reason == "lake.ns.sales, which the same run builds first, fails: dbt skips what reads it"


def test_a_changed_select_below_that_is_read_redefines_those_above(stage: Stage) -> None:
    live = reading("use_view_query")
    build_below(stage, live)
    waiting = above(stage, target_lag=3600)
    build(stage, waiting)
    changed = replace(live, sql=live.sql.replace("GROUP BY", "WHERE amount > 0 GROUP BY"))
    _, said = look(stage, Configured(stage.request(changed)), Configured(waiting, built_first=(VIEW,)))
    assert said.next is not None
    build_below(stage, changed)
    assert run(stage, waiting).kind == "full"
    assert "full" in said.next.kinds


def test_a_contract_is_compared_though_the_view_rests(stage: Stage) -> None:
    build_below(stage, Model())
    waiting = above(stage, target_lag=3600)
    build(stage, waiting)
    (said,) = look(stage, Configured(waiting, declared={"nothing": "int"}))
    assert said.next is not None
    assert (said.next.kinds, said.next.held_by) == (("none", "error"), "target_lag")


def test_what_is_above_a_view_that_may_fail_may_be_skipped(stage: Stage) -> None:
    strict = replace(Model(), config={"refresh_policy": "incremental_strict"})
    build_below(stage, strict)
    build(stage, above(stage, sql="SELECT max(total) AS total, region FROM sales GROUP BY region"))
    lower = Configured(stage.request(strict), built_first=(("lake", "ns", "made_by_the_run"),))
    upper = Configured(above(stage, sql=SQL), built_first=(VIEW,))
    lower_said, said = look(stage, lower, upper)
    assert lower_said.next is not None
    assert said.next is not None
    assert "error" in lower_said.next.kinds
    assert "none" in said.next.kinds
