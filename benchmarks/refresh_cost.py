"""What a refresh of a small view costs beside its rebuild: every Spark statement and catalog read, with its time.

The view has 10,000 rows in 10 days; in every round one row of one day comes. Beside it, in the same session: `dbt run
--full-refresh` of the same view, and a bare CREATE OR REPLACE TABLE AS of the same rows, which makes no view and keeps
no version. Prints the median of each step of the refresh, and the ratios.
Usage: python -m benchmarks.refresh_cost [--rounds 7]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pyspark.sql import SparkSession

from benchmarks.parts.project import dbt, write_project
from dbt.adapters.icebergmv.impl import IcebergMVAdapter
from dbt.adapters.icebergmv.maintenance.catalog.readers.jdbc import Reader
from dbt.adapters.icebergmv.spark.cursor import SessionCursor

GOAL = 1.0
"""Of the full refresh: how much the refresh may cost."""
WARM_UPS = 12
"""More than the versions that a view keeps: from then on every refresh drops the branch of a former one."""
DEFINITION = "select d, k, count(*) as n, sum(v) as v from lake.raw.events group by d, k"
FILES = {
    "models/small.sql": f"{{{{ config(materialized='materialized_view') }}}} {DEFINITION}\n",
    "macros/make_base.sql": """
        {% macro make_base() %}
          {% do run_query('create namespace if not exists lake.raw') %}
          {% do run_query('create table lake.raw.events (d date, k int, v int) using iceberg partitioned by (d)') %}
          {% do run_query("insert into lake.raw.events select date'2024-01-01' + cast(id % 10 as int), "
            ~ "cast(id as int), 1 from range(10000)") %}
        {% endmacro %}
    """,
}
Step = tuple[str, float]


def main() -> int:
    """Measure and return the exit code: 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, "cost", FILES)
        dbt(folder, "run-operation", "make_base")
        dbt(folder, "run")
        found = [_round(folder, number) for number in range(WARM_UPS + rounds)][WARM_UPS:]
    return _report([steps for steps, *_ in found], [full for _, full, _ in found], [bare for *_, bare in found])


def _round(folder: Path, number: int) -> tuple[list[Step], float, float]:
    """Change one day and refresh, once by what changed and once in full; return the steps, and seconds of full ones."""
    spark = SparkSession.active()
    spark.sql(f"insert into lake.raw.events values (date'2024-01-01', {number}, 5)")
    steps: list[Step] = []
    with _timed(steps):
        dbt(folder, "run")
    in_full: list[Step] = []
    with _timed(in_full):
        dbt(folder, "run", "--full-refresh")
    rebuild = f"create or replace table lake.s.rebuilt using iceberg partitioned by (d) as {DEFINITION}"
    started = time.perf_counter()
    spark.sql(rebuild).collect()
    return steps, _total(in_full), time.perf_counter() - started


def _total(steps: list[Step]) -> float:
    """Return the seconds of the adapter's two calls, in which all other steps are."""
    return sum(seconds for name, seconds in steps if not name.startswith(" "))


def _report(rounds: list[list[Step]], in_full: list[float], bare: list[float]) -> int:
    names = [name for name, _ in rounds[-1]]
    other = [steps for steps in rounds if [name for name, _ in steps] != names]
    if other:
        print("the rounds took different steps:", *(f"{s * 1000:8.1f} ms  {name}" for name, s in other[0]), sep="\n")
    rounds = [steps for steps in rounds if steps not in other]
    for number, name in enumerate(names):
        print(f"{statistics.median(steps[number][1] for steps in rounds) * 1000:8.1f} ms  {name}")
    totals = [_total(steps) for steps in rounds]
    inside = [sum(s for name, s in steps if name.startswith(" ")) for steps in rounds]
    rest = statistics.median(a - b for a, b in zip(totals, inside, strict=True))
    print(f"{rest * 1000:8.1f} ms  the rest, in Python")
    refresh = statistics.median(totals)
    ratio, of_bare = (refresh / statistics.median(seconds) for seconds in (in_full, bare))
    print(f"refresh {refresh * 1000:.0f} ms")
    print(f"full refresh {statistics.median(in_full) * 1000:.0f} ms: {ratio:.2f} of it (goal <= {GOAL})")
    print(f"bare CREATE OR REPLACE TABLE AS {statistics.median(bare) * 1000:.0f} ms: {of_bare:.2f} of it")
    return 0 if ratio <= GOAL else 1


@contextmanager
def _timed(steps: list[Step]) -> Iterator[None]:
    """Note what the adapter does: its two calls as wholes, and indented before each what it did inside."""

    def watched(method: Callable[..., Any], name: Callable[..., str]) -> Callable[..., Any]:
        def run(self: Any, *arguments: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                return method(self, *arguments, **named)
            finally:
                steps.append((name(*arguments), time.perf_counter() - started))

        return run

    wholes = ("inspect_materialized_view", "refresh_materialized_view")
    reads = ("table", "view", "entries")
    targets = [
        *((IcebergMVAdapter, name, lambda *_, name=name: name) for name in wholes),
        *((Reader, name, lambda *a, name=name: f"  catalog: {name} {'.'.join(a)}") for name in reads),
        (SessionCursor, "execute", lambda sql, *_: f"  spark: {_head(sql)}"),
        (SessionCursor, "fetchall", lambda: "  spark: rows"),
    ]
    patches = [patch.object(owner, name, watched(getattr(owner, name), label)) for owner, name, label in targets]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


def _head(sql: str) -> str:
    words = sql.rsplit("*/", maxsplit=1)[-1].split()
    return " ".join(w for w in words if "icebergmv_" not in w and not w.strip("`;").isdecimal())[:60]


if __name__ == "__main__":
    sys.exit(main())
