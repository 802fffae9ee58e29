"""Random SELECTs with conditions: rows that these leave out may come, go and change, and no row of the view does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from random import Random
from typing import TypeAlias

import duckdb
import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from tests.support.analysis import analysed_in
from tests.support.shares import one_of

Row: TypeAlias = tuple[int | None, int | None, str | None, int | None]

COLUMNS = tuple(
    ColumnInfo(name, type_, None) for name, type_ in (("k", "int"), ("d", "date"), ("s", "string"), ("v", "int"))
)
FIRST_DAY = date(1970, 1, 1)
FEW_DAYS = range(10, 14)
TERMS = (
    *("{}.k > 1", "{}.k <= 1", "{}.k = 2", "{}.k IN (0, 2)", "{}.k <> 1", "{}.k BETWEEN 1 AND 2", "1 >= {}.k"),
    *("{}.d >= DATE '1970-01-12'", "{}.d < '1970-01-13'", "{}.d = DATE '1970-01-15' - INTERVAL 3 DAYS"),
    *("{}.s = 'a'", "{}.s > 'a'", "{}.v IS NOT NULL", "year({}.d) = 1970", "{}.k IS NULL", "{}.k > 1 OR {}.v > 1"),
)
SHAPES = (
    "SELECT a.v FROM t a SEMI JOIN u b ON a.k = b.k AND {2} AND {0}",
    "SELECT a.v FROM t a ANTI JOIN u b ON a.k = b.k AND {2}",
    "SELECT a.v FROM t a ANTI JOIN u b ON a.d = b.d AND {2} AND {0}",
    "SELECT a.v FROM t a FULL JOIN u b ON a.k = b.k AND {0} AND {2}",
    "SELECT a.v, c.v AS x FROM t a LEFT JOIN u b ON a.k = b.k AND {2} LEFT JOIN t c ON c.k = b.k AND c.k > 1",
    "SELECT a.v, n FROM t a LEFT JOIN (SELECT *, count(*) AS n FROM u GROUP BY ALL) b ON a.k = b.k AND {2}",
    "SELECT b.v, c.v AS x FROM t a RIGHT JOIN u b ON a.k = b.k AND {0} AND {2} LEFT JOIN t c ON c.d = a.d AND {1}",
    *("SELECT a.* FROM t a WHERE {0}", "SELECT a.k, count(*) AS n FROM t a WHERE {0} AND {1} GROUP BY a.k"),
    *("SELECT a.v, b.k FROM t a JOIN u b ON a.k = b.k AND {2} WHERE {0}", "SELECT max(v) AS m FROM t a WHERE {0}"),
    *(
        "SELECT a.v, b.v AS w FROM t a LEFT JOIN u b ON a.k = b.k AND {2} WHERE {0}",
        "SELECT DISTINCT v FROM t a WHERE {0}",
    ),
    *(
        "SELECT a.v, b.v AS w FROM t a LEFT JOIN u b ON a.k = b.k WHERE {2}",
        "SELECT a.k FROM t a, u b WHERE {0} AND {2}",
    ),
    *("SELECT a.v, b.v AS w FROM t a RIGHT JOIN u b ON a.d = b.d AND {0} WHERE {2}",),
    *(
        "SELECT a.v, b.v AS w FROM t a FULL JOIN u b ON a.k = b.k WHERE {0}",
        "SELECT k FROM t FULL JOIN u a USING (k) WHERE {0}",
    ),
    *("SELECT a.k, b.v AS w FROM t a FULL JOIN u b ON a.k = b.k WHERE {0} AND {2}",),
    *("SELECT a.v, b.v AS w FROM t a JOIN u b ON a.k = b.k AND {0} FULL JOIN t c ON c.d = a.d WHERE {2}",),
    *("SELECT a.v, c.v AS w FROM t a JOIN u b ON a.k = b.k AND {2} FULL JOIN t c ON c.k = b.k",),
    *("SELECT a.v FROM t a WHERE {0} AND EXISTS (SELECT 1 FROM u b WHERE b.k = a.k AND {2})",),
    *("SELECT a.v FROM t a WHERE {0} AND NOT EXISTS (SELECT 1 FROM u b WHERE b.d = a.d AND {2})",),
    *("SELECT a.v FROM t a WHERE {0} AND a.k IN (SELECT b.k FROM u b WHERE {2})",),
    *("SELECT a.v FROM t a WHERE {0} AND a.k NOT IN (SELECT b.k FROM u b WHERE {2})",),
    *("SELECT a.k, (SELECT max(b.v) FROM u b WHERE b.k = a.k AND {2}) AS m FROM t a WHERE {0}",),
    *("SELECT a.k, a.n FROM (SELECT k, d, s, v, count(*) AS n FROM t GROUP BY ALL) a WHERE {0}",),
    *("SELECT a.k, a.v FROM (SELECT k, max(d) AS d, min(s) AS s, sum(v) AS v FROM t GROUP BY k) a WHERE {0}",),
    *("SELECT a.* FROM (SELECT k, d, s, sum(v) OVER (PARTITION BY k) AS v FROM t) a WHERE {0}",),
    *("SELECT a.* FROM (SELECT k, d, s, row_number() OVER (PARTITION BY k ORDER BY d, s, v) AS v FROM t) a WHERE {0}",),
    *("SELECT a.* FROM (SELECT * FROM t UNION ALL SELECT * FROM u) a WHERE {0}",),
    *("SELECT a.* FROM (SELECT * FROM t EXCEPT SELECT * FROM u) a WHERE {0}",),
    *("SELECT a.* FROM (SELECT * FROM t INTERSECT SELECT k, d, s, v FROM u b WHERE {2}) a WHERE {0}",),
    *("SELECT a.v FROM (SELECT v, s, d AS d, v AS k FROM t) a WHERE {0}",),
    *("WITH c AS (SELECT * FROM t a WHERE {0}) SELECT a.v, b.k FROM c a JOIN c b ON a.k = b.k AND {1} WHERE {2}",),
    *("WITH c AS (SELECT * FROM t) SELECT a.v FROM c a WHERE {0} UNION ALL SELECT b.v FROM c b WHERE {2}",),
    *("SELECT a.k, n FROM t a LEFT JOIN (SELECT k, max(v) AS n FROM u b WHERE {2} GROUP BY k) b USING (k) WHERE {0}",),
    *("SELECT a.v FROM (SELECT x.k, y.d, y.s, y.v FROM t x LEFT JOIN u y ON x.k = y.k) a WHERE {0}",),
)


def columns_of(reference: TableReference) -> tuple[ColumnInfo, ...] | None:
    return COLUMNS


def a_row(random: Random) -> Row:
    days = random.choice([None, *FEW_DAYS])
    return random.choice([None, 0, 1, 2]), days, random.choice([None, "a", "b"]), random.choice([None, 1, 2])


def matters(row: Row, kept: Sequence[TupleDomain]) -> bool:
    values = dict(zip((c.name for c in COLUMNS), row, strict=True))
    return any(
        not rows.is_none and all(domain.contains(values[key.column]) for key, domain in rows.constraints)
        for rows in kept
    )


def result(db: duckdb.DuckDBPyConnection, sql: str, tables: dict[str, list[Row]]) -> Counter[tuple[object, ...]]:
    for name, rows in tables.items():
        db.execute(f"DELETE FROM {name}")
        found = [(k, None if d is None else FIRST_DAY + timedelta(days=d), s, v) for k, d, s, v in rows]
        if found:
            db.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", found)
    return Counter(db.execute(sql).fetchall())


@pytest.mark.parametrize("seed", one_of(4, range(4)))
def test_rows_that_conditions_leave_out_do_not_matter(seed: int) -> None:
    random, changed = Random(seed), 0
    with duckdb.connect() as db:
        for name in ("t", "u"):
            db.execute(f"CREATE TABLE {name} (k int, d date, s varchar, v int)")
        for _ in range(100):
            terms = [random.choice(TERMS).replace("{}", alias) for alias in "aab"]
            sql = random.choice(SHAPES).format(*terms)
            definition = analysed_in(sql, "ns", columns_of, True)
            tables = {name: [a_row(random) for _ in range(random.randint(0, 7))] for name in ("t", "u")}
            before = result(db, sql, tables)
            kept = {
                name: definition.rows_that_matter(r.index for r in definition.references if r.name == name)
                for name in tables
            }
            other = {
                name: [row for row in rows if matters(row, kept[name]) or random.random() < 0.5]
                + [row for row in (a_row(random) for _ in range(4)) if not matters(row, kept[name])]
                for name, rows in tables.items()
            }
            assert result(db, sql, other) == before, f"{sql}\n{tables}\n{other}"
            changed += other != tables
    assert changed > 30
