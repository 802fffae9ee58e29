"""Planners that miss rows of which a subquery in the SELECT list says something else."""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Reach
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from tests.randomised.asking_mutants import every_column, only_less, only_more, reaching, said
from tests.randomised.mutants import Mutant, view
from tests.randomised.planners import Planner

_FLAG = "NOT EXISTS (SELECT 1 FROM t1 b WHERE b.id = a.id)"
COUNTED = view(f"SELECT a.region, count_if({_FLAG}) AS c FROM t0 a GROUP BY a.region", "id")
FILTERED = view(f"SELECT region, v FROM (SELECT a.region, a.v, {_FLAG} AS f FROM t0 a WHERE a.v < 9) q WHERE f", "id")
GROUPED = view(f"SELECT {_FLAG} AS f, a.region, count(*) AS c FROM t0 a GROUP BY ALL", "id")
LISTED = view(
    "SELECT a.region, sum(CASE WHEN a.v IN (SELECT b.v FROM t1 b) THEN a.id END) AS s FROM t0 a GROUP BY a.region", "id"
)


def with_the_flag(reach: Reach, of: ViewDefinition) -> Reach:
    """Ask for the groups as the flag is over the changed rows."""
    return every_column(reach, of) if reach.edits else reach


def without_negation(reach: Reach, of: ViewDefinition) -> Reach:
    """Ask for the rows of which the flag is true over the changed rows."""
    return replace(reach, edits=tuple(replace(e, text=e.text.replace("EXISTS", "NOT EXISTS")) for e in reach.edits))


LISTED_MUTANTS: dict[str, Mutant] = {
    "a term for the rows that came alone": Mutant((COUNTED, LISTED), Planner(ask=said(only_more))),
    "a term for the rows that went alone": Mutant((COUNTED, LISTED), Planner(ask=said(only_less))),
    "a filter over a flag stays": Mutant((FILTERED,), Planner(ask=said(lambda q: q.replace("(true OR f)", "f")))),
    "a flag says which groups are reached": Mutant((GROUPED,), reaching(with_the_flag)),
    "a term that negates": Mutant((COUNTED,), reaching(without_negation)),
    "IN compares something else": Mutant(
        (LISTED,), Planner(ask=said(lambda q: q.replace("WHERE a.v IN", "WHERE a.id IN")))
    ),
}
