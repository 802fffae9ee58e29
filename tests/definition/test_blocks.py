"""FROM and WHERE around a table, which say by themselves whether its changed rows reach anything."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import part_of
from tests.support.bases import analysed

BLOCKS: dict[str, dict[str, set[str]]] = {
    "SELECT region, count(*) AS c FROM t WHERE v > 2 GROUP BY region": {"t": {"FROM t WHERE v > 2"}},
    "SELECT id FROM t ORDER BY id": {"t": {"FROM t"}},
    "SELECT t.id FROM t, u WHERE t.id = u.id AND u.v > 2": {
        "t": {"FROM t, u WHERE t.id = u.id AND u.v > 2"},
        "u": {"FROM t, u WHERE t.id = u.id AND u.v > 2"},
    },
    "SELECT a.id FROM t a JOIN u b ON a.id = b.id": {
        "t": {"FROM t a JOIN u b ON a.id = b.id"},
        "u": {"FROM t a JOIN u b ON a.id = b.id"},
    },
    "SELECT a.id FROM t a LEFT JOIN u b ON a.id = b.id": {"t": {"FROM t a LEFT JOIN u b ON a.id = b.id"}},
    "SELECT a.id FROM t a LEFT ANTI JOIN u b ON a.id = b.id": {"t": {"FROM t a LEFT ANTI JOIN u b ON a.id = b.id"}},
    "SELECT a.id FROM t a LEFT SEMI JOIN u b ON a.id = b.id": {"t": {"FROM t a LEFT SEMI JOIN u b ON a.id = b.id"}},
    "SELECT a.id FROM t a RIGHT JOIN u b ON a.id = b.id": {},
    "SELECT a.id FROM t a FULL JOIN u b ON a.id = b.id": {},
    "SELECT id FROM t NATURAL JOIN u": {},
    "SELECT 1 AS x FROM (t JOIN u USING (id))": {},
    "SELECT q.id FROM (SELECT id FROM t WHERE v > 2) q JOIN u ON q.id = u.id": {
        "t": {"FROM t WHERE v > 2"},
        "u": {"FROM (SELECT id FROM t WHERE v > 2) q JOIN u ON q.id = u.id"},
    },
    "SELECT id FROM t WHERE v > 2 UNION ALL SELECT id FROM u": {"t": {"FROM t WHERE v > 2"}, "u": {"FROM u"}},
    "SELECT id, max(v) OVER (PARTITION BY region) AS m FROM t WHERE v > 2": {"t": {"FROM t WHERE v > 2"}},
    "SELECT id FROM t WHERE id IN (SELECT id FROM u WHERE v > 2)": {
        "t": {"FROM t WHERE id IN (SELECT id FROM u WHERE v > 2)"},
        "u": {"FROM u WHERE v > 2"},
    },
    "WITH c AS (SELECT id FROM t WHERE v > 2), d AS (SELECT c.id FROM c JOIN u ON c.id = u.id) SELECT id FROM d": {
        "t": {"FROM t WHERE v > 2"},
        "u": {"WITH c AS (SELECT id FROM t WHERE v > 2) FROM c JOIN u ON c.id = u.id"},
    },
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u, w WHERE u.id = t.id AND w.id = u.id AND w.v > 2)": {
        "t": {"FROM t WHERE EXISTS (SELECT 1 FROM u, w WHERE u.id = t.id AND w.id = u.id AND w.v > 2)"},
        "u": {"FROM u, w WHERE  true  AND w.id = u.id AND w.v > 2"},
        "w": {"FROM u, w WHERE  true  AND w.id = u.id AND w.v > 2"},
    },
    "SELECT id FROM t WHERE (SELECT max(v) FROM U x WHERE X.id = t.id AND (t.v > 1 AND x.v > 2)) > 1": {
        "t": {"FROM t WHERE (SELECT max(v) FROM U x WHERE X.id = t.id AND (t.v > 1 AND x.v > 2)) > 1"},
        "U": {"FROM U x WHERE  true  AND ( true  AND x.v > 2)"},
    },
    "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.v > 2 AND (u.id = t.id OR u.v = 5))": {
        "t": {"FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.v > 2 AND (u.id = t.id OR u.v = 5))"},
        "u": {"FROM u WHERE u.v > 2 AND ( true )"},
    },
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id AND v IN (SELECT v FROM w WHERE w.id = u.id))": {
        "t": {"FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id AND v IN (SELECT v FROM w WHERE w.id = u.id))"},
        "u": {"FROM u WHERE  true  AND v IN (SELECT v FROM w WHERE w.id = u.id)"},
        "w": {"FROM w WHERE  true"},
    },
    # Where its place in the text is in doubt, no term is left out.
    "SELECT t.id FROM (SELECT id, v AS `end` FROM t) t WHERE EXISTS (SELECT 1 FROM u WHERE "
    "(SELECT count(*) = 0 FROM w WHERE w.id > 1 AND w.id > 9) AND u.v < t.end + 1 AND u.id = t.id)": {
        "t": {"FROM t"},
        "u": {
            "FROM u WHERE (SELECT count(*) = 0 FROM w WHERE w.id > 1 AND w.id > 9) AND u.v < t.end + 1 AND u.id = t.id"
        },
        "w": {"FROM w WHERE w.id > 1 AND w.id > 9"},
    },
    # A name in front of a dot may be a column of a struct, which is asked.
    "SELECT t.id FROM t WHERE region.code = 'EU'": {"t": {"FROM t WHERE region.code = 'EU'"}},
    "SELECT id, x FROM t LATERAL VIEW explode(array(v)) e AS x WHERE x > 2": {
        "t": {"FROM t LATERAL VIEW explode(array(v)) e AS x WHERE x > 2"}
    },
    "FROM t SELECT id WHERE v > 2": {},
    "WITH c AS (SELECT id FROM u WHERE v > 2) SELECT t.id FROM t JOIN c ON t.id = c.id": {
        "t": {"WITH c AS (SELECT id FROM u WHERE v > 2) FROM t JOIN c ON t.id = c.id"},
        "u": {"FROM u WHERE v > 2"},
    },
    # What a name means is known of the first WITH alone.
    "SELECT q.id FROM (WITH c AS (SELECT id FROM u WHERE v > 2) SELECT t.id FROM t JOIN c ON t.id = c.id) q": {
        "u": {"FROM u WHERE v > 2"}
    },
    "WITH c AS (SELECT id FROM u WHERE v > 2), d AS (WITH c AS (SELECT id FROM u WHERE v > 3) "
    "SELECT t.id FROM t JOIN c ON t.id = c.id) SELECT d.id FROM d JOIN c ON d.id = c.id": {
        "u": {"FROM u WHERE v > 2", "FROM u WHERE v > 3"}
    },
    "WITH RECURSIVE r AS (SELECT id FROM u UNION ALL SELECT r.id + 1 FROM r WHERE r.id < 9) "
    "SELECT t.id FROM t JOIN r ON t.id = r.id": {"u": {"FROM u"}},
    "SELECT a FROM t PIVOT (sum(v) FOR region IN ('EU' AS a)) WHERE a > 10": {},
    "SELECT a FROM t JOIN u PIVOT (sum(v) FOR region IN ('EU' AS a)) WHERE a > 10": {},
}


@pytest.mark.parametrize("sql", BLOCKS)
def test_what_is_asked_alone(sql: str) -> None:
    asked = analysed(sql).asked
    found: dict[str, set[str]] = {}
    for index, part in asked.blocks.items():
        with_, text = asked.sql[: part.with_end], part_of(asked.sql, {}, part.start, part.end, part.left_out)
        found.setdefault(asked.references[index].name, set()).add(f"{with_} {text}".strip())
    assert found == BLOCKS[sql]


def test_every_copy_of_a_common_table_expression_has_its_own() -> None:
    definition = analysed("WITH c AS (SELECT id, v FROM t WHERE v > 2) SELECT a.id FROM c a JOIN c b ON a.id = b.v")
    asked = definition.asked
    texts = [asked.sql[p.start : p.end] for i in asked.copies_of(0) for p in [asked.blocks[i]]]
    assert texts == ["FROM t WHERE v > 2"] * 2


WITHOUT_SUBQUERIES: dict[str, str] = {
    "SELECT id FROM t WHERE v > 2 AND id IN (SELECT id FROM u) AND (SELECT max(v) FROM u) > v": (
        "FROM t WHERE v > 2 AND  true  AND  true"
    ),
    "SELECT id FROM t WHERE v > 2 AND (NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id) OR v = 5)": (
        "FROM t WHERE v > 2 AND ( true )"
    ),
    "SELECT id FROM w WHERE EXISTS (SELECT 1 FROM t WHERE t.id = w.id AND t.v IN (SELECT v FROM u) AND t.v > 2)": (
        "FROM t WHERE  true  AND  true  AND t.v > 2"
    ),
    "SELECT id FROM t WHERE v > 2": "",
    "SELECT id FROM t": "",
}


@pytest.mark.parametrize("sql", WITHOUT_SUBQUERIES)
def test_what_is_asked_first(sql: str) -> None:
    asked = analysed(sql).asked
    (part,) = (p for i, p in asked.blocks.items() if asked.references[i].name == "t")
    text = part_of(asked.sql, {}, part.start, part.end, part.left_out_first) if part.left_out_first else ""
    assert text.strip() == WITHOUT_SUBQUERIES[sql]
