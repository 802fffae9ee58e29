"""The questions about changed rows: in which order, how often, and where rows are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange
from dbt.adapters.icebergmv.maintenance.planning.answers import changed_keys
from dbt.adapters.icebergmv.maintenance.planning.answers.changed_keys import Questions
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk, references_to_ask
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import (
    full_seconds_now,
    most_seconds_asked,
)
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import one_by_one
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import MOST_KEYS, TOO_DEAR, TOO_LATE, too_many
from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import A_ROW, QuestionTexts
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from tests.support.asked import OneTable, Tables
from tests.support.bases import analysed, change, partition_rows, sized, status
from tests.support.stub_catalog import StubCatalog

ONE_DAY = change([partition_rows([("day", "ts")], (10,))], unit="day")
MANY = 10_000_000


def test_subqueries_in_where_are_asked_last() -> None:
    definition = analysed("SELECT sum(v) AS s FROM t WHERE v > 2 AND id IN (SELECT id FROM u)")
    bases = [sized(replace(ONE_DAY, changed_rows=50), MANY), sized(change(status="fresh"), 10, "u", 1)]
    tables = Tables({b.base.name[2]: b.base for b in bases})
    questions = Questions(definition, definition.asked, tables, status(*bases), ())
    for gives_rows, expected in ((False, [False]), (True, [False, True])):
        said: list[str] = []

        def spark(sql: str, said: list[str] = said, gives_rows: bool = gives_rows) -> Sequence[Sequence[object]]:
            said.append(sql)
            return [[1]] if gives_rows and len(said) == 1 else []

        assert questions.answers(ToAsk((0,), only_whether=True), one_by_one(spark)) == {0: ()}
        assert ["IN (SELECT" in sql for sql in said] == expected


@pytest.mark.parametrize("preferred", [frozenset[str](), frozenset(["id"]), frozenset(["id", "region"])])
def test_no_question_is_asked_twice(preferred: frozenset[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that the table is joined by may be those that partition the storage, or all that there are."""
    joined = analysed("SELECT a.id, a.region FROM t a JOIN u b ON a.id = b.id AND a.region = b.region")
    monkeypatch.setattr(QuestionTexts, "over_changed_rows", lambda self, index, **_: "SELECT * FROM changed")
    asked: list[str] = []

    def everything(sql: str) -> Sequence[tuple[object, ...]]:
        asked.append(sql)
        return [(n % 1000, n) for n in range(int(sql.split("LIMIT ")[1]))][:: 1 if len(asked) == 1 else -1]

    columns = (Column("id", "bigint"), Column("region", "string"))
    bases = status(sized(ONE_DAY, 10), sized(ONE_DAY, 10, "u", 1))
    questions = Questions(joined, joined.asked, BaseTables(StubCatalog({}, {})), bases, columns, preferred)
    assert questions.reached(1, everything) == too_many(MOST_KEYS)
    assert len(asked) == len(set(asked)) > 1


def test_after_some_time_nothing_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second table is not asked any more; what is known roughly of a third one stays as it is."""
    clock = [0.0]
    monkeypatch.setattr(changed_keys, "monotonic", lambda: clock[0])
    monkeypatch.setattr(QuestionTexts, "over_changed_rows", lambda self, index, **_: f"SELECT * FROM changed_{index}")
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        clock[0] += 10
        return [["EU"]] if len(said) == 1 else []

    definition = analysed("SELECT a.region, sum(b.v) AS s FROM t a JOIN u b ON a.id = b.id GROUP BY a.region")
    bases = status(sized(ONE_DAY, 10), sized(ONE_DAY, 10, "u", 1))
    columns = [Column("region", "string")]
    questions = Questions(definition, definition.asked, BaseTables(StubCatalog({}, {})), bases, columns, until=5.0)
    answers = questions.answers(ToAsk((0, 1)), one_by_one(spark))
    assert answers[0] == (TupleDomain.where({ColumnKey("region"): Domain.of("EU")}),)
    assert answers[1] is TOO_LATE and len(said) == 1
    clock[0] = 0.0
    said.clear()
    assert questions.answers(ToAsk((0,), (1,)), one_by_one(spark)).keys() == {0} and len(said) == 1


def test_how_long_questions_may_take() -> None:
    small, large = (
        status(sized(change([partition_rows([("identity", "d")], (10,))]), rows)) for rows in (10, 1_000_000)
    )
    assert [most_seconds_asked(s, small) for s in (None, 1.0, 60.0)] == [float("inf"), 5.0, 20.0]
    assert [most_seconds_asked(s, large) for s in (None, 0.3, 1.5, 3.0, 60.0)] == [float("inf"), 0.5, 0.5, 1.0, 20.0]
    assert [most_seconds_asked(s, large, is_cold=True) for s in (None, 0.3, 60.0)] == [float("inf"), 15.0, 20.0]


@pytest.mark.parametrize(
    ("recorded", "rows", "seconds"),
    [
        ((4.0, 1000), 1000, 4.0),
        ((4.0, 1000), 5000, 20.0),
        ((4.0, 1000), 10, 4.0),
        ((4.0, None), 5000, 4.0),
        ((4.0, 0), 5000, 4.0),
        ((None, None), 5000, None),
    ],
)
def test_a_full_refresh_takes_longer_where_tables_have_grown(
    recorded: tuple[float | None, int | None], rows: int, seconds: float | None
) -> None:
    state = ViewState("", "h", ("lake", "ns", "s"), "u", 1, (), "full", "", "", "", "me")
    state = replace(state, full_seconds=recorded[0], full_rows=recorded[1])
    assert full_seconds_now(state, status(sized(ONE_DAY, rows))) == seconds


def test_a_table_that_is_read_in_many_places_is_compared_once() -> None:
    """Each total reads other rows; none of them is asked where no row changed in a column that is read."""
    totals = " CROSS JOIN ".join(f"(SELECT count(*) AS c{n} FROM t WHERE id = {n}) q{n}" for n in range(8))
    definition, base = analysed(f"SELECT * FROM {totals}"), sized(replace(ONE_DAY, changed_rows=400_000), MANY // 4)
    uses = replace(base, references=tuple(range(8)))
    to_ask = references_to_ask(definition, status(uses), PlanRequest("auto"))
    assert to_ask == ToAsk(tuple(range(8)))
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return []

    bases = OneTable(uses)
    questions = Questions(definition, definition.asked, bases, status(uses), ())
    assert questions.cheap_answers(to_ask, one_by_one(spark)) == dict.fromkeys(range(8), ())
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

    questions = Questions(definition, definition.asked, OneTable(base), status(base), ())
    assert questions.cheap_answers(ToAsk((0,)), one_by_one(spark)) == {0: ()}
    assert len({*said}) == 1 + fails and said[0].startswith(f"{A_ROW} FROM (") and "WHERE region = 'EU'" in said[0]


@pytest.mark.parametrize(("rows", "questions_asked"), [(10, 2), (MANY, 1)])
def test_a_subquery_that_reads_much_is_not_run_where_little_is_to_be_read(rows: int, questions_asked: int) -> None:
    large = "SELECT id FROM u GROUP BY id HAVING sum(v) > 3"
    definition = analysed(f"SELECT max(v) AS m FROM t WHERE v > 0 AND id IN ({large})")
    base, other = sized(ONE_DAY, MANY // 2), sized(change(status="fresh"), rows, "u", 1)
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return [] if "sum(v) > 3" in sql else [[1]]

    bases = Tables({"t": base.base, "u": other.base})
    questions = Questions(definition, definition.asked, bases, status(base, other), ())
    answers = questions.cheap_answers(ToAsk((0,)), one_by_one(spark))
    assert answers == {0: () if questions_asked == 2 else TOO_DEAR}
    assert ["sum(v) > 3" in sql for sql in said] == [False, True][:questions_asked]


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
    questions = Questions(definition, definition.asked, OneTable(base), status(base), columns)
    answers = questions.answers(ToAsk((0,), only_whether=only_whether), one_by_one(spark))
    assert said[0].startswith(f"{A_ROW} FROM (SELECT `d`, `region`, `v`, 1 AS icebergmv_sign FROM ")
    passed = " AS x WHERE x.d > 3 GROUP BY `x`.`d`, `x`.`region`, `x`.`v` HAVING sum(`x`.icebergmv_sign) <> 0"
    assert said[0].endswith(f"){passed} LIMIT 1")
    for question in said[1:]:
        # What passes is asked which groups it reaches: to compare all rows takes as long as to join them all.
        assert "FROM (SELECT `x`.`d` AS `d`, `x`.`region` AS `region`, `x`.`v` AS `v` FROM (SELECT" in question
        assert f"{passed}) AS icebergmv_changed) AS x WHERE x.d > 3 GROUP BY x.region" in question
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

    questions = Questions(definition, definition.asked, OneTable(base), status(base), ())
    assert questions.answers(ToAsk((0,), only_whether=True), one_by_one(spark)) == {0: ()}
    assert "HAVING sum(icebergmv_sign) <> 0) AS icebergmv_changed) AS" in said[0]


@pytest.mark.parametrize(("others", "is_behind"), [(50_000, True), (50_001, False)])
def test_rows_are_compared_before_they_join_many(others: int, is_behind: bool) -> None:
    definition = analysed("SELECT t.region, sum(t.v) AS s FROM t, u WHERE t.id = u.id GROUP BY t.region")
    bases = [sized(replace(ONE_DAY, changed_rows=50_000), MANY), sized(change(status="fresh"), others, "u", 1)]
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return []

    tables = Tables({b.base.name[2]: b.base for b in bases})
    questions = Questions(definition, definition.asked, tables, status(*bases), ())
    assert questions.answers(ToAsk((0,), only_whether=True), one_by_one(spark)) == {0: ()}
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
    questions = Questions(definition, definition.asked, OneTable(base), status(base), columns)
    assert questions.answers(ToAsk((0,)), one_by_one(spark)) == {0: ()}
    assert [A_ROW in sql for sql in said] == [False]
