"""Names without a table before them: columns, functions, or variables of the session."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from tests.support.rule_tables import TABLES, analysed

VARIABLES = [
    "SELECT d, sum(v) * rate AS rate FROM t GROUP BY d",
    "SELECT d, v * rate AS x, 1 AS rate FROM t",
    "SELECT d, v FROM t WHERE v > value",
    "SELECT d, v * t AS x FROM t",
    "SELECT d, v * session.rate AS x, 1 AS session FROM t",
    "WITH q AS (SELECT 7 AS rate FROM t), z AS (SELECT d, v * rate AS x FROM t) SELECT z.d, z.x FROM z JOIN q ON true",
    "SELECT id FROM t WHERE id > w UNION ALL SELECT w FROM u WHERE w < 3",
    "SELECT d FROM (SELECT d, v FROM t WHERE v < w) x JOIN u ON x.d = u.d",
    "SELECT x.rate AS k FROM t",
    "WITH c AS (SELECT * FROM t) SELECT d, id < bound AS q FROM c",
    "SELECT d, id < bound AS q FROM (SELECT t.* FROM t JOIN u ON t.id = u.id)",
    "SELECT d FROM (SELECT * FROM t) WHERE w > 3 AND EXISTS (SELECT w FROM u)",
    "SELECT d, w AS q FROM (SELECT t.* FROM t JOIN u ON t.id = u.id)",
    "SELECT d, bound FROM t, range(3)",
    "SELECT d, bound FROM t LATERAL VIEW inline(array(struct(1 AS a)))",
    "SELECT d, count(*) AS bound FROM t WHERE v < bound GROUP BY d",
    "SELECT t.d, t.v AS bound FROM t JOIN u ON u.w > bound",
    "SELECT v AS bound, (SELECT max(w) FROM u WHERE w < bound) AS m FROM t",
    "SELECT d FROM t WHERE v IN (SELECT w AS bound FROM u WHERE w < bound)",
    "SELECT x.d, x.vv FROM t x",
    "SELECT t.d, sum(t.vv) AS s FROM ns.t GROUP BY t.d",
    "SELECT t.d FROM t JOIN u ON t.id = u.idd",
    "SELECT t.d, u.region FROM t, u",
    "WITH c AS (SELECT d, sum(v) AS total FROM t GROUP BY d) SELECT c.d, c.totl FROM c",
    "WITH c(k) AS (SELECT d FROM t) SELECT c.d FROM c",
    "SELECT q.v FROM (SELECT id, d FROM t) q",
    "SELECT t.d, t.ss.d AS k FROM t",
    "SELECT d FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.vv)",
]
COLUMNS = [
    "SELECT d, v * 2 AS rate, rate + 1 AS more FROM t",
    "SELECT d AS day, count(*) AS n FROM t GROUP BY day HAVING n > 1",
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = v AND w > 1)",
    "SELECT x FROM t LATERAL VIEW explode(xs) e AS x",
    "SELECT d, col FROM t LATERAL VIEW explode(xs) e",
    "SELECT id, m FROM t JOIN LATERAL (SELECT max(w) AS m FROM u WHERE u.id = v) z",
    "SELECT transform(xs, e -> e + v) AS ys FROM t",
    "SELECT k FROM (SELECT d AS k FROM t UNION ALL SELECT d FROM u)",
    "WITH c(k) AS (SELECT d FROM t) SELECT k FROM c",
    "SELECT v FROM (t a JOIN u b ON a.id = b.id AND w > v)",
    "SELECT id AS k FROM t UNION ALL SELECT id FROM u ORDER BY k",
    "WITH c AS (SELECT * FROM t) SELECT d, v + 1 AS q FROM c WHERE id > 3",
    "SELECT d, w FROM (SELECT * FROM t JOIN u USING (id, d))",
    "SELECT d, max(v) AS top FROM t GROUP BY d ORDER BY top",
    "SELECT d, session_window.start AS s, count(*) AS n FROM t GROUP BY d, session_window(ts, '1 day')",
    "SELECT a FROM VALUES (1) AS x(a) JOIN t ON a = v",
    "SELECT x.d, X.V, t.s.month AS m FROM t x JOIN t ON x.id = t.id",
    "SELECT s.month AS m, s.d AS k FROM t",
    "SELECT u.month AS m FROM (SELECT s AS u FROM t) u",
    "SELECT ns.t.d, lake.ns.t.v FROM lake.ns.t",
    "SELECT t.region FROM other.t",
    "SELECT e.x FROM t LATERAL VIEW explode(xs) e AS x",
    "SELECT e.col FROM t LATERAL VIEW explode(xs) e",
    "SELECT z.m FROM t JOIN LATERAL (SELECT max(w) AS m FROM u WHERE u.id = t.v) z",
    "SELECT j.d, j.w FROM (t a JOIN u b USING (id, d)) j",
    "SELECT d FROM t x WHERE EXISTS (SELECT 1 FROM u WHERE u.id = x.v)",
    "WITH c AS (SELECT max(v) FROM t) SELECT c.`max(v)` AS m FROM c",
    "WITH c AS (SELECT d FROM t UNION ALL SELECT d FROM u) SELECT c.d FROM c",
    "SELECT transform(array(s), e -> e.month) AS ms FROM t",
    "SELECT q.month AS m FROM (SELECT s.* FROM t) q",
    "WITH c AS (SELECT id, t.s.* FROM t), e AS (SELECT * FROM c) SELECT e.month AS m FROM e",
    "SELECT d FROM t x WHERE EXISTS (SELECT 1 FROM u x WHERE x.region = 'a')",
]


@pytest.mark.parametrize("sql", VARIABLES)
def test_what_may_be_a_variable(sql: str) -> None:
    assert "a misspelling, or a variable" in str(analysed(sql).always_full)


@pytest.mark.parametrize("sql", COLUMNS)
def test_what_is_a_column(sql: str) -> None:
    assert analysed(sql).always_full is None


def test_a_column_that_is_written_nearly_so_is_named() -> None:
    found = analysed("SELECT x.regoin FROM t x").always_full
    assert found == (
        "x.regoin is no column of a table that it reads: "
        "a misspelling, or a variable, which may change (is region meant?)"
    )


def test_expressions_that_read_themselves_or_one_another_often() -> None:
    recursive = analysed("WITH RECURSIVE r AS (SELECT * FROM r) SELECT k FROM r")
    assert [column.name for column in recursive.columns or ()] == ["k"]
    chain = ", ".join(f"c{n} AS (SELECT a.* FROM c{n - 1} a JOIN c{n - 1} b ON a.id = b.id)" for n in range(1, 8))
    definition = analysed(f"WITH c0 AS (SELECT * FROM t), {chain} SELECT id, bound FROM c7")
    assert "a misspelling, or a variable" in str(definition.always_full)


@pytest.fixture
def owners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLES, "o", "id int, user string, session_user string, lim int")
    monkeypatch.setitem(TABLES, "a", "w int, owner string")


@pytest.mark.usefixtures("owners")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT o.id, (SELECT count(*) FROM a WHERE a.owner = user) AS n FROM o",
        "SELECT o.id FROM o WHERE EXISTS (SELECT 1 FROM a WHERE a.owner = `user`)",
        "SELECT a.w, user AS by FROM a WHERE EXISTS (SELECT 1 FROM o WHERE o.user = a.owner)",
        "SELECT id, session_user AS s FROM o",
        "SELECT w FROM a GROUP BY w, owner HAVING max(owner) = user",
    ],
)
def test_a_name_of_a_function_is_a_call_unless_its_own_from_has_it(sql: str) -> None:
    assert "() gives a new value at every run" in str(analysed(sql).always_full)


@pytest.mark.usefixtures("owners")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, user FROM o",
        "SELECT o.id, (SELECT count(*) FROM a WHERE a.owner = o.user) AS n FROM o",
        "SELECT owner AS user FROM a",
        "SELECT user FROM (SELECT owner AS user FROM a)",
        "SELECT user FROM (SELECT * FROM o) JOIN a ON owner = user",
    ],
)
def test_a_column_of_its_own_from_is_no_call(sql: str) -> None:
    assert analysed(sql).always_full is None


def _asked_alone(definition: ViewDefinition) -> tuple[list[int], dict[int, int]]:
    """Return which references have scalar subqueries that are asked, and how many terms each block leaves out."""
    blocks = definition.asked.blocks
    return list(definition.asked.scalars), {i: len(blocks[i].left_out) for i in sorted(blocks)}


@pytest.mark.usefixtures("owners")
@pytest.mark.parametrize(
    ("sql", "scalars", "blocks"),
    [
        ("SELECT id FROM o WHERE id > (SELECT max(w) FROM a WHERE w < 5)", [1], {0: 0, 1: 0}),
        ("SELECT id FROM o WHERE id > (SELECT max(w) FROM a WHERE w < lim)", [], {0: 0, 1: 1}),
        ("SELECT id FROM o WHERE id > (SELECT max(w) FROM a WHERE w < o.lim)", [], {0: 0, 1: 1}),
        ("SELECT id FROM o WHERE id > (SELECT max(w + lim) FROM a WHERE w < 5)", [], {0: 0, 1: 0}),
        ("SELECT id FROM o WHERE EXISTS (SELECT 1 FROM a JOIN a b ON a.w = b.w + lim)", [], {0: 0}),
        (
            "SELECT id FROM o WHERE id IN (SELECT w FROM a WHERE w IN (SELECT w FROM a WHERE w > lim))",
            [],
            {0: 0, 1: 1, 2: 1},
        ),
        ("SELECT id, m FROM o JOIN LATERAL (SELECT max(w) AS m FROM a WHERE w < lim) z", [], {0: 0, 1: 1}),
        ("SELECT id FROM o WHERE id > (SELECT n FROM (SELECT count(*) AS n FROM a HAVING n > 1))", [1], {0: 0, 1: 0}),
    ],
)
def test_what_reads_a_row_around_it_is_not_asked_alone(sql: str, scalars: list[int], blocks: dict[int, int]) -> None:
    assert _asked_alone(analysed(sql)) == (scalars, blocks)
