"""What a stitched read costs: beside a read of the storage table, and beside the definition, in one Spark session.

Three base tables: 100 identity partitions, 400 day partitions, and 100,000 files in 1,000 identity partitions. Each
has a view with `use_stitching`. The tables then change in one, ten and a hundred percent of their partitions, without a
refresh; days change from the newest back, and once at random. Writes the table in docs/stale-reads.md with `--docs`.
Exits with 1 when an answer is wrong.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import yaml
from dbt.cli.main import dbtRunner
from pyspark.sql import Row, SparkSession

WORK = Path(__file__).resolve().parent / "target-stitching"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "stale-reads.md"
MARKS = ("<!-- benchmark -->\n", "<!-- end of benchmark -->\n")
# Rows come sorted by partition; a fanout writer would keep a file open for each.
SORTED = "TBLPROPERTIES ('write.spark.fanout.enabled' = 'false', 'write.distribution-mode' = 'none')"
SUMS = (
    "count(*) AS n, sum(amount) AS amount, max(weight) AS weight, min(id) AS first_id, sum(amount * weight) AS product"
)
READ = "SELECT count(*), sum(n), sum(amount), max(weight), min(first_id), sum(product) FROM ({rows})"


@dataclass(frozen=True)
class Case:
    """A base table, the key of its view, and how it is changed: SELECTs of one row per partition that is to change."""

    title: str
    table: str
    create: str
    load: str
    key: str
    changes: dict[str, str]


@dataclass(frozen=True)
class Times:
    """Seconds of the fastest of several reads, each way."""

    storage: float
    stitched: float
    definition: float


def cases(rows: int, files: int) -> list[Case]:
    """Return the tables to measure; `rows` for the first two, `files` for the third."""
    row = "SELECT -1L, 7, 5, 3L, {value} FROM (SELECT explode({partitions}) AS k)"
    day = "TIMESTAMP '2024-01-01 00:00:00Z' + make_dt_interval(CAST({} AS INT))"
    per_day = rows // 400

    def changes(value: str, **partitions: str) -> dict[str, str]:
        return {name: row.format(value=value, partitions=which) for name, which in partitions.items()}

    columns = "id bigint, customer int, weight int, amount bigint"
    values = "id, CAST(pmod(hash(id), 100000) AS INT), CAST(id % 1000 AS INT), id % 10007"
    names = ("1 % stale", "10 % stale", "100 % stale")
    return [
        Case(
            f"100 identity partitions, {rows // 1_000_000} million rows",
            "by_region",
            f"({columns}, region int) USING iceberg PARTITIONED BY (region) {SORTED}",
            f"SELECT {values}, CAST(id div {rows // 100} AS INT) FROM range(0, {rows}, 1, 4)",
            "region",
            dict(
                zip(
                    names,
                    changes("k", a="array(99)", b="sequence(9, 89, 10)", c="sequence(0, 99)").values(),
                    strict=True,
                )
            ),
        ),
        Case(
            f"400 partitions by `days(at)`, {rows // 1_000_000} million rows",
            "by_day",
            f"({columns}, at timestamp) USING iceberg PARTITIONED BY (days(at)) {SORTED}",
            f"SELECT {values}, {day.format(f'id div {per_day}')} FROM range(0, {rows}, 1, 4)",
            "date(at)",
            dict(
                zip(
                    ("1 % stale, the newest", "1 % stale at random", "10 % stale, the newest", "100 % stale"),
                    changes(
                        day.format("k"),
                        a="sequence(396, 399)",
                        b="array(12, 130, 251, 366)",
                        c="sequence(360, 395)",
                        d="sequence(0, 399)",
                    ).values(),
                    strict=True,
                )
            ),
        ),
        Case(
            f"{files:,} files in 1,000 identity partitions, {files * 200 // 1_000_000} million rows",
            "by_file",
            f"({columns}, region int) USING iceberg PARTITIONED BY (region) TBLPROPERTIES"
            " ('write.spark.fanout.enabled' = 'false', 'write.distribution-mode' = 'none', 'write.target-file-size-bytes' = '1')",
            f"SELECT {values}, CAST(id div {files // 5} AS INT) FROM range(0, {files * 200}, 1, 4)",
            "region",
            dict(
                zip(
                    names,
                    changes("k", a="sequence(990, 999)", b="sequence(0, 89)", c="sequence(0, 999)").values(),
                    strict=True,
                )
            ),
        ),
    ]


def main() -> int:
    """Run the benchmark and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rows", type=int, default=48_000_000, help="rows of the first two tables (default: 48 million)"
    )
    parser.add_argument("--files", type=int, default=100_000, help="files of the third table (default: 100,000)")
    parser.add_argument("--runs", type=int, default=3, help="reads each way, of which the fastest counts (default: 3)")
    parser.add_argument("--only", help="the name of one table")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/stale-reads.md")
    arguments = parser.parse_args()
    lines = [
        "| | storage | stitched | definition | stitched / storage | stitched / definition |",
        "|---|---|---|---|---|---|",
    ]
    right = True
    _prepare()
    for case in cases(arguments.rows, arguments.files):
        if arguments.only in (None, case.table):
            lines.append(f"| **{case.title}** | | | | | |")
            for name, times, equal in _measure(case, arguments.runs):
                right = right and equal
                lines.append(_line(name, times))
                print(lines[-1], "" if equal else "WRONG", flush=True)
    lines += ["", f"Seconds on {os.cpu_count()} cores ({platform.machine()}), Spark {SparkSession.active().version}."]
    print("\n".join(lines))
    if arguments.docs and right:
        text = PAGE.read_text()
        start, end = text.index(MARKS[0]) + len(MARKS[0]), text.index(MARKS[1])
        PAGE.write_text(text[:start] + "\n".join(lines) + "\n" + text[end:])
    return 0 if right else 1


def _line(name: str, times: Times) -> str:
    of_storage, of_definition = times.stitched / times.storage, times.stitched / times.definition
    seconds = " | ".join(f"{s:.2f}" for s in (times.storage, times.stitched, times.definition))
    return f"| {name} | {seconds} | {of_storage:.1f} | {of_definition:.2f} |"


def _measure(case: Case, runs: int) -> list[tuple[str, Times, bool]]:
    spark, table, view = SparkSession.active(), f"lake.raw.{case.table}", f"lake.analytics.{case.table}"
    started = time.perf_counter()
    spark.sql(f"CREATE TABLE {table} {case.create}")
    _load(spark, case, table)
    files = spark.sql(f"SELECT count(*) FROM {table}.files").first()[0]
    print(f"{table}: {files:,} files, made in {time.perf_counter() - started:.0f}s", flush=True)
    definition = f"SELECT {case.key} AS k, customer, {SUMS} FROM {table} GROUP BY {case.key}, customer"
    config = "materialized='materialized_view', stale_read_behavior='use_stitching'"
    (WORK / "models" / f"{case.table}.sql").write_text(f"{{{{ config({config}) }}}}\n{definition}\n")
    _dbt("run", "--select", case.table)
    measured = []
    for name, change in {"fresh": "", **case.changes}.items():
        if change:
            spark.sql(f"INSERT INTO {table} {change}")
        storage = f"SELECT * FROM lake.analytics.__mv_storage__{case.table}"
        times, equal = _race(spark, storage, f"SELECT * FROM {view}", definition, runs)
        measured.append((name, times, equal))
        print(_line(name, times), flush=True)
    spark.sql(f"DROP TABLE {table} PURGE")
    return measured


def _load(spark: SparkSession, case: Case, table: str) -> None:
    if case.table != "by_file":
        spark.sql(f"INSERT INTO {table} {case.load}")
        return
    # A file for every 200 rows: the writer begins another one at the limit, which it looks at every 100 rows or more.
    spark.conf.set("spark.sql.iceberg.check-ordering", "true")
    spark.sql(f"INSERT INTO {table} {case.load}")


def _race(spark: SparkSession, storage: str, stitched: str, definition: str, runs: int) -> tuple[Times, bool]:
    """Time all three ways in turn; tell whether the stitched answer is that of the definition."""
    ways = {"storage": storage, "stitched": stitched, "definition": definition}
    best: dict[str, float] = {}
    answers: dict[str, Row] = {}
    for _ in range(runs):
        for way, rows in ways.items():
            started = time.perf_counter()
            answers[way] = spark.sql(READ.format(rows=rows)).collect()[0]
            seconds = time.perf_counter() - started
            best[way] = min(best.get(way, seconds), seconds)
    return Times(**best), answers["stitched"] == answers["definition"]


def _prepare() -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "models").mkdir(parents=True)
    os.chdir(WORK)
    Path("dbt_project.yml").write_text("name: stitching\nversion: '1.0'\nprofile: stitching\n")
    target = {"type": "icebergmv", "method": "session", "catalog": "lake", "schema": "analytics"}
    target |= {"warehouse": "./warehouse", "threads": 1}
    profile = {"stitching": {"target": "bench", "outputs": {"bench": target}}}
    Path("profiles.yml").write_text(yaml.safe_dump(profile))
    _dbt("debug")
    SparkSession.active().sql("CREATE NAMESPACE IF NOT EXISTS lake.raw")


def _dbt(*arguments: str) -> None:
    result = dbtRunner().invoke([*arguments, "--quiet"])
    if not result.success:
        raise SystemExit(f"dbt {' '.join(arguments)} failed: {result.exception or result.result}")


if __name__ == "__main__":
    sys.exit(main())
