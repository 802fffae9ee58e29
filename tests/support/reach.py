"""What the changed rows of each reference reach, as a text beside which it can be written down."""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import splice
from tests.support.rule_tables import analysed

Reached = tuple[str, str, str]
"""The output columns that say it, the references read as empty, and the query, where {sql} is the SELECT as it is."""


def assert_reaches(sql: str, expected: Mapping[int, Reached]) -> None:
    """Assert what a SELECT says of each reference that is asked."""
    definition = analysed(sql)
    found = {
        index: (
            ", ".join(sorted(reach.columns, key=[c.name for c in definition.columns or ()].index)),
            ", ".join(map(str, sorted(reach.emptied))),
            splice(definition.asked.sql, {}, reach.edits),
        )
        for index, reach in definition.asked.reach.items()
    }
    assert found == {
        i: (columns, emptied, text.replace("{sql}", sql)) for i, (columns, emptied, text) in expected.items()
    }
