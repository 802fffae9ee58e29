"""Which references are asked what their changed rows reach, and what becomes of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.planning import changed_keys
from dbt.adapters.icebergmv.maintenance.planning.changed_keys import Questions, ToAsk
from dbt.adapters.icebergmv.maintenance.planning.cost import (
    asking_pays,
    most_seconds_asked,
    nearly_all_keys,
    small_beside_large,
)
from dbt.adapters.icebergmv.maintenance.planning.forecast import forecast_of
from dbt.adapters.icebergmv.maintenance.planning.key_queries import TOO_DEAR, TOO_LATE, TOO_MANY, NotListed
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, NoOp, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.planner import (
    PlanRequest,
    as_far_as_it_pays,
    plan_refresh,
    references_to_ask,
)
from dbt.adapters.icebergmv.maintenance.planning.question_texts import A_ROW
from dbt.adapters.icebergmv.maintenance.planning.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTable, BaseTables
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus
from tests.support.bases import analysed, change, partition_rows, sized, status
from tests.support.stub_catalog import StubCatalog

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
    assert asked(replace(ONE_DAY, changed_rows=1000, unit="year")) == ToAsk(narrower=(0,))
    assert asked(replace(ONE_DAY, changed_rows=1000, unit="month")) == ToAsk(narrower=(0,))
    assert asked(replace(ONE_FILE, changed_rows=MANY)) == ToAsk()
    assert asked(replace(ONE_FILE, appended_since=1, appended_rows=10)) == ToAsk()


ONE_MOMENT = (TupleDomain.where({ColumnKey("ts"): Domain.of(10 * 86_400_000_000)}),)
NEW_ROWS = replace(ONE_FILE, appended_since=1, appended_rows=10)
WIDE = TupleDomain.where({ColumnKey("id"): Domain.between(Range(1, 1_000_000))})
BOUNDED = PlanRequest("auto", within_bounds={0: 0.5})
OWN_KEYS: dict[str, tuple[TableChange, PlanRequest, bool]] = {
    "few new rows between wide bounds": (NEW_ROWS, BOUNDED, True),
    "between narrow ones": (NEW_ROWS, replace(BOUNDED, within_bounds={0: 0.01}), False),
    "known by partitions": (NEW_ROWS, PlanRequest("auto"), False),
    "most rows are new": (replace(NEW_ROWS, appended_rows=MANY), BOUNDED, False),
    "merged whatever they are": (NEW_ROWS, replace(BOUNDED, merges=True), False),
}


@pytest.mark.parametrize("name", OWN_KEYS)
def test_new_rows_are_asked_for_their_keys_where_bounds_alone_say_where_they_are(name: str) -> None:
    changed, request, is_asked = OWN_KEYS[name]
    to_ask = references_to_ask(FOLLOWED, status(sized(changed, MANY)), request)
    assert to_ask.own_keys == ((0,) if is_asked else ())


def test_what_would_be_full_without_an_answer_is_asked_where_a_quarter_is_read() -> None:
    """Some files of a table were written again: their bounds are those of all stored rows."""
    wide = replace(BOUNDED, within_bounds={0: 0.9})

    def asked(changed_rows: int, request: PlanRequest) -> ToAsk:
        files = replace(ONE_FILE, changed_rows=changed_rows)
        return references_to_ask(FOLLOWED, status(sized(files, MANY)), request)

    everywhere = replace(wide, within_bounds={}, changed_nearly_everywhere=frozenset([("lake", "ns", "t")]))
    assert asked(MANY // 5, BOUNDED) == ToAsk()
    assert asked(MANY // 5, wide) == asked(MANY // 5, everywhere) == ToAsk(narrower=(0,))
    assert asked(MANY // 3, wide) == ToAsk()


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
    questions = Questions(definition, definition.asked, OneTable(base), status(base), columns, nearly_all=most)  # type: ignore[arg-type]
    answers = questions.answers(ToAsk((0,)), lambda sql: [(n, None if n % 2 else "EU") for n in range(listed)])
    plan = plan_refresh(definition, status(base), PlanRequest("auto", answers=answers))
    assert plan.kind == ("full" if is_full else "overwrite")
    if is_full:
        assert "reach nearly all rows of the view" in plan.reason


@pytest.mark.parametrize(
    ("seconds", "rows", "pays"), [(1.4, MANY, False), (1.5, MANY, True), (None, MANY, True), (0.1, 1000, True)]
)
def test_three_questions_take_longer_than_a_short_full_refresh(seconds: float | None, rows: int, pays: bool) -> None:
    star = analysed(
        "SELECT b.region, count(*) AS n FROM t AS a JOIN u AS b ON a.id = b.id JOIN u AS c ON a.v = c.v "
        "JOIN u AS d ON a.d = d.d GROUP BY b.region"
    )
    dims = [sized(replace(ANYWHERE, changed_rows=10), 10, "u", number) for number in (1, 2, 3)]
    bases = status(sized(change(status="fresh"), rows), *dims)
    _, text = as_far_as_it_pays(star.asked, bases, ToAsk((1, 2, 3)), PlanRequest("auto", full_seconds=seconds))
    assert (text is not None) is pays


def test_where_little_is_read_no_keys_are_nearly_all() -> None:
    assert nearly_all_keys(status(sized(ONE_DAY, 1000)), 10) == inf
    assert nearly_all_keys(status(sized(ONE_DAY, MANY)), None) == inf
    assert nearly_all_keys(status(sized(ONE_DAY, MANY)), 0) == inf


def test_subqueries_in_where_are_asked_last() -> None:
    definition = analysed("SELECT sum(v) AS s FROM t WHERE v > 2 AND id IN (SELECT id FROM u)")
    bases = [sized(replace(ONE_DAY, changed_rows=50), MANY), sized(change(status="fresh"), 10, "u", 1)]
    tables: Any = Tables({b.base.name[2]: b.base for b in bases})
    questions = Questions(definition, definition.asked, tables, status(*bases), ())
    for gives_rows, expected in ((False, [False]), (True, [False, True])):
        said: list[str] = []

        def spark(sql: str, said: list[str] = said, gives_rows: bool = gives_rows) -> Sequence[Sequence[object]]:
            said.append(sql)
            return [[1]] if gives_rows and len(said) == 1 else []

        assert questions.answers(ToAsk((0,), only_whether=True), spark) == {0: ()}
        assert ["IN (SELECT" in sql for sql in said] == expected


def test_no_more_is_read_for_the_keys_of_new_rows_than_these_rows() -> None:
    base, said = sized(NEW_ROWS, MANY), list[str]()
    keys = analysed("SELECT id, median(v) AS m FROM t GROUP BY id")
    wide = sized(replace(NEW_ROWS, constraints=change([WIDE]).constraints), MANY)
    to_ask = references_to_ask(keys, status(wide), BOUNDED)
    assert to_ask == ToAsk(own_keys=(0,))

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return [[3], [1_000_000]]

    questions = Questions(keys, keys.asked, OneTable(base), status(wide), ())  # type: ignore[arg-type]
    for answers in (questions.answers(to_ask, spark), questions.cheap_answers(to_ask, spark)):
        plan = plan_refresh(keys, status(wide), replace(BOUNDED, answers=answers))
        assert isinstance(plan, Overwrite)
        assert plan.region == (TupleDomain.where({ColumnKey("id"): Domain.of(3, 1_000_000)}),)
    assert all("median" not in sql for sql in said) and len(said) == 2
    too_many = questions.answers(to_ask, lambda sql: [[n] for n in range(1001)])
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


def test_what_is_known_roughly_makes_nothing_else_too_dear() -> None:
    joins = " ".join(f"JOIN t AS t{n} ON a.ts = t{n}.ts" for n in range(3))
    sql = f"SELECT a.ts, count(*) AS c FROM t AS a {joins} JOIN u ON a.id = u.id GROUP BY a.ts"
    months = replace(sized(replace(ONE_DAY, unit="month"), 1000), occurrences=(0, 1, 2, 3))
    bases, request = status(months, sized(ANYWHERE, 1000, "u", 4)), PlanRequest("auto")
    of_many = analysed(sql)
    to_ask = references_to_ask(of_many, bases, request)
    assert to_ask == ToAsk((4,), (0, 1, 2, 3))
    whole = replace(of_many.asked, shared={})
    assert as_far_as_it_pays(of_many.asked, bases, to_ask, PlanRequest("auto")) == (ToAsk((4,)), whole)
    assert as_far_as_it_pays(of_many.asked, bases, to_ask, PlanRequest("incremental")) == (to_ask, of_many.asked)
    assert "and u" not in forecast_of(of_many, bases, request).questions[0]
    # Nothing at all is asked of what is only known roughly.
    by_time = analysed(sql.replace("u ON a.id = u.id", "t AS u ON a.ts = u.ts"))
    alone = status(replace(months, occurrences=(0, 1, 2, 3, 4)))
    assert forecast_of(by_time, alone, request).kinds == ("overwrite",)


def of_itself(copies: int) -> ViewDefinition:
    """Return a view that uses one aggregate so many times."""
    uses = " JOIN ".join(f"x AS x{n}" for n in range(copies))
    return analysed(f"WITH x AS (SELECT region, sum(v) AS s FROM t GROUP BY region) SELECT x0.region FROM {uses}")


PAYS = {
    "one question": (1, 10_000, True),
    "one of two uses of a large table": (2, MANY, True),
    "two of three uses of a large table": (3, MANY, False),
    "many uses of a large table": (4, MANY, False),
    "some uses of a small table": (4, 1000, True),
    "many uses of a small table": (5, 1000, False),
}


@pytest.mark.parametrize("name", PAYS)
def test_all_questions_together_have_to_pay(name: str) -> None:
    copies, rows, pays = PAYS[name]
    base = sized(replace(ONE_DAY, changed_rows=1000), rows)
    assert asking_pays(of_itself(copies).asked, (0,), status(base), frozenset()) is pays


@pytest.mark.parametrize(("rows", "pays"), [(10, True), (200_000, True), (1_000_000, False)])
def test_small_tables_beside_a_large_one_are_asked_for_their_own_keys(rows: int, pays: bool) -> None:
    star = analysed("SELECT a.id FROM t a JOIN t b ON a.id = b.id JOIN t c ON a.id = c.id JOIN t d ON a.id = d.id")
    small = [sized(replace(ONE_DAY, changed_rows=10), rows, f"u{n}", n) for n in (1, 2, 3)]
    bases = status(sized(change(status="fresh"), MANY), *small)
    assert asking_pays(star.asked, (1, 2, 3), bases, small_beside_large(bases)) is pays


@dataclass(frozen=True)
class OneTable:
    """Base tables that are all the same one."""

    table: BaseTableStatus
    catalog_name: str = "lake"

    def of(self, _: TableReference) -> BaseTable:
        return self.table.base


@dataclass(frozen=True)
class Tables:
    """Base tables by their names."""

    known: Mapping[str, BaseTable]
    catalog_name: str = "lake"

    def of(self, reference: TableReference) -> BaseTable:
        return self.known[reference.name]


@pytest.mark.parametrize("rows", [0, 1])
def test_where_asking_does_not_pay_it_is_asked_whether_any_row_changed(rows: int) -> None:
    base, definition = sized(ONE_DAY, 10), of_itself(7)
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return [[1]] * rows

    bases: Any = OneTable(base)
    questions = Questions(definition, definition.asked, bases, status(base), ())
    answers = questions.cheap_answers(ToAsk((0,)), spark)
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
    questions = Questions(definition, definition.asked, OneTable(base), status(base), ())  # type: ignore[arg-type]
    answers = questions.cheap_answers(ToAsk((0,)), lambda sql: [[v] for v in values])
    plan = plan_refresh(definition, status(base), PlanRequest("auto", answers=answers))
    if len(values) == 2:
        assert isinstance(plan, Overwrite)
        assert {TupleDomain.where({ColumnKey("region"): Domain.of("EU", None)})} == {*plan.region}
    else:
        assert isinstance(plan, Full if values else NoOp)


def test_a_text_that_cannot_be_asked_has_no_keys_of_its_own() -> None:
    base, definition = sized(ONE_DAY, 10), analysed("SELECT 1 AS icebergmv_copy_0, d FROM t")
    questions = Questions(definition, definition.asked, OneTable(base), status(base), ())  # type: ignore[arg-type]
    assert definition.asked.references == ()
    assert definition.tracks_of(definition.uses_of(0)[0])
    assert questions.answers(ToAsk((0,)), lambda sql: [[1]]) == {}
    assert questions.cheap_answers(ToAsk((0,)), lambda sql: [[1]]) == {0: TOO_DEAR}


@pytest.mark.parametrize("preferred", [frozenset[str](), frozenset(["id"]), frozenset(["id", "region"])])
def test_no_question_is_asked_twice(preferred: frozenset[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that the table is joined by may be those that partition the storage, or all that there are."""
    joined = analysed("SELECT a.id, a.region FROM t a JOIN u b ON a.id = b.id AND a.region = b.region")
    monkeypatch.setattr(Questions, "question", lambda self, index: "SELECT * FROM changed")
    asked: list[str] = []

    def everything(sql: str) -> Sequence[tuple[object, ...]]:
        asked.append(sql)
        return [(n % 1000, n) for n in range(int(sql.split("LIMIT ")[1]))][:: 1 if len(asked) == 1 else -1]

    columns = (Column("id", "bigint"), Column("region", "string"))
    bases = status(sized(ONE_DAY, 10), sized(ONE_DAY, 10, "u", 1))
    questions = Questions(joined, joined.asked, BaseTables(StubCatalog({}, {})), bases, columns, preferred)
    assert questions.reached(1, everything) is TOO_MANY
    assert len(asked) == len(set(asked)) > 1


def test_after_some_time_nothing_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second table is not asked any more; what is known roughly of a third one stays as it is."""
    clock = [0.0]
    monkeypatch.setattr(changed_keys, "monotonic", lambda: clock[0])
    monkeypatch.setattr(Questions, "question", lambda self, index: f"SELECT * FROM changed_{index}")
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        clock[0] += 10
        return [["EU"]] if len(said) == 1 else []

    definition = analysed("SELECT a.region, sum(b.v) AS s FROM t a JOIN u b ON a.id = b.id GROUP BY a.region")
    bases = status(sized(ONE_DAY, 10), sized(ONE_DAY, 10, "u", 1))
    columns = [Column("region", "string")]
    questions = Questions(definition, definition.asked, BaseTables(StubCatalog({}, {})), bases, columns, until=5.0)
    answers = questions.answers(ToAsk((0, 1)), spark)
    assert answers[0] == (TupleDomain.where({ColumnKey("region"): Domain.of("EU")}),)
    assert answers[1] is TOO_LATE and len(said) == 1
    clock[0] = 0.0
    said.clear()
    assert questions.answers(ToAsk((0,), (1,)), spark).keys() == {0} and len(said) == 1


def test_how_long_questions_may_take() -> None:
    assert [most_seconds_asked(s) for s in (None, 1.0, 60.0)] == [float("inf"), 5.0, 30.0]


def test_a_table_that_is_read_in_many_places_is_compared_once() -> None:
    """Each total reads other rows; none of them is asked where no row changed in a column that is read."""
    totals = " CROSS JOIN ".join(f"(SELECT count(*) AS c{n} FROM t WHERE id = {n}) q{n}" for n in range(8))
    definition, base = analysed(f"SELECT * FROM {totals}"), sized(replace(ONE_DAY, changed_rows=400_000), MANY // 4)
    uses = replace(base, occurrences=tuple(range(8)))
    to_ask = references_to_ask(definition, status(uses), PlanRequest("auto"))
    assert to_ask == ToAsk(tuple(range(8)))
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return []

    bases: Any = OneTable(uses)
    questions = Questions(definition, definition.asked, bases, status(uses), ())
    assert questions.cheap_answers(to_ask, spark) == dict.fromkeys(range(8), ())
    assert len(said) == 1


@pytest.mark.parametrize("fails", [False, True])
def test_from_and_where_are_asked_alone(fails: bool) -> None:
    """Of one common table expression that is used often, once; where that cannot be asked, the changed rows alone."""
    uses = " JOIN ".join(f"x AS x{n} ON x.s = x{n}.s" for n in range(1, 7))
    x = "WITH x AS (SELECT sum(v) AS s FROM t WHERE region = 'EU' GROUP BY id)"
    definition, base = analysed(f"{x} SELECT x.s FROM x JOIN {uses}"), sized(ONE_DAY, 10)
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        if A_ROW in sql and fails:
            raise RuntimeError("a row around it")
        return []

    questions = Questions(definition, definition.asked, OneTable(base), status(base), ())  # type: ignore[arg-type]
    assert questions.cheap_answers(ToAsk((0,)), spark) == {0: ()}
    assert len({*said}) == 1 + fails and said[0].startswith(f"{A_ROW} FROM (") and "WHERE region = 'EU'" in said[0]


BY_V = "SELECT x.region, sum(x.v) AS s FROM t AS x WHERE x.d > 3 GROUP BY x.region"


@pytest.mark.parametrize("rows", [[], [[1]]])
@pytest.mark.parametrize("only_whether", [False, True])
def test_many_changed_rows_are_compared_behind_where(only_whether: bool, rows: list[list[int]]) -> None:
    """Where none is left, nothing is reached; where groups are merged, it is enough that one is."""
    definition, base = analysed(BY_V), sized(replace(ONE_DAY, changed_rows=50_000), MANY)
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return rows

    columns = [Column("region", "string")]
    questions = Questions(definition, definition.asked, OneTable(base), status(base), columns)  # type: ignore[arg-type]
    answers = questions.answers(ToAsk((0,), only_whether=only_whether), spark)
    assert said[0].startswith(f"{A_ROW} FROM (SELECT `d`, `region`, `v`, 1 AS icebergmv_sign FROM ")
    assert said[0].endswith(
        ") AS x WHERE x.d > 3 GROUP BY `x`.`d`, `x`.`region`, `x`.`v` HAVING sum(`x`.icebergmv_sign) <> 0 LIMIT 1"
    )
    assert len(said) == (2 if rows and not only_whether else 1)
    assert (answers == {0: ()}) is not bool(rows)


SEEN = {
    "`*` would show the sign": BY_V.replace("x.d > 3", "hash(*) % 4 = 0"),
    "so would `x.*`": BY_V.replace("x.d > 3", "hash(x.*) % 4 = 0"),
    "a name that may be the sign": BY_V.replace("x.d > 3", "x.d > icebergmv_sign"),
    "columns have other names": BY_V.replace("AS x ", "AS x(ts, d, region, id, v) "),
    "nothing is left out behind FROM": BY_V.replace(" WHERE x.d > 3", ""),
}


@pytest.mark.parametrize("name", SEEN)
def test_changed_rows_are_compared_before_anything_sees_the_sign(name: str) -> None:
    definition, base = analysed(SEEN[name]), sized(replace(ONE_DAY, changed_rows=50_000), MANY)
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return []

    questions = Questions(definition, definition.asked, OneTable(base), status(base), ())  # type: ignore[arg-type]
    assert questions.answers(ToAsk((0,), only_whether=True), spark) == {0: ()}
    assert "HAVING sum(icebergmv_sign) <> 0) AS icebergmv_changed) AS" in said[0]


@pytest.mark.parametrize(("others", "is_behind"), [(50_000, True), (50_001, False)])
def test_rows_are_compared_before_they_join_many(others: int, is_behind: bool) -> None:
    definition = analysed("SELECT t.region, sum(t.v) AS s FROM t, u WHERE t.id = u.id GROUP BY t.region")
    bases = [sized(replace(ONE_DAY, changed_rows=50_000), MANY), sized(change(status="fresh"), others, "u", 1)]
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return []

    tables: Any = Tables({b.base.name[2]: b.base for b in bases})
    questions = Questions(definition, definition.asked, tables, status(*bases), ())
    assert questions.answers(ToAsk((0,), only_whether=True), spark) == {0: ()}
    assert ("HAVING sum(`t`.icebergmv_sign) <> 0" in said[0]) is is_behind


FEW, NEW = replace(ONE_DAY, changed_rows=10), replace(ONE_DAY, appended_since=1, appended_rows=50_000)


@pytest.mark.parametrize("changed", [FEW, NEW])
def test_few_rows_or_new_ones_are_asked_at_once(changed: TableChange) -> None:
    definition, base = analysed(BY_V), sized(changed, MANY)
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return []

    columns = [Column("region", "string")]
    questions = Questions(definition, definition.asked, OneTable(base), status(base), columns)  # type: ignore[arg-type]
    assert questions.answers(ToAsk((0,)), spark) == {0: ()}
    assert [A_ROW in sql for sql in said] == [False]
