"""What is done where the clock moved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.definition.definition import at_moment
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK
from dbt.adapters.icebergmv.maintenance.planning.answers.changed_keys import clock_answer
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk, clock_to_ask, references_to_ask
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, NoOp, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import Answer, NotListed
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.session.clock import ClockChange
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from tests.support.bases import analysed, base_status, change, columns_of, partition_rows, status

BEFORE, NOW = {"date": "2026-11-21"}, {"date": "2026-11-22"}
MOVED = "the date moved from 2026-11-21 to 2026-11-22"
RECENT = at_moment(analysed("SELECT d, id FROM t WHERE d >= current_date"), columns_of, NOW)
ONE_DAY = change([partition_rows([("identity", "d")], (10,))], unit="day")
APPENDED = replace(ONE_DAY, appended_since=1, appended_rows=5)
DAY = TupleDomain.where({ColumnKey("d"): Domain.of(7)})


def moved(*, stale: bool = False, appended: bool = False) -> MaterializedViewStatus:
    """Return a status in which the clock moved."""
    changed = APPENDED if appended else ONE_DAY if stale else change(status="fresh")
    return replace(status(base_status(changed)), clock=ClockChange(BEFORE, NOW))


def answered(answer: Answer) -> PlanRequest:
    return PlanRequest("auto", answers={CLOCK.index: answer})


def test_the_clock_is_asked_before_any_table() -> None:
    assert clock_to_ask(RECENT, moved(stale=True), PlanRequest("auto")) == BEFORE
    assert references_to_ask(RECENT, moved(stale=True), PlanRequest("auto")) == ToAsk()


@pytest.mark.parametrize(
    "request_",
    [
        PlanRequest("full"),
        PlanRequest("auto", rebuild="first build"),
        PlanRequest("auto", lost="its storage table was dropped"),
        PlanRequest("auto", incremental=False),
    ],
)
def test_it_is_not_asked_where_the_answer_does_not_matter(request_: PlanRequest) -> None:
    assert clock_to_ask(RECENT, moved(), request_) is None
    assert isinstance(plan_refresh(RECENT, moved(), request_), Full)


def test_a_clock_that_did_not_move_is_not_asked() -> None:
    fresh = status(base_status(change(status="fresh")))
    assert clock_to_ask(RECENT, fresh, PlanRequest("auto")) is None
    assert isinstance(plan_refresh(RECENT, fresh, PlanRequest("auto")), NoOp)


def test_the_answer_is_the_region() -> None:
    assert plan_refresh(RECENT, moved(), answered((DAY,))) == Overwrite(MOVED, (DAY,), {0: (DAY,)})


def test_a_clock_that_reaches_nothing_refreshes_nothing() -> None:
    assert plan_refresh(RECENT, moved(), answered(())) == NoOp(f"no row of the view can be affected ({MOVED})")


def test_the_regions_of_clock_and_tables_add_up() -> None:
    plan = plan_refresh(RECENT, moved(stale=True), answered((DAY,)))
    assert isinstance(plan, Overwrite)
    assert plan.reason == f"t: 1 day changed; {MOVED}"
    assert plan.region == (TupleDomain.where({ColumnKey("d"): Domain.of(7, 10)}),)


def test_rows_are_only_added_where_the_clock_reaches_nothing() -> None:
    assert isinstance(plan_refresh(RECENT, moved(appended=True), answered(())), Append)
    assert isinstance(plan_refresh(RECENT, moved(appended=True), answered((DAY,))), Overwrite)
    assert isinstance(plan_refresh(RECENT, moved(appended=True), PlanRequest("auto")), Full)


def test_a_clock_that_cannot_say_what_it_reaches_refreshes_all() -> None:
    plan = plan_refresh(RECENT, moved(), answered(NotListed("reach more than 1000 keys")))
    assert plan == Full(f"{MOVED}, and the rows that this moves reach more than 1000 keys")


def test_a_clock_that_is_not_recorded_refreshes_all() -> None:
    unknown = replace(moved(), clock=ClockChange(None, NOW))
    assert clock_to_ask(RECENT, unknown, PlanRequest("auto")) is None
    assert plan_refresh(RECENT, unknown, PlanRequest("auto")) == Full("the date of the last refresh is not recorded")


def test_a_clock_in_another_place_has_no_answer() -> None:
    def nobody(sql: str) -> list[tuple[object, ...]]:
        raise AssertionError(sql)

    assert clock_answer(None, nobody) == NotListed("cannot be asked: not only conditions on rows read it")
    assert clock_answer((), nobody) == ()
