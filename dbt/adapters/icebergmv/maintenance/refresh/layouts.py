"""The layouts of a materialized view: where a refresh leaves rows and state, and what readers find under its name."""

from __future__ import annotations

from typing import Protocol

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.refresh import table_layout, view_layout
from dbt.adapters.icebergmv.maintenance.refresh.writing import Published
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import RefreshedView
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import ReadPlan


class Layout(Protocol):
    """What differs between layouts once the plan is settled."""

    def write(self, lake: Lake, settled: Settled, reads: ReadPlan, started_at: str) -> Published:
        """Carry a plan out and publish rows and state in one commit. Raises NotMerged and RefreshConflict."""

    def republish(self, lake: Lake, view: RefreshedView, reads: ReadPlan, state: ViewState) -> StaleReadBehavior:
        """Publish another state over the rows that are stored; return the behaviour that readers get."""

    def finish(self, lake: Lake, view: RefreshedView) -> None:
        """Do what a refresh that died after it was published left to do, as far as the inspection shows it."""

    def record(self, lake: Lake, view: RefreshedView, state: ViewState) -> None:
        """Record a state of which nothing but ids moved."""


def layout_of(config: ViewConfig) -> Layout:
    """Return the layout that a view is to have."""
    return table_layout if config.layout == "table" else view_layout
