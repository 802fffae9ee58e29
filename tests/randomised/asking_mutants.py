"""Planners that ask the changed rows in a wrong way, or take the answer for more than it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.definition.definition import Reach, ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.changed_keys import Answer, Questions
from dbt.adapters.icebergmv.maintenance.planning.key_evaluation import Run
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from tests.randomised.mutants import Mutant, view
from tests.randomised.planners import Ask, Planner, answers_of
from tests.randomised.views import View

_CHANGED = "HAVING sum(icebergmv_sign) <> 0"
ONLY_MORE, ONLY_LESS = _CHANGED.replace("<>", ">"), _CHANGED.replace("<>", "<")
ONE_OF_BOTH = "HAVING count(*) = 1"

GROUPED = view("SELECT region, count(*) AS c, sum(v) AS s, max(x) AS m FROM t0 GROUP BY region")
COUNTED = view("SELECT region, count(*) AS c FROM t0 GROUP BY region")
FILTERED = view("SELECT region, c FROM (SELECT region, count(*) AS c FROM t0 GROUP BY region) s WHERE c > 1")
HAVING = view("SELECT region, count(*) AS c FROM t0 GROUP BY region HAVING count(*) > 1")
JOINED = view("SELECT a.region, sum(b.v) AS s FROM t0 a JOIN t1 b ON a.id = b.id GROUP BY a.region")
SUPPLIED = view("SELECT a.id, b.region FROM t0 a LEFT JOIN t1 b ON a.v = b.v")
ANTI_JOINED = view("SELECT a.region, count(*) AS c FROM t0 a LEFT ANTI JOIN t1 b ON a.id = b.id GROUP BY a.region")
EXCEPT_ALL = view("SELECT region, v FROM t0 EXCEPT ALL SELECT region, v FROM t1")
FULL_JOINED = view("SELECT coalesce(a.v, b.v) AS k, a.id, b.region FROM t0 a FULL JOIN t1 b ON a.v = b.v")
WINDOW = view("SELECT region, id, sum(v) OVER (PARTITION BY region) AS s FROM t0")
TWICE = view("SELECT a.region, count(*) AS c FROM t0 a JOIN t0 b ON a.id = b.id GROUP BY a.region")


def said(change: Callable[[str], str]) -> Ask:
    """Return an asker of other words."""

    def ask(questions: Questions, references: Sequence[int], run: Run) -> dict[int, Answer]:
        return answers_of(questions, references, lambda sql: run(change(sql)))

    return ask


def heard(change: Callable[[Sequence[Sequence[object]]], Sequence[Sequence[object]]]) -> Ask:
    """Return an asker that does not hear all of the answer."""

    def ask(questions: Questions, references: Sequence[int], run: Run) -> dict[int, Answer]:
        return answers_of(questions, references, lambda sql: change(run(sql)))

    return ask


def reaching(change: Callable[[Reach, ViewDefinition], Reach]) -> Planner:
    """Return a planner with another idea of what changed rows reach."""

    def patch(of: ViewDefinition) -> ViewDefinition:
        return replace(of, reach={index: change(reach, of) for index, reach in of.reach.items()})

    return Planner(definition=patch)


def without_null(rows: Sequence[Sequence[object]]) -> Sequence[Sequence[object]]:
    return [row for row in rows if None not in row]


def every_column(reach: Reach, of: ViewDefinition) -> Reach:
    return replace(reach, columns=tuple(c.name for c in of.columns or ()))


def as_they_are_now(questions: Questions, references: Sequence[int], run: Run) -> dict[int, Answer]:
    """Read every other table as it is now, whichever is asked."""
    found: dict[int, Answer] = {}
    for index in references:
        alone = MaterializedViewStatus(
            tuple(replace(b, occurrences=(index,)) for b in questions.status.base_tables if index in b.occurrences)
        )
        found.update(answers_of(replace(questions, status=alone), [index], run))
    return found


def first_alone(questions: Questions, references: Sequence[int], run: Run) -> dict[int, Answer]:
    """Ask the first reference, and take it for granted that the others reach nothing."""
    return {**dict.fromkeys(references, ()), **answers_of(questions, references[:1], run)}


def not_edited(of: View) -> Mutant:
    return Mutant((of,), reaching(lambda reach, _: replace(reach, edits=())))


ASKING_MUTANTS: dict[str, Mutant] = {
    # The changed rows.
    "rows that went are not asked": Mutant((GROUPED,), Planner(ask=said(lambda q: q.replace(_CHANGED, ONLY_MORE)))),
    "rows that came are not asked": Mutant((GROUPED,), Planner(ask=said(lambda q: q.replace(_CHANGED, ONLY_LESS)))),
    "duplicates are one row": Mutant((COUNTED,), Planner(ask=said(lambda q: q.replace(_CHANGED, ONE_OF_BOTH)))),
    # The answer.
    "a key is not heard": Mutant((GROUPED,), Planner(ask=heard(lambda rows: rows[1:]))),
    "the key NULL is not heard": Mutant((GROUPED,), Planner(ask=heard(without_null))),
    "an aggregate is taken for a key": Mutant((GROUPED,), reaching(every_column)),
    "a window function is taken for a key": Mutant((WINDOW,), reaching(every_column)),
    "the null-supplying side is taken for a key": Mutant((SUPPLIED,), reaching(every_column)),
    "one side of a full join is taken for a key": Mutant((FULL_JOINED,), reaching(every_column)),
    # Several references.
    "all other tables are read as they are now": Mutant((JOINED,), Planner(ask=as_they_are_now)),
    "one use of a table is asked": Mutant((TWICE,), Planner(ask=first_alone)),
    # Edits.
    "HAVING stays": not_edited(HAVING),
    "a filter over an aggregate stays": not_edited(FILTERED),
    "an anti join stays": not_edited(ANTI_JOINED),
    "EXCEPT ALL stays": not_edited(EXCEPT_ALL),
}
