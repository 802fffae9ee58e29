"""Histories in which ties are broken in another way at every statement: what is stored is what some order gives."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.randomised.choices import Choices
from tests.randomised.histories import make_case
from tests.randomised.soak import describe, play
from tests.randomised.tally import Tally
from tests.randomised.tie_views import CARRIED, NUMBERED, SHOWN
from tests.randomised.ties import TiesAtRandom
from tests.randomised.views import View
from tests.support.shares import one_of


def refreshes_of(view: View, ties: TiesAtRandom, count: int) -> Counter[str]:
    """Run histories of a view; return how often it was refreshed in which way."""
    tally = Tally()
    for seed in range(count):
        failure = play(ties, make_case(Choices(seed), view), tally=tally)
        assert failure is None, f"seed {seed}: {describe(failure)}"
    return tally.refreshes


@pytest.mark.parametrize("name", one_of(5, SHOWN))
def test_a_value_that_is_only_shown_is_one_of_its_group(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(SHOWN[name], ties, 6)
    assert found["overwrite"] > found["full"], found


@pytest.mark.parametrize("name", one_of(5, CARRIED))
def test_other_rows_follow_from_one_value(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(CARRIED[name], ties, 6)
    assert found.keys() == {"full", "none"}, found


@pytest.mark.parametrize("name", one_of(5, NUMBERED))
def test_rows_that_tie_in_a_window_follow_one_order(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(NUMBERED[name], ties, 15)
    assert found["overwrite"] > 4, found


@pytest.mark.long
@pytest.mark.parametrize("name", [*SHOWN, *CARRIED, *NUMBERED])
def test_in_many_histories(name: str, ties: TiesAtRandom) -> None:
    refreshes_of({**SHOWN, **CARRIED, **NUMBERED}[name], ties, 150)


@pytest.mark.parametrize(
    ("rows", "is_right"),
    [
        (["('a', 3)", "('b', 1)", "('b', 2)"], False),
        (["('a', 3)", "('b', 1)"], True),
        (["('a', 9)", "('b', 1)"], True),
        (["('a', 4)", "('b', 1)"], False),
        (["('a', 9)"], False),
        (["('a', 9)", "('b', 1)", "(None, 1)"], False),
    ],
)
def test_the_rows_of_each_key_are_those_of_some_order(rows: list[str], is_right: bool, ties: TiesAtRandom) -> None:
    of = "(VALUES ('a', 3), ('a', 4), ('a', 9), ('b', 1)) AS t(k, v)"
    assert (ties.judge(f"SELECT k, any_value(v) AS l FROM {of} GROUP BY k")(rows) is None) == is_right


def test_each_statement_has_orders_of_its_own(ties: TiesAtRandom) -> None:
    rows = "(SELECT 1 AS k, v, v AS w, 0 AS o FROM range(5) AS r(v))"
    ties.begin("a history")
    calls = ("any_value(v)", "first(v)", "max_by(v, o)")
    for call in calls:
        sql = f"SELECT {call} AS l FROM {rows} q"
        assert {row for _ in range(20) for row in ties.run(sql)} == {(0,), (4,)}
    for window in (
        "row_number() OVER (PARTITION BY k ORDER BY o)",
        "sum(k) OVER (PARTITION BY k ORDER BY o ROWS 9 PRECEDING)",
    ):
        sql = f"SELECT n FROM (SELECT v, {window} AS n FROM {rows} q) p WHERE v = 0"
        assert {row for _ in range(20) for row in ties.run(sql)} == {(1,), (5,)}
