"""Histories of views with windows whose rows tie, as the engine stores them: one order of rows decides all values."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.randomised.choices import Choices
from tests.randomised.database import Bag
from tests.randomised.histories import make_case
from tests.randomised.mutants import view
from tests.randomised.soak import describe, play
from tests.randomised.tally import Tally
from tests.randomised.ties import TiesAtRandom
from tests.randomised.untied import may_tie, untied
from tests.randomised.untied_views import AGGREGATES, OTHERS, ROWS
from tests.support.shares import one_of

ALL = {**ROWS, **AGGREGATES, **OTHERS}


def refreshes_of(sql: str, ties: TiesAtRandom, count: int) -> Counter[str]:
    """Run histories of a view; return how often it was refreshed in which way."""
    tally = Tally()
    for seed in range(count):
        failure = play(ties, make_case(Choices(seed), view(sql, "id")), tally=tally)
        assert failure is None, f"seed {seed}: {describe(failure)}"
    return tally.refreshes


@pytest.mark.parametrize("name", ALL)
def test_rows_tie_no_longer(name: str) -> None:
    assert may_tie(ALL[name])
    assert not may_tie(untied(ALL[name]))


@pytest.mark.parametrize("name", one_of(3, ALL))
def test_every_order_gives_the_rows_of_one_order(name: str, ties: TiesAtRandom) -> None:
    sql, bags = ALL[name].replace("current_date", "DATE '2024-01-01'"), list[Bag]()
    for seed in range(6):
        case = make_case(Choices(seed), view(sql, "id"), keys=())
        for table, rows in case.start.items():
            ties.load(table, rows)
        found = [ties.rows_by_any_order(untied(sql)) for _ in range(6)]
        assert all(rows == found[0] for rows in found)
        assert ties.judge(sql)(found[0]) is None
        bags += found
    assert any(bags)


@pytest.mark.parametrize("name", one_of(3, ROWS))
def test_rows_are_followed_by_their_key(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(ROWS[name], ties, 6)
    assert found["overwrite"] > found["full"], found


@pytest.mark.parametrize("name", one_of(2, AGGREGATES))
def test_groups_are_merged(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(AGGREGATES[name], ties, 12)
    assert found["merge"] > 3, found


@pytest.mark.parametrize("name", one_of(3, OTHERS))
def test_others(name: str, ties: TiesAtRandom) -> None:
    refreshes_of(OTHERS[name], ties, 10)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_in_many_histories(name: str, ties: TiesAtRandom) -> None:
    refreshes_of(ALL[name], ties, 150)
