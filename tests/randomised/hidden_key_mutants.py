"""Planners that follow hidden keys in a wrong way."""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.definition.hidden_names import key_name
from dbt.adapters.icebergmv.maintenance.planning.plan import RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.write import Write
from tests.randomised.mutants import Mutant, claims, deaf, on, view, without_nulls
from tests.randomised.planners import Planner

AMOUNTS = view("SELECT id, v FROM t0")
NULL_SUPPLIED = view("SELECT a.id, b.v FROM t0 a LEFT JOIN t1 b ON a.id = b.id")
WINDOW = view("SELECT id, sum(v) OVER (PARTITION BY region) AS s FROM t0")
JOINED = view("SELECT a.v, b.x FROM t0 a JOIN t1 b ON a.d = b.d")


def stored_as_null(write: Write, plan: RefreshPlan) -> Write:
    """Leave the keys of rows that are written empty."""
    return replace(write, rows=replace(write.rows, query=write.rows.query.replace("`t0`.`d` AS", "NULL::DATE AS")))


HIDDEN_KEY_MUTANTS: dict[str, Mutant] = {
    "a hidden key is not stored with new rows": Mutant((AMOUNTS,), Planner(write=stored_as_null), keys=("`t0`.`d`",)),
    "rows without a hidden key are kept": Mutant((AMOUNTS,), Planner(disjuncts=without_nulls), keys=("`t0`.`d`",)),
    "a hidden key of the null-supplying side, without NULL": Mutant(
        (NULL_SUPPLIED,), Planner(definition=claims({key_name("b.d"): (on(1, "d"),)})), keys=("b.d",)
    ),
    "a hidden key behind a window by another column": Mutant(
        (WINDOW,), Planner(definition=claims({key_name("t0.d"): (on(0, "d"),)})), keys=("t0.d",)
    ),
    "the other side of a join by a hidden key is ignored": replace(
        deaf(JOINED, {key_name("a.d"): (on(0, "d"), on(1, "d"))}), keys=("a.d",)
    ),
}
