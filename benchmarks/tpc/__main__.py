"""The queries of TPC-DS or TPC-H as materialized views: three rounds of change, each refresh beside its rebuild.

The data comes from generate.py. After every round each view is refreshed by one `dbt run` and rebuilt by CREATE OR
REPLACE TABLE AS its SELECT in the same session; the two are compared as bags. After the last round it is refreshed in
full by `dbt run --full-refresh`; before, that would make the view forget what did not pay. Spark forgets at once what
code it made for a query (`spark.sql.codegen.cache.maxEntries`), so each pays for its own, as in a dbt run of a new
process, and it does not matter which comes first.

Prints a JSON line a view and round, and a line a round: how many refreshes were full, wrong, wrote although no row of
the view moved, or took more than 1.5 times as long as the rebuild, or as the full refresh.

    python -m benchmarks.tpc tpcds ./tpcds --rounds 1 2 3

The exit code is 1 if a refresh was wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.parts.bags import differences
from benchmarks.parts.project import attempt, dbt, write_project
from benchmarks.tpc.rounds import PARTITIONS, ROUNDS
from benchmarks.tpc.texts import selects

SLOW = 1.5
"""A refresh that takes more than so many times its rebuild is too slow."""


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark", choices=[*ROUNDS])
    parser.add_argument("data", type=Path)
    parser.add_argument("--views", nargs="+", help="such as ds07 ds36; all of them if left out")
    parser.add_argument("--rounds", type=int, nargs="+", default=[1, 2, 3], choices=[1, 2, 3])
    parser.add_argument("--policy", default="auto", choices=["auto", "incremental"])
    parser.add_argument(
        "--folder", type=Path, help="where the project and the tables are kept; a temporary one if left out"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        return 1 if _measure(options, options.folder or Path(temporary)) else 0


def _measure(options: argparse.Namespace, folder: Path) -> int:
    """Measure the rounds, and return how many refreshes were wrong."""
    tables = {path.stem: path.absolute() for path in sorted(options.data.glob("*.parquet"))}
    views = selects(options.data, options.benchmark, tables)
    views = {name: sql for name, sql in views.items() if name in (options.views or views)}
    head = f"{{{{ config(materialized='materialized_view', refresh_policy='{options.policy}') }}}}\n"
    models = {f"models/{name}.sql": head + sql for name, sql in views.items()}
    write_project(folder, "tpc", models, spark="{spark.sql.codegen.cache.maxEntries: 1}")
    dbt(folder, "debug", "--connection")
    _load(tables, options.benchmark)
    views, wrong = dict(_built(folder, views)), 0
    for number, (change, statements) in enumerate(ROUNDS[options.benchmark].items(), 1):
        if number not in options.rounds:
            continue
        for statement in statements:
            SparkSession.active().sql(statement.format(f"lake.{options.benchmark}"))
        found = []
        for name, sql in views.items():
            found.append({"round": number, "view": name, **_measured(folder, name, sql)})
            if number == max(options.rounds):
                found[-1]["full_refresh"] = _refreshed_in_full(folder, name)
            print(json.dumps(found[-1]), flush=True)
        wrong += sum(f["wrong"] > 0 for f in found)
        print(json.dumps({"round": number, "change": change, **_summary(found)}), flush=True)
    return wrong


def _load(tables: Mapping[str, Path], benchmark: str) -> None:
    """Make the base tables, but for those that an earlier call left."""
    spark = SparkSession.active()
    for namespace in (benchmark, "rebuilt"):
        spark.sql(f"create namespace if not exists lake.{namespace}")
    for name, path in tables.items():
        by = PARTITIONS[benchmark].get(name)
        partitioned = f" partitioned by ({by})" if by else ""
        made = f"create table if not exists lake.{benchmark}.{name} using iceberg{partitioned}"
        spark.sql(f"{made} as select * from parquet.`{path}`")


def _built(folder: Path, views: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Build each view and its rival, but for those that an earlier call left; yield those that both could be built."""
    for name, sql in views.items():
        if SparkSession.active().catalog.tableExists(f"lake.rebuilt.{name}"):
            yield name, sql
            continue
        _, problem = attempt(folder, "run", "--select", name)
        if problem is None:
            _rebuild(name, sql)
            yield name, sql
        else:
            print(json.dumps({"view": name, "left_out": str(problem)[:500]}), flush=True)


def _measured(folder: Path, name: str, sql: str) -> dict[str, Any]:
    before = f"select * from lake.rebuilt.{name} version as of {_snapshot(name)}"
    (result,) = dbt(folder, "run", "--select", name).results
    response = result.adapter_response
    rebuild = _rebuild(name, sql)
    columns = [f"`{c}`" for c in SparkSession.active().table(f"lake.rebuilt.{name}").columns]
    now = f"select * from lake.rebuilt.{name}"
    wrong, moved = differences(now, columns, [f"lake.s.{name}", f"({before})"])
    return {
        "kind": response["refresh_kind"],
        "reason": response["refresh_reason"],
        "seconds": round(result.execution_time, 2),
        "rebuild": round(rebuild, 2),
        "rows_written": response.get("rows_affected"),
        "moved": moved.rows,
        "wrong": wrong.rows,
    }


def _refreshed_in_full(folder: Path, name: str) -> float:
    """Refresh a view in full, and return the seconds."""
    (result,) = dbt(folder, "run", "--select", name, "--full-refresh").results
    return round(result.execution_time, 2)


def _snapshot(name: str) -> int:
    (row,) = (
        SparkSession.active().sql(f"select snapshot_id from lake.rebuilt.{name}.refs where name = 'main'").collect()
    )
    return int(row[0])


def _rebuild(name: str, sql: str) -> float:
    """Compute all rows anew, and return the seconds."""
    started = time.perf_counter()
    SparkSession.active().sql(f"create or replace table lake.rebuilt.{name} using iceberg as {sql}")
    return time.perf_counter() - started


def _summary(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    still = [f for f in found if not f["moved"]]
    beside = [f for f in found if "full_refresh" in f]
    of_full = {
        "slow_beside_full_refresh": sum(f["seconds"] > SLOW * f["full_refresh"] for f in beside),
        "full_refreshes": round(sum(f["full_refresh"] for f in beside), 1),
    }
    return {
        "refreshes": len(found),
        "full": sum(f["kind"] == "full" for f in found),
        "full_that_moved": sum(f["kind"] == "full" and f["moved"] > 0 for f in found),
        "wrong": sum(f["wrong"] > 0 for f in found),
        "still": len(still),
        "still_yet_written": sum(f["rows_written"] > 0 for f in still),
        "slow": sum(f["seconds"] > SLOW * f["rebuild"] for f in found),
        "slow_by_a_second": sum(f["seconds"] > SLOW * f["rebuild"] + 1 for f in found),
        "seconds": round(sum(f["seconds"] for f in found), 1),
        "rebuilds": round(sum(f["rebuild"] for f in found), 1),
        **(of_full if beside else {}),
    }


if __name__ == "__main__":
    sys.exit(main())
