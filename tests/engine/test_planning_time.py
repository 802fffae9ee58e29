"""Planning takes little CPU, however long the definition is."""

from __future__ import annotations

import time

from dbt.adapters.icebergmv.maintenance.definition.table_references import splice
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, plan_refresh
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction

from .bases import SPARK_TYPES, analysed, base_status, change, status

SECONDS = 0.3
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


def planned(sql: str) -> float:
    """Analyse, plan and render; return the seconds of CPU it took."""
    start = time.process_time()
    definition = analysed(sql)
    days = [TupleDomain.where({ColumnKey("d"): Domain.of(day)}) for day in range(100)]
    of_u = tuple(r.index for r in definition.references if r.name == "u")
    stale = status(base_status(change(days)), base_status(change(days), "u", of_u))
    plan = plan_refresh(definition, stale, PlanRequest("auto"))
    filters = {i: disjunction(rows, SPARK_TYPES, Dialect("lake")) for i, rows in plan.base_filters.items()}
    spliced = splice(definition.sql, {r: f"(SELECT * FROM x WHERE {filters[r.index]})" for r in definition.references})
    assert (plan.kind, len(spliced) > len(sql)) == ("overwrite", True)
    return time.process_time() - start


def test_sixty_ctes() -> None:
    sql = definition_of(60)
    assert min(planned(sql) for _ in range(5)) < SECONDS


def test_ctes_that_use_each_other_twice_do_not_explode() -> None:
    pairs = [f"c{i} AS (SELECT a.d, a.v FROM c{i - 1} a JOIN c{i - 1} b ON a.d = b.d)" for i in range(1, 30)]
    sql = f"WITH c0 AS (SELECT d, v FROM t), {', '.join(pairs)} SELECT d, v FROM c29"
    start = time.process_time()
    definition = analysed(sql)
    assert time.process_time() - start < 10 * SECONDS
    stale = status(base_status(change([TupleDomain.where({ColumnKey("d"): Domain.of(1)})])))
    assert plan_refresh(definition, stale, PlanRequest("auto")).kind == "full"
