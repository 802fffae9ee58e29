"""Writers that commit between any two loads of one query: every answer is the definition at one committed state.

The reader is a process of its own, over a catalog that lets the test choose what it shows at each load.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyspark
import pytest

from dbt.adapters.icebergmv.spark.jars import local_jars, required_jars
from integration.support.lake import LakeProject
from integration.support.outside_reader import Answer, Outside
from integration.support.slow_catalog import SlowCatalog
from integration.support.spark_settings import BRIEF_JVM
from tests.support.shares import one_of

pytestmark = pytest.mark.skipif(
    pyspark.__version__.startswith("4.0"), reason="Spark 4.0 does not load all tables of a query before it reads them"
)
TOTALS = "select region, count(*) as n, sum(v) as total from {orders} group by region"
REGIONS = "('A', 1), ('A', 2), ('B', 1), ('B', 2), ('C', 1), ('C', 2), ('D', 1)"


class World:
    """A table with five committed states, views refreshed at the first one, and a reader that sees any of them."""

    def __init__(self, lake: LakeProject, warehouse: Path, reader: Outside) -> None:
        self.lake, self.reader = lake, reader
        self.catalog = SlowCatalog(warehouse / "catalog.db")
        self.table = f"lake.{lake.schema}.orders"
        self.files: list[str] = []
        self.wanted: list[Counter[str]] = []
        reader.open("slow", self.catalog.settings)

    def build(self) -> None:
        self.lake.sql(
            f"CREATE TABLE {self.table} (id bigint, region string, v int) USING iceberg PARTITIONED BY (region)"
        )
        self.lake.sql(f"INSERT INTO {self.table} SELECT v * 10, r, v FROM VALUES {REGIONS} AS t(r, v)")
        self._remember()
        for name, behavior in {"stitched": "use_stitching", "viewed": "use_view_query"}.items():
            self.lake.model(name, TOTALS.format(orders=self.table), stale_read_behavior=behavior)
        # It shows its definition, and has no look at the table of its own.
        small = {"stale_read_behavior": "use_stitching", "definition_below_rows": 1_000_000}
        self.lake.model("small", TOTALS.format(orders=self.table), **small)
        self.lake.run()
        # The second commit takes back a part of the first one, file by file, and does something else.
        self.lake.sql(f"INSERT INTO {self.table} VALUES (100, 'A', 100), (100, 'B', 200)")
        self._remember()
        self.lake.sql(
            f"MERGE INTO {self.table} t USING (SELECT * FROM VALUES (100L, 'A', 0), (300L, 'C', 400) AS (id, region, v)) s"
            " ON t.id = s.id AND t.region = s.region WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
        )
        self._remember()
        found = self.lake.reader().table(self.lake.schema, "orders")
        assert found is not None
        first_insert = found.metadata.snapshots[1].snapshot_id
        self.lake.sql(f"CALL lake.system.rollback_to_snapshot('{self.lake.schema}.orders', {first_insert})")
        self._remember()
        self.lake.sql(f"ALTER TABLE {self.table} DROP COLUMN v")
        self.lake.sql(f"ALTER TABLE {self.table} ADD COLUMN v int")
        self._remember()

    def _remember(self) -> None:
        table = self.lake.reader().table(self.lake.schema, "orders")
        assert table is not None
        self.files.append(table.metadata_location)
        self.wanted.append(Counter(repr(tuple(r)) for r in self.lake.sql(TOTALS.format(orders=self.table))))

    def read(self, statement: str, states: Sequence[int], first: int, second: int) -> tuple[Answer, int]:
        """Run a statement. The table is in the first state, and in the others from the loads with these numbers on.

        Return the answer and the number of loads.
        """
        count = 0

        def before(name: str) -> None:
            nonlocal count
            if name == "orders":
                self.catalog.shown[name] = self.files[states[(count >= first) + (count >= second)]]
                count += 1

        self.catalog.before_load = before
        return self.reader.sql("slow", statement), count

    def state(self, rows: Iterable[tuple[object, ...]]) -> int:
        """Return the state whose rows these are; fail when they are of none."""
        found = Counter(repr(tuple(r)) for r in rows)
        assert found in self.wanted, f"rows of no committed state: {sorted(found)}"
        return self.wanted.index(found)


@pytest.fixture(scope="module")
def world(lake: LakeProject, warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    log = tmp_path_factory.mktemp("outside") / "reader.log"
    reader = Outside(local_jars(required_jars(pyspark.__version__, ("sqlite",), [])), log, BRIEF_JVM)
    made = World(lake, warehouse, reader)
    made.build()
    yield made
    made.catalog.close()
    assert reader.close() == []


QUERIES = {
    "alone": "SELECT 1, * FROM {v}.stitched",
    "by its query": "SELECT 1, * FROM {v}.viewed",
    "after the table": "SELECT n.one, s.* FROM (SELECT min(1) AS one FROM {v}.orders) n CROSS JOIN {v}.stitched s",
    "after a small one": "SELECT 1, * FROM {v}.small UNION ALL SELECT 2, * FROM {v}.stitched",
    "after the other": "SELECT 1, * FROM {v}.viewed UNION ALL SELECT 2, * FROM {v}.stitched",
}

# A read takes seconds: in each run commits come at every twelfth place of it, in `make long` at all of them.
PARTS = one_of(12, range(12))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("query", [q if q == "alone" else pytest.param(q, marks=pytest.mark.long) for q in QUERIES])
def test_commits_between_two_loads(world: World, query: str, part: int) -> None:
    statement = QUERIES[query].format(v=f"lake.{world.lake.schema}")
    _, loads = world.read(statement, (0, 1, 2), 99, 99)
    seen = set()
    for second in range(loads // 2 + part, loads + 1, len(PARTS)):
        for first in (0, second - 1):
            answer, _ = world.read(statement, (0, 1, 2), first, second)
            assert answer.rows is not None, answer.error
            for use in {r[0] for r in answer.rows}:
                seen.add(world.state(r[1:] for r in answer.rows if r[0] == use))
    assert part > 0 or seen & {1, 2}, "no read saw a commit"


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "states",
    [pytest.param((1, 2, 3), id="undone again"), pytest.param((1, 3, 4), id="other columns")],
)
@pytest.mark.long
def test_commits_that_leave_main_where_it_was(world: World, states: tuple[int, int, int], part: int) -> None:
    """The first and the last look see the same snapshot of main, and what lies between is another state."""
    statement = f"SELECT * FROM lake.{world.lake.schema}.stitched"
    _, loads = world.read(statement, states, 99, 99)
    for first in range(loads // 2 + part, loads, len(PARTS)):
        for second in (first + 1, first + 3):
            answer, _ = world.read(statement, states, first, second)
            assert answer.rows is not None, answer.error
            world.state(answer.rows)
