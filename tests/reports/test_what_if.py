"""Changes that are tried and not made."""

from __future__ import annotations

from dbt.adapters.icebergmv.maintenance.reports.next_refresh import is_fresh, outlook
from dbt.adapters.icebergmv.maintenance.reports.what_if import one_file_changed, trial
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, inspect
from tests.refresh.refreshes import DAYS, ROWS, Model, Stage, sell


def inspected(stage: Stage, model: Model) -> Inspection:
    return inspect(stage.catalog, stage.request(model))


def test_one_file_is_tried(stage: Stage) -> None:
    view = inspected(stage, ROWS)
    (orders,) = view.status.base_tables
    assert orders.base.source is not None
    added = one_file_changed(orders.base.source, frozenset(["region"]), only_added=True)
    changed = one_file_changed(orders.base.source, frozenset(["region"]), only_added=False)
    assert added is not None
    assert changed is not None
    assert (added.changed_partitions, added.unit, added.changed_rows) == (1, "partition", 1)
    assert added.appended_since == orders.base.source.version.snapshot_id
    assert changed.appended_since is None


def test_a_trial_is_of_a_view_that_is_right(stage: Stage) -> None:
    """However stale it is, changed in its SELECT, or never built."""
    never = trial(inspected(stage, ROWS))
    stage.refresh(ROWS)
    sell("EU")(stage.tables())
    assert not is_fresh(inspected(stage, ROWS))
    stale, changed = trial(inspected(stage, ROWS)), trial(inspected(stage, DAYS))
    for tried, kind in ((never, "append"), (stale, "append"), (changed, "merge")):
        (orders,) = tried.view.status.base_tables
        found = tried.of(orders).added
        assert found is not None
        assert found.kinds[0] == kind


def test_what_the_next_run_reads(stage: Stage) -> None:
    stage.refresh(Model())
    assert is_fresh(inspected(stage, Model()))
    assert outlook(inspected(stage, Model())).next.estimated_bytes == 0
    sell("EU")(stage.tables())
    ahead = outlook(inspected(stage, Model()))
    result, _ = stage.refresh(Model())
    assert ahead.next.estimated_bytes == result.estimated_bytes
    assert ahead.settled is not None
    assert ahead.settled.plan.kind == "overwrite"
