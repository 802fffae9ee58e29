"""Views written by hand, and histories that once left wrong rows, or an error, behind them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.planning.answers.changed_keys import Questions
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import one_by_one
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from tests.randomised.choices import Choices
from tests.randomised.database import Database
from tests.randomised.histories import Case, make_case, run
from tests.randomised.planners import RIGHT
from tests.randomised.tables import DAYS, TABLES, Change, Row, Spec
from tests.randomised.views import View
from tests.support import bases
from tests.support.bare_tables import bare_table
from tests.support.shares import one_of
from tests.support.stub_catalog import StubCatalog

VIEWS = {
    # WHERE makes a column equal to one that is answered; where the condition is left out, it is not equal.
    "SELECT b.v AS k, b.n FROM t0 a JOIN (SELECT region, v, count(*) OVER (PARTITION BY region) AS n FROM t1) b "
    "ON a.region = b.region WHERE a.v = b.v": (68, 95),
    # A name that a nested WITH gives another meaning, in a scalar subquery.
    "SELECT q.region, q.v FROM (WITH t1 AS (SELECT v AS v FROM t0 WHERE v > 0) "
    "SELECT a.region, a.v FROM t2 a WHERE a.v >= (SELECT max(v) FROM t1)) q": (8, 23),
    "SELECT a.region, a.v FROM t2 a WHERE EXISTS (WITH t1 AS (SELECT v FROM t0 WHERE v > 0) "
    "SELECT 1 FROM t3 b WHERE b.v >= (SELECT max(v) FROM t1))": (37,),
    # A scalar subquery in a common table expression, over one before it.
    "WITH most AS (SELECT max(s) AS m FROM (SELECT id, sum(v) AS s FROM t0 GROUP BY id) x), "
    "best AS (SELECT id FROM t0 GROUP BY id HAVING sum(v) >= (SELECT m FROM most)) "
    "SELECT region, count(*) AS n FROM t1 WHERE id IN (SELECT id FROM best) GROUP BY region": (0, 1, 2),
    # A term of ON that sees more than what is answered, behind outer joins.
    "SELECT b.id AS x, b.region AS br, b.v FROM "
    "(SELECT region, v, id, count(*) OVER (PARTITION BY region) AS n FROM t0) a LEFT JOIN t1 b "
    "ON a.region = b.region AND a.n > b.v": (30, 104),
    "SELECT b.region, b.v, a.n FROM t1 b RIGHT JOIN "
    "(SELECT region, count(*) OVER (PARTITION BY region) AS n FROM t0) a "
    "ON a.region = b.region AND a.n = b.v": (24, 30),
    "SELECT b.id AS x, b.v, coalesce(a.region, b.region) AS r, coalesce(a.v, b.v) AS w FROM "
    "(SELECT region, v, id, count(*) OVER (PARTITION BY region) AS n FROM t0) a "
    "FULL JOIN t1 b ON a.region = b.region AND a.v = b.v": (24, 30),
    "SELECT coalesce(a.v, b.v) AS w, a.n FROM (SELECT region, v, count(*) OVER (PARTITION BY region) AS n FROM t0) a "
    "FULL JOIN t1 b ON a.region = b.region AND a.v = b.v": (6, 8),
    "SELECT a.region, a.n FROM (SELECT region, v, count(*) OVER (PARTITION BY region) AS n FROM t0) a "
    "LEFT ANTI JOIN t1 b ON a.region = b.region AND a.v = b.v": (24, 30),
    # A recursive WITH is not copied for each use.
    "WITH RECURSIVE c AS (SELECT id, region, v FROM t0) "
    "SELECT c.region, c.v FROM c WHERE c.v < (SELECT max(v) FROM c)": (
        0,
        12,
    ),
    "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5) "
    "SELECT a.region, a.v FROM t0 a WHERE a.v > (SELECT max(n) FROM c)": (0, 1),
    # An alias of a SELECT list that has the name of a column around the subquery.
    "SELECT a.region, a.kk FROM (SELECT region, v AS kk FROM t0) a WHERE NOT EXISTS (SELECT 1 FROM "
    "(SELECT b.id, coalesce(c.v, 3) AS kk, kk + 0 AS y, kk * 1 + b.id - b.id AS z FROM t1 b LEFT JOIN t2 c "
    "ON b.id = c.id) q WHERE q.z = 3)": (82, 95),
    "SELECT a.region, a.kk FROM (SELECT region, v AS kk FROM t0) a WHERE EXISTS (SELECT 1 FROM "
    "(SELECT b.id, sum(b.v) AS kk, kk + b.id AS z FROM t1 b GROUP BY b.id) q WHERE q.z > a.kk)": (68,),
    # Set operations in subqueries.
    "SELECT a.region, a.v FROM t0 a WHERE a.v IN (SELECT v FROM t1 UNION SELECT v FROM t2)": (0, 3),
    "SELECT a.region, a.v FROM t0 a WHERE NOT EXISTS (SELECT v FROM t1 b WHERE b.id = a.id EXCEPT SELECT v FROM t2)": (
        0,
        3,
    ),
    # One table is asked in an expression alone, the other in the whole text, where they are in another order.
    "WITH h AS (SELECT id, region, v FROM t0), "
    "c AS (SELECT h.region, h.v, h.id, b.v AS bv FROM h LEFT JOIN t1 b ON h.id = b.id) "
    "SELECT x.bv, x.region, y.v FROM c x JOIN c y ON x.bv = y.bv AND x.id = y.id": (571, 610, 728),
    # Two columns of an expression that is used twice have one name.
    "WITH c AS (SELECT a.id, b.id, a.region FROM t0 a JOIN t1 b ON a.v = b.v) "
    "SELECT x.p, y.q FROM c AS x(p, q, r) JOIN c AS y(p, q, r) ON x.r = y.r": (57, 68),
    # EXCEPT leaves out the column of one relation, and not that of the other one.
    "SELECT * EXCEPT (a.x) FROM (SELECT id AS x, v AS p FROM t0) a JOIN (SELECT v AS x, id AS k FROM t1) b "
    "ON a.p = b.k UNION ALL SELECT * EXCEPT (a.x) FROM (SELECT id AS x, v AS p FROM t0) a "
    "JOIN (SELECT id AS k, v AS x FROM t1) b ON a.p = b.k": (20, 42, 54),
    # Keys that tell equal values apart by which the rows below are grouped.
    "SELECT t, n, count(*) AS c FROM (SELECT CAST(x AS string) AS t, id, count(*) OVER (PARTITION BY x, id) AS n "
    "FROM t0) q GROUP BY t, n HAVING count(*) > 0": (37, 55),
    "SELECT f, median(n) AS m FROM (SELECT 1 / x > 0 AS f, id, count(*) AS n FROM t0 GROUP BY x, id) q GROUP BY f": (
        8,
        37,
        72,
    ),
    # A common table expression with the name of the table that it reads.
    "WITH t0 AS (SELECT region, v, id FROM t0 WHERE v > 0) SELECT a.region, b.v FROM t0 a JOIN t0 b ON a.id = b.v": (
        0,
        1,
    ),
}


@pytest.mark.parametrize("sql", one_of(6, VIEWS))
def test_no_row_is_wrong(sql: str, database: Database) -> None:
    view = View(sql, frozenset(table for table in TABLES if f" {table}" in sql), (), "d")
    for seed in VIEWS[sql]:
        refreshed = list(run(database, make_case(Choices(seed), view), RIGHT))
        assert [r.wrong for r in refreshed if r.wrong is not None] == []
        assert refreshed


def test_rows_that_come_together_are_asked_in_one_order(database: Database) -> None:
    """Of two tables one is asked in a shared expression, the other in the whole text; a pair of rows is new."""
    sql = (
        "WITH h AS (SELECT id, v FROM t1), c AS (SELECT a.region, a.v, h.v AS hv FROM t0 a JOIN h ON a.id = h.id) "
        "SELECT x.region, y.region AS o, x.v FROM c x JOIN c y ON x.region = y.region JOIN h z ON z.v = x.v"
    )

    def row(number: int, key: int, v: int) -> Row:
        return (key, None, DAYS[0], "a", v, 0.5, number)

    old, new = {"t0": row(0, 0, 0), "t1": row(1, 2, 3)}, {"t0": row(2, 1, 3), "t1": row(3, 1, 3)}
    step = {table: Change((), (new[table],), (old[table], new[table])) for table in old}
    specs = dict.fromkeys(old, Spec((), False))
    case = Case(View(sql, frozenset(old), (), "d"), specs, {table: (one,) for table, one in old.items()}, (step,))
    (refreshed,) = run(database, case, RIGHT)
    assert (refreshed.plan.kind, refreshed.wrong) == ("overwrite", None)


def test_columns_are_called_as_spark_calls_them() -> None:
    """With RIGHT JOIN USING the name of the right side is shown, which may be written otherwise."""
    sql = (
        "WITH c AS (SELECT id, region, count(*) AS n FROM t GROUP BY id, region) "
        "SELECT * FROM c x RIGHT JOIN (SELECT ID, n AS m FROM c) y USING (id)"
    )
    found = bases.analysed(sql)
    renamed = replace(
        found, columns=tuple(replace(c, name="ID" if c.name == "id" else c.name) for c in found.columns or ())
    )
    one = bases.status(bases.sized(bases.change([TupleDomain.all()], unit="file"), 10))
    table = bare_table("t", {name: kind for name, (kind, _) in bases.COLUMNS.items()}, (), (1, 2))
    tables = BaseTables(StubCatalog({}, {"ns.t": table}))
    questions = Questions(renamed, renamed.asked, tables, one, (Column("ID", "int"),))

    def spark(sql: str) -> list[tuple[object, ...]]:
        return [("id", "int"), ("region", "string"), ("n", "bigint")] if sql.startswith("DESCRIBE") else [(7,)]

    assert set(questions.answers(ToAsk((0,)), one_by_one(spark))) == {0}
    answer = questions.answers(ToAsk((0,)), one_by_one(spark))[0]
    assert isinstance(answer, tuple)
    assert {key.column for rows in answer for key, _ in rows.constraints} == {"ID"}
