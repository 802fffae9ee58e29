"""Conditions on sums of floats are none of a question: computed again, such a sum may be rounded in another way."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.rules.rounded_values import MOMENTS, SUMS
from dbt.adapters.icebergmv.maintenance.definition.spark_functions import FUNCTIONS
from dbt.adapters.icebergmv.maintenance.definition.text_edits import splice
from tests.support.rule_tables import analysed

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


def test_they_are_aggregates_of_spark() -> None:
    assert all(FUNCTIONS[name].aggregate for name in SUMS | MOMENTS)
    assert SUMS.isdisjoint(MOMENTS)
