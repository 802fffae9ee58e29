"""The mutation gate: every wrong planner is caught within its seeds, on a case where the right ones are right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.randomised.adding_mutants import ADDING_MUTANTS
from tests.randomised.asking_mutants import ASKING_MUTANTS
from tests.randomised.choices import Choices
from tests.randomised.clock_mutants import CLOCK_MUTANTS
from tests.randomised.database import Database
from tests.randomised.filtering_mutants import FILTERING_MUTANTS
from tests.randomised.group_mutants import GROUP_MUTANTS
from tests.randomised.hidden_key_mutants import HIDDEN_KEY_MUTANTS
from tests.randomised.histories import Case, make_case, run
from tests.randomised.listed_mutants import LISTED_MUTANTS
from tests.randomised.merging_mutants import MERGING_MUTANTS
from tests.randomised.mutants import MUTANTS, Mutant
from tests.randomised.planners import RIGHT, Planner
from tests.randomised.tie_mutants import TIE_MUTANTS
from tests.randomised.ties import TiesAtRandom
from tests.support.shares import one_of

ALL = {
    **MUTANTS,
    **ASKING_MUTANTS,
    **MERGING_MUTANTS,
    **GROUP_MUTANTS,
    **LISTED_MUTANTS,
    **CLOCK_MUTANTS,
    **HIDDEN_KEY_MUTANTS,
    **FILTERING_MUTANTS,
    **ADDING_MUTANTS,
    **TIE_MUTANTS,
}
pytestmark = pytest.mark.slow


def wrong_rows(database: Database, case: Case, planner: Planner) -> str | None:
    """Return what was wrong with the rows; errors do not count."""
    for refreshed in run(database, case, planner):
        if refreshed.wrong is not None:
            return refreshed.wrong if "missing" in refreshed.wrong or "nothing is done" in refreshed.wrong else None
    return None


def killer(database: Database, mutant: Mutant) -> Case | None:
    """Return the first case on which the mutant leaves wrong rows."""
    for number in range(mutant.seeds):
        seed = (mutant.first + number) % mutant.seeds
        made = make_case(Choices(seed), mutant.views[seed % len(mutant.views)], mutant.keys)
        case = replace(made, own_keys_first=mutant.own_keys_first, lists=mutant.lists, asks_little=mutant.asks_little)
        case = replace(case, filters=mutant.filters, breaks_ties=not mutant.as_written)
        if wrong_rows(database, case, mutant.wrong) is not None:
            return case
    return None


@pytest.mark.parametrize("name", one_of(64, ALL))
def test_wrong_planners_are_caught(name: str, database: Database, ties: TiesAtRandom) -> None:
    mutant = ALL[name]
    database = ties if mutant.ties else database
    case = killer(database, mutant)
    assert case is not None, f"survived {mutant.seeds} seeds"
    for planner in (mutant.right, RIGHT):
        assert [r.wrong for r in run(database, case, planner) if r.wrong] == []
