"""Histories of views with windows whose rows tie, as the engine stores them: one order of rows decides all values."""

from __future__ import annotations

import pytest

from tests.randomised.choices import Choices
from tests.randomised.database import Bag
from tests.randomised.histories import make_case
from tests.randomised.mutants import view
from tests.randomised.soak import refreshes_of
from tests.randomised.ties import TiesAtRandom
from tests.randomised.untied import may_tie, untied
from tests.randomised.untied_views import AGGREGATES, OTHERS, ROWS
from tests.support.shares import one_of

ALL = {**ROWS, **AGGREGATES, **OTHERS}


@pytest.mark.parametrize("name", one_of(4, ALL))
def test_rows_tie_no_longer(name: str) -> None:
    assert may_tie(ALL[name])
    assert not may_tie(untied(ALL[name]))


@pytest.mark.parametrize("name", one_of(6, ALL))
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


@pytest.mark.parametrize("name", one_of(12, ROWS))
def test_rows_are_followed_by_their_key(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(view(ROWS[name], "id"), ties, 6)
    assert found["overwrite"] > found["full"], found


@pytest.mark.parametrize("name", one_of(8, AGGREGATES))
def test_groups_are_merged(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(view(AGGREGATES[name], "id"), ties, 12)
    assert found["merge"] > 3, found


@pytest.mark.parametrize("name", one_of(18, OTHERS))
def test_views_that_are_often_refreshed_in_full_are_right(name: str, ties: TiesAtRandom) -> None:
    refreshes_of(view(OTHERS[name], "id"), ties, 10)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_in_many_histories(name: str, ties: TiesAtRandom) -> None:
    refreshes_of(view(ALL[name], "id"), ties, 150)
