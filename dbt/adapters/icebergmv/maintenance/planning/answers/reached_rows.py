"""Merges or replaces groups by the rows below them that changes reach, where no column of the view says which they are.

These rows are a query of their own (definition/merging/rows_below.py). The region that an overwrite of it would replace
covers all of its rows that the changes create, remove or alter, by the same proof. So it is analysed, asked and planned
as any view is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, prod

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, analyse
from dbt.adapters.icebergmv.maintenance.definition.merging.rows_below import column_name
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.answers.changed_keys import Questions
from dbt.adapters.icebergmv.maintenance.planning.choice.deltas import has_former_version, recorded_snapshot
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import changes
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import (
    ToAsk,
    merges_reached_rows,
    references_to_ask,
    replaces_reached_groups,
)
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import merging_reached_pays, most_rows, small_beside_large
from dbt.adapters.icebergmv.maintenance.planning.plan import (
    Delta,
    Full,
    Merge,
    NoOp,
    Overwrite,
    ReachedRows,
)
from dbt.adapters.icebergmv.maintenance.planning.queries.delta_queries import signed_queries
from dbt.adapters.icebergmv.maintenance.planning.queries.pinned_queries import pinned_query
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions import key_queries
from dbt.adapters.icebergmv.maintenance.planning.questions.key_evaluation import LiveValues, evaluated
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import Answer, NotListed, described
from dbt.adapters.icebergmv.maintenance.planning.regions import base_filters, in_few_terms
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list, select_from
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus, by_reference
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables

Ask = Callable[[Questions, ToAsk], dict[int, Answer]]


@dataclass(frozen=True)
class Reaching:
    """What can be found out of the rows below the aggregate of a definition.

    `ask` says what references reach; `live` is as for `evaluated`.
    """

    definition: ViewDefinition
    bases: BaseTables
    status: MaterializedViewStatus
    run: Spark
    ask: Ask
    live: LiveValues | None = None

    def plan(self, request: PlanRequest) -> Merge | NoOp | Full | None:
        """Return the plan that merges what the reached rows make, or says why it cannot; None if it is not for this."""
        if not merges_reached_rows(self.definition, self.status, request):
            return None
        found = self._reached(request)
        if isinstance(found, Merge) and not self._pays(found.deltas[0], request):
            return Full(f"cheaper than a merge, which reads most rows twice ({changes(self.status)})")
        return found

    def groups(self, request: PlanRequest, columns: Sequence[Column]) -> Mapping[int, Answer] | Full | None:
        """Return which groups all changed rows reach together, or why that is not asked; None if it is not for this.

        `columns` are the output columns of the view.
        """
        definition, status = self.definition, self.status
        if definition.group_keys is None or not replaces_reached_groups(definition, status, request):
            return None
        keys = [columns[place] for place in definition.group_keys.keys]
        listed = [column for column in keys if internal_form(column.type, "") is not None]
        found = self._reached(request) if listed else None
        if found is None or isinstance(found, Full):
            return found
        answer: Answer = ()
        if isinstance(found, Merge):
            if not self._pays(found.deltas[0], request):
                return Full(f"cheaper than to ask which groups are reached ({changes(status)})")
            names = column_list([c.name for c in listed])
            parts = signed_queries(definition, self.bases, found.deltas[0], definition.group_keys.edits)
            question = " UNION ALL ".join(select_from(part.text, names) for part in parts)
            answer = key_queries.ask(question, [listed], self.run)
        return {use.index: answer for use in definition.uses_of_all(status.stale_references)}

    def _pays(self, reached: Delta | ReachedRows, request: PlanRequest) -> bool:
        is_little = isinstance(reached, ReachedRows) and merging_reached_pays(reached.base_filters, self.status)
        return request.policy != "auto" or is_little

    def _reached(self, request: PlanRequest) -> Merge | NoOp | Full | None:
        """Return the merge of the rows below that changes reach, or that there are none, or why they are not known."""
        below = definition_below(self.definition)
        described = None if below is None else _described(below, self.bases, self.run)
        columns = None if described is None else [c for c in described if c.name in _compared(self.definition)]
        stale = self.status.stale
        if below is None or columns is None or not all(map(has_former_version, stale)) or not self._are_repeatable():
            return None
        # The clock reaches nothing, or groups would not be merged.
        status = replace(self.status, clock=None)
        rows = evaluated(below, status, self.run, self.live)
        request = replace(request, partitioning=(), appends=False, merges=False, answers={})
        request = replace(
            request, answers=self._answers(rows, status, columns, references_to_ask(rows, status, request))
        )
        match plan_refresh(rows, status, request):
            case Overwrite() as found if _is_over(found.region, columns):
                before = {i: recorded_snapshot(base) for i, base in by_reference(stale).items()}
                types = {c.name: c.type for c in columns}
                # What Spark evaluated leads back to values that the tables hold now, and not to those that went.
                # A merge may take off and add the same rows, so it may be of more than are reached.
                region = in_few_terms(found.region)
                return Merge(found.reason, (ReachedRows(region, types, before, base_filters(below, region)),))
            case NoOp() as found:
                return found
            case Full() as found if any(isinstance(answer, NotListed) for answer in request.answers.values()):
                return found
            case _:
                return None

    def _are_repeatable(self) -> bool:
        """Return whether averages below are of so few rows that they are the same in whatever order these are read."""
        below = self.definition.rows_below
        averaged = () if below is None else below.averaged
        pinned = {r.index for r in self.definition.references if r.pinned}
        rows = {i: most_rows(base) for i, base in self.status.by_reference.items() if i not in pinned}
        return all(_product([rows.get(i) for i in one.references]) <= one.most for one in averaged)

    def _answers(
        self, below: ViewDefinition, status: MaterializedViewStatus, columns: Sequence[Column], to_ask: ToAsk
    ) -> dict[int, Answer]:
        """Return which of the rows the references reach that should be asked."""
        if to_ask.is_nothing:
            return {}
        keys = _keys(below, columns, to_ask.needed)
        tracked = frozenset(c.name for c in keys if _is_tracked(below, c.name, to_ask.needed))
        first = small_beside_large(status)
        return self.ask(Questions(below, below.asked, self.bases, status, keys, tracked, first), to_ask)


def _is_over(region: Iterable[TupleDomain], columns: Iterable[Column]) -> bool:
    """Return whether a region is over some columns alone."""
    return {key.column for disjunct in region for key, _ in disjunct.constraints} <= {c.name for c in columns}


def _product(rows: Iterable[int | None]) -> float:
    """Return how many rows a query makes of so many of its tables, at the most: a join, or a union, of each once."""
    return prod(inf if count is None else count + 1 for count in rows)


def definition_below(definition: ViewDefinition) -> ViewDefinition | None:
    """Return the rows below an aggregate as a definition with the same references; None where there is none."""
    rows = definition.rows_below
    if rows is None:
        return None
    known = definition.known
    below = analyse(known, rows.sql, lambda r: known.columns.get(r.index))
    is_same = [*map(_what, below.references)] == [*map(_what, definition.references)]
    names = None if below.columns is None else [c.name for c in below.columns]
    if not is_same or names != [column_name(n) for n, _ in enumerate(rows.columns)]:
        return None
    kept = _compared(definition)
    columns = (c if c.name in kept else replace(c, tracks=frozenset()) for c in below.columns or ())
    return replace(below, columns=tuple(columns))


def _compared(definition: ViewDefinition) -> frozenset[str]:
    """Return the columns of the rows below that a region may be over: all, or those that every DISTINCT compares.

    So a value that DISTINCT counts is either in the region, with all rows that have it, or outside it.
    """
    below, merging = definition.rows_below, definition.merging
    if below is None:
        return frozenset()
    compared = None if merging is None or not merging.is_by_rows else merging.compared
    return frozenset(column_name(n) for n, text in enumerate(below.columns) if compared is None or text in compared)


def _what(reference: TableReference) -> tuple[object, ...]:
    return reference.index, reference.catalog, reference.namespace, reference.name, reference.pinned


def _described(below: ViewDefinition, bases: BaseTables, run: Spark) -> tuple[Column, ...] | None:
    """Return the columns of the rows as Spark sees them."""
    columns = described(pinned_query(below, bases, {}), run) or ()
    return columns if columns and [c.name for c in columns] == [c.name for c in below.columns or ()] else None


def _keys(below: ViewDefinition, columns: Sequence[Column], needed: Collection[int]) -> list[Column]:
    """Return the columns to ask for: of those that all references answer the ones that also track them, if any do."""
    listed = [c for c in columns if internal_form(c.type, "") is not None]
    answered = [c for c in listed if all(c.name in below.asked.columns_of(i) for i in needed)]
    tracked = [c for c in answered if _is_tracked(below, c.name, needed)]
    return tracked or answered or listed


def _is_tracked(below: ViewDefinition, column: str, references: Collection[int]) -> bool:
    uses = below.uses_of_all(references)
    return all(column in below.tracks_of(use) for use in uses)
