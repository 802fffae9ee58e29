"""Common table expressions that are used several times, and by which columns of a view their rows are followed."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.edits.shared_ctes import shared_texts
from tests.support.bases import analysed

PERIODS = (
    "WITH c AS (SELECT region, v, count(*) AS n FROM t GROUP BY region, v) "
    "SELECT x.region, x.v, y.n AS before FROM c x JOIN c AS y ON x.region = y.region AND x.v = y.v + 1"
)


def test_each_has_a_text_of_its_own_and_one_around_it() -> None:
    (found,) = shared_texts(PERIODS)
    assert found.own == "SELECT region, v, count(*) AS n FROM t GROUP BY region, v"
    assert "SELECT x.region, x.v, y.n AS before FROM icebergmv_shared x JOIN icebergmv_shared AS y ON" in found.around
    place = PERIODS.index("t GROUP")
    assert found.place(found.own.index("t GROUP")) == place
    assert found.holds(place) and not found.holds(PERIODS.index("SELECT x"))


def test_what_is_in_front_of_it_comes_along() -> None:
    sql = (
        "WITH a AS (SELECT id FROM t), b AS (SELECT id FROM u), c AS (SELECT a.id FROM a JOIN b ON a.id = b.id) "
        "SELECT c.id FROM c JOIN c AS d ON c.id = d.id JOIN b ON c.id = b.id"
    )
    outer, inner = shared_texts(sql)
    assert outer.own == (
        "WITH a AS (SELECT id FROM t), b AS (SELECT id FROM u)\nSELECT a.id FROM a JOIN b ON a.id = b.id"
    )
    assert "FROM icebergmv_shared AS `c` JOIN icebergmv_shared AS d" in outer.around
    assert outer.place(outer.own.rindex("a JOIN")) == sql.index("a JOIN")
    # It alone reads a, but b is read beside it too.
    assert outer.holds(sql.index("t)")) and not outer.holds(sql.index("u)"))
    assert inner.holds(sql.index("u)")) and inner.own == "WITH a AS (SELECT id FROM t)\nSELECT id FROM u"


NONE = {
    "used once": "WITH c AS (SELECT id FROM t) SELECT id FROM c",
    "recursive": "WITH RECURSIVE c AS (SELECT id FROM t) SELECT a.id FROM c a JOIN c b ON a.id = b.id",
    "names its columns": "WITH c(k) AS (SELECT id FROM t) SELECT a.k FROM c a JOIN c b ON a.k = b.k",
    "has a WITH of its own": (
        "WITH c AS (WITH d AS (SELECT id FROM t) SELECT id FROM d) SELECT a.id FROM c a JOIN c b ON a.id = b.id"
    ),
    "in a subquery": "SELECT id FROM (WITH c AS (SELECT id FROM t) SELECT a.id FROM c a JOIN c b ON a.id = b.id) q",
    "the name is taken": (
        "WITH icebergmv_shared AS (SELECT id FROM t) SELECT a.id FROM icebergmv_shared a, icebergmv_shared b"
    ),
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_not_asked_by_itself(name: str) -> None:
    assert [*shared_texts(NONE[name])] == []


FOLLOWED: dict[str, dict[str, set[str]]] = {
    PERIODS: {"t": {"region"}},
    # Of two uses with other columns both are followed.
    "WITH c AS (SELECT region, count(*) AS n FROM t GROUP BY region) "
    "SELECT x.region, y.region AS other, x.n FROM c x CROSS JOIN c y": {"t": {"region"}},
    # The second use shows no column by which groups are told apart.
    "WITH c AS (SELECT region, count(*) AS n FROM t GROUP BY region) "
    "SELECT x.region, y.n FROM c x JOIN c y ON x.n = y.n": {},
    # What a scalar subquery reads is not followed.
    "WITH c AS (SELECT region, count(*) AS n FROM t GROUP BY region) "
    "SELECT region, n FROM c WHERE n > (SELECT avg(n) FROM c)": {},
    "WITH c AS (SELECT a.region, b.v FROM t a JOIN u b ON a.id = b.id) "
    "SELECT x.region, y.v FROM c x LEFT JOIN c y ON x.region = y.region": {"t": {"region"}, "u": {"region"}},
    # A table that is read beside it is asked for each of its places, and so is what is in it.
    "WITH c AS (SELECT region, v FROM t) "
    "SELECT x.region FROM c x JOIN c y ON x.region = y.region JOIN u ON x.region = u.region": {"t": {"region"}},
    # Behind an aggregate of all rows nothing is answered.
    "WITH c AS (SELECT count(*) AS n FROM t) SELECT x.n FROM c x JOIN c y ON x.n = y.n": {},
    # The name of the table in it is the name that it has itself.
    "WITH t AS (SELECT region, v FROM t WHERE v > 0) SELECT a.region FROM t a JOIN t b ON a.region = b.region": {
        "t": {"region"}
    },
    "WITH c AS (SELECT region, max(v) AS m FROM t GROUP BY region) "
    "SELECT upper(x.region) AS r FROM c x JOIN c y ON x.region = y.region": {},
}


@pytest.mark.parametrize("sql", FOLLOWED)
def test_columns_that_lead_on(sql: str) -> None:
    definition = analysed(sql)
    shared = definition.asked.shared
    found = {
        definition.references[index].name: set(cte.columns & {*cte.asked.columns_of(index)})
        for index, cte in shared.items()
    }
    assert found == FOLLOWED[sql]


def test_references_of_its_own_text_are_those_of_the_view() -> None:
    sql = (
        "WITH a AS (SELECT id, v FROM u), c AS (SELECT t.id, a.v FROM t JOIN a ON t.id = a.id) "
        "SELECT x.id, y.v FROM u AS w JOIN c x ON w.id = x.id JOIN c y ON x.id = y.id"
    )
    definition = analysed(sql)
    first, second = (definition.asked.shared[r.index] for r in definition.references if r.name in "tu" and r.start < 90)
    assert first.asked is second.asked
    named = {definition.references[origin].name for origin in first.asked.origins.values()}
    assert named == {"t", "u"} and len(first.asked.references) == 2
