"""Planners that ask the changed rows in a wrong way, or take the answer for more than it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from unittest.mock import patch

from dbt.adapters.icebergmv.maintenance.definition.asking import moved_values
from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked, Reach
from dbt.adapters.icebergmv.maintenance.definition.asking.parts import Part
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit
from dbt.adapters.icebergmv.maintenance.planning.answers.changed_keys import Questions
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.questions.key_evaluation import Run
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import Answer
from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import A_ROW, QuestionTexts
from dbt.adapters.icebergmv.maintenance.planning.questions.scalar_values import SAME_VALUE
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from tests.randomised.mutants import Mutant, view
from tests.randomised.planners import Ask, Planner, answers_of, little_of
from tests.randomised.views import View

_CHANGED = re.compile(r"HAVING sum\((\S*icebergmv_sign)\) <> 0")
_COMPARED = re.compile(r"GROUP BY (?:CAST\()?`\w+`\.`.* HAVING")
"""Where rows of both versions are compared behind WHERE."""

GROUPED = view("SELECT region, count(*) AS c, sum(v) AS s, max(x) AS m FROM t0 GROUP BY region")
COUNTED = view("SELECT region, count(*) AS c FROM t0 GROUP BY region")
FILTERED = view("SELECT region, c FROM (SELECT region, count(*) AS c FROM t0 GROUP BY region) s WHERE c > 1")
HAVING = view("SELECT region, count(*) AS c FROM t0 GROUP BY region HAVING count(*) > 1")
JOINED = view("SELECT a.region, sum(b.v) AS s FROM t0 a JOIN t1 b ON a.id = b.id GROUP BY a.region")
SUPPLIED = view("SELECT a.id, b.region FROM t0 a LEFT JOIN t1 b ON a.v = b.v")
KEPT = view(
    "SELECT a.region, b.region AS other FROM (SELECT region, count(*) AS c FROM t0 GROUP BY region) a "
    "LEFT JOIN t1 b ON a.c = b.v"
)
ANTI_JOINED = view("SELECT a.region, count(*) AS c FROM t0 a LEFT ANTI JOIN t1 b ON a.id = b.id GROUP BY a.region")
EXCEPT_ALL = view("SELECT region, v FROM t0 EXCEPT ALL SELECT region, v FROM t1")
FULL_JOINED = view("SELECT coalesce(a.v, b.v) AS k, a.id, b.region FROM t0 a FULL JOIN t1 b ON a.v = b.v")
WINDOW = view("SELECT region, id, sum(v) OVER (PARTITION BY region) AS s FROM t0")
TWICE = view("SELECT a.region, count(*) AS c FROM t0 a JOIN t0 b ON a.id = b.id GROUP BY a.region")

EQUATED = view(
    "SELECT b.v AS k, b.n FROM t0 a JOIN (SELECT region, v, count(*) OVER (PARTITION BY region) AS n FROM t1) b "
    "ON a.region = b.region WHERE a.v = b.v"
)
NOT_EXISTS = view("SELECT a.region, a.v FROM t0 a WHERE NOT EXISTS (SELECT 1 FROM t1 b WHERE b.v = a.v)")
NOT_IN = view("SELECT a.region, a.v FROM t0 a WHERE a.v NOT IN (SELECT b.v FROM t1 b)")
TIED_VALUE = view("SELECT a.id, a.v, (SELECT max(b.v) FROM t1 b WHERE b.id = a.id) AS m FROM t0 a")
IN_OR = view("SELECT a.region, a.v FROM t0 a WHERE a.id > 5 OR a.v IN (SELECT b.v FROM t1 b)")
TIED = view("SELECT a.region, a.v FROM t0 a WHERE a.v > (SELECT max(b.v) FROM t1 b WHERE b.region = a.region)")
ABOVE = view("SELECT a.region, a.v FROM t0 a WHERE a.v >= (SELECT max(b.v) FROM t1 b)")
TOTAL = view("SELECT count(*) AS c, sum(v) AS s FROM t0 WHERE v > 2")
CTE_TWICE = view(
    "WITH c AS (SELECT id, region, v FROM t0 WHERE v > 0) "
    "SELECT x.region, count(*) AS n FROM c x JOIN c y ON x.id = y.v GROUP BY x.region"
)

SHARED = view(
    "WITH c AS (SELECT region, v, count(*) AS n FROM t0 GROUP BY region, v) "
    "SELECT x.region, y.region AS other, x.v, y.n FROM c x JOIN c y ON x.v = y.v"
)

HEADED = view(
    "WITH h AS (SELECT id, region, v FROM t0), "
    "c AS (SELECT h.region, h.v, h.id, b.v AS bv FROM h LEFT JOIN t1 b ON h.id = b.id) "
    "SELECT x.bv, x.region, y.v FROM c x JOIN c y ON x.bv = y.bv AND x.id = y.id"
)

COUNTED_ABOVE = view("SELECT region, count(*) AS c FROM t0 WHERE v > 2 GROUP BY region")
MISSING = view(
    "SELECT a.region, count(*) AS c FROM t0 a LEFT JOIN t1 b ON a.id = b.id WHERE b.id IS NULL GROUP BY a.region"
)

BRANCHES = view(
    "SELECT 'web' AS k, v, max(v) OVER () AS m FROM t0 UNION ALL SELECT 'store', v, max(v) OVER () FROM t1 WHERE v > 1"
)
ONE_BRANCH = view(
    "SELECT k, v FROM (SELECT 'web' AS k, v FROM t0 UNION ALL SELECT 'store', v FROM t1) x WHERE k = 'web'"
)
TOTALS = view(
    "SELECT 'web' AS k, count(*) AS n, max(v) AS m FROM t0 UNION ALL "
    "SELECT 'store', count(*), sum(v) FROM t1 HAVING max(v) IS NULL OR count(*) > 3"
)
ANY_BRANCH = view(
    "SELECT k, v FROM (SELECT 'web' AS k, v FROM t0 UNION ALL SELECT 'store', v FROM t1) x WHERE k <> 'other'"
)


def only_more(question: str) -> str:
    """Ask of the rows that there are more of now."""
    return _CHANGED.sub(r"HAVING sum(\1) > 0", question)


def only_less(question: str) -> str:
    """Ask of the rows that there were more of before."""
    return _CHANGED.sub(r"HAVING sum(\1) < 0", question)


def one_of_both(question: str) -> str:
    """Ask of the rows that are there once, in either version."""
    return _CHANGED.sub("HAVING count(*) = 1", question)


def said(change: Callable[[str], str]) -> Ask:
    """Return an asker of other words."""

    def ask(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
        return answers_of(questions, to_ask, lambda sql: run(change(sql)))

    return ask


def said_of_keys(change: Callable[[str], str]) -> Ask:
    """Return an asker that asks right whether FROM and WHERE give a row, and for keys in other words."""
    return said(lambda question: question if question.startswith(A_ROW) else change(question))


def heard(change: Callable[[Sequence[Sequence[object]]], Sequence[Sequence[object]]]) -> Ask:
    """Return an asker that does not hear all of the answer."""

    def ask(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
        return answers_of(questions, to_ask, lambda sql: change(run(sql)))

    return ask


def reaching(change: Callable[[Reach, ViewDefinition], Reach]) -> Planner:
    """Return a planner with another idea of what changed rows reach."""

    def patch(asked: Asked, of: ViewDefinition) -> Asked:
        return replace(asked, reach={index: change(reach, of) for index, reach in asked.reach.items()})

    return asking(patch)


def asking(change: Callable[[Asked, ViewDefinition], Asked]) -> Planner:
    """Return a planner with another idea of what is asked."""

    def ask(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
        changed = change(questions.asked, questions.definition)
        return answers_of(replace(questions, asked=changed), to_ask, run)

    return Planner(ask=ask)


def without_null(rows: Sequence[Sequence[object]]) -> Sequence[Sequence[object]]:
    return [row for row in rows if None not in row]


def with_equal_columns(reach: Reach, of: ViewDefinition) -> Reach:
    """Take a column for answered because a condition makes it equal to one that is."""
    return replace(reach, columns=tuple(dict.fromkeys((*reach.columns, "k"))))


def first_copies(asked: Asked, of: ViewDefinition) -> Asked:
    """Take it for granted that only the first use of a common table expression reaches anything."""
    first = {asked.copies_of(r.index)[0] for r in of.references}
    return replace(asked, references=tuple(r for r in asked.references if r.index in first))


def in_the_order_of_each_text(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
    """Read as they are now what comes first in the text that is asked, be it in another order than in the view."""
    with patch.object(QuestionTexts, "step", lambda _, index: index):
        return answers_of(questions, to_ask, run)


def first_uses(asked: Asked, of: ViewDefinition) -> Asked:
    """Follow the rows of a shared expression from its first use alone."""
    shared = {index: replace(cte, uses=cte.uses[:1]) for index, cte in asked.shared.items()}
    return replace(asked, shared=shared)


def shown_elsewhere(asked: Asked, of: ViewDefinition) -> Asked:
    """Take the column of the view that another use shows for the one of this use."""
    shared = {index: replace(cte, uses=cte.uses[1:] * 2) for index, cte in asked.shared.items()}
    return replace(asked, shared=shared)


def always_the_same(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
    """Take every scalar subquery for unchanged."""
    return answers_of(questions, to_ask, lambda sql: [(True,)] if sql.startswith(SAME_VALUE) else run(sql))


def let_pass_once(condition: str) -> Mutant:
    """Return a mutant with another idea of which rows a subquery of another value lets pass, or not any more."""

    def ask(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
        with patch.object(moved_values, "passes_once", lambda new, old: condition.format(new=new, old=old)):
            return answers_of(questions, to_ask, run)

    return Mutant((ABOVE,), Planner(ask=ask))


def every_column(reach: Reach, of: ViewDefinition) -> Reach:
    return replace(reach, columns=tuple(c.name for c in of.columns or ()))


def as_they_are_now(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
    """Read every other table as it is now, whichever is asked."""
    found: dict[int, Answer] = {}
    for index in to_ask.needed:
        alone = MaterializedViewStatus(
            tuple(replace(b, references=(index,)) for b in questions.status.base_tables if index in b.references)
        )
        found.update(answers_of(replace(questions, status=alone), ToAsk((index,)), run))
    return found


def first_alone(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
    """Ask the first reference, and take it for granted that the others reach nothing."""
    return {**dict.fromkeys(to_ask.needed, ()), **answers_of(questions, ToAsk(to_ask.needed[:1]), run)}


def with_another_branch(reach: Reach, of: ViewDefinition) -> Reach:
    """Take the literal of the next branch for that of the one which changed."""
    literal = "'web'" if reach.emptied == {1} else "'store'"
    place, other = of.asked.sql.index(literal), "'store'" if literal == "'web'" else "'web'"
    return replace(reach, edits=(*reach.edits, TextEdit(place, place + len(literal), other)))


def with_a_block_of_the_right_side(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
    """Take FROM and WHERE for what rows of the null-supplying side pass, too."""
    asked = questions.asked
    block = Part(asked.sql.index("FROM"), asked.sql.index("GROUP BY"), 0)
    return little_of(replace(questions, asked=replace(asked, blocks={0: block, 1: block})), to_ask, run)


def little_said(change: Callable[[str], str], views: tuple[View, ...] = (COUNTED_ABOVE, TOTAL)) -> Mutant:
    """Return a mutant that asks little, in other words."""

    def ask(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
        return little_of(questions, to_ask, lambda sql: run(change(sql)))

    return Mutant(views, Planner(ask_little=ask), asks_little=True)


def ruled_out(index: int) -> Planner:
    """Return a planner that takes it for granted that no row depends on a reference."""

    def patch(definition: ViewDefinition) -> ViewDefinition:
        return replace(definition, occurrences=frozenset(o for o in definition.occurrences if o.index != index))

    return Planner(definition=patch)


def not_edited(of: View) -> Mutant:
    return Mutant((of,), reaching(lambda reach, _: replace(reach, edits=())))


def own_keys(ask: Ask) -> Mutant:
    """Return a mutant that looks for keys in the changed rows first."""
    return Mutant((GROUPED, COUNTED), Planner(ask=ask), own_keys_first=True)


def some_went(rows: Sequence[Sequence[object]]) -> list[tuple[object, ...]]:
    """Return listed rows of which every second one has the other sign."""
    return [(*row[:-1], -int(str(row[-1])) if n % 2 else row[-1]) for n, row in enumerate(rows)]


def listed(change: Callable[[Run], Run]) -> Mutant:
    """Return a mutant that lists the values of changed rows in a wrong way."""
    return Mutant((GROUPED, COUNTED, TWICE), Planner(listing=change), lists=True)


ASKING_MUTANTS: dict[str, Mutant] = {
    # The changed rows.
    "rows that went are not asked": Mutant((GROUPED,), Planner(ask=said(only_more))),
    "rows that came are not asked": Mutant((GROUPED,), Planner(ask=said(only_less))),
    "duplicates are one row": Mutant((COUNTED,), Planner(ask=said(one_of_both))),
    # The answer.
    "a key is not heard": Mutant((GROUPED,), Planner(ask=heard(lambda rows: rows[1:]))),
    "the key NULL is not heard": Mutant((GROUPED,), Planner(ask=heard(without_null))),
    "an aggregate is taken for a key": Mutant((GROUPED,), reaching(every_column)),
    "a window function is taken for a key": Mutant((WINDOW,), reaching(every_column)),
    "the null-supplying side is taken for a key": Mutant((SUPPLIED,), reaching(every_column)),
    "partners that a row may not find are taken for keys": Mutant((KEPT,), reaching(every_column)),
    "one side of a full join is taken for a key": Mutant((FULL_JOINED,), reaching(every_column)),
    "the literal of another branch is heard": Mutant((BRANCHES,), reaching(with_another_branch)),
    "the literal of another total is heard": Mutant((TOTALS,), reaching(with_another_branch)),
    "a value of rows that went is looked for among those that came": Mutant(
        (TIED_VALUE,), Planner(ask=said(only_more))
    ),
    # Branches that a condition leaves nothing of.
    "the branch that is wanted is ruled out": Mutant((ONE_BRANCH,), ruled_out(0)),
    "a branch is ruled out by any comparison": Mutant((ANY_BRANCH,), ruled_out(1)),
    # Several references.
    "all other tables are read as they are now": Mutant((JOINED,), Planner(ask=as_they_are_now), seeds=600, first=345),
    "one use of a table is asked": Mutant((TWICE,), Planner(ask=first_alone)),
    # Edits.
    "HAVING stays": not_edited(HAVING),
    "a filter over an aggregate stays": not_edited(FILTERED),
    "an anti join stays": not_edited(ANTI_JOINED),
    "EXCEPT ALL stays": not_edited(EXCEPT_ALL),
    "NOT EXISTS stays": not_edited(NOT_EXISTS),
    "NOT IN stays": not_edited(NOT_IN),
    "a comparison with a subquery stays": not_edited(TIED),
    "what is beside IN stays, and IN goes": Mutant(
        (IN_OR,), Planner(ask=said(lambda q: q.replace("a.v IN", "a.id IN")))
    ),
    "NOT IN is asked as IN": Mutant(
        (NOT_IN,), Planner(ask=said(lambda q: q.replace("EXISTS (SELECT b.v", "a.v IN (SELECT b.v")))
    ),
    # Keys of the changed rows themselves.
    "own keys of rows that came alone": own_keys(said(only_more)),
    "own keys of rows that went alone": own_keys(said(only_less)),
    "an own key NULL is not heard": own_keys(heard(without_null)),
    # Values of the changed rows.
    "values of rows that came alone": listed(lambda run: lambda sql: run(only_more(sql))),
    "values of rows that went alone": listed(lambda run: lambda sql: run(only_less(sql))),
    "values of rows that are there more than once are not listed": listed(
        lambda run: lambda sql: run(one_of_both(sql))
    ),
    "a value NULL is not listed": listed(lambda run: lambda sql: without_null(run(sql))),
    "a row is not listed": listed(lambda run: lambda sql: run(sql)[1:]),
    "every second row that came is counted as one that went": listed(lambda run: lambda sql: some_went(run(sql))),
    # FROM and WHERE around a table.
    "FROM and WHERE over rows that came alone": little_said(only_more),
    "FROM and WHERE over rows that went alone": little_said(only_less),
    "versions behind WHERE are compared as a whole": little_said(lambda q: _COMPARED.sub("HAVING", q)),
    "a term that reads a row around the subquery lets nothing pass": little_said(
        lambda q: q.replace("WHERE  true ", "WHERE  false "), (NOT_EXISTS,)
    ),
    "FROM and WHERE of other rows": little_said(lambda q: q.replace("v > 2", "v > 3")),
    "FROM and WHERE of an outer join's right side": Mutant(
        (MISSING,), Planner(ask_little=with_a_block_of_the_right_side), asks_little=True
    ),
    # The rows that pass FROM and WHERE.
    "of the rows that pass, those that came alone": Mutant((COUNTED_ABOVE,), Planner(ask=said_of_keys(only_more))),
    "of the rows that pass, those that went alone": Mutant((COUNTED_ABOVE,), Planner(ask=said_of_keys(only_less))),
    "rows that pass another WHERE": Mutant(
        (COUNTED_ABOVE,), Planner(ask=said_of_keys(lambda q: q.replace("v > 2", "v > 3", 1)))
    ),
    # What else is known of a SELECT.
    "a column equal to an answered one is answered": Mutant((EQUATED,), reaching(with_equal_columns), first=38),
    "one use of a common table expression is asked": Mutant((CTE_TWICE,), asking(first_copies)),
    "each text is asked in an order of its own": Mutant(
        (HEADED,), Planner(ask=in_the_order_of_each_text), seeds=1000, first=571
    ),
    "the first use of a shared expression is followed": Mutant((SHARED,), asking(first_uses)),
    "the last use of a shared expression is followed": Mutant((SHARED,), asking(shown_elsewhere)),
    "rows that went are not asked of a shared expression": Mutant((SHARED,), Planner(ask=said(only_more))),
    "rows that pass with the new value alone": let_pass_once("(({new}) AND NOT coalesce(({old}), false))"),
    "rows that passed with the old value alone": let_pass_once("(({old}) AND NOT coalesce(({new}), false))"),
    "a value that is NULL makes no difference": let_pass_once("(({new}) <> ({old}))"),
    "rows that pass with both values": let_pass_once("(({new}) AND ({old}))"),
    "a scalar subquery is always the same": Mutant((ABOVE,), Planner(ask=always_the_same)),
    "a total that fewer rows make is none": Mutant((TOTAL,), Planner(ask=said(only_more))),
}
