"""One refresh, from inspection to the published view: decide, write, publish."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

from typing_extensions import assert_never

from dbt.adapters.icebergmv.maintenance.errors import RefreshConflict, naming
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.choice.last_refreshes import after_failing, streaks_after
from dbt.adapters.icebergmv.maintenance.planning.policy import enforce
from dbt.adapters.icebergmv.maintenance.planning.settle import (
    PlanOptions,
    Settled,
    Unchanged,
    first_plan,
    is_final,
    settle,
    settle_build,
)
from dbt.adapters.icebergmv.maintenance.planning.storage_fit import misfit_to_write
from dbt.adapters.icebergmv.maintenance.refresh.layouts import layout_of
from dbt.adapters.icebergmv.maintenance.refresh.meanwhile import check_appended, conflict_of_lost_tables
from dbt.adapters.icebergmv.maintenance.refresh.publish import is_outdated
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult, done, nothing_done
from dbt.adapters.icebergmv.maintenance.refresh.shortcomings import recorded_config, say
from dbt.adapters.icebergmv.maintenance.refresh.state_after import moved
from dbt.adapters.icebergmv.maintenance.refresh.static_stitching import leave
from dbt.adapters.icebergmv.maintenance.refresh.storage_table import alter_storage
from dbt.adapters.icebergmv.maintenance.refresh.writing import NotMerged
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, LostView, NewView, RefreshedView, inspect
from dbt.adapters.icebergmv.maintenance.status.session.clock import iso
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import check_session
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import ReadPlan, read_plan

ATTEMPTS = 3


def refresh(lake: Lake, inspection: Inspection, reads: ReadPlan) -> RefreshResult:
    """Bring the inspected view up to date and return what was done. `reads` is what readers are to get.

    A refresh that loses against another one starts again from what the winner published, a few times; then it raises
    RefreshConflict. Any error names the view, and leaves what readers see untouched (but for a partition column of
    another type in a catalog without views: docs/layouts.md).
    """
    with naming("refresh", inspection.request.name):
        for _ in range(ATTEMPTS - 1):
            try:
                return _attempt(lake, inspection, reads)
            except RefreshConflict:
                inspection = inspect(lake.catalog, inspection.request)
                reads = read_plan(inspection)
        return _attempt(lake, inspection, reads)


def _attempt(lake: Lake, inspection: Inspection, reads: ReadPlan) -> RefreshResult:
    with conflict_of_lost_tables(lake, inspection):
        return _refresh_once(lake, inspection, reads)


def _refresh_once(lake: Lake, inspection: Inspection, reads: ReadPlan) -> RefreshResult:
    started_at = iso(inspection.looked_at)
    match inspection:
        case NewView() | LostView():
            return _build(lake, inspection, reads, started_at)
        case RefreshedView():
            if inspection.request.is_left_alone and inspection.rebuild is None:
                return leave(lake, inspection, reads)
            return _bring_up_to_date(lake, inspection, reads, started_at)
        case _:
            assert_never(inspection)


def _build(lake: Lake, view: NewView | LostView, reads: ReadPlan, started_at: str) -> RefreshResult:
    """Compute every row; there are none that can be kept."""
    check_session(lake, view.request.config.settings)
    settled = settle_build(lake, view, misfit_to_write)
    return _carry_out(lake, view, settled, reads, started_at)


def _bring_up_to_date(lake: Lake, view: RefreshedView, reads: ReadPlan, started_at: str) -> RefreshResult:
    config = view.request.config
    options = PlanOptions.of_run(config)
    plan = first_plan(view, options)
    if is_final(view, plan):
        return _record_moved(lake, view, reads, plan.reason)
    check_session(lake, config.settings)
    settled = settle(lake, view, options, misfit_to_write)
    if isinstance(settled, Unchanged):
        return _alter_only(lake, settled, reads)
    began = monotonic()
    try:
        return _carry_out(lake, view, settled, reads, started_at)
    except NotMerged as error:
        failed = monotonic() - began
        again = settle(lake, view, replace(options, merges=False), misfit_to_write)
        again = replace(again, effort=after_failing(settled.effort, failed, again.effort))
        if isinstance(again, Unchanged):
            # Files of other metrics can hold the same rows; then only this question shows it.
            return _alter_only(lake, again, reads)
        settled = replace(again, plan=replace(again.plan, reason=f"{again.plan.reason}; {error}"))
    return _carry_out(lake, view, settled, reads, started_at)


def _carry_out(lake: Lake, view: Inspection, settled: Settled, reads: ReadPlan, started_at: str) -> RefreshResult:
    enforce(settled.view, settled.plan)
    reads = _reads_of(view, settled.view, reads)
    say(lake, settled.view, reads)
    return _write(lake, settled, reads, started_at)


def _reads_of(inspected: Inspection, settled: Inspection, reads: ReadPlan) -> ReadPlan:
    """Return what readers get, planned again for another text of the SELECT, or where its types say more of it.

    Views may stay names in it after all, which no reader can watch, and it may have other hidden keys to stitch by.
    """
    before, after = (
        (view.views, view.definition.keys, view.definition.full_when_changed, view.definition.depends_on_order)
        for view in (inspected, settled)
    )
    return reads if before == after else read_plan(settled)


def _write(lake: Lake, settled: Settled, reads: ReadPlan, started_at: str) -> RefreshResult:
    made = layout_of(settled.view.request.config).write(lake, settled, reads, started_at)
    return done(made.settled, made.stored, made.start, made.behavior)


def _alter_only(lake: Lake, settled: Unchanged, reads: ReadPlan) -> RefreshResult:
    """Apply changed properties and comments, and record ids that moved; the rows stay as they are."""
    view, reason = settled.view, settled.plan.reason
    check_appended(lake, view)
    say(lake, view, reads)
    alter_storage(lake, view)
    streaks = streaks_after(settled.effort, settled.plan, 0.0)
    state = replace(moved(view, recorded_config(view, reads)), streaks=streaks)
    behavior = layout_of(view.request.config).republish(lake, view, reads, state)
    altered = ", ".join(view.changes.alter)
    return nothing_done(view, f"{reason}; {altered}" if altered else reason, behavior)


def _record_moved(lake: Lake, view: RefreshedView, reads: ReadPlan, reason: str) -> RefreshResult:
    """Record the new snapshot ids of bases whose rows did not change (compaction, a DELETE that matched nothing)."""
    behavior, layout = view.state.stale_read_behavior, layout_of(view.request.config)
    state = moved(view, recorded_config(view, reads))
    layout.finish(lake, view)
    if is_outdated(view, reads):
        say(lake, view, reads)
        behavior = layout.republish(lake, view, reads, state)
    elif view.status.has_moved or view.is_restated:
        say(lake, view, reads)
        layout.record(lake, view, state)
    return nothing_done(view, reason, behavior)
