"""What is asked of a clock that moved: one question for each term of a WHERE that reads it."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, at_moment
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import CLOCK
from tests.support.bases import analysed, columns_of

BEFORE, NOW = {"date": "2026-11-21"}, {"date": "2026-11-22"}


def today(sql: str) -> ViewDefinition:
    return at_moment(analysed(sql), columns_of, NOW)


def asked(sql: str) -> list[tuple[str, tuple[str, ...]]] | None:
    """Return the questions with the columns that they answer."""
    found = today(sql).asked_since(BEFORE)
    return None if found is None else [(a.sql, a.reach[CLOCK.index].columns) for a in found]


def test_a_term_becomes_the_difference_that_the_clock_makes() -> None:
    sql = "SELECT region, count(*) AS c FROM t WHERE d >= current_date - 30 AND v > 0 GROUP BY region"
    new, old = "(d >= DATE '2026-11-22' - 30)", "(d >= DATE '2026-11-21' - 30)"
    term = f"(({new} OR {old}) AND NOT ({new} <=> {old}))"
    assert asked(sql) == [
        (f"SELECT region, count(*) AS c FROM t WHERE {term} AND v > 0 GROUP BY region", ("region",)),
    ]


def test_other_terms_before_it_are_at_the_new_clock_and_those_behind_it_at_the_old_one() -> None:
    found = asked(
        "SELECT id FROM t WHERE d > current_date AND d > current_date - 1 OR id = 3 UNION ALL SELECT 1 FROM t"
    )
    assert found is not None
    assert len(found) == 1, "an OR is one term"
    found = asked("SELECT id FROM t WHERE d > current_date AND d + 1 > current_date")
    assert found is not None
    (first, _), (second, _) = found
    assert first.endswith(" AND d + 1 > DATE '2026-11-21'")
    assert second.startswith("SELECT id FROM t WHERE d > DATE '2026-11-22' AND ((")


ASKED = {
    "SELECT id, v + 1 AS w, d FROM t WHERE NOT (d < current_date OR d IS NULL)": ("id", "w", "d"),
    "SELECT d FROM t WHERE d BETWEEN date_sub(current_date(), 30) AND curdate()": ("d",),
    "SELECT d FROM t WHERE (d >= date_trunc('month', current_date)) AND (d < add_months(current_date, 1))": ("d",),
    "SELECT count(*) AS c FROM t WHERE d = current_date": (),
    "SELECT id FROM t WHERE d IN (SELECT d FROM u WHERE d >= current_date)": ("id",),
    "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id AND u.d >= current_date)": ("id",),
    "SELECT a.id, b.v FROM t a LEFT JOIN (SELECT * FROM u WHERE d > current_date) b ON a.id = b.id": ("id",),
    "SELECT id, sum(v) OVER (PARTITION BY region) AS s, region FROM t WHERE d < current_date": ("region",),
    "SELECT id FROM t WHERE d > current_date EXCEPT SELECT id FROM u": ("id",),
}


@pytest.mark.parametrize("sql", ASKED)
def test_the_answer_flows_upwards_as_that_of_changed_rows(sql: str) -> None:
    found = asked(sql)
    assert found
    assert {columns for _, columns in found} == {ASKED[sql]}
    assert not today(sql).full_when_clock_moves


def test_each_use_of_a_common_table_expression_is_asked() -> None:
    found = asked("WITH c AS (SELECT * FROM t WHERE d > current_date) SELECT a.id FROM c a JOIN c b ON a.id = b.id")
    assert found is not None
    assert len(found) == 2


NOT_ASKED = [
    "SELECT id, current_date AS today FROM t",
    "SELECT id, current_date AS today FROM t WHERE d < current_date",
    "SELECT a.id FROM t a JOIN u b ON a.id = b.id AND b.d > current_date",
    "SELECT region FROM t GROUP BY region HAVING max(d) < current_date",
    "SELECT region, count(*) FILTER (WHERE d < current_date) AS c FROM t GROUP BY region",
    "SELECT id FROM t WHERE d < current_date OR id IN (SELECT id FROM u)",
    "SELECT id, (SELECT max(v) FROM u WHERE u.d < current_date) AS m FROM t",
    "SELECT id FROM t WHERE d < current_date LIMIT 3",
    "WITH c AS (SELECT * FROM t WHERE d > current_date) SELECT id FROM t",
    "WITH RECURSIVE c AS (SELECT id FROM t WHERE d > current_date) SELECT a.id FROM c a JOIN c b ON a.id = b.id",
]


@pytest.mark.parametrize("sql", NOT_ASKED)
def test_a_clock_in_another_place_is_not_asked(sql: str) -> None:
    assert asked(sql) is None
    assert today(sql).full_when_clock_moves


def test_a_definition_without_a_clock_has_nothing_to_ask() -> None:
    assert asked("SELECT id FROM t") == []
    assert not today("SELECT id FROM t").full_when_clock_moves
