"""Planners that miss groups which the rows below them are in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from unittest.mock import patch

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.answers import reached_rows
from dbt.adapters.icebergmv.maintenance.planning.answers.reached_rows import Reaching
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.plan import Full
from dbt.adapters.icebergmv.maintenance.planning.queries.delta_queries import signed_queries
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import Answer
from tests.randomised.mutants import Mutant, view
from tests.randomised.planners import Planner

_TOTALS = "(SELECT id, count(*) AS n, sum(v) AS s FROM t0 GROUP BY id)"
HAVING = view(f"SELECT n, bool_or(s > 0) AS b FROM {_TOTALS} q GROUP BY n HAVING count(*) > 1", "id")
DISTINCT = view(f"SELECT DISTINCT n, s > 0 AS p FROM {_TOTALS} q", "id")


def part(number: int) -> Planner:
    """Return the planner that asks one of two: the rows as they are, or as they were."""

    def groups(
        reaching: Reaching, request: PlanRequest, columns: Sequence[Column]
    ) -> Mapping[int, Answer] | Full | None:
        with patch.object(reached_rows, "signed_queries", lambda *given: signed_queries(*given)[number : number + 1]):
            return reaching.groups(request, columns)

    return Planner(groups=groups)


def hidden_by_having(definition: ViewDefinition) -> ViewDefinition:
    """Ask for the groups of the reached rows that HAVING lets pass."""
    found = definition.group_keys
    return definition if found is None else replace(definition, group_keys=replace(found, edits=found.edits[:1]))


GROUP_MUTANTS: dict[str, Mutant] = {
    "groups that rows left are not replaced": Mutant((HAVING, DISTINCT), part(0)),
    "groups that rows came to are not replaced": Mutant((HAVING, DISTINCT), part(1)),
    "groups that HAVING hides are not replaced": Mutant((HAVING,), Planner(definition=hidden_by_having)),
}
