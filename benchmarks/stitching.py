"""What a stitched read costs: beside a read of the storage table, and beside the definition, in one Spark session.

Three base tables: 100 identity partitions, 400 day partitions, and 100,000 files in 1,000 identity partitions. Each
has a view with `use_stitching`. The tables then change in one, ten and a hundred percent of their partitions, without a
refresh; days change from the newest back, and once at random. Before them come views over tables of a few hundred rows,
stitched and as they are by default, with the sizes of their plans, and joins of one to four tables with one to sixteen
million rows: where `definition_below_rows` is to be. Writes the tables in docs/stale-reads.md with `--docs`. Exits with
1 when an answer is wrong.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml
from dbt.cli.main import dbtRunner
from pyspark.sql import Row, SparkSession

from benchmarks.parts import small_views, star_joins

WORK = Path(__file__).resolve().parent / "target-stitching"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "stale-reads.md"
HEADER = [
    "| | storage | stitched | definition | stitched / storage | stitched / definition |",
    "|---|---|---|---|---|---|",
]
# Rows come sorted by partition; a fanout writer would keep a file open for each.
SORTED = "TBLPROPERTIES ('write.spark.fanout.enabled' = 'false', 'write.distribution-mode' = 'none')"
_DEFINITION_RUNS = 2
SUMS = (
    "count(*) AS n, sum(amount) AS amount, max(weight) AS weight, min(id) AS first_id, sum(amount * weight) AS product"
)
READ = "SELECT count(*), sum(n), sum(amount), max(weight), min(first_id), sum(product) FROM ({rows})"


@dataclass(frozen=True)
class Case:
    """A base table, the key of its view, and how it is changed: SELECTs of one row per partition that is to change.

    `copies`: every data file is there so many times more.
    """

    title: str
    table: str
    columns: str
    partition: str
    load: str
    key: str
    changes: dict[str, str]
    copies: int = 0


@dataclass(frozen=True)
class Times:
    """Seconds of the fastest of several reads, each way."""

    storage: float
    stitched: float
    definition: float


def cases(rows: int, customers: int, files: int) -> list[Case]:
    """Return the tables to measure; `rows` and `customers` of the first two, `files` of the third."""
    row = "SELECT -1L, 7, 5, 3L, {value} FROM (SELECT explode({partitions}) AS k)"
    day = "TIMESTAMP '2024-01-01 00:00:00Z' + make_dt_interval(CAST({} AS INT))"
    columns = "id bigint, customer int, weight int, amount bigint"
    values = f"id, CAST(pmod(hash(id), {customers}) AS INT), CAST(id % 1000 AS INT), id % 10007"
    names = ("1 % stale", "10 % stale", "100 % stale")

    def changes(names: tuple[str, ...], value: str, *partitions: str) -> dict[str, str]:
        return {n: row.format(value=value, partitions=p) for n, p in zip(names, partitions, strict=True)}

    by_region = Case(
        f"100 identity partitions, {rows / 1e6:.0f} million rows",
        "by_region",
        f"{columns}, region int",
        "region",
        f"SELECT {values}, CAST(id div {rows // 100} AS INT) FROM range(0, {rows}, 1, 4)",
        "region",
        changes(names, "k", "array(99)", "sequence(9, 89, 10)", "sequence(0, 99)"),
    )
    by_day = Case(
        f"400 partitions by days(at), {rows / 1e6:.0f} million rows",
        "by_day",
        f"{columns}, at timestamp",
        "days(at)",
        f"SELECT {values}, {day.format(f'id div {rows // 400}')} FROM range(0, {rows}, 1, 4)",
        "date(at)",
        changes(
            ("1 % stale, the newest", "1 % stale at random", "10 % stale, the newest", "100 % stale"),
            day.format("k"),
            *("sequence(396, 399)", "array(12, 130, 251, 366)", "sequence(360, 395)", "sequence(0, 399)"),
        ),
    )
    of_a_file = 240
    by_file = Case(
        f"{files:,} files in 1,000 identity partitions, {files * of_a_file / 1e6:.0f} million rows",
        "by_file",
        f"{columns}, region int",
        "region",
        f"SELECT {values}, CAST(id div {of_a_file} AS INT) FROM range(0, {1000 * of_a_file}, 1, 1)",
        "region",
        changes(names, "k", "sequence(990, 999)", "sequence(0, 89)", "sequence(0, 999)"),
        copies=files // 1000 - 1,
    )
    return [by_region, by_day, by_file]


def main() -> int:
    """Run the benchmark and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=60_000_000, help="of the first two tables (default: 60 million)")
    parser.add_argument("--customers", type=int, default=200_000, help="that group them (default: 200,000)")
    parser.add_argument("--files", type=int, default=100_000, help="of the third table (default: 100,000)")
    parser.add_argument("--runs", type=int, default=5, help="reads each way, of which the fastest counts (default: 5)")
    parser.add_argument("--only", help="the name of one table: small, joins, by_region, by_day or by_file")
    parser.add_argument("--docs", action="store_true", help="write the results into docs/stale-reads.md")
    arguments = parser.parse_args()
    right = True
    _prepare()
    if arguments.only in (None, "small"):
        small = small_views.measure(arguments.runs, _build, _build_default)
        of_small = ((small_views.line(name, found), equal) for name, found, equal in small)
        right = _reported("small", small_views.HEADER, of_small, arguments.docs)
    if arguments.only in (None, "joins"):
        of_joins = ((found.line(), equal) for found, equal in star_joins.measure(arguments.runs, _build))
        right = _reported("joins", star_joins.HEADER, of_joins, arguments.docs) and right
    for case in cases(arguments.rows, arguments.customers, arguments.files):
        if arguments.only in (None, case.table):
            measured = _measure(case, arguments.runs)
            right = right and all(equal for _, _, equal in measured)
            lines = [f"| **{case.title}** | | | | | |", *(_line(name, times) for name, times, _ in measured)]
            if arguments.docs and right:
                _write(case.table, [*HEADER, *lines])
    return 0 if right else 1


def _reported(table: str, header: list[str], measured: Iterable[tuple[str, bool]], in_docs: bool) -> bool:
    """Print the lines of a table as they come, and put them into the page; return whether all answers are right."""
    lines, right = [], True
    for line, equal in measured:
        lines.append(line)
        print(line, "" if equal else "WRONG", flush=True)
        right = right and equal
    if in_docs and right:
        _write(table, [*header, *lines])
    return right


def _build(definitions: dict[str, str]) -> None:
    """Make stitched views of these names, however small their tables are."""
    _run(definitions, ", definition_below_rows=0")


def _build_default(definitions: dict[str, str]) -> None:
    """Make views of these names, stitched where their tables are not small."""
    _run(definitions)


def _run(definitions: dict[str, str], more: str = "") -> None:
    config = f"materialized='materialized_view', stale_read_behavior='use_stitching'{more}"
    for name, definition in definitions.items():
        (WORK / "models" / f"{name}.sql").write_text(f"{{{{ config({config}) }}}}\n{definition}\n")
    _dbt("run", "--select", *definitions)


def _write(table: str, lines: list[str]) -> None:
    """Put the lines of a table into the page, between its own marks."""
    text = PAGE.read_text()
    start, end = f"<!-- {table} -->\n", f"<!-- end of {table} -->"
    head, _, rest = text.partition(start)
    machine = f"Seconds on {os.cpu_count()} cores, Spark {SparkSession.active().version}."
    page = "\n".join([*lines, "", machine, ""])
    PAGE.write_text(f"{head}{start}{page}{end}{rest.partition(end)[2]}")


def _line(name: str, times: Times) -> str:
    of_storage, of_definition = times.stitched / times.storage, times.stitched / times.definition
    seconds = " | ".join(f"{s:.2f}" for s in (times.storage, times.stitched, times.definition))
    return f"| {name} | {seconds} | {of_storage:.1f} | {of_definition:.2f} |"


def _measure(case: Case, runs: int) -> list[tuple[str, Times, bool]]:
    spark, table, view = SparkSession.active(), f"lake.raw.{case.table}", f"lake.analytics.{case.table}"
    started = time.perf_counter()
    spark.sql(f"CREATE TABLE {table} ({case.columns}) USING iceberg PARTITIONED BY ({case.partition}) {SORTED}")
    spark.sql(f"INSERT INTO {table} {case.load}")
    if case.copies:
        _copy_files(spark, table, case.copies)
    files = spark.sql(f"SELECT count(*) FROM {table}.files").first()[0]
    print(f"{table}: {files:,} files, made in {time.perf_counter() - started:.0f}s", flush=True)
    definition = f"SELECT {case.key} AS k, customer, {SUMS} FROM {table} GROUP BY {case.key}, customer"
    _build({case.table: definition})
    measured = []
    for name, change in {"fresh": "", **case.changes}.items():
        if change:
            spark.sql(f"INSERT INTO {table} {change}")
        storage = f"SELECT * FROM lake.analytics.__mv_storage__{case.table}"
        times, equal = _race(spark, storage, f"SELECT * FROM {view}", definition, runs)
        measured.append((name, times, equal))
        print(_line(name, times), "" if equal else "WRONG", flush=True)
    spark.sql(f"DROP TABLE {table} PURGE")
    return measured


def _copy_files(spark: SparkSession, table: str, copies: int) -> None:
    """Add every data file of the table again, as hard links of other names: many files that take no time to write."""
    jvm = spark._jvm
    loaded = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)
    tasks, found = loaded.newScan().planFiles().iterator(), []
    while tasks.hasNext():
        found.append(tasks.next().file().copy())
    append = loaded.newFastAppend()
    for file in found:
        path = file.location().removeprefix("file:")
        for number in range(copies):
            copy = path.replace(".parquet", f"-{number}.parquet")
            os.link(path, copy)
            append.appendFile(jvm.org.apache.iceberg.DataFiles.builder(loaded.spec()).copy(file).withPath(copy).build())
    append.commit()


def _race(spark: SparkSession, storage: str, stitched: str, definition: str, runs: int) -> tuple[Times, bool]:
    """Time all three ways in turn, the long one twice; tell whether the stitched answer is that of the definition."""
    ways = {"storage": storage, "stitched": stitched, "definition": definition}
    best: dict[str, float] = {}
    answers: dict[str, Row] = {}
    for number in range(runs):
        for way, rows in ways.items():
            if way == "definition" and number >= _DEFINITION_RUNS:
                continue
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
