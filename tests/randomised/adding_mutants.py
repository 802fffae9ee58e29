"""Mutants of overwrites that add, outside of their region, the rows that other tables got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.write import ReplaceAll, ReplaceRows, Write
from tests.randomised.mutants import Mutant, view
from tests.randomised.planners import Disjuncts, Planner
from tests.randomised.views import View

_Raw = Mapping[str, Disjuncts]


def _added_everywhere(write: Write, plan: RefreshPlan) -> Write:
    """Add the new rows inside of the region, too, where they are among those that replace others."""
    if not isinstance(plan, Overwrite) or not plan.added or not isinstance(write, ReplaceAll | ReplaceRows):
        return write
    return replace(write, rows=replace(write.rows, query=write.rows.query.rpartition(" WHERE ")[0]))


def _not_added(plan: RefreshPlan, raw: _Raw, definition: ViewDefinition) -> RefreshPlan:
    return replace(plan, added=()) if isinstance(plan, Overwrite) else plan


def _only_added(plan: RefreshPlan, raw: _Raw, definition: ViewDefinition) -> RefreshPlan:
    return Append(plan.reason, plan.added) if isinstance(plan, Overwrite) and plan.added else plan


def _with_all_of_the_others(plan: RefreshPlan, raw: _Raw, definition: ViewDefinition) -> RefreshPlan:
    """Read every branch of a UNION ALL for the new rows of one."""
    if not isinstance(plan, Overwrite):
        return plan
    return replace(plan, added=tuple(replace(delta, empty=frozenset()) for delta in plan.added))


def _others_as_they_are(plan: RefreshPlan, raw: _Raw, definition: ViewDefinition) -> RefreshPlan:
    """Join the new rows of two tables twice."""
    if not isinstance(plan, Overwrite):
        return plan
    return replace(plan, added=tuple(replace(delta, before={}) for delta in plan.added))


def _first_is_lost(plan: RefreshPlan, raw: _Raw, definition: ViewDefinition) -> RefreshPlan:
    if not isinstance(plan, Overwrite) or not plan.added:
        return plan
    first, *others = plan.added
    return replace(plan, added=(replace(first, touched=()), *others))


_VIEWS = {
    "join": "SELECT x.v AS a, y.region AS k, y.d AS e FROM t0 AS x JOIN t1 AS y ON x.v = y.v",
    "left": "SELECT x.v AS a, x.region AS k, y.d AS e FROM t0 AS x LEFT JOIN t1 AS y ON x.region = y.region",
    "union": "SELECT v, region AS k FROM t0 UNION ALL SELECT v, region FROM t1",
    "twice": "SELECT x.v AS a, y.v AS b, z.region AS k FROM t0 x JOIN t0 y ON x.v = y.v JOIN t1 z ON x.d = z.d",
    "without": "SELECT x.v AS a, x.region AS k FROM t0 x LEFT ANTI JOIN t1 y ON x.region = y.region AND x.v = y.v",
    "recent": "SELECT d, v % 2 AS v FROM t0 WHERE d >= current_date",
    "recent join": "SELECT x.d AS e, y.region AS k FROM t0 x JOIN t1 y ON x.v = y.v WHERE x.d >= current_date",
}
VIEWS: Mapping[str, View] = {name: view(sql, "region", together=True) for name, sql in _VIEWS.items()}
_ALL = tuple(VIEWS.values())
_RECENT = (VIEWS["recent"], VIEWS["recent join"])

ADDING_MUTANTS: Mapping[str, Mutant] = {
    "new rows are added inside of the region, too": Mutant(_ALL, seeds=1000, wrong=Planner(write=_added_everywhere)),
    "new rows are not added": Mutant(_ALL, seeds=1000, wrong=Planner(plan=_not_added)),
    "new rows are all that is written": Mutant(_ALL, seeds=1000, wrong=Planner(plan=_only_added)),
    "the other branches are added with the new rows": Mutant(
        (VIEWS["union"],), seeds=1000, wrong=Planner(plan=_with_all_of_the_others)
    ),
    "new rows are joined twice": Mutant((VIEWS["twice"],), seeds=1000, wrong=Planner(plan=_others_as_they_are)),
    "new rows of the first table are lost": Mutant(_ALL, seeds=1000, wrong=Planner(plan=_first_is_lost)),
    "new rows are added inside of what the clock moves, too": Mutant(
        _RECENT, seeds=1000, wrong=Planner(write=_added_everywhere)
    ),
    "new rows are not added when the clock moves": Mutant(_RECENT, seeds=1000, wrong=Planner(plan=_not_added)),
    "a table that lost rows is added": Mutant(_ALL, seeds=1000, wrong=Planner(is_append=lambda change: True)),
}
