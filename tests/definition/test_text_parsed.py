"""How much text the analysis of a long SELECT parses: as much more of it as the SELECT is longer."""

from __future__ import annotations

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from tests.support.bases import analysed
from tests.support.parsed_text import characters_parsed

NUMBERED = """
    SELECT '{name}_{n}' AS source, id, region AS region_of_the_latest_row, v AS value_of_the_latest_row
    FROM (
        SELECT id, region, v, row_number() OVER (PARTITION BY id ORDER BY ts DESC NULLS LAST, v, region) AS place
        FROM t{n} WHERE region <> 'a region of which nothing is read' AND region IN (SELECT region FROM regions)
    ) AS numbered
    WHERE place = 1
"""


def latest_rows(name: str, branches: int) -> str:
    return " UNION ALL ".join(NUMBERED.format(name=name, n=n) for n in range(branches))


def test_the_windows_of_a_text_are_looked_at_in_one_parsed_text() -> None:
    def parsed(branches: int) -> int:
        sql = latest_rows("analysed", branches)
        return characters_parsed(lambda: analysed(sql)) // len(sql)

    assert parsed(5) == parsed(20) < 10


def reach_of_all(definition: ViewDefinition) -> None:
    assert all(definition.asked.reach[reference.index].edits for reference in definition.references[::2])


def test_the_edits_of_a_question_are_looked_at_beside_short_texts_for_all_else() -> None:
    sql = latest_rows("asked", 40)
    definition = analysed(sql)
    assert definition.asked.references
    assert characters_parsed(lambda: reach_of_all(definition)) < 4 * len(sql)
