"""One decision: definition, columns and plan, settled together with what only Spark knows.

The catalog alone gives a first plan, which is final when nothing has to be done. Otherwise Spark says what the columns
of the definition are, what its expressions make of the values that changed and, where no column follows a change, which
output rows the changed rows reach. The plan is made from that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import monotonic
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit
from dbt.adapters.icebergmv.maintenance.definition.partitioning import stored_partitioning
from dbt.adapters.icebergmv.maintenance.lake import Lake, Limit
from dbt.adapters.icebergmv.maintenance.planning.answers.answered_plan import Asking, answered_plan
from dbt.adapters.icebergmv.maintenance.planning.choice.last_refreshes import (
    Effort,
    effort_so_far,
    full_at_once,
    left_out,
)
from dbt.adapters.icebergmv.maintenance.planning.choice.merge_or_overwrite import merging_reads_less
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh, without_regions
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import references_to_filter, references_to_list
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import (
    STOPPED_AFTER,
    changed_nearly_everywhere,
    full_seconds_now,
    most_seconds_asked,
)
from dbt.adapters.icebergmv.maintenance.planning.cost.stored_share import shares_within_bounds
from dbt.adapters.icebergmv.maintenance.planning.forecast import full_for_one_table, references_worth_listing
from dbt.adapters.icebergmv.maintenance.planning.kept_columns import (
    as_far_as_of_use,
    keeps,
    stored_hidden,
    wants_more,
    with_states,
)
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, Merge, NoOp, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import (
    Column,
    Columns,
    check_columns,
    columns_of_definition,
)
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import Asker, asker_of
from dbt.adapters.icebergmv.maintenance.planning.questions.dynamic_filtering import DynamicFiltering
from dbt.adapters.icebergmv.maintenance.planning.questions.key_evaluation import evaluated
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import MOST_KEYS, MOST_OF_ONE
from dbt.adapters.icebergmv.maintenance.planning.questions.listed_values import Listing
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import RefreshPolicy, ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import (
    Inspection,
    LostView,
    NewView,
    RefreshedView,
    View,
    with_keys_of_today,
    with_views_as_names,
    without_keys,
)

_OTHER_HIDDEN = "its storage table keeps other columns besides those that the view shows"

FindMisfit: TypeAlias = Callable[[Lake, Inspection, Sequence[Column]], str | None]
"""Says why rows with the given columns cannot be beside the stored ones, or None."""


@dataclass(frozen=True)
class PlanOptions:
    """What the plan is for. `policy` and `incremental` are the user's; `appends` says that it runs at once.

    `merges` and `leaves_out`: it may merge groups, and leave out what did not pay lately. This is for those alone who
    write what comes of it: a read would not record that it left that out. `most_of_one`: so many keys of one column may
    be replaced; each is in the text of a query.
    """

    policy: RefreshPolicy = "auto"
    incremental: bool = True
    appends: bool = True
    merges: bool = False
    leaves_out: bool = False
    most_of_one: int = MOST_KEYS

    @classmethod
    def of_run(cls, config: ViewConfig) -> PlanOptions:
        """Return what a run plans for, which writes what comes of it."""
        policy = config.refresh_policy
        leaves_out = policy == "auto"
        return cls(policy, config.incremental, merges=True, leaves_out=leaves_out, most_of_one=MOST_OF_ONE)


@dataclass(frozen=True)
class Settled:
    """Rows will be computed by `plan`, over the definition in `view`, which gives `columns`.

    `misfit` says why the storage table cannot take these columns, if so. `hidden` are columns that are stored besides.
    `effort` says how the plan came about, where rows are kept or could have been.
    """

    view: Inspection
    columns: tuple[Column, ...]
    plan: Append | Overwrite | Merge | Full
    misfit: str | None = None
    hidden: tuple[Column, ...] = ()
    effort: Effort | None = None

    @property
    def makes_storage(self) -> bool:
        """Return whether the storage table is made, or gets new columns and partitioning, before rows are written."""
        is_asked_for = self.view.request.rebuild is not None
        return isinstance(self.plan, Full) and (self.misfit is not None or is_asked_for)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(c.name for c in self.columns)

    @property
    def stored_names(self) -> tuple[str, ...]:
        """Return the names of all columns that are stored."""
        return (*self.names, *(c.name for c in self.hidden))

    @property
    def edits(self) -> tuple[TextEdit, ...]:
        """Return what the text of the definition needs to give all of them."""
        merging = self.view.definition.merging
        return merging.edits if merging is not None and self.hidden else ()


@dataclass(frozen=True)
class Unchanged:
    """No row will be computed: those that are stored are right."""

    view: RefreshedView
    plan: NoOp
    effort: Effort | None


def first_plan(view: RefreshedView, options: PlanOptions) -> RefreshPlan:
    """Return the plan as far as the catalog knows. It is final if `is_final` says so."""
    return plan_refresh(view.definition, view.status, _request(view, options, None))


def is_final(view: RefreshedView, plan: RefreshPlan) -> bool:
    """Return whether Spark need not be asked: nothing changed, neither rows nor columns nor configuration."""
    return isinstance(plan, NoOp) and not view.changes and not view.status.schema_moved


def settle(lake: Lake, view: RefreshedView, options: PlanOptions, find_misfit: FindMisfit) -> Settled | Unchanged:
    """Return what will be done for a view that has stored rows, after asking Spark.

    Raises InvalidDefinition for columns that no table can hold, InvalidConfig for a `partition_by` that they do not
    have, RefreshConflict when the view was dropped meanwhile.
    """
    view, described = _with_columns(lake, view)
    started = monotonic()
    ends = options.policy == "auto"
    full = full_seconds_now(view.state, view.status)
    seconds = most_seconds_asked(full, view.status, is_cold=lake.is_cold) if ends else inf
    asker = asker_of(lake, Limit(started + STOPPED_AFTER * seconds))
    asking = Asking(asker, started + seconds, options.most_of_one)
    columns, hidden = described.output, described.hidden
    misfit = misfit_of(view, hidden, find_misfit(lake, view, columns))
    view = _filtered(view, _request(view, options, misfit), asking.run)
    to_list = references_to_list(view.definition, view.status, _request(view, options, misfit))
    if to_list:
        # The whole request opens manifests, so it is made only here.
        to_list = references_worth_listing(view.definition, view.status, request_of(view, options, hidden, misfit))
    if to_list:
        listing = Listing(view.bases.catalog_name, asker_of(lake, Limit()))
        view = replace(view, status=listing.status(view.definition, view.status, to_list))
        # A table that was made anew with the same rows may filter others.
        view = _filtered(view, _request(view, options, misfit), asking.run)
    at_once = full_at_once(view.definition, view.status, _request(view, options, misfit))
    if at_once is not None:
        effort = effort_so_far(view.state.streaks, view.status, view.state.last_full)
        effort = replace(effort, left_out=frozenset(["incremental"]))
        return replace(_all_anew(lake, view, described, at_once, misfit), effort=effort)
    if view.rebuild is None and isinstance(first_plan(view, options), Overwrite | Full):
        view = replace(view, definition=evaluated(view.definition, view.status, lake.spark))
    request = request_of(view, options, hidden, misfit)
    plan, effort = _planned(lake, view, (*columns, *hidden), request, asking)
    effort = replace(effort, seconds=monotonic() - started)
    if isinstance(plan, NoOp):
        return Unchanged(view, plan, effort)
    if isinstance(plan, Full):
        is_anew = request.rebuild is not None or request.lost is not None
        return replace(_all_anew(lake, view, described, plan, misfit), effort=None if is_anew else effort)
    return Settled(view, columns, plan, misfit, stored_hidden(view.storage), effort)


def _planned(
    lake: Lake, view: RefreshedView, columns: Sequence[Column], request: PlanRequest, asking: Asking
) -> tuple[RefreshPlan, Effort]:
    """Return the plan, and what was asked for it: of changed rows nothing where one table makes it full anyway."""
    full = full_for_one_table(view.definition, view.status, request)
    if full is not None:
        return full, effort_so_far(view.state.streaks, view.status, view.state.last_full)
    return answered_plan(lake, view, columns, request, asking)


def _filtered(view: RefreshedView, request: PlanRequest, run: Asker) -> RefreshedView:
    """Return the view with what changed cut down to the rows that joins with filtered tables keep."""
    references = references_to_filter(view.definition, view.status, request)
    if not references:
        return view
    status = DynamicFiltering(view.definition, view.bases, run).status(view.status, references)
    return replace(view, status=status)


def _all_anew(lake: Lake, view: RefreshedView, described: Columns, plan: Full, misfit: str | None) -> Settled:
    """Return how every row of a view is computed anew that has rows."""
    view, described = _as_of_today(lake, view, described)
    return _anew(view, described, plan, misfit)


def misfit_of(view: RefreshedView, hidden: tuple[Column, ...], of_shown: str | None) -> str | None:
    """Return why the stored rows cannot be kept beside rows with these hidden columns, or None.

    `of_shown` says why the storage table cannot take their other columns, if so.
    """
    is_kept = keeps(view.storage, hidden, view.definition) or not stored_hidden(view.storage)
    return of_shown if is_kept and view.stored.has_hidden_of_today else of_shown or _OTHER_HIDDEN


def request_of(
    view: RefreshedView, options: PlanOptions, hidden: tuple[Column, ...], misfit: str | None
) -> PlanRequest:
    """Return what the plan of a refresh is made from, but for the answers to what Spark is asked."""
    merges = options.merges and keeps(view.storage, hidden, view.definition)
    request = replace(_request(view, options, misfit), merges=merges)
    if options.policy == "full":
        return request
    request = replace(request, changed_nearly_everywhere=changed_nearly_everywhere(view.status))
    if without_regions(view.definition, view.status, request) is not None:
        return request
    shares = shares_within_bounds(view.definition, view.status, view.stored, request.partitioning)
    request = replace(request, within_bounds=shares)
    return replace(request, merging_reads_less=merging_reads_less(view, request))


def settle_build(lake: Lake, view: NewView | LostView, find_misfit: FindMisfit) -> Settled:
    """Return how a view is built that has no rows to keep; as `settle` otherwise."""
    reason = view.rebuild or (view.lost if isinstance(view, LostView) else "")
    view, columns = _with_columns(lake, view)
    return _anew(view, columns, Full(reason), find_misfit(lake, view, columns.output))


def _anew(view: Inspection, columns: Columns, plan: Full, misfit: str | None) -> Settled:
    """Return how every row is computed, into a new storage table if the hidden columns of the stored one are others."""
    if not keeps(view.storage, columns.hidden, view.definition):
        misfit = misfit or _OTHER_HIDDEN
    return Settled(view, columns.output, plan, misfit, columns.hidden)


def _as_of_today(lake: Lake, view: RefreshedView, columns: Columns) -> tuple[RefreshedView, Columns]:
    """Return a view that is computed anew, and its columns, with the hidden keys and tie-breakers of today."""
    if not wants_more(view):
        return view, columns
    return _with_columns(lake, with_keys_of_today(lake.catalog, view))


def _with_columns(lake: Lake, view: View) -> tuple[View, Columns]:
    """Return the view with its output columns and the hidden ones that it can have."""
    view = as_far_as_of_use(view)
    columns = columns_of_definition(lake, view)
    if columns is None and view.definition.keys:
        view = as_far_as_of_use(without_keys(lake.catalog, view))
        columns = columns_of_definition(lake, view)
    if columns is None:
        view = as_far_as_of_use(with_views_as_names(lake.catalog, view))
        columns = columns_of_definition(lake, view) or Columns(())
    view, columns = with_states(check_columns(view, columns), columns)
    types = {column.name: column.type for column in columns.output}
    return replace(view, definition=view.definition.with_types(types)), columns


def _request(view: RefreshedView, options: PlanOptions, misfit: str | None) -> PlanRequest:
    return PlanRequest(
        policy=options.policy,
        refreshed_at=view.state.refreshed_for_people,
        rebuild=view.rebuild,
        lost=view.redefined or misfit,
        partitioning=[(f.column, f.transform) for f in stored_partitioning(view.storage)],
        incremental=options.incremental,
        appends=options.appends,
        full_seconds=full_seconds_now(view.state, view.status),
        left_out=left_out(view.state.streaks, view.status, view.state.last_full) if options.leaves_out else frozenset(),
    )
