"""Random histories: what status says that the next refresh does is what it does."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.planning.plan import Full, RefreshPlan
from tests.randomised.adding_mutants import VIEWS as ADDED_TO
from tests.randomised.choices import Choices
from tests.randomised.database import Database
from tests.randomised.foretelling import Foretelling
from tests.randomised.histories import make_case
from tests.randomised.planners import Situation
from tests.randomised.soak import fresh_seed, play

HISTORIES = range(108, 172)
APPENDED_AT_LAST = {"join": (75, 181), "union": (219,), "twice": (238,), "without": (119,), "recent join": (94,)}


@pytest.mark.slow
def test_every_refresh_is_of_a_kind_that_was_foretold(database: Database) -> None:
    seed = int(os.environ.get("RANDOMISED_SEED") or fresh_seed())
    print(f"\nRANDOMISED_SEED={seed}")
    found, deadline = Foretelling(), time.process_time() + 4
    for number in range(seed, seed + 400):
        if time.process_time() > deadline:
            break
        assert play(database, make_case(Choices(number)), found.planner) is None, number
    assert found.wrong == [], f"RANDOMISED_SEED={seed}\n" + "\n\n".join(found.wrong[:5])


@pytest.mark.slow
def test_it_is_foretold_that_rows_are_added_beside_others(database: Database) -> None:
    """Seeds of which the refresh only appends, as the other change turns out to reach nothing."""
    found = Foretelling()
    for name, seeds in APPENDED_AT_LAST.items():
        for seed in seeds:
            assert play(database, make_case(Choices(seed), ADDED_TO[name]), found.planner) is None, (name, seed)
    assert found.wrong == []


@pytest.mark.slow
@pytest.mark.long
def test_much_of_it_is_certain(database: Database) -> None:
    """A forecast that leaves everything open is never wrong, and of no use. Always the same histories: no chance."""
    found = Foretelling()
    for number in HISTORIES:
        assert play(database, make_case(Choices(number)), found.planner) is None, number
    assert found.wrong == []
    assert found.certain.keys() >= {"none", "append", "overwrite"}
    assert found.certain.total() > found.open.total()
    assert found.open["merge"] > 0


def test_a_wrong_forecast_is_noticed(database: Database) -> None:
    found = Foretelling()

    def lie(situation: Situation, plan: RefreshPlan) -> None:
        if plan.kind == "none":
            found.watch(situation, Full("not so"))

    assert play(database, make_case(Choices(7)), replace(found.planner, watch=lie)) is None
    assert found.wrong
