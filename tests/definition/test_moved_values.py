"""Which term of a WHERE holds a scalar subquery, and which rows are asked for where its value is another one."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.asking.moved_values import passes_once
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import with_edits
from tests.support.rule_tables import analysed

MAX_D = "(SELECT max(d) FROM u)"
MIN_D = "(SELECT min(d) FROM odd)"
NESTED = "(SELECT max(w) FROM u WHERE w < (SELECT max(id) FROM odd))"
ASKED = {
    # The term alone changes, with whatever is computed of the value.
    f"SELECT d, v FROM t WHERE d >= {MAX_D} - INTERVAL 30 DAYS AND v > 1": {
        1: ("d >= {} - INTERVAL 30 DAYS", "SELECT d, v FROM t WHERE {} AND v > 1")
    },
    f"SELECT d FROM t WHERE v > 1 AND (d < {MAX_D} OR d IS NULL) -- not AND": {
        1: ("d < {} OR d IS NULL", "SELECT d FROM t WHERE v > 1 AND ({}) -- not AND")
    },
    # What is above it is edited as for any rows that changed.
    f"SELECT region, sum(v) AS s FROM t WHERE d = {MAX_D} GROUP BY region HAVING sum(v) > 3": {
        1: ("d = {}", "SELECT region, sum(v) AS s FROM t WHERE {} GROUP BY region HAVING (true OR sum(v) > 3)")
    },
    f"SELECT t.d FROM t LEFT JOIN (SELECT d FROM u WHERE d = {MAX_D}) x ON x.d = t.d": {
        2: ("d = {}", "SELECT t.d FROM t INNER JOIN (SELECT d FROM u WHERE {}) x ON x.d = t.d")
    },
    f"SELECT d FROM t WHERE v > 1 OR EXISTS (SELECT 1 FROM odd WHERE odd.d = t.d AND odd.d > {MAX_D})": {
        2: ("odd.d > {}", "SELECT d FROM t WHERE EXISTS (SELECT 1 FROM odd WHERE odd.d = t.d AND {})")
    },
    # Several values, each for itself; of subqueries in each other the outermost.
    f"SELECT d FROM t WHERE d BETWEEN {MIN_D} AND {MAX_D}": {
        1: (f"d BETWEEN {{}} AND {MAX_D}", "SELECT d FROM t WHERE {}"),
        2: (f"d BETWEEN {MIN_D} AND {{}}", "SELECT d FROM t WHERE {}"),
    },
    f"SELECT d FROM t WHERE v > {NESTED}": {
        1: ("v > {}", "SELECT d FROM t WHERE {}"),
        2: ("v > {}", "SELECT d FROM t WHERE {}"),
    },
    "WITH c AS (SELECT d, max(d) AS m FROM u GROUP BY d) SELECT d FROM t WHERE d = (SELECT max(m) FROM c)": {
        1: ("d = {}", "WITH c AS (SELECT d, max(d) AS m FROM u GROUP BY d) SELECT d FROM t WHERE {}")
    },
    # Not a condition of rows, not a value, or no place that is certain.
    f"SELECT region, sum(v) AS s FROM t GROUP BY region HAVING max(d) > {MAX_D}": {},
    f"SELECT d, {MAX_D} AS m FROM t": {},
    "SELECT d FROM t WHERE d IN (SELECT d FROM u)": {},
    f"SELECT d FROM t WHERE d > ({MAX_D})": {},
}


@pytest.mark.parametrize("sql", ASKED)
def test_the_rows_that_one_of_two_values_lets_pass(sql: str) -> None:
    asked = analysed(sql).asked
    found = {
        index: with_edits(asked.sql, (*moved.edits, moved.difference(asked.sql, {}, "2", "1")))
        for index, moved in asked.moved.items()
    }
    assert found == {
        index: text.format(passes_once(term.format("(2)"), term.format("(1)")))
        for index, (term, text) in ASKED[sql].items()
    }
    assert asked.moved.keys() <= asked.reach.keys()


def test_tables_in_the_term_are_read_as_is_said() -> None:
    asked = analysed(f"SELECT d FROM t WHERE d BETWEEN {MIN_D} AND {MAX_D}").asked
    texts = {reference: f"{reference.name}_then" for reference in asked.references}
    edit = asked.moved[2].difference(asked.sql, texts, "2", "1")
    between = "d BETWEEN (SELECT min(d) FROM odd_then) AND ({})"
    assert edit.text == passes_once(between.format(2), between.format(1))
