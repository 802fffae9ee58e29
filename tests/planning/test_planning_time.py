"""Planning takes little CPU, however long the definition is."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh
from dbt.adapters.icebergmv.maintenance.planning.queries.pinned_queries import pinned_query
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from tests.support.bare_tables import bare_table
from tests.support.bases import COLUMNS, analysed, base_status, change, status
from tests.support.cost import cost, growth
from tests.support.stub_catalog import StubCatalog

pytestmark = pytest.mark.slow

STEPS = (
    "SELECT d, id, ts, region, sum(v) AS v FROM {0} GROUP BY d, id, ts, region",
    "SELECT a.d, a.id, a.ts, a.region, a.v FROM {0} a LEFT JOIN u ON a.d = u.d AND a.id = u.id",
    "SELECT d, id, ts, region, v FROM {0} WHERE EXISTS (SELECT 1 FROM u WHERE u.d = {0}.d)",
    "SELECT d, id, ts, region, v FROM {0} UNION ALL SELECT d, id, ts, region, v FROM u",
    "SELECT d, id, ts, region, sum(v) OVER (PARTITION BY d ORDER BY id) AS v FROM {0}",
)


def definition_of(ctes: int) -> str:
    steps = [f"c{i} AS ({STEPS[i % len(STEPS)].format(f'c{i - 1}')})" for i in range(1, ctes)]
    return f"WITH c0 AS (SELECT * FROM t), {', '.join(steps)} SELECT d, sum(v) AS s FROM c{ctes - 1} GROUP BY d"


CATALOG = StubCatalog(
    tables={f"ns.{t}": bare_table(t, {c: kind for c, (kind, _) in COLUMNS.items()}, (), (1,)) for t in ("t", "u")}
)


def plan_and_render(ctes: int) -> None:
    """Do what a refresh does before its first statement."""
    sql = definition_of(ctes)
    definition = analysed(sql)
    days = [TupleDomain.where({ColumnKey("d"): Domain.of(day)}) for day in range(100)]
    of_u = tuple(r.index for r in definition.references if r.name == "u")
    stale = status(base_status(change(days)), base_status(change(days), "u", of_u))
    plan = plan_refresh(definition, stale, PlanRequest("auto"))
    assert plan.kind == "overwrite"
    query = pinned_query(definition, BaseTables(CATALOG), plan.base_filters)
    assert query.count("WHERE (`d` IN (") == len(definition.references)


def test_the_cost_grows_with_the_length_of_the_definition() -> None:
    """Four times as long costs four times as much; what is quadratic would cost sixteen times as much."""
    assert growth(plan_and_render, 15, 60) < 8


def test_sixty_ctes_are_planned_in_a_fraction_of_a_second() -> None:
    assert cost(lambda: plan_and_render(60)) < 29


def doubled(ctes: int) -> str:
    pairs = [f"c{i} AS (SELECT a.d, a.v FROM c{i - 1} a JOIN c{i - 1} b ON a.d = b.d)" for i in range(1, ctes)]
    return f"WITH c0 AS (SELECT d, v FROM t), {', '.join(pairs)} SELECT d, v FROM c{ctes - 1}"


@pytest.mark.long
def test_ctes_that_use_each_other_twice_do_not_explode() -> None:
    """Each more doubles what a naive count of occurrences would look at; past a limit nothing is followed."""
    definition = analysed(doubled(30))
    assert growth(lambda ctes: analysed(doubled(ctes)), 12, 24) < 16
    stale = status(base_status(change([TupleDomain.where({ColumnKey("d"): Domain.of(1)})])))
    assert plan_refresh(definition, stale, PlanRequest("auto")).kind == "full"
