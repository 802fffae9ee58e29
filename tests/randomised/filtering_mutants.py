"""Planners that let a join with a filtered table, or a condition, keep too few of the changed rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from unittest.mock import patch

from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import Wanted
from dbt.adapters.icebergmv.maintenance.definition.asking.dynamic_filters import DynamicFilter
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import StaticFilter
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Track
from dbt.adapters.icebergmv.maintenance.planning.questions import dynamic_filtering
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import one_by_one
from dbt.adapters.icebergmv.maintenance.planning.questions.dynamic_filtering import DynamicFiltering
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import OrNull
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus, wanted_of
from tests.randomised.mutants import Mutant, on, view
from tests.randomised.planners import Planner, filtered_everywhere
from tests.randomised.views import View

JOINED = view("SELECT a.region, a.v FROM t0 a JOIN t1 b ON a.d = b.d WHERE b.v > 0")
SUPPLIED = view("SELECT a.region, b.v FROM t0 a LEFT JOIN t1 b ON a.d = b.d AND b.v > 0")
TWICE = view("SELECT a.v, a.id FROM t0 a JOIN t1 b ON a.d = b.d WHERE b.v > 0 UNION ALL SELECT c.v, c.id FROM t0 c")
OF_BOTH = view(
    "SELECT a.v, a.id FROM t0 a JOIN t1 b ON a.d = b.d WHERE b.v > 0 "
    "UNION ALL SELECT c.v, c.id FROM t0 c JOIN t1 e ON c.d = e.d WHERE e.v <= 0"
)
NOT_IN = view("SELECT b.region, b.v FROM t1 b WHERE b.d NOT IN (SELECT a.d FROM t0 a) AND b.v > 0")
ABOVE = view(
    "SELECT q.region, q.s FROM (SELECT a.region, b.v AS y, sum(a.v) AS s FROM t0 a JOIN t1 b ON a.d = b.d "
    "GROUP BY a.region, b.v) q WHERE q.y > 0"
)
OUTER = view("SELECT a.region, a.v, b.v AS w FROM t0 a LEFT JOIN t1 b ON a.d = b.d WHERE b.v > 0 OR b.v IS NULL")
NOT_IN_OUTER = View(
    "SELECT b.region, b.v FROM t2 c LEFT JOIN t1 b ON b.v = c.v WHERE b.v > 0 "
    "AND b.d NOT IN (SELECT a.d FROM t0 a WHERE a.id = 3)",
    frozenset(["t0", "t1", "t2"]),
    (),
    "d",
)
NULL_SAFE = View(
    "SELECT c.region, a.v, b.v AS w FROM t2 c LEFT JOIN t0 a ON a.d = c.d LEFT JOIN t1 b ON b.d <=> a.d WHERE b.v > 0",
    frozenset(["t0", "t1", "t2"]),
    (),
    "d",
)
BOUND = view("SELECT region, v FROM t0 WHERE v > 0")
BOUND_TWICE = view("SELECT v, id FROM t0 WHERE v > 0 UNION ALL SELECT c.v, c.id FROM t0 c WHERE c.v < 0")
BOUND_BY_ON = view("SELECT a.region, a.v, b.v AS w FROM t0 a LEFT JOIN t1 b ON a.d = b.d AND a.v > 0")
EITHER = view("SELECT a.region, a.v FROM t0 a JOIN t1 b ON a.d = b.d WHERE b.v > 0 OR a.v > 0")


def heard(change: Callable[[Sequence[Sequence[object]]], Sequence[Sequence[object]]]) -> Planner:
    """Return a planner that does not hear all keys."""

    def filter_(filtering: DynamicFiltering, status: MaterializedViewStatus) -> MaterializedViewStatus:
        run = filtering.run
        return filtered_everywhere(replace(filtering, run=one_by_one(lambda sql: change(run(sql)))), status)

    return Planner(filter=filter_)


def known(name: str, instead: object) -> Planner:
    """Return a planner that uses something else in place of a function of the engine."""

    def filter_(filtering: DynamicFiltering, status: MaterializedViewStatus) -> MaterializedViewStatus:
        with patch.object(dynamic_filtering, name, instead):
            return filtered_everywhere(filtering, status)

    return Planner(filter=filter_)


def claiming(change: Callable[[tuple[DynamicFilter, ...]], Iterable[DynamicFilter]]) -> Planner:
    """Return a planner with another idea of what joins keep."""

    def filter_(filtering: DynamicFiltering, status: MaterializedViewStatus) -> MaterializedViewStatus:
        definition: ViewDefinition = filtering.definition
        found = replace(definition, filters=tuple(change(definition.filters)))
        return filtered_everywhere(replace(filtering, definition=found), status)

    return Planner(filter=filter_)


def conditions(change: Callable[[ViewDefinition], ViewDefinition]) -> Planner:
    """Return a planner with another idea of what conditions keep."""
    return Planner(wanted=lambda definition, references: wanted_of(change(definition), references))


def _passing(domain: Domain) -> Callable[[ViewDefinition], ViewDefinition]:
    """Return a claim that the first use of t0 is kept where v is among some values."""
    found = (StaticFilter(domain, frozenset([on(0, "v")])),)
    return lambda definition: replace(definition, static_filters=found)


def _first_use_alone(definition: ViewDefinition, references: Sequence[int]) -> Wanted:
    found = wanted_of(definition, references)
    return replace(found, rows=found.rows[:1])


def of(mutant: Planner, *views: View) -> Mutant:
    return Mutant(views, mutant, filters=True)


def _claim(alias: str, *terms: str) -> Planner:
    """Return a planner that takes these terms of t1 for a filter of the days of t0."""
    return claiming(lambda _: [DynamicFilter(1, alias, "d", terms, frozenset([on(0, "d")]))])


def _first_use_of_each(found: tuple[DynamicFilter, ...]) -> Iterable[DynamicFilter]:
    """Take what the first use of a table keeps for what all of them do."""
    first = [one for one in found if one.reference == 1]
    return [*first, *(replace(one, tracks=frozenset([on(2, "d")])) for one in first)]


def _without_last_null(found: tuple[DynamicFilter, ...]) -> Iterable[DynamicFilter]:
    """Take it that no row shows NULL for want of a partner, wherever a column may show it."""

    def stripped(track: Track) -> Track:
        return replace(track, function=track.function[:-1]) if track.function[-1:] == (OrNull(),) else track

    return [replace(one, tracks=frozenset(map(stripped, one.tracks))) for one in found]


FILTERING_MUTANTS: dict[str, Mutant] = {
    "a key of a filter is not heard": of(heard(lambda rows: rows[1:]), JOINED),
    "keys that do not pass are heard": of(
        claiming(lambda found: [replace(one, terms=tuple(f"NOT ({t})" for t in one.terms)) for one in found]), JOINED
    ),
    "the ON of an outer join filters": of(_claim("b", "b.v > 0"), SUPPLIED),
    "rows that no WHERE asks for filter": of(_claim("b", "b.v > 0"), OUTER),
    "a term above is read of another column": of(
        claiming(
            lambda found: [replace(one, terms=tuple(t.replace("`v`", "`id`") for t in one.terms)) for one in found]
        ),
        ABOVE,
    ),
    "NULLs beside NOT IN are those of a join": replace(
        of(claiming(_without_last_null), NOT_IN_OUTER), seeds=700, first=670
    ),
    "NULLs of another join are forgotten": of(claiming(_without_last_null), NULL_SAFE),
    "a side of an OR filters": of(_claim("b", "b.v > 0"), EITHER),
    "a table that changed filters as it is now": of(known("_is_same", lambda base: True), JOINED),
    "a use without a filter is forgotten": of(claiming(_first_use_of_each), TWICE),
    "what one use keeps is what all keep": of(claiming(_first_use_of_each), OF_BOTH),
    "NULL beside NOT IN is not kept": of(known("preimage", lambda function, domain: domain), NOT_IN),
    "what passes a condition is taken for what does not": of(
        conditions(_passing(Domain.between(Range(None, 0)))), BOUND
    ),
    "conditions of the first use alone": of(Planner(wanted=_first_use_alone), BOUND_TWICE),
    "the ON of an outer join is a condition": of(
        conditions(_passing(Domain.between(Range(0, None, low_inclusive=False)))), BOUND_BY_ON
    ),
    "days between others are not kept": of(
        known("_in_runs", lambda domain: Domain(domain.ranges[:1], domain.null)), JOINED
    ),
}
