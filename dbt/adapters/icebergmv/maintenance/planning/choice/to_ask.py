"""Which references are asked what their changed rows reach, and which are looked at before that."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.choice.deltas import has_former_version
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import (
    PlanRequest,
    costs_too_much,
    is_clock_answered,
    is_nearly_all,
    is_untracked,
    stands_still,
)
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import (
    added_beside,
    full_or_none,
    merges_groups,
    without_regions,
)
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import (
    WORTH_ASKING,
    asking_pays,
    is_cheap_to_ask,
    is_rough,
    small_beside_large,
    worth_filtering,
)
from dbt.adapters.icebergmv.maintenance.planning.plan import Append
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import is_appended, reaches_a_group
from dbt.adapters.icebergmv.maintenance.planning.questions.dynamic_filtering import filters_to_ask
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus


@dataclass(frozen=True)
class ToAsk:
    """The references whose changed rows should say what they reach.

    Without an answer about each of the `needed` ones the refresh is full. Of the `narrower` ones it is known roughly
    what they may reach, and an answer can only be less. Those in `own_keys` only got rows, of which it is known between
    which bounds they are; no more is read for their keys than these rows. `only_whether`: if anything is reached,
    groups are merged, whichever they are.
    """

    needed: tuple[int, ...] = ()
    narrower: tuple[int, ...] = ()
    own_keys: tuple[int, ...] = ()
    only_whether: bool = False

    @property
    def is_nothing(self) -> bool:
        """Return whether no reference should."""
        return not (self.needed or self.narrower or self.own_keys)


def clock_to_ask(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> Clock | None:
    """Return what a clock that moved was before, if it should be asked what it reaches; that comes before any table."""
    if status.clock is None or without_regions(definition, status, request) is not None:
        return None
    return status.clock.before


def references_to_list(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest
) -> frozenset[int]:
    """Return the references to small tables, beside large ones, that are first asked which values changed rows hold."""
    plan = without_regions(definition, status, request)
    return small_beside_large(status) if plan is None or isinstance(plan, Append) else frozenset()


def references_to_filter(
    definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest
) -> frozenset[int]:
    """Return the references whose changes are cut down first to the rows that joins with filtered tables keep."""
    usable = filters_to_ask(definition, status, worth_filtering(status)) if definition.filters else {}
    plan = without_regions(definition, status, request) if usable else None
    return frozenset(use.index for use in usable) if plan is None or isinstance(plan, Append) else frozenset()


def references_to_ask(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> ToAsk:
    """Return the references to ask. With `auto` nothing is asked that would read most of all rows: it does not pay."""
    if without_regions(definition, status, request) is not None or not is_clock_answered(status, request):
        return ToAsk()
    merges = merges_groups(definition, status, request)
    needed: dict[int, BaseTableStatus] = {}
    narrower: list[int] = []
    own_keys: list[int] = []
    added = {delta.changed for delta in added_beside(definition, status, request)}
    for base in (b for b in status.reaching if not b.is_among(added)):
        # A merge writes the storage anew, so it is asked first whether it has anything to add.
        if merges and reaches_a_group(definition, base):
            continue
        is_open = is_rough(base) or (merges and base.listed is not None)
        has_keys = not merges and is_appended(base)
        for use in definition.uses_of_all(base.references):
            or_full = not merges and is_nearly_all(base, use, request)
            if is_untracked(definition, base, use, request):
                needed[use.index] = base
            elif not is_cheap_to_ask(base, status, or_full=or_full) or not definition.rewritable:
                continue
            elif is_open:
                narrower.append(use.index)
            elif has_keys and request.within_bounds.get(use.index, 0.0) >= WORTH_ASKING:
                own_keys.append(use.index)
    # A table that is used several times is compared with what it was once.
    compared = {base.base.name: base for base in needed.values()}
    is_too_much = costs_too_much(request, compared.values(), status)
    if needed and (is_too_much or not definition.rewritable):
        return ToAsk()
    known_roughly, known_by_bounds = ({*found} - needed.keys() for found in (narrower, own_keys))
    return ToAsk(tuple(sorted(needed)), tuple(sorted(known_roughly)), tuple(sorted(known_by_bounds)), merges)


def asks_for_any_row(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> bool:
    """Return whether it could be asked first if any row changed: where one did, the refresh is full, whichever it is.

    The result depends on the order of rows then, so the stored rows are as right as others while no row changed.
    """
    if definition.full_when_changed is None or status.clock is not None or not definition.rewritable:
        return False
    if definition.columns is None:
        return False  # It is not known what its conditions leave out.
    if costs_too_much(request, status.reaching, status) or full_or_none(definition, status, request) is not None:
        return False
    return bool(status.reaching) and all(has_former_version(b) and not is_appended(b) for b in status.reaching)


def as_far_as_it_pays(
    asked: Asked, status: MaterializedViewStatus, to_ask: ToAsk, request: PlanRequest
) -> tuple[ToAsk, Asked | None]:
    """Return what is asked of a text, and in which text; None where no text is worth to be run for it.

    The whole text is asked where it says as much as an expression in it says by itself: it names no rows that the
    SELECT around the expression leaves out. With the policy `auto` what is known roughly is not asked where that would
    make all of it too dear: the refresh would be full instead.
    """
    whole, needed = replace(asked, shared={}), replace(to_ask, narrower=())
    is_auto = request.policy == "auto"
    full_seconds = request.full_seconds if is_auto else None
    for wanted in (to_ask, needed) if is_auto else (to_ask,):
        references = (*wanted.needed, *wanted.narrower)
        shared = [index for index in references if index in asked.shared]
        says_as_much = all(map(whole.answers_some, shared)) and asking_pays(whole, shared, status, frozenset())
        for text in (whole, asked) if says_as_much else (asked,):
            if asking_pays(text, references, status, small_beside_large(status), full_seconds):
                return wanted, text
    return (needed, None) if is_auto else (to_ask, asked)


def merges_reached_rows(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> bool:
    """Return whether groups may be merged by the rows below them: no column of the view says what a change reaches.

    Whether that pays is seen when these rows are known (`merging_reached_pays`).
    """
    return _merges_by_rows(definition, request) and _asks_rows_below(definition, status, request)


def replaces_reached_groups(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> bool:
    """Return whether groups that are not merged may be replaced by the keys of the rows below that a change reaches."""
    if definition.group_keys is None or _merges_by_rows(definition, request):
        return False
    return _asks_rows_below(definition, status, request)


def _merges_by_rows(definition: ViewDefinition, request: PlanRequest) -> bool:
    return request.merges and definition.merging is not None and definition.merging.is_by_rows


def _asks_rows_below(definition: ViewDefinition, status: MaterializedViewStatus, request: PlanRequest) -> bool:
    if without_regions(definition, status, request) is not None or not stands_still(status, request):
        return False
    to_ask = references_to_ask(definition, status, request)
    return not to_ask.only_whether and not all(map(definition.asked.names_some, to_ask.needed))
