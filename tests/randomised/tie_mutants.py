"""Planners that take a value which depends on the order of rows for one that is always the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from unittest.mock import patch

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.row_order import (
    collected_lists,
    order_of_rows,
    shown_groups,
    shown_values,
    window_orders,
)
from dbt.adapters.icebergmv.maintenance.definition.rules import joins
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Equality, Sources
from tests.randomised.mutants import Mutant, view
from tests.randomised.planners import Planner
from tests.randomised.tables import COLUMN_INFOS
from tests.randomised.tie_views import CARRIED, NUMBERED, SORTED, TOGETHER
from tests.randomised.untied_views import AGGREGATES, OTHERS
from tests.support.analysis import analysed_in


def shown_alone(definition: ViewDefinition) -> ViewDefinition:
    """Claim that no row depends on such a value of another row."""
    return replace(definition, shown_alone=True, full_when_changed=None)


def named_by_regions(definition: ViewDefinition) -> ViewDefinition:
    """Claim that a region may name such a value."""
    return _analysed_alike(definition.sql, definition.known.session_is_utc, definition.keys)


@lru_cache(maxsize=64)
def _analysed_alike(sql: str, is_utc: bool, keys: tuple[str, ...]) -> ViewDefinition:
    """Analyse a view as if no item of a SELECT list depended on the order of rows."""
    with patch.object(order_of_rows, "depends_on_order", lambda *_: False):
        found = analysed_in(sql, "ns", lambda _: COLUMN_INFOS, is_utc, keys)
        # What is asked is found out when somebody wants to know.
        assert found.asked
    return found


def less_compared(definition: ViewDefinition) -> ViewDefinition:
    """Order rows that tie by one column less, and claim that they tie no longer."""
    sql = re.sub(r", `\w+`\.`(v|region)`(?=\))", "", definition.sql)
    return _analysed_in_order(sql, definition.known.session_is_utc, definition.keys)


def one_order(definition: ViewDefinition) -> ViewDefinition:
    """Claim that rows which tie do not."""
    return _analysed_in_order(definition.sql, definition.known.session_is_utc, definition.keys)


@lru_cache(maxsize=64)
def _analysed_in_order(sql: str, is_utc: bool, keys: tuple[str, ...]) -> ViewDefinition:
    """Analyse a view as if nothing read a column besides those by which its windows are ordered."""
    with patch.object(window_orders, "words_of_read_columns", lambda _: frozenset[str]()):
        found = analysed_in(sql, "ns", lambda _: COLUMN_INFOS, is_utc, keys)
        assert found.asked
    return found


def sorted_as_they_are(definition: ViewDefinition) -> ViewDefinition:
    """Claim that lists are sorted that are not."""
    return _analysed_as_sorted(definition.sql, definition.known.session_is_utc, definition.keys)


@lru_cache(maxsize=64)
def _analysed_as_sorted(sql: str, is_utc: bool, keys: tuple[str, ...]) -> ViewDefinition:
    with patch.object(collected_lists, "collected", lambda item: item if isinstance(item, exp.ArrayAgg) else None):
        found = analysed_in(sql, "ns", lambda _: COLUMN_INFOS, is_utc, keys)
        assert found.asked
    return found


def replaced_apart(definition: ViewDefinition) -> ViewDefinition:
    """Claim that rows which show one group need not be replaced together."""
    return _analysed_apart(definition.sql, definition.known.session_is_utc, definition.keys)


@lru_cache(maxsize=64)
def _analysed_apart(sql: str, is_utc: bool, keys: tuple[str, ...]) -> ViewDefinition:
    with patch.object(shown_values, "replaced_together", lambda relation: relation):
        found = analysed_in(sql, "ns", lambda _: COLUMN_INFOS, is_utc, keys)
        assert found.asked
    return found


def never_missing(definition: ViewDefinition) -> ViewDefinition:
    """Claim that what an outer join puts beside a row of a group is beside all of them."""
    return _analysed_never_missing(definition.sql, definition.known.session_is_utc, definition.keys)


@lru_cache(maxsize=64)
def _analysed_never_missing(sql: str, is_utc: bool, keys: tuple[str, ...]) -> ViewDefinition:
    def of_inner_join(both: Sources, found: Sequence[Equality], offset: int, _: str) -> Sources:
        return shown_groups.with_joined_groups(both, found, offset, "")

    with patch.object(joins, "with_joined_groups", of_inner_join):
        found = analysed_in(sql, "ns", lambda _: COLUMN_INFOS, is_utc, keys)
        assert found.asked
    return found


LESS_COMPARED, ONE_ORDER = Planner(definition=less_compared), Planner(definition=one_order)
APART, NEVER_MISSING = Planner(definition=replaced_apart), Planner(definition=never_missing)
SORTED_ALREADY = Planner(definition=sorted_as_they_are)
SHOWN_ALONE, NAMED = Planner(definition=shown_alone), Planner(definition=named_by_regions)

TIE_MUTANTS: dict[str, Mutant] = {
    "a value that is joined by is only shown": Mutant((CARRIED["a key of a join"],), SHOWN_ALONE, first=16, ties=True),
    "a value that the clock may pass is always the same": Mutant((CARRIED["the clock"],), NAMED, first=2, ties=True),
    "a value that a subquery holds is always the same": Mutant(
        (CARRIED["a subquery above"],), NAMED, first=45, ties=True
    ),
    "a region names a number of some order": Mutant(
        (NUMBERED["numbers beside a join"],), NAMED, first=7, ties=True, as_written=True
    ),
    "rows of one group are replaced apart": Mutant(
        tuple(TOGETHER[name] for name in ("a left join, by v", "an inner join, by id", "a list, by v")),
        APART,
        first=57,
        ties=True,
    ),
    "what may be missing beside a group is in all of its rows": Mutant(
        (TOGETHER["rows that find a partner or none, by id"],), NEVER_MISSING, first=170, ties=True
    ),
    "a list is sorted as it is": Mutant(
        (view(SORTED["a list beside a left join"].sql.replace("array_sort(", "("), "id"),),
        SORTED_ALREADY,
        first=68,
        ties=True,
    ),
    "a column that is read does not break ties": Mutant(
        tuple(view(AGGREGATES[name], "id") for name in ("a count", "a sum by a dimension")), LESS_COMPARED, ties=True
    ),
    "rows that tie have one order as they are": Mutant(
        tuple(view(sql, "id") for sql in (AGGREGATES["a sum by a dimension"], OTHERS["the clock"])),
        ONE_ORDER,
        ties=True,
        as_written=True,
    ),
}
