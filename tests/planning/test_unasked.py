"""Questions that were asked in vain are left out for some refreshes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.planning.changed_keys import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.forecast import forecast_of
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, Merge, NoOp, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, references_to_ask
from dbt.adapters.icebergmv.maintenance.planning.unasked import (
    after_asking,
    after_leaving_out,
    are_left_out,
    without_questions,
)
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.vain_questions import VainQuestions
from tests.support.bases import analysed, change, partition_rows, sized, status

BY_REGION = analysed("SELECT region, median(v) AS m FROM t GROUP BY region")
ONE_DAY = change([partition_rows([("day", "ts")], (10,))], unit="day")
FULL = Full("whatever")


def changed(rows: int) -> MaterializedViewStatus:
    return status(sized(replace(ONE_DAY, changed_rows=rows), 10_000_000))


LEFT_OUT: dict[str, tuple[VainQuestions | None, int, bool]] = {
    "never asked": (None, 1000, False),
    "once may be chance": (VainQuestions(1000, 5.0), 1000, False),
    "twice in a row": (VainQuestions(1000, 5.0, 2), 1000, True),
    "and left out once": (VainQuestions(1000, 5.0, 2, 1), 1000, False),
    "many times": (VainQuestions(1000, 5.0, 20, 6), 1000, True),
    "and left out often": (VainQuestions(1000, 5.0, 20, 7), 1000, False),
    "many more rows": (VainQuestions(1000, 5.0, 2), 100_000, True),
    "half as many": (VainQuestions(1000, 5.0, 2), 500, True),
    "less than half": (VainQuestions(1000, 5.0, 2), 499, False),
    "they cost next to nothing": (VainQuestions(1000, 0.9, 2), 1000, False),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_when_questions_are_left_out(name: str) -> None:
    vain, rows, expected = LEFT_OUT[name]
    assert are_left_out(vain, 10.0, changed(rows)) is expected
    assert not are_left_out(vain, None, changed(rows))


def test_in_vain_every_night() -> None:
    vain: VainQuestions | None = None
    asked = []
    for night in range(1, 33):
        if are_left_out(vain, 10.0, changed(1000)):
            vain = after_leaving_out(vain)
        else:
            asked.append(night)
            vain = after_asking(vain, changed(1000), FULL, 4.0, 10.0)
    assert asked == [1, 2, 4, 8, 16, 24, 32]


def test_cheap_questions_do_not_count() -> None:
    """After them those that take a tenth of a full refresh are the first in a row."""
    vain: VainQuestions | None = None
    for _ in range(5):
        vain = after_asking(vain, changed(1000), FULL, 0.9, 10.0)
    assert after_asking(vain, changed(1000), FULL, 4.0, 10.0) == VainQuestions(1000, 4.0, 1)


@pytest.mark.parametrize("plan", [NoOp(""), Overwrite("", ()), Merge("", ())])
def test_questions_that_paid_are_forgotten(plan: NoOp | Overwrite | Merge) -> None:
    assert after_asking(VainQuestions(1000, 5.0, 9), changed(1000), plan, 4.0, 10.0) is None
    assert after_leaving_out(None) is None


def test_the_refresh_is_full_and_says_why() -> None:
    bases = changed(1000)
    asks, leaves_out = PlanRequest("auto"), PlanRequest("auto", leaves_out_questions=True)
    to_ask = references_to_ask(BY_REGION, bases, asks)
    assert to_ask == ToAsk((0,))
    assert without_questions(BY_REGION, bases, asks, to_ask) is None
    why = "t changed and its changed rows are not asked, because about as many were asked in vain at the last refreshes"
    assert without_questions(BY_REGION, bases, leaves_out, to_ask) == Full(why)
    assert forecast_of(BY_REGION, bases, asks).questions == ("the keys of the changed rows of t",)
    forecast = forecast_of(BY_REGION, bases, leaves_out)
    assert (forecast.plan, forecast.kinds, forecast.questions) == (Full(why), ("full",), ())


def test_what_is_not_full_without_an_answer_is_asked() -> None:
    """A merge is asked whether it has anything to add; keys of a column that follows only make the region smaller."""
    request = PlanRequest("auto", leaves_out_questions=True)
    for to_ask in (ToAsk((0,), only_whether=True), ToAsk(narrower=(0,)), ToAsk(own_keys=(0,)), ToAsk()):
        assert without_questions(BY_REGION, changed(1000), request, to_ask) is None
