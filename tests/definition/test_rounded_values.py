"""Conditions on sums of floats are none of a question: computed again, such a sum may be rounded in another way."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.definition import at_moment
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import splice
from dbt.adapters.icebergmv.maintenance.definition.row_order.rounded_values import MOMENTS, SUMS
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import FUNCTIONS
from tests.support.rule_tables import analysed, columns_of

Q = "(SELECT id, sum(CAST(v AS double)) AS total, sum(v) AS n, max(CAST(v AS double)) AS top FROM t GROUP BY id) q"
OF_U = {
    # The condition of a view, and what is asked of the changed rows of u in its place.
    f"SELECT q.id, b.w FROM {Q} JOIN u b ON q.id = b.id WHERE {{}}": {
        "q.total > 0.6": False,
        "q.total / 2 > b.w": False,
        "cast(q.total AS string) = 'x'": False,
        "q.n > 6": True,
        "q.top > 0.6": True,
    },
    f"SELECT q.id, b.w FROM {Q} JOIN u b ON q.id = b.id AND {{}}": {"q.total > b.w": False, "q.n > b.w": True},
    f"SELECT q.id FROM {Q} WHERE {{}} AND EXISTS (SELECT 1 FROM u b WHERE b.id = q.id)": {
        "q.total > 0.6": False,
        "q.n > 6": True,
    },
    "SELECT q.id, b.w FROM (SELECT id FROM t GROUP BY id HAVING {}) q JOIN u b ON q.id = b.id": {
        "avg(CAST(v AS double)) > 1": False,
        "sum(region) > 1": False,
        "stddev(v) > 1": False,
        "sum(DISTINCT v / 3) > 1": False,
        "sum(v) > 1": True,
        "max(CAST(v AS double)) > 1": True,
    },
    "SELECT q.id, b.w FROM (SELECT id, sum(v / 3) AS s, sum(v) AS n FROM t GROUP BY id HAVING {}) q "
    "JOIN u b ON q.id = b.id": {"s > 1": False, "s + n > 1": False},
    "SELECT q.id, b.w FROM (SELECT id, sum(v / 3) AS f, f * 2 AS s2, s2 > 3 AS big, sum(v) AS n FROM t GROUP BY id) q "
    "JOIN u b ON q.id = b.id WHERE {}": {"q.s2 > 1": False, "q.big": False, "q.n > 1": True},
    "SELECT q.id, b.w FROM (SELECT * FROM (SELECT id, region, v FROM t) PIVOT (sum(v) FOR region IN ('a' AS a))) "
    "q JOIN u b ON q.id = b.id WHERE {}": {"q.a > 1": False, "q.id > 1": True},
    "SELECT q.id, b.w FROM (SELECT id, s FROM (SELECT id, sum(v / 3) OVER (PARTITION BY id) AS s FROM t) p WHERE {}) q "
    "JOIN u b ON q.id = b.id": {"s > 1": False, "id > 1": True},
    "SELECT q.id, b.w FROM (SELECT id, sum(v / 3) AS s FROM t GROUP BY id UNION ALL SELECT id, v FROM t) q "
    "JOIN u b ON q.id = b.id WHERE {}": {"s > 1": False, "q.id > 1": True},
}


@pytest.mark.parametrize(("sql", "condition"), [(sql, term) for sql, terms in OF_U.items() for term in terms])
def test_conditions_that_a_question_keeps(sql: str, condition: str) -> None:
    definition, kept = analysed(sql.format(condition)), OF_U[sql][condition]
    index = next(r.index for r in definition.references if r.name == "u")
    asked = splice(definition.asked.sql, {}, definition.asked.reach[index].edits)
    assert asked == sql.format(condition if kept else f"(true OR {condition})")


def test_a_value_that_is_shown_stays_as_it_was() -> None:
    """Nobody minds which last digit is shown, so nothing is less incremental for it."""
    sql = f"SELECT q.id, q.total, b.w FROM {Q} JOIN u b ON q.id = b.id"
    definition = analysed(sql)
    assert not definition.obstacles
    assert {*definition.asked.reach[0].columns} == {*definition.asked.reach[1].columns} == {"id", "w"}
    assert splice(sql, {}, definition.asked.reach[1].edits) == sql


@pytest.mark.parametrize(
    ("sql", "asked"),
    [
        # The share of a total, and what is above an average.
        (
            "SELECT a.id, a.sh, b.w FROM (SELECT id, v / (SELECT sum(w / 3) FROM u) AS sh FROM t) a "
            "JOIN u b ON b.id = a.id",
            2,
        ),
        ("SELECT id FROM t WHERE v > (SELECT avg(w / 3) FROM u WHERE u.id = t.id)", 1),
        (
            "SELECT x.id, c.w FROM (SELECT id FROM t WHERE v > (SELECT avg(w / 3) FROM u WHERE u.id = t.id)) x "
            "JOIN u c ON c.id = x.id",
            2,
        ),
    ],
)
def test_beside_a_rounded_subquery_changes_are_asked(sql: str, asked: int) -> None:
    assert asked in analysed(sql).asked.reach


def test_the_clock_beside_such_a_condition_is_followed() -> None:
    sql = (
        "SELECT id, d, s FROM (SELECT id, d, sum(v / 3) AS s FROM t GROUP BY id, d) q WHERE d >= current_date AND s > 1"
    )
    before, now = ({"date": day} for day in ("2024-01-01", "2024-01-02"))
    definition = at_moment(analysed(sql), columns_of, now)
    found = definition.asked_since(before)
    assert found is not None
    assert ["(true OR ", ")"] in [[edit.text for edit in reach.edits] for one in found for reach in one.reach.values()]


@pytest.mark.parametrize(
    "made",
    [
        "SELECT id, explode(array(s)) AS e FROM (SELECT id, sum(v / 3) AS s FROM t GROUP BY id)",
        "SELECT id, e FROM (SELECT id, sum(v / 3) AS s FROM t GROUP BY id) p LATERAL VIEW explode(array(s)) l AS e",
    ],
)
def test_beside_rows_that_are_made_of_such_a_value_nothing_is_asked(made: str) -> None:
    reach = analysed(f"SELECT q.id, b.w FROM ({made}) q JOIN u b ON q.id = b.id WHERE q.e > 1").asked.reach
    assert 1 not in reach


def test_they_are_aggregates_of_spark() -> None:
    assert all(FUNCTIONS[name].aggregate for name in SUMS | MOMENTS)
    assert SUMS.isdisjoint(MOMENTS)
