"""What the planner decides from, and what follows from it about one change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK, Occurrence
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import NEARLY_EVERYWHERE, reads_too_much
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import Answer
from dbt.adapters.icebergmv.maintenance.planning.regions import affected_rows
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import RefreshPolicy
from dbt.adapters.icebergmv.maintenance.status.recorded.streaks import Part
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus


@dataclass(frozen=True)
class PlanRequest:
    """What the planner decides from, besides definition and status.

    `rebuild` says why the contents must be rebuilt whatever changed (first build, --full-refresh, a changed SELECT);
    `lost` why the stored rows cannot be kept although nobody asked for a rebuild (storage dropped, columns changed).
    `partitioning` are the (column, transform) pairs that partition the storage; constraints on these are preferred in
    a region. Without `incremental` the plan is a no-op or a full refresh. Without `appends` no append scan is planned:
    it reads the columns that the table has today, so it is right only in a query that runs at once. `answers` says, of
    references whose changes no output column follows, and of CLOCK, which output rows they reach. With `merges` the
    stored rows hold what groups are merged by. Of the base tables in `changed_nearly_everywhere` so many partitions
    changed that to overwrite what they affect costs more than to compute everything. `within_bounds` says of references
    whose changes are known by column bounds alone about which share of the stored rows is within these.
    With `merging_reads_less` groups are merged although partitions say which rows to overwrite.
    `full_seconds` is how long a full refresh takes. `left_out`: these did not pay at the last refreshes.
    """

    policy: RefreshPolicy
    refreshed_at: str = ""
    rebuild: str | None = None
    lost: str | None = None
    partitioning: Sequence[tuple[str, str]] = ()
    incremental: bool = True
    appends: bool = True
    answers: Mapping[int, Answer] = field(default_factory=dict)
    merges: bool = False
    changed_nearly_everywhere: frozenset[TableName] = frozenset()
    within_bounds: Mapping[int, float] = field(default_factory=dict)
    merging_reads_less: bool = False
    full_seconds: float | None = None
    left_out: frozenset[Part] = frozenset()


def costs_too_much(request: PlanRequest, bases: Iterable[BaseTableStatus], status: MaterializedViewStatus) -> bool:
    """Return whether so much changed in some base tables that it is not read to refresh less. Only `auto` asks that."""
    return request.policy == "auto" and reads_too_much(bases, status)


def stands_still(status: MaterializedViewStatus, request: PlanRequest) -> bool:
    """Return whether the clock is what it was, or reaches no row."""
    return status.clock is None or request.answers.get(CLOCK.index) == ()


def is_clock_answered(status: MaterializedViewStatus, request: PlanRequest) -> bool:
    """Return whether it is known which rows the clock reaches, or it is what it was."""
    return status.clock is None or isinstance(request.answers.get(CLOCK.index), tuple)


def is_nearly_all(base: BaseTableStatus, use: Occurrence, request: PlanRequest) -> bool:
    """Return whether to overwrite what a change may affect would be to overwrite nearly everything."""
    share = request.within_bounds.get(use.index, 0.0)
    return base.base.name in request.changed_nearly_everywhere or share >= NEARLY_EVERYWHERE


def is_untracked(
    definition: ViewDefinition, base: BaseTableStatus, occurrence: Occurrence, request: PlanRequest
) -> bool:
    """Return whether every output row may be affected, as far as partitions and bounds say."""
    return any(d.is_all for d in affected_rows(definition, base, occurrence, request.partitioning))
