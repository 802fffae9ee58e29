"""What becomes of a plan with the answers of changed rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import pytest

from dbt.adapters.icebergmv.maintenance.planning.answers.changed_keys import Questions
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk, references_to_ask
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import nearly_all_keys
from dbt.adapters.icebergmv.maintenance.planning.forecast import forecast_of
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, NoOp, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import one_by_one
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import TOO_DEAR, Answer, NotListed
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from tests.support.asked import OneTable, of_itself
from tests.support.bases import analysed, change, partition_rows, sized, status

BY_REGION = analysed("SELECT region, sum(v) AS s FROM t GROUP BY region")
JOINED = analysed("SELECT a.region, sum(b.v) AS s FROM t a JOIN u b ON a.id = b.id GROUP BY a.region")
TOTAL = analysed("SELECT count(*) AS c FROM t")
ONE_DAY = change([partition_rows([("day", "ts")], (10,))], unit="day")
MANY = 10_000_000
FOLLOWED = analysed("SELECT ts, count(*) AS c FROM t GROUP BY ts")
ONE_FILE = change([partition_rows([("day", "ts")], (10,))], unit="file")
ONE_MOMENT = (TupleDomain.where({ColumnKey("ts"): Domain.of(10 * 86_400_000_000)}),)
NEW_ROWS = replace(ONE_FILE, appended_since=1, appended_rows=10)
WIDE = TupleDomain.where({ColumnKey("id"): Domain.between(Range(1, 1_000_000))})
BOUNDED = PlanRequest("auto", within_bounds={0: 0.5})


def test_a_reference_that_reaches_no_column_may_still_have_no_changed_row() -> None:
    bases = status(sized(ONE_DAY, 10))
    assert TOTAL.asked.columns_of(0) == ()
    assert references_to_ask(TOTAL, bases, PlanRequest("auto")) == ToAsk((0,))
    assert isinstance(plan_refresh(TOTAL, bases, PlanRequest("auto", answers={0: ()})), NoOp)


def test_the_answer_is_the_region() -> None:
    bases, region = status(sized(ONE_DAY, 10)), (TupleDomain.where({ColumnKey("region"): Domain.of("EU", None)}),)
    plan = plan_refresh(BY_REGION, bases, PlanRequest("auto", answers={0: region}))
    assert plan == Overwrite("t: 1 day changed", region, {0: region})


TWICE = analysed(
    "SELECT a.region, sum(b.v) AS s FROM t a JOIN u b ON a.id = b.id JOIN t c ON a.id = c.id GROUP BY a.region"
)
EU = (TupleDomain.where({ColumnKey("region"): Domain.of("EU")}),)


@pytest.mark.parametrize(
    ("answers", "u"),
    [
        ({0: EU, 1: (), 2: EU}, "u: 1 day changed"),
        ({0: (), 1: EU, 2: ()}, "u: 1 day changed"),
        ({0: EU, 1: (), 2: ()}, "u: 1 day changed, without effect"),
    ],
    ids=["its rows may be let in by a later step", "others let in by it", "no row is changed from its step on"],
)
def test_a_change_without_effect_is_said_to_be_so(answers: dict[int, Answer], u: str) -> None:
    both = replace(sized(ONE_DAY, 10), references=(0, 2))
    plan = plan_refresh(TWICE, status(both, sized(ONE_DAY, 10, "u", 1)), PlanRequest("auto", answers=answers))
    assert plan.reason == f"t: 1 day changed; {u}"
    assert isinstance(plan, Overwrite)


def test_an_answer_that_cannot_be_listed_is_the_reason() -> None:
    asked = PlanRequest("auto", answers={0: NotListed("reach more than 1000 keys")})
    plan = plan_refresh(BY_REGION, status(sized(ONE_DAY, 10)), asked)
    assert plan == Full("t changed and its changed rows reach more than 1000 keys")


def test_one_reference_without_an_answer_makes_it_full() -> None:
    bases = status(sized(ONE_DAY, 10), sized(ONE_DAY, 10, "u", 1))
    plan = plan_refresh(JOINED, bases, PlanRequest("auto", answers={0: ()}))
    assert isinstance(plan, Full)


def test_an_overwrite_of_nearly_all_that_is_within_bounds_is_a_full_refresh() -> None:
    nearly, wide = replace(BOUNDED, within_bounds={0: 0.8}), status(sized(NEW_ROWS, MANY))
    assert isinstance(plan_refresh(FOLLOWED, wide, BOUNDED), Overwrite)
    assert isinstance(plan_refresh(FOLLOWED, wide, nearly), Full)
    assert isinstance(plan_refresh(FOLLOWED, wide, replace(nearly, answers={0: ONE_MOMENT})), Overwrite)


def test_keys_of_one_column_are_cut_down_by_the_bounds_of_others() -> None:
    definition = analysed("SELECT id, d, median(v) AS m FROM t GROUP BY id, d")
    today = TupleDomain.where({ColumnKey("d"): Domain.of(20), ColumnKey("id"): Domain.between(Range(1, 1_000_000))})
    wide = status(sized(replace(NEW_ROWS, constraints=change([today]).constraints), MANY))
    keys = (TupleDomain.where({ColumnKey("id"): Domain.of(3, 7)}),)
    plan = plan_refresh(definition, wide, replace(BOUNDED, answers={0: keys}))
    assert isinstance(plan, Overwrite)
    assert plan.region == (TupleDomain.where({ColumnKey("id"): Domain.of(3, 7), ColumnKey("d"): Domain.of(20)}),)


def test_bounds_that_take_many_words_do_not_cut_keys_down() -> None:
    definition = analysed("SELECT id, d, median(v) AS m FROM t GROUP BY id, d")
    ids, days = [*range(100)], range(20)
    files = [
        TupleDomain.where({ColumnKey("d"): Domain.of(d), ColumnKey("id"): Domain.between(Range(d, 1000))}) for d in days
    ]
    wide = status(sized(replace(NEW_ROWS, constraints=change(files).constraints), MANY))
    keys = (TupleDomain.where({ColumnKey("id"): Domain.of(*ids)}),)
    plan = plan_refresh(definition, wide, replace(BOUNDED, answers={0: keys}))
    assert isinstance(plan, Overwrite)
    assert plan.region == keys


NEARLY: dict[str, tuple[str, int, bool]] = {
    "all but two groups": ("SELECT id, region, median(v) AS m FROM t GROUP BY id, region", 8, True),
    "all but three": ("SELECT id, region, median(v) AS m FROM t GROUP BY id, region", 7, False),
    # Of these keys some are no group of the view.
    "groups that HAVING may leave out": (
        "SELECT id, region, median(v) AS m FROM t GROUP BY id, region HAVING median(v) > 5",
        100,
        False,
    ),
}


@pytest.mark.parametrize("name", NEARLY)
def test_keys_of_nearly_all_stored_rows_are_a_full_refresh(name: str) -> None:
    sql, listed, is_full = NEARLY[name]
    definition, base = analysed(sql), sized(ONE_DAY, MANY)
    columns = (Column("id", "int"), Column("region", "string"))
    most = nearly_all_keys(status(base), 10)
    questions = Questions(definition, definition.asked, OneTable(base), status(base), columns, nearly_all=most)
    answers = questions.answers(
        ToAsk((0,)), one_by_one(lambda sql: [(n, None if n % 2 else "EU") for n in range(listed)])
    )
    plan = plan_refresh(definition, status(base), PlanRequest("auto", answers=answers))
    assert plan.kind == ("full" if is_full else "overwrite")
    if is_full:
        assert "reach nearly all rows of the view" in plan.reason


def test_where_little_is_read_no_keys_are_nearly_all() -> None:
    assert nearly_all_keys(status(sized(ONE_DAY, 1000)), 10) == inf
    assert nearly_all_keys(status(sized(ONE_DAY, MANY)), None) == inf
    assert nearly_all_keys(status(sized(ONE_DAY, MANY)), 0) == inf


def test_no_more_is_read_for_the_keys_of_new_rows_than_these_rows() -> None:
    base, said = sized(NEW_ROWS, MANY), list[str]()
    keys = analysed("SELECT id, median(v) AS m FROM t GROUP BY id")
    wide = sized(replace(NEW_ROWS, constraints=change([WIDE]).constraints), MANY)
    to_ask = references_to_ask(keys, status(wide), BOUNDED)
    assert to_ask == ToAsk(own_keys=(0,))

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return [[3], [1_000_000]]

    questions = Questions(keys, keys.asked, OneTable(base), status(wide), ())
    for answers in (questions.answers(to_ask, one_by_one(spark)), questions.cheap_answers(to_ask, one_by_one(spark))):
        plan = plan_refresh(keys, status(wide), replace(BOUNDED, answers=answers))
        assert isinstance(plan, Overwrite)
        assert plan.region == (TupleDomain.where({ColumnKey("id"): Domain.of(3, 1_000_000)}),)
    assert all("median" not in sql for sql in said) and len(said) == 2
    too_many = questions.answers(to_ask, one_by_one(lambda sql: [[n] for n in range(1001)]))
    assert too_many == {} and len(said) == 2
    forecast = forecast_of(keys, status(wide), BOUNDED)
    assert (forecast.kinds, forecast.questions) == (
        ("overwrite", "none", "full"),
        ("the keys of the new rows of t",),
    )


def test_a_narrower_answer_takes_the_place_of_what_follows() -> None:
    bases = status(sized(replace(ONE_FILE, changed_rows=1000), MANY))
    plan = plan_refresh(FOLLOWED, bases, PlanRequest("auto", answers={0: ()}))
    assert isinstance(plan, NoOp)
    assert isinstance(plan_refresh(FOLLOWED, bases, PlanRequest("auto")), Overwrite)


@pytest.mark.parametrize("rows", [0, 1])
def test_where_asking_does_not_pay_it_is_asked_whether_any_row_changed(rows: int) -> None:
    base, definition = sized(ONE_DAY, 10), of_itself(7)
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return [[1]] * rows

    bases = OneTable(base)
    questions = Questions(definition, definition.asked, bases, status(base), ())
    answers = questions.cheap_answers(ToAsk((0,)), one_by_one(spark))
    assert answers == {0: TOO_DEAR if rows else ()}
    assert [sql.count(" JOIN ") for sql in said] == [0]
    plan = plan_refresh(definition, status(base), PlanRequest("auto", answers=answers))
    assert isinstance(plan, Full if rows else NoOp)


@pytest.mark.parametrize("values", [[], ["EU", None], [f"r{n}" for n in range(1001)]])
def test_where_asking_does_not_pay_the_changed_rows_name_the_keys_that_columns_follow(values: list[str | None]) -> None:
    uses = " JOIN ".join(f"x AS x{n} USING (region)" for n in range(1, 7))
    definition = analysed(
        f"WITH x AS (SELECT region, sum(v) AS s FROM t GROUP BY region) SELECT region FROM x JOIN {uses}"
    )
    base = sized(ONE_DAY, 10)
    questions = Questions(definition, definition.asked, OneTable(base), status(base), ())
    answers = questions.cheap_answers(ToAsk((0,)), one_by_one(lambda sql: [[v] for v in values]))
    plan = plan_refresh(definition, status(base), PlanRequest("auto", answers=answers))
    if len(values) == 2:
        assert isinstance(plan, Overwrite)
        assert {TupleDomain.where({ColumnKey("region"): Domain.of("EU", None)})} == {*plan.region}
    else:
        assert isinstance(plan, Full if values else NoOp)


def test_a_text_that_cannot_be_asked_has_no_keys_of_its_own() -> None:
    base, definition = sized(ONE_DAY, 10), analysed("SELECT 1 AS icebergmv_copy_0, d FROM t")
    questions = Questions(definition, definition.asked, OneTable(base), status(base), ())
    assert definition.asked.references == ()
    assert definition.tracks_of(definition.uses_of(0)[0])
    assert questions.answers(ToAsk((0,)), one_by_one(lambda sql: [[1]])) == {}
    assert questions.cheap_answers(ToAsk((0,)), one_by_one(lambda sql: [[1]])) == {0: TOO_DEAR}
