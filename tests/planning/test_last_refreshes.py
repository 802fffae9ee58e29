"""What did not pay at the last refreshes is left out for some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.planning.changed_keys import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.forecast import forecast_of
from dbt.adapters.icebergmv.maintenance.planning.last_refreshes import (
    Effort,
    effort_so_far,
    full_at_once,
    left_out,
    streaks_after,
    without_questions,
)
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, Merge, NoOp, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, plan_refresh, references_to_ask
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.streaks import Streak, StreakKind, Streaks
from tests.support.bases import analysed, change, partition_rows, sized, status

BY_REGION = analysed("SELECT region, median(v) AS m FROM t GROUP BY region")
COUNTS = analysed("SELECT region, count(*) AS n FROM t WHERE v > 1 GROUP BY region")
ONE_DAY = change([partition_rows([("day", "ts")], (10,))], unit="day")
FULL, OVERWRITE, MERGE = Full("whatever"), Overwrite("", ()), Merge("", ())
IN_VAIN: StreakKind = "asked-in-vain"
DEARER: StreakKind = "dearer-than-full"
REACHED: StreakKind = "reached"


def changed(rows: int) -> MaterializedViewStatus:
    return status(sized(replace(ONE_DAY, changed_rows=rows), 10_000_000))


def tried(before: Streaks | None = None, seconds: float = 0.0, **how: Any) -> Effort:
    return replace(effort_so_far(before or {}, changed(1000)), seconds=seconds, **how)


LEFT_OUT: dict[str, tuple[Streak, int, bool]] = {
    "once may be chance": (Streak(1000, 5.0), 1000, False),
    "twice in a row": (Streak(1000, 5.0, 2), 1000, True),
    "and left out once": (Streak(1000, 5.0, 2, 1), 1000, False),
    "many times": (Streak(1000, 5.0, 20, 6), 1000, True),
    "and left out often": (Streak(1000, 5.0, 20, 7), 1000, False),
    "many more rows": (Streak(1000, 5.0, 2), 100_000, True),
    "half as many": (Streak(1000, 5.0, 2), 500, True),
    "less than half": (Streak(1000, 5.0, 2), 499, False),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_when_something_is_left_out(name: str) -> None:
    streak, rows, expected = LEFT_OUT[name]
    assert left_out({REACHED: streak, DEARER: Streak(1, 1.0)}, changed(rows)) == ({REACHED} if expected else set())


def test_in_vain_every_night() -> None:
    streaks: Streaks = {}
    asked = []
    for night in range(1, 33):
        if left_out(streaks, changed(1000)):
            effort = tried(streaks, left_out=frozenset([IN_VAIN]))
        else:
            asked.append(night)
            effort = tried(streaks, 4.0, asked=True)
        streaks = streaks_after(effort, FULL, 9.0, 10.0)
    assert asked == [1, 2, 4, 8, 16, 24, 32]


RECORDED: dict[str, tuple[Effort, RefreshPlan, float, Mapping[StreakKind, float]]] = {
    "questions, and full": (tried(seconds=1.0, asked=True), FULL, 10.0, {IN_VAIN: 1.0}),
    "short ones": (tried(seconds=0.9, asked=True), FULL, 10.0, {}),
    "full, and nothing was asked": (tried(seconds=5.0), FULL, 10.0, {}),
    "half as long again": (tried(seconds=5.0, asked=True), OVERWRITE, 10.0, {DEARER: 5.0}),
    "an append, too": (tried(seconds=0.0), Append("", ()), 15.0, {DEARER: 5.0}),
    "not so much longer": (tried(seconds=4.9, asked=True), OVERWRITE, 10.0, {}),
    "it was reached": (tried(seconds=0.5, asked=True, only_whether=True), MERGE, 5.0, {REACHED: 0.5}),
    "which was soon known": (tried(seconds=0.4, asked=True, only_whether=True), MERGE, 5.0, {}),
    "reached, and dear": (tried(seconds=6.0, asked=True, only_whether=True), MERGE, 9.5, {REACHED: 6.0, DEARER: 5.5}),
    "nothing was reached": (tried(seconds=30.0, asked=True, only_whether=True), NoOp(""), 0.0, {}),
    "small tables": (tried(seconds=30.0, asked=True, only_whether=True, all_small=True), MERGE, 1.0, {}),
}


@pytest.mark.parametrize("name", RECORDED)
def test_what_did_not_pay(name: str) -> None:
    effort, plan, seconds, expected = RECORDED[name]
    recorded = {kind: Streak(1000, much) for kind, much in expected.items()}
    assert streaks_after(effort, plan, seconds, 10.0) == recorded
    assert streaks_after(effort, plan, seconds, None) == {}


def test_less_than_a_second_is_not_worth_a_full_refresh() -> None:
    assert streaks_after(tried(), OVERWRITE, 1.0, 0.1) == {}
    assert streaks_after(tried(), OVERWRITE, 1.5, 0.5) == {DEARER: Streak(1000, 1.0)}


def test_another_view_begins_anew() -> None:
    assert streaks_after(None, FULL, 1.0, 10.0) == {}


BEFORE: Streaks = {kind: Streak(1000, 5.0, 2) for kind in (IN_VAIN, DEARER, REACHED)}
TESTED: dict[str, tuple[Effort, RefreshPlan, set[StreakKind]]] = {
    "an append without a question": (tried(BEFORE), Append("", ()), {IN_VAIN, REACHED}),
    "nothing changed": (tried(BEFORE), NoOp(""), {IN_VAIN, REACHED}),
    "full, and nothing was asked": (tried(BEFORE), FULL, {IN_VAIN, DEARER, REACHED}),
    "an answer": (tried(BEFORE, asked=True), OVERWRITE, {REACHED}),
    "nothing is reached": (tried(BEFORE, asked=True, only_whether=True), NoOp(""), set()),
}


@pytest.mark.parametrize("name", TESTED)
def test_what_is_put_to_the_test_and_paid_is_forgotten(name: str) -> None:
    effort, plan, kept = TESTED[name]
    assert streaks_after(effort, plan, 1.0, 10.0) == {kind: BEFORE[kind] for kind in kept}


def test_a_streak_grows_or_waits() -> None:
    found = streaks_after(tried(BEFORE, left_out=frozenset([REACHED])), MERGE, 16.0, 10.0)
    waits, longer = Streak(1000, 5.0, 2, 1), Streak(1000, 6.0, 3)
    assert found == {IN_VAIN: Streak(1000, 5.0, 2), REACHED: waits, DEARER: longer}


def test_the_refresh_is_full_without_a_question_and_says_why() -> None:
    bases = changed(1000)
    asks, leaves_out = PlanRequest("auto"), PlanRequest("auto", left_out=frozenset([IN_VAIN]))
    to_ask = references_to_ask(BY_REGION, bases, asks)
    assert to_ask == ToAsk((0,))
    assert without_questions(BY_REGION, bases, asks, to_ask) is None
    why = "t changed and its changed rows are not asked, because about as many were asked in vain at the last refreshes"
    assert without_questions(BY_REGION, bases, leaves_out, to_ask) == (Full(why), IN_VAIN)
    assert forecast_of(BY_REGION, bases, asks).questions == ("the keys of the changed rows of t",)
    forecast = forecast_of(BY_REGION, bases, leaves_out)
    assert (forecast.plan, forecast.kinds, forecast.questions) == (Full(why), ("full",), ())


def test_what_is_not_full_without_an_answer_is_asked() -> None:
    """Keys of a column that follows only make the region smaller."""
    request = PlanRequest("auto", left_out=frozenset([IN_VAIN, DEARER]))
    for to_ask in (ToAsk((0,), only_whether=True), ToAsk(narrower=(0,)), ToAsk(own_keys=(0,)), ToAsk()):
        assert without_questions(BY_REGION, changed(1000), request, to_ask) is None


def test_groups_are_merged_without_the_question_whether_any_is_reached() -> None:
    bases, asks = changed(1000), PlanRequest("auto", merges=True)
    leaves_out = replace(asks, left_out=frozenset([REACHED]))
    to_ask = references_to_ask(COUNTS, bases, asks)
    assert to_ask == ToAsk((0,), only_whether=True)
    assert without_questions(COUNTS, bases, asks, to_ask) is None
    assert without_questions(COUNTS, bases, leaves_out, to_ask) == (plan_refresh(COUNTS, bases, asks), REACHED)
    exactly = "whether the groups can be merged exactly"
    asked = [forecast_of(COUNTS, bases, request).questions[0] for request in (asks, leaves_out)]
    assert asked[0] != exactly and asked[1] == exactly


def test_a_full_refresh_in_place_of_one_that_takes_longer() -> None:
    bases, asks = changed(1000), PlanRequest("auto", merges=True)
    dearer = replace(asks, left_out=frozenset([DEARER]))
    why = "an incremental refresh of about as many changed rows took longer at the last refreshes (t: 1 day changed)"
    assert full_at_once(COUNTS, bases, asks) is None
    assert full_at_once(COUNTS, bases, dearer) == Full(why)
    assert forecast_of(COUNTS, bases, dearer).plan == Full(why)
    same = status(sized(change(status="fresh"), 10_000_000))
    rebuilt = replace(dearer, rebuild="--full-refresh")
    assert full_at_once(COUNTS, same, dearer) is None and full_at_once(COUNTS, bases, rebuilt) is None
