"""Which columns are stored besides those of the SELECT, and the text that gives them."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.hidden_keys import (
    MOST_KEYS,
    taken_back,
    wanted_keys,
    with_keys,
)
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import key_name
from dbt.adapters.icebergmv.maintenance.errors import InvalidDefinition
from tests.support.rule_tables import analysed

BY_DAY = {"t": ("d",), "u": ("d",), "odd": ()}

WANTED = {
    # The column that partitions a table, where nothing in the list says anything of it.
    "SELECT id, v FROM t": ["`t`.`d`"],
    "SELECT a.id FROM t AS a WHERE v > 0": ["`a`.`d`"],
    "SELECT year(d) AS y, v FROM t": [],
    "SELECT * FROM t": [],
    "SELECT * EXCEPT (d) FROM t": ["`t`.`d`"],
    "SELECT explode(xs) AS x FROM t": ["`t`.`d`"],
    "SELECT id FROM t LATERAL VIEW explode(xs) e AS d": ["`t`.`d`"],
    "SELECT id FROM (SELECT id, d AS day FROM t) AS x": ["`x`.`day`"],
    # Not an expression that nobody reads: it may fail on rows for which the SELECT never computes it.
    "SELECT id FROM (SELECT id, cast(cast(d AS string) AS int) AS n FROM t) AS x": [],
    "SELECT id FROM (SELECT id, year(d) AS y FROM t) AS x": ["`x`.`y`"],
    "SELECT id FROM (SELECT id, 10 / year(d) AS q, d FROM t) AS x": ["`x`.`d`"],
    "WITH s AS (SELECT * FROM t) SELECT id FROM s": ["`s`.`d`"],
    "WITH s AS (SELECT * FROM t), f AS (SELECT id FROM s) SELECT * FROM f": ["`s`.`d`"],
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)": ["`t`.`d`"],
    "SELECT id, sum(v) OVER (PARTITION BY d) AS s FROM t": ["`t`.`d`"],
    # Those of both sides of an inner join, and of the side that an outer join preserves.
    "SELECT t.id, w FROM t JOIN u ON t.id = u.id": ["`t`.`d`", "`u`.`d`"],
    "SELECT t.v, w FROM t LEFT JOIN u ON t.id = u.id": ["`t`.`d`", "`t`.`id`"],
    "SELECT t.v, w FROM t RIGHT JOIN u ON t.id = u.id": ["`u`.`id`", "`u`.`d`"],
    "SELECT t.v, w FROM t FULL JOIN u ON t.id = u.id": [],
    "SELECT t.id, w FROM t LEFT JOIN u USING (id)": ["`t`.`d`"],
    "SELECT t.id, t.d, w FROM t LEFT JOIN u ON t.id = u.id": [],
    # The key of a join, for a table whose partitions nothing follows.
    "SELECT t.d, t.v, month FROM t JOIN odd ON t.region = odd.month": [],
    "SELECT t.d, t.v, odd.ts FROM t JOIN odd ON upper(t.region) = odd.month": [],
    "SELECT t.d, t.v, odd.ts FROM t JOIN odd ON t.region = odd.month": ["`t`.`region`"],
    "SELECT t.d, t.v FROM t LEFT SEMI JOIN odd ON t.region = odd.month": ["`t`.`region`"],
    "SELECT t.d, t.v FROM t WHERE region IN (SELECT month FROM odd)": ["`t`.`region`"],
    "SELECT t.d, t.v, odd.ts FROM t CROSS JOIN odd": [],
    # That by which all windows are partitioned, or rows are grouped below, where nothing else is followed.
    "SELECT id, sum(v) OVER (PARTITION BY region) AS s FROM t": ["`t`.`region`"],
    "SELECT id, v / sum(v) OVER (PARTITION BY region, id % 2) AS s FROM t": ["`t`.`region`"],
    "SELECT id, region, sum(v) OVER (PARTITION BY region) AS s FROM t": [],
    "SELECT sum(v) OVER (PARTITION BY region) AS s, max(v) OVER (PARTITION BY region, id) AS m FROM t": [
        "`t`.`region`"
    ],
    "SELECT sum(v) OVER (PARTITION BY region) AS s, max(v) OVER (PARTITION BY id) AS m FROM t": [],
    "SELECT v FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t) q WHERE n = 1": ["`q`.`id`"],
    "SELECT v FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t) WHERE n = 1": ["`id`"],
    "WITH q AS (SELECT *, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t), f AS (SELECT v FROM q "
    "WHERE n = 1) SELECT * FROM f": ["`q`.`id`"],
    "SELECT 2 * s AS x FROM (SELECT region, sum(v) AS s FROM t GROUP BY region) q": ["`q`.`region`"],
    "SELECT upper(month) AS m, x.s FROM odd o JOIN (SELECT id, sum(w) OVER (PARTITION BY id) AS s FROM u) x "
    "ON o.month > x.s": ["`x`.`id`"],
    "SELECT count(*) OVER (PARTITION BY id, region) AS c FROM (SELECT id, region FROM t) q": ["`q`.`id`"],
    "SELECT count(*) OVER (PARTITION BY xs, region) AS c FROM t": ["`t`.`region`"],
    "SELECT count(*) OVER (PARTITION BY xs) AS c FROM t": [],
    "SELECT q.m FROM (SELECT o.ts, u.w, length(o.month) + u.w AS m FROM odd o LEFT JOIN u ON o.ts > u.w) q": [],
    # What rows are grouped by.
    "SELECT sum(v) AS s FROM t GROUP BY d, region": ["`t`.`d`"],
    "SELECT max(id) AS m FROM t GROUP BY region, v HAVING count(*) > 1": ["`t`.`region`"],
    "SELECT v % 2 AS odd, max(id) AS m FROM t GROUP BY v, region": [],
    "SELECT d, concat(region, v) AS k, count(*) AS c FROM t GROUP BY d, region, v": [],
    "WITH q AS (SELECT concat(id, n) AS k, count(*) AS c FROM (SELECT id, sum(v) OVER (PARTITION BY id ORDER BY d "
    "RANGE UNBOUNDED PRECEDING) AS n FROM t) x GROUP BY id, n) SELECT * FROM q": ["`x`.`id`"],
    "SELECT sum(v) AS s FROM t GROUP BY upper(region)": [],
    "SELECT sum(v) AS s FROM t GROUP BY ROLLUP (d, region)": [],
    "SELECT sum(v) AS s, rank() OVER (ORDER BY sum(v)) AS r FROM t GROUP BY d": [],
    "SELECT DISTINCT sum(v) AS s FROM t GROUP BY d": [],
    # Rows that a column more would change, or that do not keep what they are made of.
    "SELECT DISTINCT id FROM t": [],
    "SELECT id, count(*) AS n FROM t GROUP BY id": [],
    "SELECT count(*) AS n FROM t": [],
    "SELECT max(v) AS m FROM t HAVING max(v) > 0": [],
    "SELECT id FROM t LIMIT 3": [],
    "SELECT id FROM t UNION ALL SELECT id FROM t": [],
    "SELECT id FROM (SELECT id FROM t) AS x": [],
    "SELECT id FROM t AS x(a, b, c, e, f, id, g, h)": ["`x`.`e`"],
    "WITH f(id) AS (SELECT id FROM t) SELECT * FROM f": [],
    "WITH f AS (SELECT id FROM t) SELECT * FROM f QUALIFY count(*) OVER (PARTITION BY id) = 1": [],
    "WITH f AS (SELECT id FROM t) SELECT * FROM f WHERE hash(*) % 2 = 0": [],
    "WITH f AS (SELECT id FROM t) SELECT * FROM f WHERE id IN (SELECT hash(f.*) FROM u)": [],
    "WITH f AS (SELECT id FROM t) SELECT * FROM f WHERE EXISTS (SELECT * FROM u WHERE u.id = f.id)": ["`t`.`d`"],
    "SELECT rand() AS r FROM t": [],
}

TEXTS = {
    "SELECT id, v -- the value\nFROM t": "SELECT id, v, `t`.`d` AS icebergmv_key_ca74e1b3 -- the value\nFROM t",
    "SELECT id FROM t ORDER BY 1": "SELECT id, `t`.`d` AS icebergmv_key_ca74e1b3 FROM t ORDER BY 1",
    "SELECT /*+ BROADCAST(u) */ t.id FROM t JOIN u ON t.id = u.id": (
        "SELECT /*+ BROADCAST(u) */ t.id, `t`.`d` AS icebergmv_key_ca74e1b3 FROM t JOIN u ON t.id = u.id"
    ),
    "SELECT * FROM (SELECT id FROM t) x": "SELECT * FROM (SELECT id, `t`.`d` AS icebergmv_key_ca74e1b3 FROM t) x",
    "WITH f AS (SELECT id FROM t) SELECT * FROM f WHERE id > 0": (
        "WITH f AS (SELECT id, `t`.`d` AS icebergmv_key_ca74e1b3 FROM t) SELECT * FROM f WHERE id > 0"
    ),
}

OF_SEVERAL_READERS = (
    # What is listed in one place would be read in another.
    "WITH f AS (SELECT id FROM t) SELECT * FROM f WHERE id IN (SELECT * FROM f)",
    "WITH f AS (SELECT id FROM t), g AS (SELECT * FROM f) SELECT * FROM f UNION ALL SELECT * FROM g",
    "WITH f AS (SELECT id FROM t) SELECT * FROM f AS x(a)",
    "WITH RECURSIVE f AS (SELECT id FROM t) SELECT * FROM f",
    "SELECT * FROM (SELECT id FROM t) AS x(a)",
    "(SELECT id FROM t)",
)


def wanted(sql: str) -> list[str]:
    definition = analysed(sql)
    return list(wanted_keys(definition, {r.index: BY_DAY[r.name] for r in definition.references}))


@pytest.mark.parametrize("sql", WANTED)
def test_what_is_stored_besides(sql: str) -> None:
    assert wanted(sql) == WANTED[sql]


@pytest.mark.parametrize("sql", [sql for sql, keys in WANTED.items() if keys])
def test_it_is_followed_then(sql: str) -> None:
    keys = wanted(sql)
    text = with_keys(sql, keys)
    assert text is not None
    columns = analysed(text, keys=tuple(keys)).columns or ()
    assert [c.name for c in columns[-len(keys) :]] == [key_name(key) for key in keys]
    assert all(c.tracks for c in columns[-len(keys) :])
    assert [c.name for c in columns[: -len(keys)]] == [c.name for c in analysed(sql).columns or ()]


@pytest.mark.parametrize("sql", TEXTS)
def test_the_text_with_keys(sql: str) -> None:
    assert with_keys(sql, ["`t`.`d`"]) == TEXTS[sql]
    assert taken_back(TEXTS[sql], ["`t`.`d`"]) == sql


def test_a_name_says_what_a_column_holds() -> None:
    """Rows that have another key under the same name would be taken for those of today."""
    assert key_name("`t`.`d`") != key_name("`t`.`n`")


@pytest.mark.parametrize("sql", OF_SEVERAL_READERS)
def test_a_list_that_others_read(sql: str) -> None:
    assert with_keys(sql, ["`t`.`d`"]) is None


def test_there_are_only_a_few() -> None:
    definition = analysed("SELECT v FROM t")
    assert len(wanted_keys(definition, {0: ("d", "ts", "region", "id", "n")})) == MOST_KEYS


def test_their_names_are_reserved() -> None:
    with pytest.raises(InvalidDefinition, match="Rename it with AS"):
        analysed("SELECT id AS ICEBERGMV_KEY_7 FROM t")
