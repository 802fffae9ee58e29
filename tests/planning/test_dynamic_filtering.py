"""Changes that are cut down, before anything is planned, to the rows that joins with filtered tables keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import references_to_ask, references_to_filter
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import rows_to_ask
from dbt.adapters.icebergmv.maintenance.planning.forecast import forecast_of
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, NoOp
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import one_by_one
from dbt.adapters.icebergmv.maintenance.planning.questions.dynamic_filtering import DynamicFiltering
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.tables.listed_rows import ListedRows
from tests.support.bases import analysed, change, partition_rows, sized, status, two_tables

JOINED = analysed("SELECT t.region, sum(t.v) AS s FROM t JOIN u ON t.id = u.id WHERE u.region = 'x' GROUP BY t.region")
TWICE = analysed("SELECT t.v FROM t JOIN u ON t.id = u.id WHERE u.region = 'x' UNION ALL SELECT v FROM t")
FRESH = change(status="fresh")
BASES = two_tables()
QUESTION = "SELECT DISTINCT `u`.`id` FROM `lake`.`ns`.`u` VERSION AS OF 2 AS `u` WHERE (u.region = 'x'\n) LIMIT 10001"


def partitions(*ids: int | None) -> list[TupleDomain]:
    return [partition_rows([("identity", "id")], (id_,)) for id_ in ids]


def large(disjuncts: Sequence[TupleDomain], **other: object) -> BaseTableStatus:
    """Return a large table of which these partitions changed."""
    found = replace(change(disjuncts), changed_rows=1_000_000, changed_partitions=len(disjuncts), **other)  # type: ignore[arg-type]
    return sized(found, 5_000_000)


def cut_down(
    before: MaterializedViewStatus, keys: Sequence[object], definition: ViewDefinition = JOINED
) -> tuple[MaterializedViewStatus, list[str]]:
    """Return the status where a Spark has named these keys as those that pass, and what it was asked."""
    asked: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        asked.append(sql)
        return [(key,) for key in keys]

    references = references_to_filter(definition, before, PlanRequest("auto"))
    return DynamicFiltering(definition, BASES, one_by_one(spark)).status(before, references), asked


def of_ids(*ranges: Range) -> TupleDomain:
    return TupleDomain.where({ColumnKey("id"): Domain.between(*ranges)})


def test_nothing_is_affected_where_no_key_passes() -> None:
    found, asked = cut_down(status(large(partitions(1, 2, None)), sized(FRESH, 1000, "u", 1)), [5, 6, 7])
    assert asked == [QUESTION]
    assert found.base_tables[0].change.constraints.data_disjuncts == ()
    assert rows_to_ask(found.base_tables[0]) == 0
    request = PlanRequest("auto")
    assert plan_refresh(JOINED, found, request) == NoOp("no row of the view can be affected (t: 3 partitions changed)")
    assert references_to_ask(JOINED, found, replace(request, merges=True)).is_nothing


def test_few_rows_are_cut_down_too() -> None:
    few = sized(replace(change(partitions(1)), changed_rows=3), 5_000_000)
    found, _ = cut_down(status(few, sized(FRESH, 1000, "u", 1)), [2])
    assert found.base_tables[0].change.constraints.data_disjuncts == ()


def test_less_is_read_where_some_pass() -> None:
    before = status(large(partitions(*range(10))), sized(FRESH, 1000, "u", 1))
    found, _ = cut_down(before, [3, 4, 5, 77, None])
    base = found.base_tables[0]
    assert base.change.constraints.data_disjuncts == tuple(partitions(3, 4, 5))
    # A full refresh reads less, too.
    assert rows_to_ask(before.base_tables[0]) == rows_to_ask(base) == 1_000_000
    assert base.change.changed_partitions == 10


def test_keys_that_follow_each_other_are_a_range() -> None:
    before = status(large([of_ids(Range(0, 1000))]), sized(FRESH, 1000, "u", 1))
    found, _ = cut_down(before, [7, 8, 9, 20, 22, 21])
    assert found.base_tables[0].change.constraints.data_disjuncts == (of_ids(Range(7, 9), Range(20, 22)),)
    scattered, _ = cut_down(before, [*range(0, 1000, 2)])
    assert scattered.base_tables[0].change.constraints.data_disjuncts == (of_ids(Range(0, 998)),)


UNCUT = {
    "the filtering table changed too": status(large(partitions(1)), sized(change(partitions(1)), 1000, "u", 1)),
    "the filtering table is large": status(large(partitions(1)), sized(FRESH, 1_000_000, "u", 1)),
    "many partitions changed": status(large(partitions(*range(21))), sized(FRESH, 1000, "u", 1)),
    "the changed rows are listed": status(
        replace(large(partitions(1)), listed=ListedRows({"id": "int"}, ((1,),), (1,))), sized(FRESH, 1000, "u", 1)
    ),
    "all tables are small": status(sized(change(partitions(1)), 1000), sized(FRESH, 1000, "u", 1)),
    "nothing is known of the key": status(large([TupleDomain.all()]), sized(FRESH, 1000, "u", 1)),
}


@pytest.mark.parametrize("case", UNCUT)
def test_where_nothing_is_asked(case: str) -> None:
    found, asked = cut_down(UNCUT[case], [])
    assert (asked, found) == ([], UNCUT[case])


def test_a_use_without_a_filter_keeps_all() -> None:
    base = replace(large(partitions(1)), references=(0, 2))
    before = status(base, sized(FRESH, 1000, "u", 1))
    found, asked = cut_down(before, [], TWICE)
    assert (asked, found) == ([], before)


@pytest.mark.parametrize("keys", [[*range(10_001)], ["a\ufffd"]])
def test_keys_that_cannot_be_listed_keep_all(keys: list[object]) -> None:
    before = status(large(partitions(1)), sized(FRESH, 1000, "u", 1))
    assert cut_down(before, keys)[0] == before


def test_a_question_that_fails_keeps_all() -> None:
    before = status(large(partitions(1)), sized(FRESH, 1000, "u", 1))

    def spark(sql: str) -> Sequence[Sequence[object]]:
        raise ValueError("no such function")

    assert DynamicFiltering(JOINED, BASES, one_by_one(spark)).status(before, {0}) == before


def test_new_rows_that_do_not_pass_are_not_added() -> None:
    plain = analysed("SELECT t.id, t.v FROM t JOIN u ON t.id = u.id WHERE u.region = 'x'")
    base = large(partitions(1), appended_since=1, appended_rows=1_000_000)
    before, request = status(base, sized(FRESH, 1000, "u", 1)), PlanRequest("auto")
    assert isinstance(plan_refresh(plain, before, request), Append)
    found, _ = cut_down(before, [2], plain)
    assert isinstance(plan_refresh(plain, found, request), NoOp)
    assert set(forecast_of(plain, before, request).kinds) == {"append", "none"}


def test_a_forecast_names_what_may_come_of_it() -> None:
    forecast = forecast_of(JOINED, status(large(partitions(1)), sized(FRESH, 1000, "u", 1)), PlanRequest("auto"))
    assert "which rows of t a join with a filtered table keeps" in forecast.questions
    assert {"none", "overwrite", "full"} <= {*forecast.kinds}
