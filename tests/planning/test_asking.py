"""Which references are asked what their changed rows reach."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk, as_far_as_it_pays, references_to_ask
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import asking_pays, small_beside_large
from dbt.adapters.icebergmv.maintenance.planning.forecast import forecast_of
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from tests.support.asked import of_itself
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
    bases = status(sized(changed, rows))
    assert references_to_ask(BY_REGION, bases, PlanRequest("auto")) == ToAsk((0,) if pays else ())
    assert references_to_ask(BY_REGION, bases, PlanRequest("incremental")) == ToAsk((0,))
    reason = plan_refresh(BY_REGION, bases, PlanRequest("auto")).reason
    assert ("not asked: that would read more than half" in reason) == (not pays)
    assert "not asked" not in plan_refresh(BY_REGION, bases, PlanRequest("incremental")).reason


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


@pytest.mark.parametrize(
    ("rows", "read", "is_asked"),
    [(100_000, 200_000, True), (60_000, 120_000, True), (100_001, 200_002, False)],
    ids=["the largest", "a smaller one", "a larger one"],
)
def test_both_versions_of_a_small_table_are_read_to_ask(rows: int, read: int, is_asked: bool) -> None:
    written_again = replace(ONE_FILE, changed_rows=read)
    to_ask = references_to_ask(FOLLOWED, status(sized(written_again, rows)), PlanRequest("auto"))
    assert to_ask == (ToAsk(narrower=(0,)) if is_asked else ToAsk())
    untracked = references_to_ask(BY_REGION, status(sized(written_again, rows)), PlanRequest("auto"))
    assert untracked == (ToAsk(needed=(0,)) if is_asked else ToAsk())


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


def test_what_would_be_full_without_an_answer_is_asked_where_up_to_half_is_read() -> None:
    """Some files of a table were written again: their bounds are those of all stored rows."""
    wide = replace(BOUNDED, within_bounds={0: 0.9})

    def asked(changed_rows: int, request: PlanRequest) -> ToAsk:
        files = replace(ONE_FILE, changed_rows=changed_rows)
        return references_to_ask(FOLLOWED, status(sized(files, MANY)), request)

    everywhere = replace(wide, within_bounds={}, changed_nearly_everywhere=frozenset([("lake", "ns", "t")]))
    assert asked(MANY // 5, BOUNDED) == ToAsk()
    assert asked(MANY // 5, wide) == asked(MANY // 5, everywhere) == ToAsk(narrower=(0,))
    assert asked(MANY // 3, wide) == asked(MANY // 3, everywhere) == ToAsk(narrower=(0,))
    assert asked(MANY * 2 // 3, wide) == asked(MANY * 2 // 3, everywhere) == ToAsk()
    assert asked(MANY // 5, replace(wide, policy="incremental")) == ToAsk(narrower=(0,))


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


def test_what_is_known_roughly_makes_nothing_else_too_dear() -> None:
    joins = " ".join(f"JOIN t AS t{n} ON a.ts = t{n}.ts" for n in range(3))
    sql = f"SELECT a.ts, count(*) AS c FROM t AS a {joins} JOIN u ON a.id = u.id GROUP BY a.ts"
    months = replace(sized(replace(ONE_DAY, unit="month"), 1000), references=(0, 1, 2, 3))
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
    alone = status(replace(months, references=(0, 1, 2, 3, 4)))
    assert forecast_of(by_time, alone, request).kinds == ("overwrite",)


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


@pytest.mark.parametrize(
    ("copies", "rows", "full_seconds", "pays"),
    [
        (1, MANY, 0.1, True),
        (2, MANY, None, True),
        (2, MANY, 5.0, True),
        (2, MANY, 3.0, False),
        (2, 10_000, 0.1, True),
    ],
)
def test_questions_have_to_be_little_beside_a_full_refresh(
    copies: int, rows: int, full_seconds: float | None, pays: bool
) -> None:
    """Each of two reads the other use of the table, half of what the SELECT reads. One is asked until it is stopped."""
    base = sized(replace(ONE_DAY, changed_rows=1000), rows)
    assert asking_pays(of_itself(copies).asked, (0,), status(base), frozenset(), full_seconds) is pays


@pytest.mark.parametrize(("rows", "pays"), [(10, True), (200_000, True), (1_000_000, False)])
def test_small_tables_beside_a_large_one_are_asked_for_their_own_keys(rows: int, pays: bool) -> None:
    star = analysed("SELECT a.id FROM t a JOIN t b ON a.id = b.id JOIN t c ON a.id = c.id JOIN t d ON a.id = d.id")
    small = [sized(replace(ONE_DAY, changed_rows=10), rows, f"u{n}", n) for n in (1, 2, 3)]
    bases = status(sized(change(status="fresh"), MANY), *small)
    assert asking_pays(star.asked, (1, 2, 3), bases, small_beside_large(bases)) is pays
