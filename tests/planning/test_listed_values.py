"""The values that changed rows of a small table hold, which describe its change before anything is planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import StaleDataConstraints, TableVersion
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk, references_to_ask, references_to_list
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import is_rough
from dbt.adapters.icebergmv.maintenance.planning.forecast import forecast_of
from dbt.adapters.icebergmv.maintenance.planning.plan import Delta, Merge, NoOp, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import changed_rows, compared_rows
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import one_by_one
from dbt.adapters.icebergmv.maintenance.planning.questions.listed_values import Listing
from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import QuestionTexts
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect
from dbt.adapters.icebergmv.maintenance.status.session.clock import ClockChange
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.tables.listed_rows import ListedRows
from tests.support.bases import analysed, change, partition_rows, sized, status, two_tables

BY_REGION = analysed("SELECT u.region, sum(t.v) AS s FROM t JOIN u ON t.id = u.id GROUP BY u.region")
FRESH = change(status="fresh")
FILES = replace(change([TupleDomain.all()], unit="file"), changed_rows=2000)
RENAMED = status(sized(FRESH, 5_000_000), sized(FILES, 1000, "u", 1))
BASES = two_tables()
SEVEN = ListedRows({"id": "int"}, ((7,),), (1,))
Rows = Sequence[Sequence[object]]


def listed(rows: Rows, found: MaterializedViewStatus = RENAMED) -> tuple[MaterializedViewStatus, list[str]]:
    """Return the status in which a Spark has named these rows as changed, and what it was asked."""
    asked: list[str] = []

    def spark(sql: str) -> Rows:
        asked.append(sql)
        return rows

    return listing(spark).status(BY_REGION, found, {1}), asked


def listing(spark: Spark) -> Listing:
    """Return what lists rows in a process that knows none yet."""
    return Listing("lake", one_by_one(spark), Remembered(100))


def test_values_describe_the_change() -> None:
    found, asked = listed([(7, None, None, "c7", 1, -1), (7, None, None, "c7_", 1, 1), (8, None, None, None, 1, 1)])
    assert found.base_tables[0] == RENAMED.base_tables[0]
    (values,) = found.base_tables[1].change.constraints.data_disjuncts
    assert values.domains == {
        ColumnKey("id"): Domain.of(7, 8),
        ColumnKey("region"): Domain.of("c7", "c7_", None),
        ColumnKey("v"): Domain.of(1),
    }
    assert not is_rough(found.base_tables[1])
    assert len(asked) == 1 and asked[0].startswith(
        "SELECT `id`, unix_micros(`ts`), unix_date(`d`), `region`, `v`, icebergmv_sign FROM (SELECT "
    )
    plan = plan_refresh(BY_REGION, found, PlanRequest("incremental"))
    assert isinstance(plan, Overwrite)
    assert plan.region == (TupleDomain.where({ColumnKey("region"): Domain.of("c7", "c7_", None)}),)
    merge = plan_refresh(BY_REGION, found, PlanRequest("auto", merges=True))
    assert isinstance(merge, Merge)
    (delta,) = merge.deltas
    assert isinstance(delta, Delta)
    assert delta.touched == (values,)


def test_before_a_merge_it_is_asked_whether_the_rows_reach_anything() -> None:
    found, _ = listed([(7, None, None, "c7", 1, 1)])
    assert references_to_ask(BY_REGION, found, PlanRequest("auto", merges=True)) == ToAsk((), (1,), only_whether=True)
    assert references_to_ask(BY_REGION, found, PlanRequest("incremental")) == ToAsk()


def test_without_a_changed_row_nothing_is_done() -> None:
    found, _ = listed([])
    for merges in (True, False):
        assert isinstance(plan_refresh(BY_REGION, found, PlanRequest("auto", merges=merges)), NoOp)


TOO_MANY = [(n, None, None, str(n), n, 1) for n in range(1001)]
NOT_A_KNOWN_TEXT = [(1, None, None, "\ufffd", 1, 1)]


@pytest.mark.parametrize("rows", [TOO_MANY, NOT_A_KNOWN_TEXT], ids=["too many", "not a known text"])
def test_what_cannot_be_listed_stays_as_files_say(rows: Rows) -> None:
    assert listed(rows)[0] == RENAMED


def test_what_fails_stays_as_files_say() -> None:
    def spark(sql: str) -> Rows:
        raise ValueError("no such table")

    assert listing(spark).status(BY_REGION, RENAMED, {1}) == RENAMED


def test_rows_are_found_out_once_for_all_views() -> None:
    questions: list[str] = []

    def spark(sql: str) -> Rows:
        questions.append(sql)
        return [(7, None, None, "c7", 1, -1), (7, None, None, "c7", 2, 1)]

    lister = listing(spark)
    by_v = lister.status(BY_REGION, RENAMED, {1})
    assert by_v.base_tables[1].listed == ListedRows(
        {"id": "int", "region": "string", "v": "int"}, ((7, "c7", 1), (7, "c7", 2)), (-1, 1)
    )
    # The second view reads no column that differs.
    other = analysed("SELECT u.region, count(*) AS s FROM t JOIN u ON t.id = u.id GROUP BY u.region")
    unchanged = lister.status(other, RENAMED, {1})
    assert unchanged.base_tables[1].listed == ListedRows({"id": "int", "region": "string"}, (), ())
    assert isinstance(plan_refresh(other, unchanged, PlanRequest("auto")), NoOp)
    assert len(questions) == 1
    recorded = RENAMED.base_tables[1].recorded
    assert recorded is not None
    later = replace(RENAMED.base_tables[1], recorded=replace(recorded, version=TableVersion("uuid", None, 0)))
    lister.status(BY_REGION, status(RENAMED.base_tables[0], later), {1})
    assert len(questions) == 2


def test_rows_that_do_not_matter_to_one_view_are_found_out_for_the_next() -> None:
    """The first view wants changed rows of some regions alone, by a condition or a join."""
    questions: list[str] = []

    def spark(sql: str) -> Rows:
        questions.append(sql)
        return [(7, None, None, "c7", 1, 1), *([] if "'c7'" in sql else [(8, None, None, "d8", 1, 1)])]

    of_c7 = StaleDataConstraints((TupleDomain.where({ColumnKey("region"): Domain.of("c7")}),), is_part=True)
    part = status(sized(FRESH, 5_000_000), sized(replace(FILES, constraints=of_c7), 1000, "u", 1))
    lister = listing(spark)
    for found, ids in ((part, {7}), (RENAMED, {7, 8}), (part, {7})):
        listed = lister.status(BY_REGION, found, {1}).base_tables[1].listed
        assert listed is not None
        assert {row[0] for row in listed.rows} == ids
    assert len(questions) == 2


def test_a_failure_is_asked_again() -> None:
    answers: list[Rows | Exception] = [ValueError("no such table"), [(7, None, None, "c7", 1, 1)]]

    def spark(sql: str) -> Rows:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    lister = listing(spark)
    lister.status(BY_REGION, RENAMED, {1})
    assert answers == []


def test_a_table_of_many_changed_rows_is_asked_for_the_columns_of_one_view() -> None:
    many = replace(FILES, changed_rows=600_000)
    rows = [(7, "c7", 1, 1)]
    found, asked = listed(rows, status(sized(FRESH, 50_000_000), sized(many, 300_000, "u", 1)))
    assert asked[0].startswith("SELECT `id`, `region`, `v`, icebergmv_sign FROM")
    assert found.base_tables[1].listed == ListedRows(
        {"id": "int", "region": "string", "v": "int"}, ((7, "c7", 1),), (1,)
    )


def test_questions_have_listed_rows_as_literals() -> None:
    joined = analysed("SELECT t.v, count(*) AS n FROM t JOIN u ON t.id = u.id WHERE u.region = 'c7' GROUP BY t.v")
    listed_status = listing(lambda sql: [(7, None, None, "c7", 1, -1), (None, None, None, "c'8", 1, 1)]).status(
        joined, RENAMED, {1}
    )
    asked = QuestionTexts(joined, joined.asked, BASES, listed_status).over_changed_rows(1)
    first = "named_struct('id', 7, 'region', 'c7', 'v', 1)"
    second = "named_struct('id', CAST(NULL AS int), 'region', 'c\\'8', 'v', 1)"
    rows = f"(SELECT * FROM (SELECT inline(array({first}, {second}))) AS icebergmv_changed WHERE "
    # Spark infers the predicate for t.id too.
    assert asked is not None and f"JOIN {rows}(`id` IS NULL OR `id` <=> 7) AND " in asked


def test_only_the_references_named_are_listed() -> None:
    both = status(sized(FILES, 5_000_000), RENAMED.base_tables[1])
    found, asked = listed([(7, None, None, "c7", 1, 1)], both)
    assert found.base_tables[0] == both.base_tables[0] and len(asked) == 1
    fresh = status(sized(FILES, 5_000_000), sized(FRESH, 1000, "u", 1))
    assert listed([(7, None, None, "c7", 1, 1)], fresh) == (fresh, [])


SMALL_BESIDE_LARGE: dict[str, tuple[MaterializedViewStatus, PlanRequest, set[int]]] = {
    "beside a large table": (RENAMED, PlanRequest("auto"), {1}),
    "beside a small one": (status(sized(FRESH, 5000), sized(FILES, 1000, "u", 1)), PlanRequest("auto"), set()),
    "for a rebuild": (RENAMED, PlanRequest("auto", rebuild="--full-refresh"), set()),
    "where nothing changed": (status(sized(FRESH, 5_000_000), sized(FRESH, 1000, "u", 1)), PlanRequest("auto"), set()),
}


@pytest.mark.parametrize("name", SMALL_BESIDE_LARGE)
def test_whose_values_are_listed(name: str) -> None:
    found, request, references = SMALL_BESIDE_LARGE[name]
    assert references_to_list(BY_REGION, found, request) == references


def test_new_rows_of_a_small_table_are_listed_for_an_append() -> None:
    joined = analysed("SELECT t.id, t.v, u.region FROM t JOIN u ON t.id = u.id")
    new = replace(FILES, appended_since=1, appended_rows=3)
    found = status(sized(FRESH, 5_000_000), sized(new, 1000, "u", 1))
    assert plan_refresh(joined, found, PlanRequest("auto")).kind == "append"
    assert references_to_list(joined, found, PlanRequest("auto")) == {1}
    with_values = listing(lambda sql: [(7, None, None, "c7", 1, 1)]).status(joined, found, {1})
    plan = plan_refresh(joined, with_values, PlanRequest("auto"))
    assert plan.kind == "append" and plan.base_filters[0] == (TupleDomain.where({ColumnKey("id"): Domain.of(7)}),)


@pytest.mark.parametrize("is_listed", [True, False])
def test_what_is_listed_is_not_known_roughly(is_listed: bool) -> None:
    day = change([partition_rows([("identity", "d")], (10,))])
    base = replace(sized(replace(day, replaced=True), 1000), listed=SEVEN if is_listed else None)
    assert is_rough(base) is not is_listed


def test_every_kind_is_foretold_that_the_values_may_lead_to() -> None:
    foretold = forecast_of(BY_REGION, RENAMED, PlanRequest("auto", merges=True))
    assert set(foretold.kinds) == {"merge", "overwrite", "none", "full"}
    assert [q for q in foretold.questions if "values" in q] == ["which values the changed rows of u hold"]


def test_an_append_on_another_date_is_foretold_too() -> None:
    joined = analysed("SELECT t.id, t.v, u.region FROM t JOIN u ON t.id = u.id")
    new = replace(FILES, appended_since=1, appended_rows=3)
    moved = ClockChange({"date": "2024-01-01"}, {"date": "2024-01-02"})
    found = replace(status(sized(FRESH, 5_000_000), sized(new, 1000, "u", 1)), clock=moved)
    assert "append" in forecast_of(joined, found, PlanRequest("auto")).kinds


@pytest.mark.parametrize(("columns", "are_used"), [(("id", "region", "v"), True), (("id", "v"), False)])
def test_listed_rows_without_a_column_that_is_read_are_compared(columns: tuple[str, ...], are_used: bool) -> None:
    """What is below an aggregate may read columns that the whole SELECT, for which rows are listed, does not."""
    rows = ListedRows(dict.fromkeys(columns, "int"), (tuple(range(len(columns))),), (1,))
    base = replace(RENAMED.base_tables[1], listed=rows)
    reference, now = BY_REGION.references[1], base.base.source
    assert now is not None
    assert (compared_rows(BY_REGION, reference, base, now) is None) == are_used
    text = changed_rows(BY_REGION, reference, base, now, Dialect("lake"))
    assert text is not None and ("inline(array(" in text) == are_used
