"""A literal of a branch says which one the changed rows reach."""

from __future__ import annotations

import pytest

from tests.support.rule_tables import analysed

RANKED = "SELECT {} AS c, d, rank() OVER (ORDER BY v) AS r FROM t"
EITHER = "SELECT 'a' AS k, d, v FROM t UNION ALL SELECT 'b', d, w FROM u"
BRANCHES = {
    # A literal says which branch is reached, where the branches show different ones.
    EITHER: {0: ("d, v", "k"), 1: ("d, v", "k")},
    f"{RANKED.format(1)} UNION SELECT 2, d, w FROM u": {0: ("", "c"), 1: ("d, r", "c")},
    f"SELECT c, r FROM ({RANKED.format(1)}) UNION ALL SELECT 2, w FROM u": {0: ("", "c"), 1: ("r", "c")},
    "SELECT k, max(v) OVER (PARTITION BY d) AS m FROM (SELECT 'a' AS k, d, v FROM t) UNION SELECT 'b', w FROM u": {
        0: ("", ""),
        1: ("m", "k"),
    },
    f"SELECT k, count(*) AS c FROM ({EITHER}) GROUP BY k": {0: ("", "k"), 1: ("", "k")},
    f"SELECT k, month AS m FROM ({EITHER}) x RIGHT JOIN odd ON x.d = odd.d": {
        0: ("m", ""),
        1: ("m", ""),
        2: ("k, m", ""),
    },
    # One literal for all rows says nothing.
    "SELECT 'a' AS k, sum(v) AS s FROM t": {0: ("", "")},
    "SELECT 'a' AS k, d FROM t UNION ALL SELECT 'a', d FROM u": {0: ("d", ""), 1: ("d", "")},
    "SELECT 'a' AS k, t.v FROM t JOIN u ON t.d = u.d": {0: ("v", ""), 1: ("v", "")},
    # A set that leaves it out shows NULL; a session may take it for a name, or for other characters.
    "SELECT 1 AS k, count(*) AS c FROM t GROUP BY ROLLUP (k) UNION ALL SELECT 2, v FROM t": {0: ("", "")},
    'SELECT "a" AS k, v AS s FROM t UNION ALL SELECT "b", w FROM u': {0: ("s", ""), 1: ("s", "")},
    "SELECT 'a' AS k, v AS s FROM t UNION ALL SELECT '\\141', w FROM u": {0: ("s", ""), 1: ("s", "")},
    # A window or a group sees rows of several branches.
    f"SELECT k, sum(v) OVER () AS s FROM ({EITHER})": {0: ("", ""), 1: ("", "")},
    f"SELECT max(k) AS k, d FROM ({EITHER}) GROUP BY d": {0: ("d", ""), 1: ("d", "")},
}


@pytest.mark.parametrize("sql", BRANCHES)
def test_literals_say_which_branch_is_reached(sql: str) -> None:
    reach = analysed(sql).asked.reach
    assert {i: (", ".join(r.columns), ", ".join(r.literals)) for i, r in reach.items()} == BRANCHES[sql]


def test_a_literal_says_which_total_is_reached() -> None:
    sql = "SELECT 'a' AS k, count(*) AS n FROM t UNION ALL SELECT 'b', count(*) FROM u"
    assert literals_of(sql) == {0: ("k",), 1: ("k",)}
    assert literals_of(sql.replace("'a'", "CAST('a' AS string)")) == {0: ("k",), 1: ("k",)}
    assert literals_of(sql.replace("'a'", "CAST('a' AS varchar(9))")) == {0: (), 1: ("k",)}


def literals_of(sql: str) -> dict[int, tuple[str, ...]]:
    return {index: reach.literals for index, reach in analysed(sql).asked.reach.items()}
