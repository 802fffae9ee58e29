"""Random SELECTs over views whose lists change at random: where the hash is the same, so are the rows (on DuckDB).

So they are where values change in columns of tables that are not among the words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import duckdb
import pytest

from dbt.adapters.icebergmv.maintenance.definition.references.unread_columns import (
    hash_of_read_columns,
    words_of_read_columns,
)
from tests.support.shares import one_of

_NAMES = ("a", "b", "c", "d")
_VALUES = (
    *("x", "y", "x + y", "x % 2", "-y", "1", "(SELECT max(z) FROM u)", "row_number() OVER (PARTITION BY x ORDER BY y)"),
    *("max(x)", "unnest(list_value(x, y))", "count(*)"),
)
_AROUND = (
    *("SELECT {} FROM ({}) v", "SELECT {} FROM ({}) v WHERE v.a > 1", "SELECT {} FROM ({}) v JOIN u ON u.z = v.a"),
    *("WITH w AS (SELECT * FROM ({1}) v) SELECT {0} FROM w", "SELECT {} FROM (SELECT * FROM ({}) v) w"),
    *("SELECT count(*) AS n FROM (SELECT DISTINCT * FROM ({1}) v) w", "SELECT DISTINCT {} FROM ({}) v"),
    *("SELECT {0} FROM ({1}) v UNION SELECT {0} FROM ({1}) v", "SELECT count(*) AS n FROM ({1}) v"),
    *("SELECT {} FROM (SELECT *, v.b AS e FROM ({}) v) w", "SELECT n FROM (SELECT count(v.*) AS n FROM ({1}) v) w"),
    *("SELECT {} FROM ({}) v ORDER BY 1", "SELECT z FROM u WHERE EXISTS (SELECT * FROM ({1}) v WHERE v.a = z)"),
    *("SELECT z FROM u WHERE EXISTS (SELECT 1 FROM ({1}) v WHERE b = z)", "SELECT * FROM (SELECT {} FROM ({}) v) w"),
    *("SELECT z FROM u WHERE z IN (SELECT a FROM ({1}) v)", "SELECT {} FROM ({}) v NATURAL JOIN (SELECT 1 AS d) u"),
    *("SELECT q FROM ({1}) v(q, r)", "SELECT a FROM (SELECT * FROM ({1}) v UNION ALL SELECT * FROM ({1}) v) w"),
)
_BELOW = (
    *("SELECT {} FROM t", "SELECT {} FROM t WHERE x > 2", "SELECT DISTINCT {} FROM t", "SELECT {} FROM t GROUP BY ALL"),
    *(
        "SELECT * FROM (SELECT {} FROM t) r",
        "WITH r AS (SELECT {} FROM t) SELECT * FROM r",
        "SELECT {} FROM t LEFT JOIN u ON z = x",
    ),
    *("SELECT {} FROM t ORDER BY 2, 1 LIMIT 3", "SELECT {0} FROM t UNION SELECT {0} FROM t WHERE y > 1"),
)


def _lists(random: Random) -> Iterator[str]:
    """Yield a SELECT list, and others that differ from it in an item or two."""
    items = [(random.choice(_VALUES), name) for name in ("a", *random.sample(_NAMES[1:], random.randint(1, 3)))]
    yield _as_list(items)
    for _ in range(4):
        changed, at = [*items], random.randrange(len(items))
        match random.choice(["more", "less", "other"]):
            case "more":
                free = [name for name in _NAMES if name not in {n for _, n in items}]
                changed[at:at] = [(random.choice(_VALUES), name) for name in free[:1]]
            case "less" if len(items) > 1:
                del changed[at]
            case _:
                changed[at] = (random.choice(_VALUES), items[at][1])
        yield _as_list(changed)


def _as_list(items: list[tuple[str, str]]) -> str:
    return ", ".join(f"{value} AS {name}" for value, name in items)


@pytest.mark.parametrize("seed", one_of(8, range(8)))
def test_the_same_hash_has_the_same_rows(seed: int) -> None:
    random, same = Random(seed), 0
    with duckdb.connect() as db:
        db.execute("CREATE TABLE t AS SELECT i % 5 AS x, i % 3 AS y FROM range(11) r(i)")
        db.execute("CREATE TABLE u AS SELECT i AS z FROM range(4) r(i)")
        for _ in range(100):
            around, below = random.choice(_AROUND), random.choice(_BELOW)
            outer = ", ".join(random.sample(_NAMES, random.choice([1, 1, 2])))
            found: dict[str, tuple[str, Counter[tuple[object, ...]]]] = {}
            for items in _lists(random):
                sql = around.format(outer, below.format(items))
                try:
                    rows = Counter(db.execute(sql).fetchall())
                except duckdb.Error:
                    continue
                text, before = found.setdefault(hash_of_read_columns(sql), (sql, rows))
                assert rows == before, f"{text}\n{sql}"
                same += text != sql
    assert same > 5


@pytest.mark.parametrize("seed", one_of(4, range(8)))
def test_columns_that_are_not_among_the_words_change_no_row(seed: int) -> None:
    random, changed = Random(seed), 0
    with duckdb.connect() as db:
        for _ in range(150):
            around, below = random.choice(_AROUND), random.choice(_BELOW)
            sql = around.format(random.choice(_NAMES), below.format(next(_lists(random))))
            words = words_of_read_columns(sql)
            unread = [] if words is None else [name for name in ("x", "y") if name not in words]
            if not unread:
                continue
            found = []
            for offset in (0, random.randint(1, 9)):
                x, y = (f"i % {n} + {offset if name in unread else 0}" for name, n in (("x", 5), ("y", 3)))
                db.execute(f"CREATE OR REPLACE TABLE t AS SELECT {x} AS x, {y} AS y FROM range(11) r(i)")
                db.execute("CREATE OR REPLACE TABLE u AS SELECT i AS z FROM range(4) r(i)")
                try:
                    found.append(Counter(db.execute(sql).fetchall()))
                except duckdb.Error:
                    break
            if len(found) == 2:
                assert found[0] == found[1], f"{sql}\n{unread}"
                changed += 1
    assert changed > 5
