"""What is asked of a clock that moved: one question for each term of a WHERE that reads it."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, at_moment
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK
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
    "SELECT a.id, b.id AS other FROM t a JOIN u b ON a.id = b.id AND b.d > current_date": ("id", "other"),
    "SELECT a.id, b.id AS other FROM t a LEFT JOIN u b ON a.id = b.id AND b.d > current_date": ("id",),
    "SELECT a.id, b.id AS other FROM t a RIGHT OUTER JOIN u b ON a.id = b.id AND b.d > current_date": ("other",),
    "SELECT a.id, v FROM t a LEFT SEMI JOIN u b ON a.id = b.id AND b.d > current_date": ("id", "v"),
    "SELECT a.id, v FROM t a ANTI JOIN u b ON a.id = b.id AND b.d > current_date": ("id", "v"),
    "SELECT region, count(*) FILTER (WHERE d < current_date) AS c FROM t GROUP BY region": ("region",),
    "SELECT region, count_if(d < current_date OR v > 1) AS c FROM t WHERE v > 0 GROUP BY region": ("region",),
    "SELECT id, IF(d < current_date, 'old', 'new') AS age FROM t": ("id", "age"),
    "SELECT id, region FROM (SELECT *, d > current_date AS later FROM t) WHERE later": ("id", "region"),
}


@pytest.mark.parametrize("sql", ASKED)
def test_the_answer_flows_upwards_as_that_of_changed_rows(sql: str) -> None:
    found = asked(sql)
    assert found
    assert {columns for _, columns in found} == {ASKED[sql]}
    assert not today(sql).full_when_clock_moves


def test_a_condition_in_the_list_becomes_a_term_of_where() -> None:
    new, old = "(d >= DATE '2026-11-22' - 30)", "(d >= DATE '2026-11-21' - 30)"
    term = f"((({new} OR {old}) AND NOT ({new} <=> {old})))"
    of_now = "SELECT region, sum(CASE WHEN d >= DATE '2026-11-22' - 30 THEN v END) AS s FROM t"
    sql = "SELECT region, sum(CASE WHEN d >= current_date - 30 THEN v END) AS s FROM t"
    assert asked(f"{sql} GROUP BY region") == [(f"{of_now} WHERE {term} GROUP BY region", ("region",))]
    assert asked(f"{sql} WHERE v > 0 OR id = 1 GROUP BY region") == [
        (f"{of_now} WHERE {term} AND ( v > 0 OR id = 1) GROUP BY region", ("region",))
    ]


def test_rows_that_a_condition_tells_are_asked_for_as_they_were_and_as_they_are() -> None:
    found = asked("SELECT d > current_date AS later, count(*) AS n FROM t GROUP BY d > current_date")
    assert found is not None
    starts = [sql.split(" AS ")[0] for sql, _ in found]
    assert starts == ["SELECT d > DATE '2026-11-21'", "SELECT d > DATE '2026-11-22'"]
    assert [sql.rsplit(" BY ", 1)[1] for sql, _ in found] == ["d > DATE '2026-11-21'", "d > DATE '2026-11-22'"]
    assert {columns for _, columns in found} == {("later",)}


def test_two_conditions_of_a_list_move_together() -> None:
    found = asked(
        "SELECT region, count_if(d > current_date) AS a, count_if(d < current_date) AS b FROM t GROUP BY region"
    )
    assert found is not None
    ((sql, _),) = found
    assert sql.count(" <=> ") == 2


def test_a_condition_that_may_turn_from_null_to_false_is_asked_without_pruning() -> None:
    found = asked("SELECT id, current_date BETWEEN d AND date(ts) AS valid FROM t")
    assert found is not None
    assert not any(" OR " in sql for sql, _ in found)


def test_each_use_of_a_common_table_expression_is_asked() -> None:
    found = asked("WITH c AS (SELECT * FROM t WHERE d > current_date) SELECT a.id FROM c a JOIN c b ON a.id = b.id")
    assert found is not None
    assert len(found) == 2


NOT_ASKED = [
    "SELECT id, current_date AS today FROM t",
    "SELECT id, current_date AS today FROM t WHERE d < current_date",
    "SELECT a.id FROM t a FULL JOIN u b ON a.id = b.id AND b.d > current_date",
    "SELECT a.id FROM t a JOIN u b ON a.id = b.id AND (b.d > current_date OR b.v IN (SELECT v FROM t))",
    "SELECT region FROM t GROUP BY region HAVING max(d) < current_date",
    "SELECT id, coalesce(d, current_date) AS c FROM t",
    "SELECT id, current_date > date'2026-01-01' AS c FROM t",
    "SELECT id, d < current_date AND v IN (SELECT v FROM u) AS c, d + 1 AS d FROM t ORDER BY current_date > d",
    "SELECT region, max(d) < current_date AS c FROM t GROUP BY region",
    "SELECT id, lag(d) OVER (PARTITION BY region ORDER BY id) < current_date AS c, region FROM t",
    "SELECT id, d + 1 AS n, n < current_date AS c FROM t",
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
