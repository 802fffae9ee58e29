"""Merges of the rows below an aggregate that changes reach: when they are planned, and over what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK
from dbt.adapters.icebergmv.maintenance.planning.answers.changed_keys import Questions
from dbt.adapters.icebergmv.maintenance.planning.answers.reached_rows import Reaching
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, Merge, NoOp, ReachedRows, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.queries.delta_queries import signed_queries
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import MOST_KEYS, Answer, too_many
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import RefreshPolicy
from dbt.adapters.icebergmv.maintenance.status.session.clock import ClockChange
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus
from tests.support.bases import analysed, change, partition_rows, sized, two_tables

COUNTS = analysed("SELECT n, count(*) AS c FROM (SELECT region, count(*) AS n FROM t GROUP BY region) q GROUP BY n")
SAME = analysed("SELECT count(*) AS c FROM (SELECT id, v FROM t INTERSECT SELECT id, v FROM u) q")
ADDITIVE = analysed("SELECT count(*) AS c FROM t")
KEYED = analysed("SELECT region, count(*) AS c FROM (SELECT DISTINCT region, v FROM t) q GROUP BY region")
TYPES = {"id": "int", "v": "int", "w": "int", "region": "string", "n": "bigint"}
DAY = change([partition_rows([("identity", "d")], (10,))])
REGION = change([partition_rows([("identity", "region")], (None,))])
MERGES = PlanRequest("auto", merges=True)
EU = (TupleDomain.where({ColumnKey("icebergmv_row_0"): Domain.of("EU", None)}),)
BASES = two_tables()


class Asked:
    """Spark, as far as it is asked: the columns of the rows, and what the references reach."""

    def __init__(self, answers: Mapping[int, Answer] | None = None) -> None:
        self.answers, self.asked, self.columns = dict(answers or {}), ToAsk(), [""]

    def run(self, sql: str) -> Sequence[Sequence[object]]:
        assert sql.startswith("DESCRIBE QUERY")
        named = [part.split(" AS ") for part in sql.split("SELECT ", 2)[2].split(" FROM ", maxsplit=1)[0].split(", ")]
        return [(name, TYPES[text.split("`")[-2]]) for text, name in named]

    def ask(self, questions: Questions, to_ask: ToAsk) -> dict[int, Answer]:
        self.asked, self.columns = to_ask, [c.name for c in questions.columns]
        return self.answers


def planned(
    definition: ViewDefinition,
    bases: Sequence[BaseTableStatus],
    request: PlanRequest = MERGES,
    spark: Asked | None = None,
    clock: ClockChange | None = None,
) -> RefreshPlan | None:
    spark = spark or Asked()
    return Reaching(definition, BASES, MaterializedViewStatus(tuple(bases), clock), spark.run, spark.ask).plan(request)


def test_the_rows_are_asked_by_what_they_are_grouped_by() -> None:
    spark = Asked({0: EU})
    types = {"icebergmv_row_0": "string", "icebergmv_row_1": "bigint"}
    assert planned(COUNTS, [sized(DAY, 10)], spark=spark) == Merge(
        "t: 1 partition changed",
        (ReachedRows(EU, types, {0: 1}, {0: (TupleDomain.where({ColumnKey("region"): Domain.of("EU", None)}),)}),),
    )
    assert spark.asked == ToAsk((0,))
    assert spark.columns == ["icebergmv_row_0"]


DIFFERENT = analysed("SELECT count(DISTINCT v) AS c, count(region) AS r FROM t WHERE id > 1")


def test_values_that_are_counted_once_are_asked_alone() -> None:
    """Else a value could be in the region by one of its rows, and outside it by another."""
    one = (TupleDomain.where({ColumnKey("icebergmv_row_2"): Domain.of(1)}),)
    spark = Asked({0: one})
    plan = planned(DIFFERENT, [sized(DAY, 10)], spark=spark)
    assert isinstance(plan, Merge)
    assert isinstance(plan.deltas[0], ReachedRows)
    assert (spark.columns, plan.deltas[0].region) == (["icebergmv_row_2"], one)
    assert DIFFERENT.merging is not None
    assert DIFFERENT.merging.below is not None
    assert DIFFERENT.merging.below.columns[2] == "`t`.`v`"


def test_a_region_over_other_columns_is_not_merged() -> None:
    other = (TupleDomain.where({ColumnKey("icebergmv_row_0"): Domain.of(1)}),)
    assert planned(DIFFERENT, [sized(DAY, 10)], spark=Asked({0: other})) is None


def test_nobody_is_asked_where_partitions_say_it() -> None:
    plan = planned(COUNTS, [sized(REGION, 10)])
    assert isinstance(plan, Merge)
    (reached,) = plan.deltas
    assert isinstance(reached, ReachedRows)
    assert reached.region == (TupleDomain.where({ColumnKey("icebergmv_row_0"): Domain.of(None)}),)


def test_both_tables_are_read_as_they_were() -> None:
    spark = Asked({0: (), 1: (TupleDomain.where({ColumnKey("icebergmv_row_0"): Domain.of(3)}),)})
    plan = planned(SAME, [sized(DAY, 10), sized(DAY, 10, "u", 1)], spark=spark)
    assert isinstance(plan, Merge)
    came, went = (query.text for query in signed_queries(SAME, BASES, plan.deltas[0], ()))
    assert [came.count("VERSION AS OF 2"), came.count("VERSION AS OF 1")] == [2, 0]
    assert went == came.replace("VERSION AS OF 2", "VERSION AS OF 1")
    assert came.endswith(") q WHERE ((`q`.`id` <=> 3))")
    assert came.count("(`id` <=> 3)") == 2


def test_a_table_that_did_not_change_is_read_as_it_is() -> None:
    spark = Asked({1: (TupleDomain.where({ColumnKey("icebergmv_row_1"): Domain.of(3)}),)})
    plan = planned(SAME, [sized(change(status="fresh"), 10), sized(DAY, 10, "u", 1)], spark=spark)
    assert isinstance(plan, Merge)
    _, went = (query.text for query in signed_queries(SAME, BASES, plan.deltas[0], ()))
    assert [went.count(f"VERSION AS OF {n}") for n in (1, 2)] == [1, 1]


@pytest.mark.parametrize("where", ["", " WHERE n < 9"])
def test_reached_rows_that_are_not_grouped_are_limited_all_the_same(where: str) -> None:
    counts = analysed(COUNTS.sql.replace(" q GROUP", f" q{where} GROUP"))
    plan = planned(counts, [sized(DAY, 10)], spark=Asked({0: EU}))
    assert isinstance(plan, Merge) and counts.merging is not None and counts.merging.ungrouped is not None
    came = signed_queries(counts, BASES, plan.deltas[0], counts.merging.ungrouped)[0].text
    assert came.startswith("SELECT n, 1 AS icebergmv_adds_0 FROM (SELECT region,")
    term = "((`q`.`region` IS NULL OR `q`.`region` <=> 'EU'))"
    assert came.endswith(f") q WHERE {'(n < 9) AND ' if where else ''}{term}")


def test_nothing_is_reached() -> None:
    assert isinstance(planned(COUNTS, [sized(DAY, 10)], spark=Asked({0: ()})), NoOp)


def test_more_keys_than_a_predicate_takes() -> None:
    plan = planned(COUNTS, [sized(DAY, 10)], spark=Asked({0: too_many(MOST_KEYS)}))
    assert plan == Full("t changed and its changed rows reach more than 1000 keys")


@pytest.mark.parametrize(
    ("definition", "request_"),
    [
        (COUNTS, PlanRequest("auto")),
        (COUNTS, replace(MERGES, policy="full")),
        (COUNTS, replace(MERGES, rebuild="--full-refresh")),
        (COUNTS, replace(MERGES, lost="its columns changed")),
        (COUNTS, replace(MERGES, incremental=False)),
        # Changes of which each adds up by itself, and those that a column of the view answers.
        (ADDITIVE, MERGES),
        (KEYED, MERGES),
    ],
)
def test_where_there_is_no_such_merge(definition: ViewDefinition, request_: PlanRequest) -> None:
    assert planned(definition, [sized(DAY, 10)], request_, Asked({0: EU})) is None


def test_one_reference_without_an_answer() -> None:
    both = [sized(DAY, 10), sized(DAY, 10, "u", 1)]
    assert planned(SAME, both, spark=Asked({0: EU})) is None


def test_a_change_that_is_most_of_all_rows_is_not_read_twice() -> None:
    large = sized(replace(DAY, changed_rows=900_000), rows=1_000_000)
    assert planned(COUNTS, [large], spark=Asked({0: EU})) is None


PAIRS = analysed("SELECT count(*) AS c FROM (SELECT DISTINCT t.v, u.v AS w FROM t JOIN u ON t.id = u.id) q")


def _of_pairs(column: int, *values: int) -> tuple[TupleDomain, ...]:
    return (TupleDomain.where({ColumnKey(f"icebergmv_row_{column}"): Domain.of(*values)}),)


@pytest.mark.parametrize(
    ("rows", "policy", "answers", "is_merged"),
    [
        # One value of each: a row of any value of one table may be joined to one of the other.
        (1_000_000, "auto", {0: _of_pairs(0, 1), 1: _of_pairs(1, 2)}, False),
        (1_000_000, "incremental", {0: _of_pairs(0, 1), 1: _of_pairs(1, 2)}, True),
        (10_000, "auto", {0: _of_pairs(0, 1), 1: _of_pairs(1, 2)}, True),
        (1_000_000, "auto", {0: _of_pairs(0, 1), 1: _of_pairs(0, 2)}, True),
    ],
)
def test_most_rows_are_not_read_twice(
    rows: int, policy: RefreshPolicy, answers: Mapping[int, Answer], is_merged: bool
) -> None:
    bases = [sized(DAY, rows), sized(DAY, rows, "u", 1)]
    plan = planned(PAIRS, bases, replace(MERGES, policy=policy), Asked(answers))
    if is_merged:
        assert isinstance(plan, Merge)
    else:
        changed = "t: 1 partition changed; u: 1 partition changed"
        assert plan == Full(f"cheaper than a merge, which reads most rows twice ({changed})")


def test_a_clock_that_moved() -> None:
    moved = ClockChange({"date": "2024-01-01"}, {"date": "2024-01-02"})
    stale = [sized(DAY, 10)]
    assert planned(COUNTS, stale, spark=Asked({0: EU}), clock=moved) is None
    reaches = replace(MERGES, answers={CLOCK.index: EU})
    assert planned(COUNTS, stale, reaches, Asked({0: EU}), moved) is None
    reaches_nothing = replace(MERGES, answers={CLOCK.index: ()})
    assert isinstance(planned(COUNTS, stale, reaches_nothing, Asked({0: EU}), moved), Merge)


def test_a_table_whose_former_version_is_gone() -> None:
    base = sized(DAY, 10)
    assert base.recorded is not None
    expired = replace(base, recorded=replace(base.recorded, version=TableVersion("uuid", 99, 0)))
    assert planned(COUNTS, [expired], spark=Asked({0: EU})) is None


def test_columns_that_spark_does_not_know() -> None:
    class Refusing(Asked):
        def run(self, sql: str) -> Sequence[Sequence[object]]:
            raise ValueError("a column is ambiguous")

    class Renaming(Asked):
        def run(self, sql: str) -> Sequence[Sequence[object]]:
            return [(f"{name}_", kind) for name, kind in super().run(sql)]

    for spark in (Refusing({0: EU}), Renaming({0: EU})):
        assert planned(COUNTS, [sized(DAY, 10)], spark=spark) is None
