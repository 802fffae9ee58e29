"""Another process that only reads, while a writer commits and dbt refreshes: every answer is one committed state."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyiceberg.exceptions import CommitFailedException

from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from dbt.adapters.icebergmv.spark.jars import local_jars, required_jars
from integration.support.lake import LakeProject
from integration.support.outside_reader import Answer, Outside
from integration.support.spark_settings import BRIEF_JVM

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        pyspark.__version__.startswith("4.0"),
        reason="Spark 4.0 does not load all tables of a query before it reads them",
    ),
]
BEHAVIORS = {
    "stitched": "use_stitching",
    "viewed": "use_view_query",
    "stored": "use_data_table",
    "failing": "fail",
}
DEFINITION = "select region, max(k) as k, count(*) as n from {} group by region"
REGIONS = ("A", "B", "C", "D")
State = frozenset[tuple[str, int, int]]


@dataclass(frozen=True)
class Commit:
    """What the definition gives from a commit on, and the seconds since the epoch around it."""

    state: State
    before: float
    after: float


class Writer(threading.Thread):
    """Commits a number to two partitions or more at once, by delete and insert in one transaction."""

    def __init__(self, lake: LakeProject, name: str) -> None:
        super().__init__(daemon=True)
        self.commits: list[Commit] = []
        self.wanted = threading.Event()
        self.idle = threading.Event()
        self._lake, self._name = lake, name
        self._over = False
        self._rows: dict[str, tuple[int, int]] = {}
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self._over:
                if self.wanted.is_set():
                    self.idle.clear()
                    self.commit()
                else:
                    self.idle.set()
                time.sleep(0.2)
        except Exception as error:
            self.failure = error

    def commit(self) -> None:
        k = len(self.commits)
        regions = REGIONS if k == 0 else ("A", "B", REGIONS[2 + k % 2]) if k % 3 else ("C", "D")
        count = 1 + k % 3
        rows = [(r, k) for r in regions for _ in range(count)]
        data = pa.table({"region": [r for r, _ in rows], "k": pa.array([k for _, k in rows], pa.int32())})
        self._rows.update(dict.fromkeys(regions, (k, count)))
        written = "region IN ({})".format(", ".join(f"'{r}'" for r in regions))
        before = time.time()
        while True:
            table = self._lake.reader().table(self._lake.schema, self._name)
            assert table is not None
            try:
                table.overwrite(data, written)
                break
            except CommitFailedException:
                continue
        state = frozenset((r, n, c) for r, (n, c) in self._rows.items())
        self.commits.append(Commit(state, before, time.time()))

    def pause(self) -> None:
        self.wanted.clear()
        self.idle.clear()
        assert self.idle.wait(60)

    def close(self) -> None:
        self._over = True
        self.join(60)
        if self.failure is not None:
            raise self.failure


class Reads(threading.Thread):
    """Reads all views in turn until it has to end."""

    def __init__(self, outside: Outside, schema: str) -> None:
        super().__init__(daemon=True)
        self.answers: list[tuple[str, Answer]] = []
        self.over = False
        self._outside, self._schema = outside, schema

    def run(self) -> None:
        while not self.over:
            for name in BEHAVIORS:
                statement = f"SELECT region, k, n FROM lake.{self._schema}.{name}"
                self.answers.append((name, self._outside.sql("plain", statement)))

    def wait_for(self, more: int) -> None:
        wanted = len(self.answers) + more
        deadline = time.monotonic() + 300
        while len(self.answers) < wanted:
            assert self.is_alive() and time.monotonic() < deadline
            time.sleep(0.1)


@pytest.fixture(scope="module")
def outside(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    log = tmp_path_factory.mktemp("outside") / "reader.log"
    reader = Outside(local_jars(required_jars(pyspark.__version__, ("sqlite",), [])), log, BRIEF_JVM)
    conf = catalog_settings("lake", str(warehouse), {}, "/").spark_conf()
    reader.open("plain", {**conf, "spark.sql.catalog.lake.cache-enabled": "false"})
    yield reader
    assert reader.close() == []


def test_every_answer_is_one_committed_state(lake: LakeProject, outside: Outside) -> None:
    table = f"lake.{lake.schema}.versions"
    lake.sql(f"CREATE TABLE {table} (region string, k int) USING iceberg PARTITIONED BY (region)")
    for name, behavior in BEHAVIORS.items():
        lake.model(name, DEFINITION.format(table), stale_read_behavior=behavior)
    writer, reads = Writer(lake, "versions"), Reads(outside, lake.schema)
    writer.commit()
    lake.run()
    writer.start()
    reads.start()
    try:
        writer.wanted.set()
        reads.wait_for(len(BEHAVIORS))
        lake.run()
        reads.wait_for(len(BEHAVIORS))
        writer.pause()
        lake.run()
        reads.wait_for(2 * len(BEHAVIORS))
    finally:
        reads.over = True
        reads.join(120)
        writer.close()
    check(reads.answers, writer.commits)


def check(answers: list[tuple[str, Answer]], commits: list[Commit]) -> None:
    by_state = {c.state: number for number, c in enumerate(commits)}
    states: dict[str, list[int]] = {name: [] for name in BEHAVIORS}
    errors = 0
    for name, answer in answers:
        if answer.rows is None:
            assert name == "failing" and "failing is stale" in str(answer.error), (name, answer)
            errors += 1
            continue
        state = frozenset((str(r), int(k), int(n)) for r, k, n in answer.rows)
        assert len(answer.rows) == len(state) and state in by_state, (name, answer)
        number = by_state[state]
        states[name].append(number)
        assert commits[number].before <= answer.ended, (name, answer)
        if name in ("stitched", "viewed"):
            newer = commits[number + 1 : number + 2]
            assert all(answer.started <= c.after for c in newer), (name, number, answer, newer)
    assert errors and states["failing"], "the failing view was never stale, or never fresh"
    assert all(len(set(states[n])) > 2 for n in ("stitched", "viewed")), states
    assert len(set(states["stored"])) > 1, states
    during = sum(any(a.started < c.after and c.before < a.ended for c in commits) for _, a in answers)
    assert during > 3, "nothing was committed while the reader read"


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_session_of_its_own(lake: LakeProject, outside: Outside, warehouse: Path, zone: str, ansi: str) -> None:
    table, view = f"lake.{lake.schema}.moments", f"lake.{lake.schema}.daily"
    definition = f"select date(at) as day, count(*) as n, sum(size(parts)) as s from {table} group by date(at)"
    if lake.reader().table(lake.schema, "moments") is None:
        lake.sql(f"CREATE TABLE {table} (at timestamp, parts array<int>) USING iceberg PARTITIONED BY (days(at))")
        lake.sql(
            f"INSERT INTO {table} SELECT timestamp'2024-01-01 00:30:00' + make_interval(0, 0, 0, 0, id * 5), NULL FROM range(20)"
        )
        lake.model("daily", definition, stale_read_behavior="use_stitching")
        lake.run("--select", "daily")
        lake.sql(f"INSERT INTO {table} VALUES (timestamp'2024-01-02 23:30:00', array(1))")
    conf = catalog_settings("lake", str(warehouse), {}, "/").spark_conf()
    session = f"{zone} {ansi}"
    more = {"spark.sql.session.timeZone": zone, "spark.sql.ansi.enabled": ansi}
    outside.open(session, {**conf, "spark.sql.catalog.lake.cache-enabled": "false", **more})
    wanted, found = outside.sql(session, definition), outside.sql(session, f"SELECT * FROM {view}")
    assert wanted.rows is not None and found.rows is not None, (wanted, found)
    assert sorted(map(repr, found.rows)) == sorted(map(repr, wanted.rows))
