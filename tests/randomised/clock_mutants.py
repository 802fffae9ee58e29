"""Planners that are wrong about the clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock
from dbt.adapters.icebergmv.maintenance.definition.clock.moved_clock import asked_of_clock
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK
from dbt.adapters.icebergmv.maintenance.planning.answers.changed_keys import Questions
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.questions.key_evaluation import Run
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import Answer
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from tests.randomised.mutants import Mutant, view
from tests.randomised.planners import Planner, answer_of_clock, answer_of_terms, answers_of

GROUPED = view("SELECT region, count(*) AS c, sum(v) AS s FROM t0 WHERE d >= current_date GROUP BY region")
NULLED = view("SELECT id, region, d FROM t0 WHERE nullif(d <= current_date, false)")
TWO_TERMS = view(
    "SELECT region, count(*) AS c FROM t0 WHERE d >= current_date AND d >= current_date - 1 GROUP BY region"
)
HAVING = view("SELECT region, count(*) AS c FROM t0 WHERE d >= current_date GROUP BY region HAVING count(*) > 1")
JOINED = view(
    "SELECT a.region, sum(b.v) AS s FROM t0 a JOIN t1 b ON a.id = b.id WHERE b.d >= current_date - 1 GROUP BY a.region"
)
ANTI_JOINED = view(
    "SELECT a.region, count(*) AS c FROM t0 a LEFT ANTI JOIN (SELECT id FROM t1 WHERE d >= current_date) b "
    "ON a.id = b.id GROUP BY a.region"
)
CTE_TWICE = view(
    "WITH c AS (SELECT id, region, v FROM t0 WHERE d >= current_date) "
    "SELECT x.region, count(*) AS n FROM c x JOIN c y ON x.id = y.v GROUP BY x.region"
)
APPENDED = view("SELECT id, d, v FROM t0 WHERE d >= current_date")
LISTED = view("SELECT CASE WHEN d >= current_date THEN 'open' ELSE region END AS c, count(*) AS n FROM t0 GROUP BY 1")
ON_OF_OUTER = view("SELECT b.id, a.v FROM t0 a LEFT JOIN t1 b ON a.region = b.region AND b.d >= current_date")
ON_OF_ANTI = view("SELECT a.id, a.v FROM t0 a LEFT ANTI JOIN t1 b ON a.region = b.region AND b.d >= current_date")
NULL_OR_FALSE = view("SELECT region, current_date BETWEEN d AND CAST(ts AS date) AS valid FROM t0")


def said(change: Callable[[str], str]) -> Planner:
    """Return a planner that asks the clock in other words."""

    def ask(questions: Questions, before: Clock, run: Run) -> Answer:
        return answer_of_clock(questions, before, lambda sql: run(change(sql)))

    return Planner(ask_clock=ask)


def asking(change: Callable[[Sequence[Asked]], Sequence[Asked]]) -> Planner:
    """Return a planner that asks other terms."""

    def ask(questions: Questions, before: Clock, run: Run) -> Answer:
        terms = questions.definition.asked_since(before)
        return answer_of_terms(questions, None if terms is None else change(terms), run)

    return Planner(ask_clock=ask)


def not_edited(terms: Sequence[Asked]) -> Sequence[Asked]:
    return [replace(t, reach={CLOCK.index: replace(t.reach[CLOCK.index], edits=())}) for t in terms]


def with_tables_of_now(questions: Questions, before: Clock, run: Run) -> Answer:
    """Read the tables as they are now, although they are asked at the clock of now."""
    return answer_of_clock(replace(questions, status=MaterializedViewStatus(())), before, run)


def at_the_clock_before(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
    """Ask the tables at the clock of the last refresh, although the clock is asked with the tables of then."""
    clock = questions.status.clock
    before = None if clock is None else clock.before
    asked = questions.asked
    if clock is not None and before is not None:
        text = asked.sql
        for kind, value in clock.now.items():
            # Both are as long, so that places in the text stay what they are.
            text = text.replace(f"{kind.upper()} '{value}'", f"{kind.upper()} '{before[kind]}'")
        asked = replace(asked, sql=text)
    return answers_of(replace(questions, asked=asked), to_ask, run)


def every_other_term_now(questions: Questions, before: Clock, run: Run) -> Answer:
    """Ask each of two terms with the new clock in the other one."""
    definition = questions.definition
    right = definition.asked_since(before)
    if definition.clock is None or right is None:
        return answer_of_clock(questions, before, run)
    mirrored = asked_of_clock(definition.clock.written.sql, definition.known, definition.clock.values, before)
    return answer_of_terms(questions, (*(mirrored or ())[:1], *right[1:]), run)


def pruned(question: str) -> str:
    """Ask a condition that may turn from NULL to false as if it could not."""
    either = r"(((\1) OR (\2)) AND NOT ((\1) <=> (\2))))"
    return re.sub(r"\(NOT \(\((.*)\) <=> \((.*)\)\)\)\)$", either, question, flags=re.MULTILINE)


def with_the_other_side(terms: Sequence[Asked]) -> Sequence[Asked]:
    """Take a column for answered that shows NULL beside a row without a partner."""
    return [replace(t, reach={CLOCK.index: replace(t.reach[CLOCK.index], columns=("id",))}) for t in terms]


def with_the_count(terms: Sequence[Asked]) -> Sequence[Asked]:
    """Take an aggregate for answered."""
    columns = ("region", "c")
    return [replace(t, reach={CLOCK.index: replace(t.reach[CLOCK.index], columns=columns)}) for t in terms]


CLOCK_MUTANTS: dict[str, Mutant] = {
    "the clock's move is ignored": Mutant((GROUPED,), Planner(clock=lambda change: None)),
    "the clock's move is ignored where rows are added": Mutant((APPENDED,), Planner(clock=lambda change: None)),
    "the difference is asked without NULL safety": Mutant((NULLED,), said(lambda q: q.replace(" <=> ", " = "))),
    "only rows that the new clock lets pass are asked": Mutant(
        (GROUPED,), said(lambda q: q.replace(" OR (d >= DATE", " AND NOT (d >= DATE"))
    ),
    "the other terms are at the new clock": Mutant((TWO_TERMS,), Planner(ask_clock=every_other_term_now)),
    "one term is asked": Mutant((TWO_TERMS,), asking(lambda terms: terms[:1])),
    "one use of a common table expression is asked about the clock": Mutant(
        (CTE_TWICE,), asking(lambda t: t[:1]), first=37
    ),
    "the clock is asked with the tables of now": Mutant(
        (JOINED, GROUPED), Planner(ask_clock=with_tables_of_now), first=35
    ),
    "the tables are asked at the clock before": Mutant((GROUPED, JOINED), Planner(ask=at_the_clock_before), first=27),
    "rows are asked for as the clock before shows them": Mutant((LISTED,), asking(lambda terms: terms[:1])),
    "rows are asked for as the new clock shows them": Mutant((LISTED,), asking(lambda terms: terms[1:])),
    "NULL and false are taken for the same where they are shown": Mutant((NULL_OR_FALSE,), said(pruned)),
    "what a row is joined to is taken for a key that the clock moves": Mutant(
        (ON_OF_OUTER,), asking(with_the_other_side)
    ),
    "an anti join stays when a term of its ON is asked": Mutant((ON_OF_ANTI,), asking(not_edited)),
    "HAVING stays when the clock is asked": Mutant((HAVING,), asking(not_edited), first=30),
    "an anti join stays when the clock is asked": Mutant((ANTI_JOINED,), asking(not_edited)),
    "an aggregate is taken for a key that the clock moves": Mutant((GROUPED,), asking(with_the_count), first=30),
}
