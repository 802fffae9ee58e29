"""Whether to merge groups, where an overwrite of what partitions say is affected would be right, too."""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import are_all_small
from dbt.adapters.icebergmv.maintenance.planning.cost.read_estimate import bytes_of, bytes_within
from dbt.adapters.icebergmv.maintenance.planning.plan import Merge, Overwrite
from dbt.adapters.icebergmv.maintenance.status.inspection import RefreshedView

WRITTEN_AGAIN = 3
"""What a merge does with stored rows, in times of reading them: they are read, grouped with the changes and written."""

LEAST_SAVED = 8 * 1024 * 1024
"""Spark reads so many bytes of two numbers a row in the third of a second that it plans a merge longer."""


def merging_reads_less(view: RefreshedView, request: PlanRequest) -> bool:
    """Return whether merging groups reads so much less than an overwrite of what may be affected that it is faster.

    A merge reads both versions of what changed, and the stored rows of the partitions that it replaces, or all of them.
    An overwrite reads all rows that these are computed from: in a view by months the whole month of a changed day.
    """
    if not request.merges or are_all_small(view.status):
        return False
    overwrite = plan_refresh(view.definition, view.status, request)
    merge = plan_refresh(view.definition, view.status, replace(request, merging_reads_less=True))
    if not isinstance(overwrite, Overwrite) or not isinstance(merge, Merge):
        return False
    merged, overwritten = bytes_of(view, merge), bytes_of(view, overwrite)
    # Without the stored rows first: to count these may open manifests.
    if merged is None or overwritten is None or merged + LEAST_SAVED > overwritten:
        return False
    stored = _stored_bytes(view, merge)
    return stored is not None and merged + WRITTEN_AGAIN * stored + LEAST_SAVED <= overwritten


def _stored_bytes(view: RefreshedView, merge: Merge) -> int | None:
    """Return the size of the stored rows that a merge replaces, None where that is not cheap to know."""
    stored = view.stored
    if merge.region is None or stored.where_of_partitions(merge.region) is None:
        return stored.count("total-files-size")
    return bytes_within(stored.table, stored.table.schema(), stored.snapshot_id, merge.region)
