"""The values of a scalar subquery before and after a change, as literals of a question."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import QuestionTexts
from dbt.adapters.icebergmv.maintenance.planning.questions.scalar_values import SAME, moved_rows
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from tests.support.bases import analysed, change, sized, status, two_tables

SQL = "SELECT t.id, t.d FROM t WHERE t.d > (SELECT max(u.region) FROM u)"
DEFINITION = analysed(SQL)
BASES = two_tables()
CHANGED = status(sized(change(status="fresh"), 5_000_000), sized(change([TupleDomain.all()]), 1000, "u", 1))


def asked(same: bool, now: str, before: str) -> str | None:
    """Return what is asked of the rows that a subquery reaches, of which Spark gives these values."""

    def spark(sql: str) -> Sequence[Sequence[object]]:
        if sql.startswith("DESCRIBE"):
            return [("icebergmv_now", "string"), ("icebergmv_before", "string")]
        return [(same,)] if "<=>" in sql else [(now, before)]

    return moved_rows(QuestionTexts(DEFINITION, DEFINITION.asked, BASES, CHANGED), 1, spark)


def test_rows_between_two_values_are_asked_for() -> None:
    found = asked(False, "2024-01-03", "2024-01-01")
    assert found is not None
    assert "CAST('2024-01-03' AS string)" in found
    assert "CAST('2024-01-01' AS string)" in found


def test_the_same_value_reaches_nothing() -> None:
    assert asked(True, "", "") == SAME


@pytest.mark.parametrize("value", ["today", "Now", " yesterday ", "tomorrow UTC"])
def test_texts_that_are_dates_of_their_own_as_constants_are_no_literals(value: str) -> None:
    """Beside a date Spark takes a constant 'today' for one; of a text that is read it makes NULL."""
    assert asked(False, value, "2024-01-01") is None
    assert asked(False, "2024-01-01", value) is None
