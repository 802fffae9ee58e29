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
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.delta_queries import SignedQuery, signed_queries
from dbt.adapters.icebergmv.maintenance.planning.key_queries import (
    MOST_COLLECTED,
    NotListed,
    are_texts_known,
    rows_of,
    value_of,
)
from dbt.adapters.icebergmv.maintenance.planning.merged_groups import CHANGE_SIGN, MergedGroups
from dbt.adapters.icebergmv.maintenance.planning.plan import ListedGroups, Merge, NoOp, ReachedRows
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, plan_refresh, unaffected
from dbt.adapters.icebergmv.maintenance.planning.reasons import changes
from dbt.adapters.icebergmv.maintenance.planning.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.to_ask import ToAsk
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.queries import select_from
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, literal_or_null, string_literal
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus

MOST_GROUPS = 1000
"""Of a view with more groups, a change mostly reaches more of them than are listed."""

_MOST_LITERALS = 2000
"""Beyond so many values Spark parses a text longer than it reads the changed rows once more."""

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
        plan = plan_refresh(self.definition, self.status, request)
        rows = self._rows(plan) if isinstance(plan, Merge) else None
        if not isinstance(plan, Merge) or rows is None:
            return None
        if not rows:
            return unaffected(self.status)
        if len(rows) > MOST_COLLECTED:
            return plan
        place = [column.name for column in self._listed].index(self._groups.change_rows)
        changed = _that_change(rows, place)
        if len(changed) * (len(self._listed) + 1) > _MOST_LITERALS:
            return plan
        if not changed:
            return NoOp(f"every group of the view stays as it is ({changes(self.status)})")
        literals = tuple((*map(_literal, row, self._listed), str(row[-1])) for row in changed)
        return replace(plan, listed=ListedGroups((*(c.name for c in self._listed), CHANGE_SIGN), literals))

    def _rows(self, plan: Merge) -> Sequence[_Row] | None:
        """Return what the one delta of a merge adds and takes, or one row more than is collected; None if unknown."""
        merging, (delta, *others) = self.definition.merging, plan.deltas
        forms = [form for column in self._listed if (form := _form(column)) is not None]
        if merging is None or others or isinstance(delta, ReachedRows) or len(forms) < len(self._listed):
            return None
        edits = merging.edits if merging.ungrouped is None else merging.ungrouped
        changed = self._groups.changes(signed_queries(self.definition, self.bases, delta, edits))
        named = ", ".join(f"{form} AS v{n}" for n, form in enumerate(forms))
        query = f"{select_from(changed, f'{named}, {CHANGE_SIGN}')} LIMIT {MOST_COLLECTED + 1}"
        rows = rows_of(query, self.run)
        return None if isinstance(rows, NotListed) or not are_texts_known(rows) else rows

    @cached_property
    def _groups(self) -> MergedGroups:
        if self.definition.merging is None:
            raise AssertionError("only groups that can be merged are listed")
        return MergedGroups(self.definition.merging, self.columns, is_one_change=True)

    @cached_property
    def _listed(self) -> Sequence[Column]:
        return self._groups.change_columns


def query_of_listed(groups: ListedGroups) -> SignedQuery:
    """Return the query of listed groups."""
    rows = ", ".join(f"({', '.join(row)})" for row in groups.rows)
    names = ", ".join(map(identifier, groups.columns))
    return SignedQuery(f"SELECT * FROM VALUES {rows} AS icebergmv_listed({names})", identifier(CHANGE_SIGN))


def _that_change(rows: Sequence[_Row], place: int) -> list[_Row]:
    """Return the rows that change a group, given the place of the number of its rows.

    What came and what went of a group is a row each. Where both have the same states, sums and counts stay as they
    are. So do extremes: one that went came again.
    """
    alike: dict[tuple[object, ...], list[_Row]] = defaultdict(list)
    for row in rows:
        if row[place] != 0:
            alike[tuple(row[:-1])].append(row)
    return [same[0] for same in alike.values() if len(same) == 1]


def _form(column: Column) -> str | None:
    """Return what is asked of a column; None where its values have no exact literal."""
    name = identifier(column.name)
    return f"CAST({name} AS string)" if _is_decimal(column) else internal_form(column.type, name)


def _literal(value: object, column: Column) -> str:
    if _is_decimal(column) and value is not None:
        return f"CAST({string_literal(str(value))} AS {column.type})"
    return literal_or_null(value_of(value), column.type)


def _is_decimal(column: Column) -> bool:
    return column.type.startswith("decimal(")
