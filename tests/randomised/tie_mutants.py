"""Planners that take a value which depends on the order of rows for one that is always the same."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from unittest.mock import patch

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, analyse
from dbt.adapters.icebergmv.maintenance.definition.rules import order_of_rows
from tests.randomised.mutants import Mutant
from tests.randomised.planners import Planner
from tests.randomised.tables import COLUMN_INFOS
from tests.randomised.tie_views import CARRIED, NUMBERED


def shown_alone(definition: ViewDefinition) -> ViewDefinition:
    """Claim that no row depends on such a value of another row."""
    return replace(definition, shown_alone=True, full_when_changed=None)


def named_by_regions(definition: ViewDefinition) -> ViewDefinition:
    """Claim that a region may name such a value."""
    return _analysed_alike(definition.sql, definition.known.session_is_utc, definition.keys)


@lru_cache(maxsize=64)
def _analysed_alike(sql: str, is_utc: bool, keys: tuple[str, ...]) -> ViewDefinition:
    """Analyse a view as if no item of a SELECT list depended on the order of rows."""
    with patch.object(order_of_rows, "depends_on_order", lambda item: False):
        found = analyse(sql, "ns", lambda _: COLUMN_INFOS, is_utc, keys)
        # What is asked is found out when somebody wants to know.
        assert found.asked
    return found


SHOWN_ALONE, NAMED = Planner(definition=shown_alone), Planner(definition=named_by_regions)

TIE_MUTANTS: dict[str, Mutant] = {
    "a value that is joined by is only shown": Mutant((CARRIED["a key of a join"],), SHOWN_ALONE, first=16, ties=True),
    "a value that the clock may pass is only shown": Mutant((CARRIED["the clock"],), SHOWN_ALONE, first=37, ties=True),
    "a value of a subquery is only shown": Mutant((CARRIED["a subquery"],), SHOWN_ALONE, first=41, ties=True),
    "a value that a subquery holds is only shown": Mutant(
        (CARRIED["a subquery above"],), SHOWN_ALONE, first=76, ties=True
    ),
    "a region names a number of some order": Mutant((NUMBERED["numbers beside a join"],), NAMED, first=7, ties=True),
}
