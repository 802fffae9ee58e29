"""Questions about a clock that are made from one tree are those that their texts give."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked, Known, reach_of, scope_of
from dbt.adapters.icebergmv.maintenance.definition.clock.clock_places import ClockText, clock_text
from dbt.adapters.icebergmv.maintenance.definition.clock.moved_steps import MovedStep, asked_tree, edits_of
from dbt.adapters.icebergmv.maintenance.definition.clock.moving_tree import MovingTree
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, at_moment
from dbt.adapters.icebergmv.maintenance.definition.edits.cte_copies import with_copies
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import with_edits
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import find_references
from dbt.adapters.icebergmv.maintenance.definition.rules import track
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK
from tests.support.bases import analysed, columns_of
from tests.support.parsed_text import characters_parsed

BEFORE, NOW = {"date": "2026-11-21"}, {"date": "2026-11-22"}

TWICE = """
    WITH a AS (
        SELECT id, d, sum(CASE WHEN d >= current_date - 30 THEN v END) AS v FROM t
        WHERE d >= current_date - 365 AND region <> 'x' GROUP BY id, d
    ), b AS (SELECT x.id, x.d, x.v + y.v AS v FROM a x JOIN a y ON x.id = y.id AND x.d = y.d)
    SELECT x.id, x.d, y.v FROM b x LEFT JOIN b y ON x.id = y.id AND x.d = y.d WHERE x.d < current_date
"""
BRANCHES = """
    SELECT id, d, CASE WHEN d = current_date THEN 'new' END AS age FROM t WHERE v > 0
    UNION ALL SELECT id, d, 'other' FROM (SELECT * FROM u WHERE d > current_date - 7 AND d <= current_date)
    UNION ALL SELECT id, d, region FROM u WHERE id IN (SELECT id FROM t WHERE d = current_date)
"""


def text_of(sql: str) -> tuple[ClockText, Known]:
    copies = with_copies(sql)
    assert copies is not None
    parsed = parse(copies.sql)
    assert isinstance(parsed, ParsedSql)
    text = clock_text(parsed)
    assert text is not None
    references = find_references(parsed.tree, "ns").tables
    return text, Known("ns", {r.index: columns_of(r) for r in references}, True)


def questions(text: ClockText) -> list[MovedStep]:
    clocks = [(number, (BEFORE, NOW) if step.shows else (NOW,)) for number, step in enumerate(text.steps)]
    return [MovedStep(text, number, BEFORE, NOW, own) for number, both in clocks for own in both]


def by_its_text(question: MovedStep, known: Known) -> Asked:
    """Return a question as its text gives it when it is parsed and tracked by itself."""
    edits, (expected, moved) = edits_of(question), asked_tree(question)
    assert edits is not None
    sql = with_edits(question.text.sql, edits)
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    assert parsed.tree == expected
    references = find_references(parsed.tree, known.default_namespace).tables
    scope = scope_of(parsed, known)
    scope = type(scope)(**{**vars(scope), "moved": moved})
    reach = reach_of(track(parsed.tree, scope), references, parsed)
    return Asked(sql, references, reach={CLOCK.index: reach[CLOCK.index]})


@pytest.mark.parametrize("sql", [TWICE, BRANCHES, f"SELECT d, sum(v) AS s FROM ({TWICE}) GROUP BY d"])
def test_one_tree_gives_the_questions_that_the_texts_give(sql: str) -> None:
    text, known = text_of(sql)
    moving = MovingTree(text, known, BEFORE, NOW)
    at_once = 0
    for question in questions(text):
        found, expected = moving.asked(question), by_its_text(question, known)
        if found is None:
            continue  # What changes more of the text than its step is asked by its own text.
        at_once += 1
        assert (found.sql, found.references) == (expected.sql, expected.references)
        assert dict(found.reach) == dict(expected.reach)
    assert at_once


def joined_with_itself(levels: int) -> ViewDefinition:
    summed = "sum(CASE WHEN d > current_date - 9 THEN v END) AS v"
    first = f"SELECT id, d, {summed} FROM t WHERE d < current_date GROUP BY id, d"
    joined = "SELECT x.id, x.d, x.v + y.v AS v FROM c{0} x JOIN c{0} y ON x.id = y.id AND x.d = y.d"
    ctes = [f"c0 AS ({first})", *(f"c{n + 1} AS ({joined.format(n)})" for n in range(levels))]
    return at_moment(analysed(f"WITH {', '.join(ctes)} SELECT * FROM c{levels}"), columns_of, NOW)


def test_a_question_parses_its_own_place_and_not_all_copies_of_an_expression() -> None:
    definition = joined_with_itself(4)
    found: list[tuple[Asked, ...] | None] = []
    characters = characters_parsed(lambda: found.append(definition.asked_since(BEFORE)))
    assert found[0] is not None
    assert len(found[0]) == 32
    assert characters < sum(len(asked.sql) for asked in found[0])


def test_a_clock_is_not_asked_in_more_places_than_pays() -> None:
    assert not joined_with_itself(3).full_when_clock_moves
    assert joined_with_itself(6).full_when_clock_moves
