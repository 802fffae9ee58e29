"""The tables of which a SELECT may read columns that it does not name."""

from __future__ import annotations

import pytest

from tests.support.bases import analysed

EVERY: dict[str, set[str] | None] = {
    "SELECT id, v FROM t": set(),
    "SELECT count(*) AS c FROM t": set(),
    "SELECT count(id, *) AS c FROM t": None,
    "SELECT count(*, id) AS c FROM t": None,
    "SELECT count(* EXCEPT (v)) AS c FROM t": None,
    "SELECT * FROM t": {"t"},
    "SELECT 1 AS x FROM (SELECT * FROM t JOIN u USING (id)) q": {"t", "u"},
    "SELECT a.*, b.region AS r FROM t a JOIN u b ON a.id = b.id": {"t"},
    "SELECT A.*, b.region AS r FROM u b JOIN t a ON a.id = b.id": {"t"},
    "SELECT t.*, b.region AS r FROM t JOIN u b ON t.id = b.id": {"t"},
    "SELECT q.id, u.region FROM (SELECT *, v + 1 AS w FROM t) q JOIN u ON q.id = u.id": {"t"},
    "SELECT q.*, u.region AS r FROM (SELECT id, v FROM t) q JOIN u ON q.id = u.id": set(),
    "SELECT * FROM (SELECT id, v FROM t) q": set(),
    "WITH c AS (SELECT id, v FROM t) SELECT * FROM c": set(),
    "WITH c AS (SELECT * FROM t) SELECT c.id, u.region FROM c JOIN u ON c.id = u.id": {"t"},
    "SELECT id FROM t WHERE EXISTS (SELECT * FROM u WHERE u.id = t.id)": set(),
    "SELECT id FROM t WHERE NOT EXISTS (SELECT DISTINCT u.* FROM u WHERE u.id = t.id)": set(),
    "SELECT * FROM t WHERE EXISTS (SELECT * FROM u WHERE u.id = t.id)": {"t"},
    "SELECT id FROM t WHERE EXISTS (SELECT q.id FROM (SELECT * FROM u) q WHERE q.id = t.id)": {"u"},
    "SELECT id FROM t WHERE EXISTS (SELECT * FROM t EXCEPT SELECT * FROM u)": None,
    "SELECT id FROM t WHERE EXISTS (SELECT struct(*) AS s FROM u)": None,
    "SELECT * EXCEPT (v) FROM t": {"t"},
    "SELECT id, (SELECT max(q.v) FROM (SELECT * FROM u) q) AS m FROM t": {"u"},
    "SELECT 1 AS x FROM (SELECT * FROM (t JOIN u USING (id))) q": None,
    "SELECT count(*) AS c FROM (SELECT DISTINCT * FROM ((t))) q": None,
    "SELECT id FROM (SELECT * FROM ((t)) UNION SELECT * FROM ((u))) q": None,
    "SELECT struct(*) AS s FROM ((t))": None,
    "SELECT id FROM t WHERE EXISTS (SELECT DISTINCT * FROM u LIMIT 1 OFFSET 1)": None,
    "SELECT id FROM t WHERE EXISTS (SELECT * FROM u GROUP BY ALL HAVING count(*) > 1)": {"u"},
    "SELECT * FROM t NATURAL JOIN u": None,
    "SELECT DISTINCT * FROM t": None,
    "SELECT * FROM t UNION ALL SELECT * FROM u": None,
    "SELECT struct(*) AS s FROM t": None,
    "WITH c AS (SELECT id, v FROM t) SELECT * FROM c UNION ALL SELECT * FROM (SELECT id, v FROM u) q": set(),
    "WITH c AS (SELECT * FROM t) SELECT id FROM (SELECT * FROM c UNION ALL SELECT * FROM c) q": None,
    "SELECT DISTINCT * FROM (SELECT id FROM t) q JOIN (SELECT v FROM u) r ON q.id = r.v": set(),
    "SELECT struct(*) AS s FROM (SELECT id FROM t) q": set(),
    "SELECT x FROM (SELECT * FROM (SELECT id FROM t) p) AS q (x)": None,
    "SELECT count(t.*) AS c FROM t": None,
    "SELECT t.*, x FROM t LATERAL VIEW explode(array(1)) e AS x": None,
    "SELECT v.* FROM t": None,
    "SELECT q.id FROM t AS q (id, a, b, c, e)": None,
}


@pytest.mark.parametrize("sql", EVERY)
def test_columns_without_a_name(sql: str) -> None:
    found, expected = analysed(sql), EVERY[sql]
    names = {r.name for r in found.references if found.read_in_full is not None and r.index in found.read_in_full}
    assert (None if found.read_in_full is None else names) == expected
