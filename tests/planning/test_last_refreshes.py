"""What did not pay at the last refreshes is left out for some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.planning.choice.last_refreshes import (
    Effort,
    after_failing,
    effort_so_far,
    full_at_once,
    full_without_questions,
    left_out,
    merge_without_question,
    streaks_after,
)
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk, references_to_ask
from dbt.adapters.icebergmv.maintenance.planning.forecast import forecast_of
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, Merge, NoOp, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import FullRefresh
from dbt.adapters.icebergmv.maintenance.status.recorded.streaks import Part, Streak, Streaks
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from tests.support.bases import analysed, change, partition_rows, sized, status

BY_REGION = analysed("SELECT region, median(v) AS m FROM t GROUP BY region")
COUNTS = analysed("SELECT region, count(*) AS n FROM t WHERE v > 1 GROUP BY region")
ONE_DAY = change([partition_rows([("day", "ts")], (10,))], unit="day")
FULL, OVERWRITE, MERGE = Full("whatever"), Overwrite("", ()), Merge("", ())
QUESTIONS: Part = "questions"
INCREMENTAL: Part = "incremental"
WHETHER: Part = "whether"
COMPARISON: Part = "comparison"
LAST = FullRefresh(10.0, 10_000_000)


def changed(rows: int) -> MaterializedViewStatus:
    return status(sized(replace(ONE_DAY, changed_rows=rows), 10_000_000))


def tried(before: Streaks | None = None, seconds: float = 0.0, **how: Any) -> Effort:
    return replace(effort_so_far(before or {}, changed(1000), LAST), seconds=seconds, **how)


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
    found = left_out({WHETHER: streak, INCREMENTAL: Streak(1, 1.0)}, changed(rows), LAST)
    assert found == ({WHETHER} if expected else set())


def test_in_vain_every_night() -> None:
    streaks: Streaks = {}
    asked = []
    for night in range(1, 33):
        if left_out(streaks, changed(1000), LAST):
            effort = tried(streaks, left_out=frozenset([QUESTIONS]))
        else:
            asked.append(night)
            effort = tried(streaks, 4.0, asked=True)
        streaks = streaks_after(effort, FULL, 9.0)
    assert asked == [1, 2, 4, 8, 16, 24, 32]


BOTH: Mapping[Part, float] = {WHETHER: 6.0, INCREMENTAL: 5.5}
RECORDED: dict[str, tuple[Effort, RefreshPlan, float, Mapping[Part, float]]] = {
    "questions, and full": (tried(seconds=1.0, asked=True), FULL, 10.0, {QUESTIONS: 1.0}),
    "short ones": (tried(seconds=0.9, asked=True), FULL, 10.0, {}),
    "full, and nothing was asked": (tried(seconds=5.0), FULL, 10.0, {}),
    "half as long again": (tried(seconds=5.0, asked=True), OVERWRITE, 10.0, {INCREMENTAL: 5.0}),
    "an append, which reads less than all": (tried(seconds=0.0), Append("", ()), 15.0, {}),
    "not so much longer": (tried(seconds=4.9, asked=True), OVERWRITE, 10.0, {}),
    "it was reached": (tried(seconds=0.5, asked=True, only_whether=True), MERGE, 5.0, {WHETHER: 0.5}),
    "which was soon known": (tried(seconds=0.4, asked=True, only_whether=True), MERGE, 5.0, {}),
    "reached, and dear": (tried(seconds=6.0, asked=True, only_whether=True), MERGE, 9.5, BOTH),
    "nothing was reached": (tried(seconds=30.0, asked=True, only_whether=True), NoOp(""), 0.0, {}),
    "a clock alone moved": (tried(seconds=6.0, asked=True, rows=0), OVERWRITE, 10.0, {}),
    "small tables": (tried(seconds=30.0, asked=True, only_whether=True, all_small=True), MERGE, 1.0, {}),
    "other rows": (tried(compared=0.6, all_small=True), OVERWRITE, 5.0, {COMPARISON: 0.6}),
    "other rows, as was soon seen": (tried(compared=0.5), OVERWRITE, 5.0, {}),
    "other rows, in full": (
        tried(seconds=2.0, asked=True, compared=2.0),
        FULL,
        10.0,
        {QUESTIONS: 2.0, COMPARISON: 2.0},
    ),
    "the same rows": (tried(compared=3.0, same_rows=True), FULL, 5.0, {}),
}


@pytest.mark.parametrize("name", RECORDED)
def test_what_did_not_pay(name: str) -> None:
    effort, plan, seconds, expected = RECORDED[name]
    recorded = {kind: Streak(1000, much) for kind, much in expected.items()}
    assert streaks_after(effort, plan, seconds) == recorded
    assert streaks_after(replace(effort, last_full=None), plan, seconds) == {}


def test_less_than_a_second_is_not_worth_a_full_refresh() -> None:
    effort = tried(last_full=FullRefresh(0.5, 10_000_000))
    assert streaks_after(effort, OVERWRITE, 1.4) == {}
    assert streaks_after(effort, OVERWRITE, 1.5) == {INCREMENTAL: Streak(1000, 1.0)}


def test_another_view_begins_anew() -> None:
    assert streaks_after(None, FULL, 1.0) == {}


BEFORE: Streaks = {kind: Streak(1000, 5.0, 2) for kind in (QUESTIONS, INCREMENTAL, WHETHER, COMPARISON)}
TESTED: dict[str, tuple[Effort, RefreshPlan, set[Part]]] = {
    "an append": (tried(BEFORE), Append("", ()), {*BEFORE}),
    "an overwrite without a question": (tried(BEFORE), OVERWRITE, {QUESTIONS, WHETHER, COMPARISON}),
    "nothing changed": (tried(BEFORE), NoOp(""), {*BEFORE}),
    "full, and nothing was asked": (tried(BEFORE), FULL, {*BEFORE}),
    "an answer": (tried(BEFORE, asked=True), OVERWRITE, {WHETHER, COMPARISON}),
    "nothing is reached": (tried(BEFORE, asked=True, only_whether=True), NoOp(""), {QUESTIONS, COMPARISON}),
    "the same rows": (tried(BEFORE, compared=1.0, same_rows=True), FULL, {QUESTIONS, INCREMENTAL, WHETHER}),
}


@pytest.mark.parametrize("name", TESTED)
def test_what_is_put_to_the_test_and_paid_is_forgotten(name: str) -> None:
    effort, plan, kept = TESTED[name]
    assert streaks_after(effort, plan, 1.0) == {kind: BEFORE[kind] for kind in kept}


def test_a_streak_grows_or_waits() -> None:
    found = streaks_after(tried(BEFORE, left_out=frozenset([WHETHER])), MERGE, 16.0)
    waits, longer = Streak(1000, 5.0, 2, 1), Streak(1000, 6.0, 3)
    kept = {kind: BEFORE[kind] for kind in (QUESTIONS, COMPARISON)}
    assert found == {**kept, WHETHER: waits, INCREMENTAL: longer}


@pytest.mark.parametrize(("rows", "expected"), [(6_666_667, {INCREMENTAL}), (6_666_666, set()), (None, set())])
def test_a_full_refresh_has_to_fit(rows: int | None, expected: set[Part]) -> None:
    """One of much smaller tables shows neither how long one takes now, nor that it has the memory for it."""
    last = None if rows is None else FullRefresh(10.0, rows)
    assert left_out({INCREMENTAL: Streak(1000, 5.0, 2)}, changed(1000), last) == expected


def test_a_merge_that_failed_was_in_vain_too() -> None:
    """What it left out waits; and what it took counts, with the overwrite that came after it."""
    first = tried(BEFORE, seconds=2.0, left_out=frozenset([WHETHER]))
    effort = after_failing(first, 4.0, tried(BEFORE, seconds=1.0, asked=True))
    found = streaks_after(effort, OVERWRITE, 9.0) if effort else {}
    waits, longer = Streak(1000, 5.0, 2, 1), Streak(1000, 6.0, 3)
    assert found == {WHETHER: waits, INCREMENTAL: longer, COMPARISON: BEFORE[COMPARISON]}
    assert after_failing(None, 4.0, first) == first and after_failing(first, 4.0, None) is None


def test_the_refresh_is_full_without_a_question_and_says_why() -> None:
    bases = changed(1000)
    asks, leaves_out = PlanRequest("auto"), PlanRequest("auto", left_out=frozenset([QUESTIONS]))
    to_ask = references_to_ask(BY_REGION, bases, asks)
    assert to_ask == ToAsk((0,))
    assert full_without_questions(BY_REGION, bases, asks, to_ask) is None
    why = "t changed and its changed rows are not asked, because about as many were asked in vain at the last refreshes"
    assert full_without_questions(BY_REGION, bases, leaves_out, to_ask) == Full(why)
    assert forecast_of(BY_REGION, bases, asks).questions == ("the keys of the changed rows of t",)
    forecast = forecast_of(BY_REGION, bases, leaves_out)
    assert (forecast.plan, forecast.kinds, forecast.questions) == (Full(why), ("full",), ())


def test_what_is_not_full_without_an_answer_is_asked() -> None:
    """Keys of a column that follows only make the region smaller."""
    request = PlanRequest("auto", left_out=frozenset([QUESTIONS, INCREMENTAL]))
    for to_ask in (ToAsk((0,), only_whether=True), ToAsk(narrower=(0,)), ToAsk(own_keys=(0,)), ToAsk()):
        assert full_without_questions(BY_REGION, changed(1000), request, to_ask) is None


def test_groups_are_merged_without_the_question_whether_any_is_reached() -> None:
    bases, asks = changed(1000), PlanRequest("auto", merges=True)
    leaves_out = replace(asks, left_out=frozenset([WHETHER]))
    to_ask = references_to_ask(COUNTS, bases, asks)
    assert to_ask == ToAsk((0,), only_whether=True)
    assert merge_without_question(COUNTS, bases, asks, to_ask) is None
    assert merge_without_question(COUNTS, bases, leaves_out, to_ask) == plan_refresh(COUNTS, bases, asks)
    exactly = "whether the groups can be merged exactly"
    asked = [forecast_of(COUNTS, bases, request).questions[0] for request in (asks, leaves_out)]
    assert asked[0] != exactly and asked[1] == exactly


def test_a_full_refresh_in_place_of_one_that_takes_longer() -> None:
    bases, asks = changed(1000), PlanRequest("auto", merges=True)
    dearer = replace(asks, left_out=frozenset([INCREMENTAL]))
    why = "an incremental refresh of about as many changed rows took longer at the last refreshes (t: 1 day changed)"
    assert full_at_once(COUNTS, bases, asks) is None
    assert full_at_once(COUNTS, bases, dearer) == Full(why)
    assert forecast_of(COUNTS, bases, dearer).plan == Full(why)
    same = status(sized(change(status="fresh"), 10_000_000))
    rebuilt = replace(dearer, rebuild="--full-refresh")
    assert full_at_once(COUNTS, same, dearer) is None and full_at_once(COUNTS, bases, rebuilt) is None
