"""Random views and histories with the real planner: an incremental refresh leaves what a full one would.

Every run has a seed of its own, printed with the outcome; RANDOMISED_SEED repeats a run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

from tests.randomised.choices import Choices
from tests.randomised.database import Database
from tests.randomised.histories import make_case
from tests.randomised.keys import DERIVED, OTHER_TYPES
from tests.randomised.shapes import MUST_BE_INCREMENTAL, MUST_BE_MERGED, TYPES_NOT_FOLLOWED
from tests.randomised.soak import describe, fresh_seed, hunt, play, soak
from tests.randomised.tally import Tally
from tests.randomised.views import View

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
    failure: str | None


@pytest.fixture(scope="module")
def soaked(database: Database) -> Soaked:
    seed = int(os.environ.get("RANDOMISED_SEED") or fresh_seed())
    print(f"\nRANDOMISED_SEED={seed}")
    tally = Tally()
    failure = soak(database, seed, histories=450, seconds=12, tally=tally)
    for shape in sorted(MUST_BE_INCREMENTAL):
        if failure is None and not tally.incremental(shape):
            failure = hunt(database, seed, shape, tally)
    return Soaked(seed, tally, failure)


@pytest.mark.slow
def test_incremental_refreshes_leave_what_the_definition_gives(soaked: Soaked) -> None:
    assert soaked.failure is None, f"RANDOMISED_SEED={soaked.seed}\n{soaked.failure}"


@pytest.mark.slow
def test_the_incremental_path_is_taken_by_every_shape(soaked: Soaked) -> None:
    print(f"RANDOMISED_SEED={soaked.seed}\n{soaked.tally.table()}")
    never = sorted(shape for shape in MUST_BE_INCREMENTAL if not soaked.tally.incremental(shape))
    assert never == [], f"RANDOMISED_SEED={soaked.seed}"


@pytest.mark.slow
def test_groups_are_merged(soaked: Soaked) -> None:
    assert all(soaked.tally.kinds[shape]["merge"] for shape in MUST_BE_MERGED), f"RANDOMISED_SEED={soaked.seed}"


def histories_of(sql: str, key: str, database: Database, count: int) -> Tally:
    """Run histories of one definition over t0 and return how they were refreshed."""
    view = View(sql, frozenset(["t0"]), (("this one", frozenset(["t0"])),), key)
    tally = Tally()
    for seed in range(1000, 1000 + count):
        failure = play(database, make_case(Choices(seed), view), tally=tally)
        assert failure is None, describe(failure)
    return tally


@pytest.mark.parametrize(("sql", "key"), FIXED)
def test_definitions_that_are_easily_misread(sql: str, key: str, database: Database) -> None:
    assert histories_of(sql, key, database, 10).incremental("this one")


ANSWERED = frozenset(["string", "bigint", "int", "date", "timestamp", "boolean"])
"""Types of which the changed rows can say which values they reach."""

KEYS = {"date": "d", "timestamp": "ts", "string": "region", "int": "v", "double": "x"}
FUNCTIONS = [(t, shape, text) for by in (DERIVED, OTHER_TYPES) for t, found in by.items() for shape, text in found]


@pytest.mark.slow
@pytest.mark.parametrize(("spark_type", "shape", "text"), FUNCTIONS)
def test_functions_of_a_key_are_followed(spark_type: str, shape: str, text: str, database: Database) -> None:
    key = KEYS[spark_type]
    sql = f"SELECT {text.format(key)} AS k, count(*) AS c, sum(id) AS s FROM t0 GROUP BY {text.format(key)}"
    tally = histories_of(sql, key, database, 8)
    kind = database.store(sql)["k"]
    assert bool(tally.incremental("this one")) == (spark_type not in TYPES_NOT_FOLLOWED or kind in ANSWERED)
