"""Which refresh is chosen for which status and policy, where it looks, and the sentence that says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import StaleDataConstraints
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, NoOp, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import TOO_LATE
from dbt.adapters.icebergmv.maintenance.planning.regions import REGION_LIMIT, base_filters, in_few_terms
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_DAY
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import RefreshPolicy
from tests.support.bases import analysed, base_status, change, partition_rows, status

BY_DAY = [("day", "ts")]
DAILY = analysed("SELECT CAST(ts AS date) AS k, count(*) AS c FROM t GROUP BY k")
TOTAL = analysed("SELECT count(*) AS c FROM t")
VOLATILE = analysed("SELECT d, rand() AS r FROM t")
SHORTENED = analysed("SELECT concat( region, '-',\n region) AS r, count(*) AS c FROM t GROUP BY 1")
ORDERED = analysed("SELECT DISTINCT d, first(v) AS f FROM t GROUP BY d")
STALE = status(base_status(change([partition_rows(BY_DAY, (10,))], unit="day")))
OF_REGION = status(base_status(change([partition_rows([("identity", "region")], ("a",))], unit="day")))
FRESH = status(base_status(change(status="fresh")))
UNKNOWN = status(base_status(change(status="unknown", reason="t was dropped and created again")))
POLICIES: tuple[RefreshPolicy, ...] = ("auto", "incremental", "incremental_strict", "full")


def where(**domains: Domain) -> TupleDomain:
    return TupleDomain.where({ColumnKey(c): d for c, d in domains.items()})


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_changed(policy: RefreshPolicy) -> None:
    request = PlanRequest(policy, refreshed_at="2024-01-02 03:04 UTC")
    for definition in (DAILY, TOTAL, ORDERED):
        plan = plan_refresh(definition, FRESH, request)
        assert plan == NoOp("nothing changed since 2024-01-02 03:04 UTC")


@pytest.mark.parametrize("policy", ["auto", "incremental", "incremental_strict"])
def test_tracked_change_overwrites_its_region(policy: RefreshPolicy) -> None:
    plan = plan_refresh(DAILY, STALE, PlanRequest(policy))
    assert plan.kind == "overwrite"
    assert plan.reason == "t: 1 day changed"
    assert plan.region == (where(k=Domain.of(10)),)
    day = Domain.between(Range(10 * MICROS_PER_DAY, 11 * MICROS_PER_DAY - 1))
    assert plan.base_filters == {0: (where(ts=day),)}


def test_what_was_not_asked_in_time_is_said_where_all_that_may_be_reached_is_overwritten() -> None:
    plan = plan_refresh(DAILY, STALE, PlanRequest("auto", answers={0: TOO_LATE}))
    assert plan.kind == "overwrite"
    assert plan.reason == f"t: 1 day changed; t changed and its changed rows {TOO_LATE.reason}"


Expected = Literal["none", "overwrite", "full"]
CASES = [
    ("fresh", DAILY, FRESH, None, "none", "nothing changed since "),
    ("tracked", DAILY, STALE, None, "overwrite", "t: 1 day changed"),
    ("untracked", TOTAL, STALE, None, "full", "t changed and is not tracked through an aggregate over all rows"),
    (
        *("not evaluated", SHORTENED, OF_REGION, None, "full"),
        "t changed and Spark cannot say what concat( region, '-', region) makes of the values that did",
    ),
    ("unknown", DAILY, UNKNOWN, None, "full", "t was dropped and created again"),
    ("volatile", VOLATILE, FRESH, None, "full", "rand() gives a new value at every run"),
    ("order", ORDERED, STALE, None, "full", "first() depends on the order in which rows are read (t: 1 day changed)"),
    ("lost", DAILY, FRESH, "its storage table was dropped", "full", "its storage table was dropped"),
]


@pytest.mark.parametrize(
    ("definition", "stale", "lost", "kind", "reason"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
@pytest.mark.parametrize("policy", POLICIES)
def test_status_and_policy(
    policy: RefreshPolicy, definition: object, stale: object, lost: str | None, kind: Expected, reason: str
) -> None:
    request = PlanRequest(policy, lost=lost)
    plan = plan_refresh(definition, stale, request)  # type: ignore[arg-type]
    if policy == "full" and kind == "overwrite":
        kind, reason = "full", f"refresh_policy is full ({reason})"
    if policy == "full" and reason.startswith(("t changed", "first()")):
        reason = "refresh_policy is full (t: 1 day changed)"
    assert (plan.kind, plan.reason) == (kind, reason)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_rebuild_comes_before_everything_else(policy: RefreshPolicy) -> None:
    for stale in (FRESH, STALE, UNKNOWN):
        assert plan_refresh(DAILY, stale, PlanRequest(policy, rebuild="first build")) == Full("first build")


def test_obstacles_are_named() -> None:
    definition = analysed("SELECT count(*) AS c FROM t")
    reason = "t changed and is not tracked through an aggregate over all rows"
    assert plan_refresh(definition, STALE, PlanRequest("auto")).reason == reason


def test_occurrence_in_a_subquery_makes_it_full_and_others_do_not_matter() -> None:
    definition = analysed("SELECT CAST(ts AS date) AS k FROM t WHERE v > (SELECT max(v) FROM u)")
    changed = change([partition_rows(BY_DAY, (10,))], unit="day")
    fresh = change(status="fresh")
    stale_t = status(base_status(changed), base_status(fresh, "u", (1,)))
    stale_u = status(base_status(fresh), base_status(changed, "u", (1,)))
    assert plan_refresh(definition, stale_t, PlanRequest("auto")).kind == "overwrite"
    plan = plan_refresh(definition, stale_u, PlanRequest("auto"))
    assert (plan.kind, plan.reason) == (
        "full",
        "u changed and is not tracked through a subquery that no equality ties to the row",
    )


def test_every_occurrence_of_a_table_counts() -> None:
    definition = analysed("SELECT CAST(ts AS date) AS k FROM t WHERE v > (SELECT max(v) FROM t)")
    stale = status(base_status(change([partition_rows(BY_DAY, (10,))]), references=(0, 1)))
    assert plan_refresh(definition, stale, PlanRequest("auto")).kind == "full"


def test_constraints_that_map_nowhere_are_dropped() -> None:
    definition = analysed("SELECT region, count(*) AS c FROM t GROUP BY region")
    disjunct = partition_rows([("day", "ts"), ("identity", "region")], (10, "a"))
    plan = plan_refresh(definition, status(base_status(change([disjunct]))), PlanRequest("auto"))
    assert isinstance(plan, Overwrite)
    assert plan.region == (where(region=Domain.of("a")),)
    assert plan.reason == "t: 1 partition changed"


def test_one_change_that_maps_nowhere_is_everything() -> None:
    definition = analysed("SELECT region, count(*) AS c FROM t GROUP BY region")
    disjuncts = [where(region=Domain.of("a")), partition_rows(BY_DAY, (10,))]
    assert plan_refresh(definition, status(base_status(change(disjuncts))), PlanRequest("auto")).kind == "full"


@pytest.mark.parametrize("transform", ["bucket[16]", "truncate[2]"])
def test_transforms_follow_plain_columns_only(transform: str) -> None:
    stale = status(base_status(change([partition_rows([(transform, "region")], ("ab" if "tr" in transform else 3,))])))
    plan = plan_refresh(
        analysed("SELECT region AS r FROM t"), stale, PlanRequest("auto", partitioning=[("r", transform)])
    )
    expected = Domain.of("ab" if "tr" in transform else 3)
    assert isinstance(plan, Overwrite)
    assert plan.region == (TupleDomain.where({ColumnKey("r", transform): expected}),)
    assert plan.base_filters == {0: (TupleDomain.where({ColumnKey("region", transform): expected}),)}
    dates = status(base_status(change([TupleDomain.where({ColumnKey("ts", "bucket[4]"): Domain.of(1)})])))
    assert plan_refresh(DAILY, dates, PlanRequest("auto")).kind == "full"


def test_preferred_columns_name_the_region() -> None:
    definition = analysed("SELECT ts, CAST(ts AS date) AS k, year(ts) AS y FROM t")
    for column, expected in (("ts", None), ("k", Domain.of(10)), ("y", Domain.of(1970))):
        plan = plan_refresh(definition, STALE, PlanRequest("auto", partitioning=[(column, "identity")]))
        assert isinstance(plan, Overwrite)
        (found,) = plan.region
        assert set(found.domains) == {ColumnKey(column)}
        assert expected is None or found == where(**{column: expected})


def test_null_partition_is_the_null_of_the_output() -> None:
    plan = plan_refresh(DAILY, status(base_status(change([partition_rows(BY_DAY, (None,))]))), PlanRequest("auto"))
    assert isinstance(plan, Overwrite)
    assert plan.region == (where(k=Domain.only_null()),)
    assert plan.base_filters == {0: (where(ts=Domain.only_null()),)}


def test_filters_read_whole_groups() -> None:
    definition = analysed("SELECT date_trunc('month', ts) AS k, count(*) AS c FROM t GROUP BY 1")
    plan = plan_refresh(definition, STALE, PlanRequest("auto"))
    assert isinstance(plan, Overwrite)
    assert plan.region == (where(k=Domain.of(0)),)
    assert plan.base_filters == {0: (where(ts=Domain.between(Range(0, 31 * MICROS_PER_DAY - 1))),)}


def test_names_with_a_schema_are_not_filtered() -> None:
    definition = analysed("SELECT ns.t.d AS k FROM ns.t")
    stale = status(base_status(change([where(d=Domain.of(3))])))
    plan = plan_refresh(definition, stale, PlanRequest("auto"))
    assert isinstance(plan, Overwrite)
    assert (plan.kind, plan.base_filters) == ("overwrite", {})


def test_too_many_partitions_are_widened() -> None:
    definition = analysed("SELECT id, region, v FROM t")
    many = [where(id=Domain.of(i), v=Domain.of(-i)) for i in range(REGION_LIMIT + 1)]
    plan = plan_refresh(definition, status(base_status(change(many))), PlanRequest("auto"))
    assert plan.kind == "overwrite"
    assert len(plan.region) == 1
    assert plan.region[0].domains[ColumnKey("id")] == Domain.of(*range(REGION_LIMIT + 1))
    mixed = [*many, *(where(region=Domain.of(str(i)), ts=Domain.of(i)) for i in range(3))]
    plan = plan_refresh(definition, status(base_status(change(mixed))), PlanRequest("auto"))
    assert plan.kind == "full"
    assert plan.reason.startswith(
        "the changes reach every row, or too many partitions to list (t: 1004 partitions changed"
    )


def test_several_bases_are_named_together() -> None:
    definition = replace(DAILY, full_when_changed="mode() is not stable")
    changed = change([partition_rows(BY_DAY, (10,)), partition_rows(BY_DAY, (11,))], unit="day")
    stale = status(base_status(changed), base_status(changed, "u", (1,)))
    assert plan_refresh(definition, stale, PlanRequest("auto")).reason == (
        "mode() is not stable (t: 2 days changed; u: 2 days changed)"
    )


def test_an_order_of_rows_matters_only_where_a_changed_row_reaches_the_view() -> None:
    definition = replace(DAILY, full_when_changed="mode() is not stable")
    filtered_out = replace(change([partition_rows(BY_DAY, (10,))], unit="day"), constraints=StaleDataConstraints(()))
    plan = plan_refresh(definition, status(base_status(filtered_out)), PlanRequest("auto"))
    assert (plan.kind, plan.reason) == ("none", "no row of the view can be affected (t: 1 day changed)")


@pytest.mark.parametrize(("count", "terms"), [(100, 100), (101, 1)])
def test_many_disjuncts_cut_down_reading_in_one(count: int, terms: int) -> None:
    """They still cover every row that the region depends on."""
    region = [where(region=Domain.of(f"r{n}"), id=Domain.of(n)) for n in range(count)]
    filters = base_filters(analysed("SELECT region, id, v FROM t"), region)[0]
    assert len(filters) == terms
    assert all(any(rows.intersect(one) == one for rows in filters) for one in region)


def test_many_disjuncts_keep_every_column_and_transform() -> None:
    """What a predicate reads decides whether Iceberg may see it."""
    pairs = tuple(where(id=Domain.of(n), v=Domain.of(n)) for n in range(101))
    bucketed = TupleDomain.where({ColumnKey("id", "bucket[4]"): Domain.of(1), ColumnKey("v"): Domain.of(7)})
    found = in_few_terms((*pairs, bucketed))
    both = where(id=Domain.of(*range(101)), v=Domain.of(*range(101)))
    assert {*found} == {both, bucketed}


def test_disjuncts_of_too_many_kinds_stay() -> None:
    rows = tuple(TupleDomain.where({ColumnKey("id", f"bucket[{n}]"): Domain.of(1)}) for n in range(2, 103))
    assert in_few_terms(rows) == rows
