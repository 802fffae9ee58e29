"""Random views and histories with the real planner: an incremental refresh leaves what a full one would.

Every run has a seed of its own, printed with the outcome; RANDOMISED_SEED repeats a run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import pytest

from tests.randomised.adding_mutants import VIEWS as ADDED_TO
from tests.randomised.choices import Choices
from tests.randomised.database import Database
from tests.randomised.histories import make_case
from tests.randomised.keys import DERIVED, OTHER_TYPES
from tests.randomised.planners import analysed
from tests.randomised.shapes import MUST_BE_INCREMENTAL, TYPES_NOT_FOLLOWED
from tests.randomised.soak import describe, fresh_seed, hunt, play, soak
from tests.randomised.tally import Tally
from tests.randomised.views import View
from tests.support.shares import one_of

FIXED = [
    ("SELECT CAST(ts AS date) AS ts, count(*) AS c FROM t0 GROUP BY ts", "ts"),
    ("SELECT date_trunc('quarter', d) AS q, d, region, sum(v) AS s FROM t0 GROUP BY d, region", "d"),
    ("SELECT x.v AS k, x.* EXCEPT (v) FROM t0 AS x WHERE x.region IS NULL OR x.v <> 3", "v"),
    ("SELECT year(d) AS k, min(ts) AS m FROM t0 GROUP BY d", "d"),
    ("SELECT k, count(*) AS c FROM (SELECT date_trunc('week', ts) AS k, v FROM t0) GROUP BY k", "ts"),
    ("WITH t0 AS (SELECT d, count(*) AS c FROM t0 GROUP BY d) SELECT * FROM t0", "d"),
    ("SELECT t0.* FROM t0", "region"),
    ("SELECT count(*) AS c, region FROM t0 GROUP BY region -- a comment", "region"),
]


@dataclass
class Soaked:
    seed: int
    tally: Tally
    hunted: frozenset[str]
    failure: str | None


@pytest.fixture(scope="module")
def soaked(database: Database) -> Soaked:
    seed = int(os.environ.get("RANDOMISED_SEED") or fresh_seed())
    print(f"\nRANDOMISED_SEED={seed}")
    tally = Tally()
    failure = soak(database, seed, histories=450, seconds=4, tally=tally)
    # Seeds that the soak did not reach. A sixtieth of the shapes, others in each run; `make soak-unit` hunts for all.
    hunted = frozenset(sorted(MUST_BE_INCREMENTAL)[seed % 60 :: 60])
    failure = failure or hunt(database, seed + tally.histories, hunted, tally)
    return Soaked(seed, tally, hunted, failure)


@pytest.mark.slow
def test_incremental_refreshes_leave_what_the_definition_gives(soaked: Soaked) -> None:
    assert soaked.failure is None, f"RANDOMISED_SEED={soaked.seed}\n{soaked.failure}"


@pytest.mark.slow
def test_the_incremental_path_is_taken_by_every_shape(soaked: Soaked) -> None:
    print(f"RANDOMISED_SEED={soaked.seed}\n{soaked.tally.table()}")
    never = sorted(shape for shape in soaked.hunted if not soaked.tally.incremental(shape))
    assert never == [], f"RANDOMISED_SEED={soaked.seed}"


def histories_of(sql: str, key: str, database: Database, count: int) -> Tally:
    """Run histories of one definition over t0 and return how they were refreshed.

    No values are listed: where they are, groups that could be merged are overwritten by these values.
    """
    view = View(sql, frozenset(["t0"]), (("this one", frozenset(["t0"])),), key)
    tally = Tally()
    for seed in range(1000, 1000 + count):
        failure = play(database, replace(make_case(Choices(seed), view), lists=False, asks_little=False), tally=tally)
        assert failure is None, describe(failure)
    return tally


MERGED = [
    "SELECT region, count(*) AS c, sum(v) AS s FROM t0 GROUP BY region",
    "SELECT avg(v) AS a, 2 * sum(v) / count(w) AS q, max(d) AS m FROM t0 WHERE v > -5",
    "SELECT v % 3 AS g, min(ts) AS lo, count(w) AS n FROM (SELECT * FROM t0 UNION ALL SELECT * FROM t0) GROUP BY 1",
]


@pytest.mark.parametrize("sql", one_of(3, MERGED))
def test_groups_are_merged(sql: str, database: Database) -> None:
    """Every one of them, in some of its histories: which keep what groups are merged by."""
    assert histories_of(sql, "d", database, 5).kinds["this one"]["merge"]


@pytest.mark.parametrize(
    "sql",
    one_of(
        4,
        [
            "SELECT n, count(*) AS c, sum(s) AS s FROM "
            "(SELECT v, count(*) AS n, sum(id) AS s FROM t0 GROUP BY v) q GROUP BY n",
            "SELECT count(*) AS c, sum(a.id) AS s, avg(a.v) AS m FROM t0 a "
            "WHERE a.v < (SELECT avg(v) FROM t0 b WHERE b.id = a.id)",
            "SELECT count(*) AS c, sum(q.id) AS s FROM "
            "(SELECT id, v FROM t0 WHERE v > 0 EXCEPT ALL SELECT v, id FROM t0) q",
            "SELECT count(*) AS c, sum(n) AS s FROM "
            "(SELECT v, sum(id) OVER (PARTITION BY v) AS n FROM t0) q WHERE n > 2",
            "SELECT count(a.id) AS l, count(b.id) AS r, count(*) AS c FROM t0 a FULL JOIN t0 b ON a.v = b.id",
            "WITH c AS (SELECT DISTINCT region, v FROM t0) SELECT count(*) AS c FROM c x JOIN c y ON x.v = y.v",
            "SELECT count(DISTINCT a.v) AS d, count(*) AS c FROM t0 a "
            "WHERE NOT EXISTS (SELECT 1 FROM t0 b WHERE b.id = a.v)",
            "SELECT count(*) AS c FROM t0 a "
            "WHERE NOT EXISTS (SELECT 1 FROM t0 b WHERE b.id = a.v AND b.region IS NOT NULL)",
        ],
    ),
)
def test_groups_are_merged_by_the_rows_below(sql: str, database: Database) -> None:
    """By rows that changes reach: none of these adds up."""
    merging = analysed(sql).merging
    assert merging is not None and merging.additive.keys() < {r.index for r in analysed(sql).references}
    assert histories_of(sql, "d", database, 5).kinds["this one"]["merge"]


@pytest.mark.parametrize("name", one_of(8, ADDED_TO))
def test_new_rows_of_one_table_are_added_beside_what_another_reaches(name: str, database: Database) -> None:
    tally = Tally()
    for seed in range(60):
        failure = play(database, make_case(Choices(seed), ADDED_TO[name]), tally=tally)
        assert failure is None, describe(failure)
    assert tally.added


@pytest.mark.parametrize(("sql", "key"), one_of(2, FIXED))
def test_definitions_that_are_easily_misread(sql: str, key: str, database: Database) -> None:
    assert histories_of(sql, key, database, 5).incremental("this one")


@pytest.mark.parametrize("asks_little", one_of(2, [True, False]))
def test_a_name_of_one_with_means_another_table_in_an_inner_one(asks_little: bool, database: Database) -> None:
    sql = (
        "WITH w AS (SELECT id FROM t1 WHERE v > 2), e AS (SELECT id FROM t1), p AS ("
        "WITH w AS (SELECT id FROM t1 WHERE v <= 2 OR v IS NULL) "
        "SELECT x.id FROM t0 x JOIN w ON x.id = w.id JOIN e ON e.id = x.id) "
        "SELECT count(DISTINCT a.id) AS c FROM p a JOIN p b ON a.id = b.id WHERE (SELECT count(*) FROM w) > 0"
    )
    view = View(sql, frozenset(["t0", "t1"]), (), "id")
    for seed in range(30, 45):
        case = replace(make_case(Choices(seed), view), lists=False, asks_little=asks_little)
        failure = play(database, case)
        assert failure is None, describe(failure)


BESIDE_TOTALS = [
    "SELECT 'a' AS k, count(*) AS n, max(v) AS m FROM t0 WHERE v > 0 UNION ALL "
    "SELECT 'b', count(*), sum(v) FROM t1 HAVING max(v) IS NULL OR count(*) > 3",
    "SELECT v AS k, id AS n FROM t0 UNION ALL SELECT max(v), count(*) FROM t1",
    "SELECT k, n FROM (SELECT 1 AS k, count(*) AS n FROM t0 UNION SELECT 2, sum(v) FROM t1) q WHERE n > 2",
    "SELECT CAST('a' AS string) AS k, count(*) AS n FROM t0 UNION ALL SELECT CAST('b' AS string), count(*) FROM t1",
]


@pytest.mark.parametrize("sql", one_of(2, BESIDE_TOTALS))
def test_totals_beside_other_branches(sql: str, database: Database) -> None:
    view, tally = View(sql, frozenset(["t0", "t1"]), (("this one", frozenset(["t0"])),), "d"), Tally()
    for seed in range(20):
        failure = play(database, replace(make_case(Choices(seed), view), lists=False, asks_little=False), tally=tally)
        assert failure is None, describe(failure)
    assert tally.kinds["this one"]["overwrite"]


IN_ANY_ORDER = [
    "SELECT DISTINCT v, max_by(region, region) AS m FROM t0 GROUP BY v",
    "SELECT a.v, b.region FROM t0 a JOIN t0 b ON a.v = b.v WHERE a.v > 0 LIMIT 1000000",
]


@pytest.mark.parametrize("sql", one_of(2, IN_ANY_ORDER))
def test_where_the_order_of_rows_matters_nothing_is_done_if_none_changed(sql: str, database: Database) -> None:
    assert histories_of(sql, "v", database, 20).refreshes.keys() == {"none", "full"}


ONLY_SHOWN = [
    "SELECT v, max_by(region, region) AS m, first(v) + 1 AS f FROM t0 GROUP BY v",
    "WITH x AS (SELECT region, max_by(v, v) AS m, count(*) AS n FROM t0 GROUP BY region HAVING min(v) > 0) "
    "SELECT m + n AS s, region FROM x WHERE m > 2 OR n > 1",
    "SELECT id, min_by(id, id) - 1 AS l FROM t0 GROUP BY id UNION ALL SELECT v, any_value(v) FROM t0 GROUP BY v",
]


@pytest.mark.parametrize("sql", one_of(3, ONLY_SHOWN))
def test_values_that_are_only_shown_may_depend_on_the_order_of_rows(sql: str, database: Database) -> None:
    """Their histories have one value for each group, so that a wrong one is seen."""
    kinds = histories_of(sql, "d", database, 20).kinds["this one"]
    assert kinds["overwrite"] > kinds["full"], kinds


ON_THE_CLOCK = [
    "SELECT region, count(*) AS c, sum(v) AS s FROM t0 WHERE d >= current_date - INTERVAL 1 day GROUP BY region",
    "SELECT d, region, v FROM t0 WHERE d BETWEEN date_add(current_date(), -1) AND curdate()",
    "SELECT id, d FROM t0 WHERE NOT (d < current_date OR d IS NULL) OR v = 3",
    "SELECT id, d FROM t0 WHERE nullif(d <= current_date, false) AND d > current_date - 100",
    "SELECT ts, v FROM t0 WHERE ts < now() AND CAST(ts AS date) = current_date",
    "SELECT region, max(ts) AS m FROM t0 WHERE ts >= current_timestamp - INTERVAL 2 day GROUP BY region",
    "SELECT count(*) AS c, sum(v) AS s FROM t0 WHERE d = current_date",
    "SELECT region, v, sum(v) OVER (PARTITION BY region) AS s FROM t0 WHERE d <= current_date",
    "SELECT a.id, b.v FROM t0 a LEFT JOIN (SELECT id, v FROM t0 WHERE d > current_date - 1) b ON a.id = b.id",
    "SELECT a.id, b.v FROM t0 a FULL JOIN (SELECT id, v FROM t0 WHERE d > current_date - 1) b ON a.id = b.id",
    "WITH c AS (SELECT * FROM t0 WHERE d >= current_date) SELECT a.region, count(*) AS n FROM c a JOIN c b "
    "ON a.id = b.v GROUP BY a.region",
    "SELECT a.id, a.v FROM t0 a WHERE a.v NOT IN (SELECT v FROM t0 WHERE d < current_date)",
    "SELECT a.id, a.v FROM t0 a WHERE EXISTS (SELECT 1 FROM t0 b WHERE b.id = a.id AND b.d >= current_date)",
    "SELECT a.id, a.v FROM t0 a WHERE a.v > (SELECT min(v) FROM t0 WHERE d < current_date)",
    "SELECT d, v FROM t0 WHERE d < current_date UNION ALL SELECT d, id FROM t0 WHERE d >= current_date - 1",
    "SELECT region, v FROM t0 WHERE d < current_date EXCEPT ALL SELECT region, id FROM t0 WHERE d > current_date",
    "SELECT DISTINCT region FROM t0 WHERE year(d) = year(current_date) AND v > 0",
    "SELECT q.region, q.n FROM (SELECT region, count(*) AS n FROM t0 WHERE d <= current_date GROUP BY region) q "
    "WHERE q.n > day(current_date) - 2",
    "SELECT region, count(*) FILTER (WHERE d > current_date) AS c FROM t0 GROUP BY region",
    "SELECT region, sum(CASE WHEN d >= current_date - 1 THEN v END) AS s, count_if(d < current_date OR v > 3) AS n "
    "FROM t0 WHERE v IS NOT NULL GROUP BY region",
    "SELECT id, CASE WHEN d BETWEEN current_date - 1 AND current_date THEN 'new' ELSE region END AS c FROM t0",
    "SELECT CASE WHEN d >= current_date THEN 'open' ELSE region END AS c, count(*) AS n FROM t0 "
    "WHERE d > current_date - 9 GROUP BY CASE WHEN d >= current_date THEN 'open' ELSE region END",
    "SELECT d > current_date AS later, count(*) AS n FROM t0 GROUP BY 1",
    "SELECT id, current_date BETWEEN d AND CAST(ts AS date) AS valid, v FROM t0",
    "SELECT DISTINCT region, ts < now() AS past FROM t0",
    "SELECT q.id, q.c FROM (SELECT id, v, d <= current_date AS c FROM t0) q WHERE q.c OR q.v = 3",
    "SELECT a.id, b.n FROM t0 a JOIN (SELECT region, count_if(d < current_date) AS n FROM t0 GROUP BY region) b "
    "ON a.region = b.region",
    "SELECT id, region, sum(IF(d > current_date, 1, 0)) OVER (PARTITION BY region) AS s FROM t0",
    "SELECT id, count(*) OVER (PARTITION BY d > current_date, region) AS s, region FROM t0",
    "SELECT sum(CASE WHEN d = current_date THEN v END) AS s FROM t0",
    "SELECT id, d BETWEEN current_date AND CAST(NULL AS date) AS k FROM t0",
    "SELECT region, sum(CASE WHEN (d BETWEEN current_date AND CAST(NULL AS date)) IS NULL THEN 1 END) AS k FROM t0 "
    "GROUP BY region",
    "SELECT id, region, row_number() OVER (PARTITION BY region ORDER BY d > current_date, w) AS n FROM t0",
    "SELECT id, d NOT BETWEEN current_date - 1 AND current_date AS k FROM t0",
    "SELECT id, d <=> current_date AS k FROM t0",
    "SELECT id, d IN (current_date, current_date - 1) AS k FROM t0",
    "SELECT id, datediff('day', d, current_date) <= 1 AS c FROM t0 WHERE d < current_date",
    "SELECT a.id, b.v FROM t0 a LEFT JOIN t0 b ON a.id = b.id AND b.d > current_date",
    "SELECT a.id, b.v FROM t0 a LEFT JOIN t0 b ON a.v = b.v AND b.d > current_date AND a.d < current_date "
    "WHERE b.id IS NULL",
    "SELECT a.id, b.v FROM t0 b RIGHT JOIN t0 a ON a.id = b.id AND b.d > current_date AND a.v > 0",
    "SELECT a.id, count(b.id) AS n FROM t0 a LEFT JOIN t0 b ON a.v = b.v AND b.d >= current_date - 1 GROUP BY a.id",
    "SELECT a.id, a.v FROM t0 a LEFT ANTI JOIN t0 b ON a.region = b.region AND b.d < current_date",
    "SELECT a.id, a.v FROM t0 a LEFT SEMI JOIN t0 b ON a.region = b.region AND b.d < current_date",
    "SELECT a.id, b.id AS other FROM t0 a JOIN t0 b ON a.region = b.region AND a.d < current_date "
    "AND b.d >= current_date",
]


TOTALS = [sql for sql in ON_THE_CLOCK if "region" not in sql and "sum(" in sql]


@pytest.mark.slow
@pytest.mark.parametrize("sql", one_of(60, ON_THE_CLOCK))
def test_the_clock_moves(sql: str, database: Database) -> None:
    tally = histories_of(sql, "d", database, 10)
    assert tally.clock["overwrite"] + tally.clock["none"] > 0
    assert (tally.clock["full"] > 0) == (sql in TOTALS)


ELSEWHERE = [
    "SELECT id, current_date AS today FROM t0",
    "SELECT a.id, b.v FROM t0 a FULL JOIN t0 b ON a.id = b.id AND b.d > current_date",
    "SELECT region, max(d) AS m FROM t0 GROUP BY region HAVING max(d) > current_date",
    "SELECT id, datediff('day', d, current_date) AS age FROM t0 WHERE d < current_date",
]


@pytest.mark.slow
@pytest.mark.parametrize("sql", one_of(8, ELSEWHERE))
def test_a_clock_in_no_condition_of_a_row_asks_for_all_rows_when_it_moves(sql: str, database: Database) -> None:
    tally = histories_of(sql, "d", database, 5)
    assert tally.clock["full"] == tally.clock.total() > 0
    assert tally.incremental("this one")


ANSWERED = frozenset(["string", "bigint", "int", "date", "timestamp", "boolean"])
"""Types of which the changed rows can say which values they reach."""

KEYS = {"date": "d", "timestamp": "ts", "string": "region", "int": "v", "double": "x"}
FUNCTIONS = [(t, shape, text) for by in (DERIVED, OTHER_TYPES) for t, found in by.items() for shape, text in found]


@pytest.mark.slow
@pytest.mark.parametrize(("spark_type", "shape", "text"), one_of(20, FUNCTIONS))
def test_functions_of_a_key_are_followed(spark_type: str, shape: str, text: str, database: Database) -> None:
    key = KEYS[spark_type]
    sql = f"SELECT {text.format(key)} AS k, count(*) AS c, sum(id) AS s FROM t0 GROUP BY {text.format(key)}"
    tally = histories_of(sql, key, database, 3)
    kind = database.store(sql)["k"]
    assert bool(tally.incremental("this one")) == (spark_type not in TYPES_NOT_FOLLOWED or kind in ANSWERED)


@pytest.mark.parametrize(
    "sql",
    one_of(
        4,
        [
            "SELECT a.id, a.v, (SELECT max(b.v) FROM t0 b WHERE b.id = a.id) AS m FROM t0 a",
            "SELECT a.id, a.v IN (SELECT b.w FROM t0 b WHERE b.id = a.id) AS m FROM t0 a",
            "SELECT a.id, a.v, NOT EXISTS (SELECT 1 FROM t0 b WHERE b.id = a.id AND b.v > a.v) AS m FROM t0 a",
            "SELECT id, count(*) AS c FROM t0 a GROUP BY id "
            "HAVING sum(v) > (SELECT avg(b.w) FROM t0 b WHERE b.id = a.id)",
        ],
    ),
)
def test_a_value_that_is_tied_to_the_row_is_never_computed_anew_for_all(sql: str, database: Database) -> None:
    """Its question has no answer, so the changed rows of its table name the rows that it is tied to."""
    kinds = histories_of(sql, "d", database, 10).kinds["this one"]
    assert (kinds["full"], kinds["overwrite"] > 3) == (0, True), kinds
