"""What a change adds to the groups of a view and takes from them, asked before anything is written.

To ask whether a change reaches any group reads about as much as to ask what it does to them. Where these are few, the
merge has the answer as literals and reads no base table. Where it takes from each group just what it adds to it, every
group stays as it is, and nothing is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.merging.merged_states import Merging, State
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh, unaffected
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import changes
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk, as_far_as_it_pays
from dbt.adapters.icebergmv.maintenance.planning.plan import ListedGroups, Merge, NoOp, ReachedRows
from dbt.adapters.icebergmv.maintenance.planning.queries.delta_queries import SignedQuery, signed_queries
from dbt.adapters.icebergmv.maintenance.planning.queries.merged_groups import CHANGE_SIGN, MergedGroups
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import (
    MOST_COLLECTED,
    NotListed,
    are_texts_known,
    rows_of,
    value_of,
)
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list, select_from
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, literal_or_null, string_literal
from dbt.adapters.icebergmv.maintenance.sql.spark_types import decimal_of
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables

MOST_GROUPS = 1000
"""Of a view with more groups, a change mostly reaches more of them than are listed."""

_MOST_LITERALS = 2000
_MOST_CHARACTERS = 100_000
"""Beyond so many values Spark parses a text longer than it reads the changed rows once more."""

_LONGEST = 1000
"""The characters of a text that is listed."""

_Row: TypeAlias = Sequence[object]


@dataclass(frozen=True)
class GroupListing:
    """What lists the groups that a change reaches: of a definition, its base tables and their status.

    `columns` are the output columns of the view, followed by the hidden ones.
    """

    definition: ViewDefinition
    bases: BaseTables
    status: MaterializedViewStatus
    columns: Sequence[Column]
    run: Spark

    def plan(self, request: PlanRequest, to_ask: ToAsk, stored_rows: int | None) -> Merge | NoOp | None:
        """Return the plan where it is known what a merge adds to which groups, or that no group changes.

        None where it is asked whether any is reached, or which ones. More groups than are listed are merged without
        that question.
        """
        if not to_ask.only_whether or to_ask.is_nothing or stored_rows is None or stored_rows > MOST_GROUPS:
            return None
        if any(block.left_out_first for block in self.definition.asked.blocks.values()):
            # Without the subqueries in a WHERE it is mostly found out sooner that nothing is reached.
            return None
        if as_far_as_it_pays(self.definition.asked, self.status, to_ask, request)[1] is None:
            return None
        plan = plan_refresh(self.definition, self.status, request)
        rows = self._rows(plan) if isinstance(plan, Merge) else None
        if not isinstance(plan, Merge) or rows is None:
            return None
        if not rows:
            return unaffected(self.status)
        if len(rows) > MOST_COLLECTED or any(_is_long(value) for row in rows for value in row):
            return plan
        changed = self._that_change(rows)
        if not changed:
            return self._unchanged()
        literals = tuple((*map(_literal, row, self._listed), str(row[-1])) for row in changed)
        if len(literals) * len(literals[0]) > _MOST_LITERALS or sum(map(len, chain(*literals))) > _MOST_CHARACTERS:
            return plan
        return replace(plan, listed=ListedGroups((*(c.name for c in self._listed), CHANGE_SIGN), literals))

    def _unchanged(self) -> NoOp | None:
        """Return the plan where as much came of each group as went; None where its output may be another one.

        Spark averages whole numbers by a sum of doubles, which is rounded beyond 2^53: other values with the same sum
        may have another average. A merge looks at the stored rows for that.
        """
        if any(call.kind == "avg" for call in self._merging.calls):
            return None
        return NoOp(f"every group of the view stays as it is ({changes(self.status)})")

    def _that_change(self, rows: Sequence[_Row]) -> list[_Row]:
        """Return the rows that change a group.

        What came and what went of a group is a row each. Where both have the same states, sums and counts stay as they
        are. So do extremes: one that went came again. Nothing is known of a sum that overflowed.
        """
        place = self._place(self._merging.rows)
        alike: dict[tuple[object, ...], list[_Row]] = defaultdict(list)
        for row in rows:
            if row[place] != 0:
                alike[tuple(row[:-1])].append(row)
        return [row for same in alike.values() for row in same if len(same) == 1 or self._is_lost(row)]

    def _is_lost(self, row: _Row) -> bool:
        """Return whether a sum, or a magnitude, of some values is not known."""
        return any(
            row[self._place(state)] is None and row[self._place(call.count)] != 0
            for call in self._merging.calls
            if call.count is not None
            for state in (call.value, call.magnitude)
            if state is not None
        )

    def _place(self, state: State) -> int:
        states = self._merging.states
        return len(self._listed) - len(states) + states.index(state)

    def _rows(self, plan: Merge) -> Sequence[_Row] | None:
        """Return what the one delta of a merge adds and takes, or one row more than is collected; None if unknown."""
        delta, *others = plan.deltas
        forms = [form for column in self._listed if (form := _form(column)) is not None]
        if others or isinstance(delta, ReachedRows) or len(forms) < len(self._listed):
            return None
        edits = self._merging.edits_of_changes
        changed = self._groups.changes(signed_queries(self.definition, self.bases, delta, edits))
        named = ", ".join(f"{form} AS v{n}" for n, form in enumerate(forms))
        query = f"{select_from(changed, f'{named}, {CHANGE_SIGN}')} LIMIT {MOST_COLLECTED + 1}"
        rows = rows_of(query, self.run)
        return None if isinstance(rows, NotListed) or not are_texts_known(rows) else rows

    @property
    def _merging(self) -> Merging:
        if self.definition.merging is None:
            raise AssertionError("only groups that can be merged are listed")
        return self.definition.merging

    @cached_property
    def _groups(self) -> MergedGroups:
        return MergedGroups(self._merging, self.columns, is_one_change=True)

    @cached_property
    def _listed(self) -> Sequence[Column]:
        return self._groups.change_columns


def query_of_listed(groups: ListedGroups) -> SignedQuery:
    """Return the query of listed groups."""
    rows = ", ".join(f"({', '.join(row)})" for row in groups.rows)
    query = f"SELECT * FROM VALUES {rows} AS icebergmv_listed({column_list(groups.columns)})"
    return SignedQuery(query, identifier(CHANGE_SIGN))


def _form(column: Column) -> str | None:
    """Return what is asked of a column, of a text its beginning; None where its values have no exact literal."""
    name = identifier(column.name)
    if column.type == "string":
        return f"left({name}, {_LONGEST + 1})"
    return f"CAST({name} AS string)" if _is_decimal(column) else internal_form(column.type, name)


def _is_long(value: object) -> bool:
    return isinstance(value, str) and len(value) > _LONGEST


def _literal(value: object, column: Column) -> str:
    if _is_decimal(column) and value is not None:
        return f"CAST({string_literal(str(value))} AS {column.type})"
    return literal_or_null(value_of(value), column.type)


def _is_decimal(column: Column) -> bool:
    return decimal_of(column.type) is not None
