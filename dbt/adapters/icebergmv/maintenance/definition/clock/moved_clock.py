"""Which output rows does another value of the clock reach? It is asked of each place of a SELECT that reads the clock.

The rows of FROM stay what they are. A term of a WHERE passes other rows where one value of the clock makes it true and
the other does not. So the question is the SELECT with this difference in place of the term:

    (new OR old) AND NOT (new <=> old)

Each row that passes with one value alone is among the rows for which this is true, whatever is NULL in it; the first
half is there for Iceberg, which prunes files by it. A condition in the list of a SELECT, as in
`sum(CASE WHEN d >= current_date - 30 THEN amount END)`, says something else of these rows alone; so the difference is
one more term of the WHERE. Where a condition may turn from NULL to false, the first half is left out.

The answer flows upwards as that of changed rows of a table does (see rules/answers.py); all columns of FROM are
answered. Several places are asked one after the other, those before in the text with the new value, those after it with
the old one, so that the steps lead from the old rows to the new. Where a row may be told by what a condition in a list
says, both the row that it was and the row that it is are asked for.
"""

from __future__ import annotations

from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked, Known, origins_of, reach_of, scope_of
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock
from dbt.adapters.icebergmv.maintenance.definition.clock.clock_places import clock_text
from dbt.adapters.icebergmv.maintenance.definition.clock.moved_steps import MovedStep, asked_tree, edits_of
from dbt.adapters.icebergmv.maintenance.definition.clock.moving_tree import MovingTree
from dbt.adapters.icebergmv.maintenance.definition.edits.cte_copies import with_copies
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import with_edits
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import find_references
from dbt.adapters.icebergmv.maintenance.definition.row_order.order_dependence import names_collation
from dbt.adapters.icebergmv.maintenance.definition.rules import track
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK

_MOST_CHARACTERS = 1_000_000
"""Of all questions together. A SELECT that is made anew once is cheaper than so many others that are asked of."""


def asked_of_clock(sql: str, known: Known, before: Clock, now: Clock) -> tuple[Asked, ...] | None:
    """Return what to ask of each place of the SELECT that reads the clock, which moved from one value to another.

    `known` has the columns of the references of the text. Each question is the reach of CLOCK. None where the clock is
    read in another place, where a question would not say all that it reaches, or where there would be too much to ask.
    """
    copies, written = with_copies(sql), parse(sql)
    parsed = None if copies is None else parse(copies.sql)
    if copies is None or not isinstance(parsed, ParsedSql) or not isinstance(written, ParsedSql):
        return None
    if names_collation(parsed.tokens):
        return None
    text = clock_text(parsed)
    originals = find_references(written.tree, known.default_namespace).tables
    origins = origins_of(find_references(parsed.tree, known.default_namespace).tables, originals, copies)
    if text is None or origins is None or len(text.steps) * len(text.sql) > _MOST_CHARACTERS:
        return None
    columns = {copy: known.columns.get(origin) for copy, origin in origins.items()}
    found: list[Asked] = []
    moving = MovingTree(text, replace(known, columns=columns), before, now)
    for number, step in enumerate(text.steps):
        for own in (before, now) if step.shows and before != now else (now,):
            question = MovedStep(text, number, before, now, own)
            asked = moving.asked(question) or _asked(question, moving.known)
            if asked is None:
                return None
            found.append(replace(asked, origins=origins))
    return tuple(found)


def _asked(question: MovedStep, known: Known) -> Asked | None:
    """Return a question; None where its answer does not show what the step reaches."""
    edits, (expected, moved) = edits_of(question), asked_tree(question)
    sql = None if edits is None else with_edits(question.text.sql, edits)
    parsed = parse(sql) if sql is not None else None
    if sql is None or not isinstance(parsed, ParsedSql) or parsed.tree != expected:
        return None
    if sum(node == moved for node in parsed.tree.find_all(type(moved))) != 1:
        return None
    references = find_references(parsed.tree, known.default_namespace).tables
    relation = track(parsed.tree, replace(scope_of(parsed, known), moved=moved))
    reach = reach_of(relation, references, parsed)
    return Asked(sql, references, reach={CLOCK.index: reach[CLOCK.index]}) if CLOCK.index in reach else None
