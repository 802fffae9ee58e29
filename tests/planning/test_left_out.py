"""What was tried in vain is left out for some refreshes: questions, or all that is not a full refresh."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.planning.changed_keys import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.considered import considered
from dbt.adapters.icebergmv.maintenance.planning.forecast import forecast_of
from dbt.adapters.icebergmv.maintenance.planning.left_out import (
    after_asking,
    after_leaving_out,
    after_writing,
    full_without_attempt,
    left_out,
)
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, Merge, NoOp, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, plan_refresh, references_to_ask
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.vain_attempts import VainAttempts
from tests.support.bases import analysed, change, partition_rows, sized, status

BY_REGION = analysed("SELECT region, median(v) AS m FROM t GROUP BY region")
ONE_DAY = change([partition_rows([("day", "ts")], (10,))], unit="day")
FULL = Full("whatever")


def changed(rows: int) -> MaterializedViewStatus:
    return status(sized(replace(ONE_DAY, changed_rows=rows), 10_000_000))


LEFT_OUT: dict[str, tuple[VainAttempts | None, int, bool]] = {
    "never asked": (None, 1000, False),
    "once may be chance": (VainAttempts(1000, 5.0), 1000, False),
    "twice in a row": (VainAttempts(1000, 5.0, 2), 1000, True),
    "and left out once": (VainAttempts(1000, 5.0, 2, 1), 1000, False),
    "many times": (VainAttempts(1000, 5.0, 20, 6), 1000, True),
    "and left out often": (VainAttempts(1000, 5.0, 20, 7), 1000, False),
    "many more rows": (VainAttempts(1000, 5.0, 2), 100_000, True),
    "half as many": (VainAttempts(1000, 5.0, 2), 500, True),
    "less than half": (VainAttempts(1000, 5.0, 2), 499, False),
    "they cost next to nothing": (VainAttempts(1000, 0.9, 2), 1000, False),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_when_questions_are_left_out(name: str) -> None:
    vain, rows, expected = LEFT_OUT[name]
    assert left_out(vain, 10.0, changed(rows)) == ("asked" if expected else None)
    assert left_out(vain, None, changed(rows)) is None
    written = vain and replace(vain, attempt="written")
    assert left_out(written, 10.0, changed(rows)) == ("written" if expected else None)


def test_in_vain_every_night() -> None:
    vain: VainAttempts | None = None
    asked = []
    for night in range(1, 33):
        if left_out(vain, 10.0, changed(1000)):
            vain = after_leaving_out(vain)
        else:
            asked.append(night)
            vain = after_asking(vain, changed(1000), FULL, 4.0)
    assert asked == [1, 2, 4, 8, 16, 24, 32]


@pytest.mark.parametrize("plan", [NoOp(""), Overwrite("", ()), Merge("", ())])
def test_questions_that_paid_are_forgotten(plan: NoOp | Overwrite | Merge) -> None:
    assert after_asking(VainAttempts(1000, 5.0, 9), changed(1000), plan, 4.0) is None
    assert after_leaving_out(None) is None


@pytest.mark.parametrize("plan", [Overwrite("", ()), Merge("", ())])
def test_a_refresh_that_took_longer_than_a_full_one(plan: Overwrite | Merge) -> None:
    bases, once = changed(1000), VainAttempts(1000, 6.0, attempt="written")
    assert after_writing(None, bases, plan, 16.0, 10.0) == once
    # Keys were asked first, and found.
    assert after_asking(once, bases, plan, 1.0) == once
    assert after_writing(once, bases, plan, 17.0, 10.0) == VainAttempts(1000, 7.0, 2, attempt="written")
    assert after_asking(once, bases, FULL, 4.0) == VainAttempts(1000, 4.0, 2)
    assert after_asking(once, bases, NoOp(""), 1.0) is None


NOT_DEARER: dict[str, tuple[RefreshPlan, float, float | None]] = {
    "one and a half times": (Merge("", ()), 15.0, 10.0),
    "less than a second longer": (Merge("", ()), 1.9, 1.0),
    "no full refresh is known": (Merge("", ()), 100.0, None),
    "a full one": (FULL, 100.0, 10.0),
    "an append": (Append("", ()), 100.0, 10.0),
}


@pytest.mark.parametrize("name", NOT_DEARER)
def test_what_is_not_clearly_longer(name: str) -> None:
    plan, seconds, full_seconds = NOT_DEARER[name]
    asked = VainAttempts(1000, 5.0, 2)
    assert after_writing(None, changed(1000), plan, seconds, full_seconds) is None
    assert after_writing(asked, changed(1000), plan, seconds, full_seconds) == asked


def test_of_small_tables_nothing_is_left_out() -> None:
    small = status(sized(replace(ONE_DAY, changed_rows=1000), 100_000))
    assert after_writing(None, small, Merge("", ()), 100.0, 1.0) is None


def test_a_refresh_that_paid_again_is_forgotten() -> None:
    once = VainAttempts(1000, 6.0, attempt="written")
    assert after_writing(once, changed(1000), Overwrite("", ()), 2.0, 10.0) is None


def test_a_full_refresh_in_place_of_what_took_longer() -> None:
    by_day = analysed("SELECT CAST(ts AS date) AS d, median(v) AS m FROM t GROUP BY 1")
    tries, leaves_out = PlanRequest("auto"), PlanRequest("auto", leaves_out="written")
    bases = changed(1000)
    why = "cheaper than what the last refreshes did, which took longer (t: 1 day changed)"
    assert full_without_attempt(by_day, bases, tries, ToAsk()) is None
    assert full_without_attempt(by_day, bases, replace(tries, leaves_out="asked"), ToAsk()) is None
    assert full_without_attempt(by_day, bases, leaves_out, ToAsk()) == Full(why)
    assert full_without_attempt(BY_REGION, bases, leaves_out, ToAsk((0,))) == Full(why)
    forecast = forecast_of(by_day, bases, leaves_out)
    assert (forecast.plan, forecast.kinds, forecast.questions) == (Full(why), ("full",), ())
    said = {one.kind: one.why for one in considered(by_day, by_day, bases, (leaves_out, forecast))}
    assert said["overwrite"] == said["merge"] == "it took longer than a full refresh, time and again"
    assert said["full"] == why


def test_nothing_is_computed_where_nothing_is_reached() -> None:
    request = PlanRequest("auto", answers={0: ()}, leaves_out="written")
    assert plan_refresh(BY_REGION, changed(1000), request).kind == "none"
    assert full_without_attempt(BY_REGION, changed(1000), request, ToAsk()) is None


def test_new_rows_are_appended() -> None:
    definition, request = analysed("SELECT ts, v FROM t"), PlanRequest("auto", leaves_out="written")
    bases = status(sized(replace(ONE_DAY, appended_since=1, appended_rows=5), 10_000_000))
    assert plan_refresh(definition, bases, request).kind == "append"
    assert full_without_attempt(definition, bases, request, ToAsk()) is None


def test_the_refresh_is_full_and_says_why() -> None:
    bases = changed(1000)
    asks, leaves_out = PlanRequest("auto"), PlanRequest("auto", leaves_out="asked")
    to_ask = references_to_ask(BY_REGION, bases, asks)
    assert to_ask == ToAsk((0,))
    assert full_without_attempt(BY_REGION, bases, asks, to_ask) is None
    why = "t changed and its changed rows are not asked, because about as many were asked in vain at the last refreshes"
    assert full_without_attempt(BY_REGION, bases, leaves_out, to_ask) == Full(why)
    assert forecast_of(BY_REGION, bases, asks).questions == ("the keys of the changed rows of t",)
    forecast = forecast_of(BY_REGION, bases, leaves_out)
    assert (forecast.plan, forecast.kinds, forecast.questions) == (Full(why), ("full",), ())


def test_what_is_not_full_without_an_answer_is_asked() -> None:
    """A merge is asked whether it has anything to add; keys of a column that follows only make the region smaller."""
    request = PlanRequest("auto", leaves_out="asked")
    for to_ask in (ToAsk((0,), only_whether=True), ToAsk(narrower=(0,)), ToAsk(own_keys=(0,)), ToAsk()):
        assert full_without_attempt(BY_REGION, changed(1000), request, to_ask) is None
