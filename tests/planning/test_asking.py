"""Which references are asked what their changed rows reach, and what becomes of the answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange
from dbt.adapters.icebergmv.maintenance.planning.changed_keys import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.key_queries import NotListed
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, NoOp, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, plan_refresh, references_to_ask
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from tests.support.bases import analysed, change, partition_rows, sized, status

BY_REGION = analysed("SELECT region, sum(v) AS s FROM t GROUP BY region")
JOINED = analysed("SELECT a.region, sum(b.v) AS s FROM t a JOIN u b ON a.id = b.id GROUP BY a.region")
TOTAL = analysed("SELECT count(*) AS c FROM t")
ONE_DAY = change([partition_rows([("day", "ts")], (10,))], unit="day")
ANYWHERE = change([TupleDomain.all()], unit="file")
MANY = 10_000_000


ASKED = {
    "one day of many": (replace(ONE_DAY, changed_rows=1000), MANY, True),
    "most files of a large table": (replace(ONE_DAY, changed_rows=MANY), MANY, False),
    "most files of a small table": (replace(ONE_DAY, changed_rows=2000), 1000, True),
    "the rows of a small table, written again and again": (replace(ONE_DAY, changed_rows=10 * 40_000), 40_000, True),
    "the rows of a large table, written again and again": (replace(ONE_DAY, changed_rows=10 * MANY), MANY, False),
    "somewhere in a large table": (replace(ANYWHERE, changed_rows=10), MANY, False),
    "somewhere in a small table": (replace(ANYWHERE, changed_rows=10), 1000, True),
    "few rows appended to a large table": (replace(ANYWHERE, appended_since=1, appended_rows=10), MANY, True),
    "as many rows appended as there were": (replace(ANYWHERE, appended_since=1, appended_rows=MANY), MANY, False),
}


@pytest.mark.parametrize("name", ASKED)
def test_asking_has_to_pay(name: str) -> None:
    changed, rows, pays = ASKED[name]
    found = references_to_ask(BY_REGION, status(sized(changed, rows)), PlanRequest("auto"))
    assert found == ToAsk((0,) if pays else ())


def test_a_small_table_beside_a_large_one_is_asked() -> None:
    bases = status(sized(change(status="fresh"), MANY), sized(ANYWHERE, 1000, "u", 1))
    assert references_to_ask(JOINED, bases, PlanRequest("auto")) == ToAsk((1,))


@pytest.mark.parametrize(
    "request_",
    [
        PlanRequest("full"),
        PlanRequest("auto", rebuild="first build"),
        PlanRequest("auto", lost="its storage table was dropped"),
        PlanRequest("auto", incremental=False),
    ],
)
def test_nobody_is_asked_where_the_answer_does_not_matter(request_: PlanRequest) -> None:
    assert references_to_ask(BY_REGION, status(sized(ONE_DAY, 10)), request_) == ToAsk()


def test_a_reference_that_reaches_no_column_may_still_have_no_changed_row() -> None:
    bases = status(sized(ONE_DAY, 10))
    assert TOTAL.asked.columns_of(0) == ()
    assert references_to_ask(TOTAL, bases, PlanRequest("auto")) == ToAsk((0,))
    assert isinstance(plan_refresh(TOTAL, bases, PlanRequest("auto", answers={0: ()})), NoOp)


def test_the_answer_is_the_region() -> None:
    bases, region = status(sized(ONE_DAY, 10)), (TupleDomain.where({ColumnKey("region"): Domain.of("EU", None)}),)
    plan = plan_refresh(BY_REGION, bases, PlanRequest("auto", answers={0: region}))
    assert plan == Overwrite("t: 1 day changed", region, {0: region})


def test_an_answer_that_cannot_be_listed_is_the_reason() -> None:
    asked = PlanRequest("auto", answers={0: NotListed("reach more than 1000 keys")})
    plan = plan_refresh(BY_REGION, status(sized(ONE_DAY, 10)), asked)
    assert plan == Full("t changed and its changed rows reach more than 1000 keys")


def test_one_reference_without_an_answer_makes_it_full() -> None:
    bases = status(sized(ONE_DAY, 10), sized(ONE_DAY, 10, "u", 1))
    plan = plan_refresh(JOINED, bases, PlanRequest("auto", answers={0: ()}))
    assert isinstance(plan, Full)


FOLLOWED = analysed("SELECT ts, count(*) AS c FROM t GROUP BY ts")
ONE_FILE = change([partition_rows([("day", "ts")], (10,))], unit="file")


def test_what_is_known_roughly_is_asked_where_that_costs_little() -> None:
    def asked(changed: TableChange) -> ToAsk:
        return references_to_ask(FOLLOWED, status(sized(changed, MANY)), PlanRequest("auto"))

    assert asked(ONE_DAY) == ToAsk()
    assert asked(replace(ONE_FILE, changed_rows=1000)) == ToAsk(narrower=(0,))
    assert asked(replace(ONE_DAY, changed_rows=1000, replaced=True)) == ToAsk(narrower=(0,))
    assert asked(replace(ONE_FILE, changed_rows=MANY)) == ToAsk()
    assert asked(replace(ONE_FILE, appended_since=1, appended_rows=10)) == ToAsk()


def test_a_narrower_answer_takes_the_place_of_what_follows() -> None:
    bases = status(sized(replace(ONE_FILE, changed_rows=1000), MANY))
    plan = plan_refresh(FOLLOWED, bases, PlanRequest("auto", answers={0: ()}))
    assert isinstance(plan, NoOp)
    assert isinstance(plan_refresh(FOLLOWED, bases, PlanRequest("auto")), Overwrite)
