"""TPC-H, seven materialized views, four rounds of change: what each refresh did, what it cost, and whether it is right.

Run it with `make demo`; the environment variable SCALE sets the scale factor of the data.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from changes import Round, rounds
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

HERE = Path(__file__).resolve().parent
WORK = HERE / "target-demo"
CATALOG = "lake"
BASES = {
    "customer": "c_nationkey",
    "orders": "months(o_orderdate)",
    "lineitem": "months(l_shipdate)",
    "nation": None,
}
DEFAULT_SCALE = "0.05"
MIB = 1024 * 1024

LEGEND = """
refresh   seconds that dbt spent on the model: finding out what changed, recomputing it, publishing it
rebuild   seconds of CREATE OR REPLACE TABLE ... AS with the same SELECT and the same partitioning, run right after
          the refresh on the same Spark; dbt's own share is not counted, so the comparison leans towards the rebuild
ratio     rebuild / refresh: above 1 the refresh was faster
equal     the view and its SELECT evaluated at this moment hold the same rows (EXCEPT ALL, both ways)
"""
HEADER = f"{'view':<17} {'what was done':<62} {'refresh':>8} {'rebuild':>8} {'ratio':>6}  equal"


@dataclass(frozen=True)
class Model:
    """A materialized view of the project: its name, its compiled SELECT, and how its storage is partitioned."""

    name: str
    sql: str
    partitioning: str

    @property
    def relation(self) -> str:
        """The view in the catalog."""
        return f"{CATALOG}.analytics.{self.name}"


@dataclass(frozen=True)
class Outcome:
    """One line of the table: what a run did to one view, measured and verified."""

    view: str
    done: str
    refresh: float
    rebuild: float
    equal: bool

    def lines(self) -> list[str]:
        """Return the printed lines; what was done is wrapped."""
        done = textwrap.wrap(self.done, 62)
        numbers = f"{self.refresh:>7.2f}s {self.rebuild:>7.2f}s {self.rebuild / self.refresh:>5.1f}x"
        first = f"{self.view:<17} {done[0]:<62} {numbers}  {'yes' if self.equal else 'NO'}"
        return [first, *(f"{'':<17} {rest}" for rest in done[1:])]


class DemoFailed(Exception):
    """A step of the demo did not work; the message says which."""


def main() -> int:
    """Run the demo and return the exit code: 1 when any view differs from its definition."""
    scale = os.environ.get("SCALE") or DEFAULT_SCALE
    os.chdir(HERE)
    shutil.rmtree(WORK, ignore_errors=True)
    try:
        return _demo(scale)
    except DemoFailed as failure:
        print(f"Cannot go on: {failure}", file=sys.stderr)
        return 1


def _demo(scale: str) -> int:
    started = time.perf_counter()
    print(f"TPC-H at scale {scale}: generating, starting Spark, writing Iceberg tables ...")
    _generate(scale)
    dbt("debug")
    spark = SparkSession.active()
    _load(spark)
    _print_tables(spark)

    print("\ndbt run: the first build of every view ...")
    dbt("run")
    for name, result in _results().items():
        print(f"  {name:<17} {result['adapter_response']['_message']}")
    models = _models(spark)
    print(LEGEND, end="")

    all_equal = True
    for number, change in enumerate(rounds(CATALOG), start=1):
        all_equal &= _play(spark, number, change, models)
    print("\ndbt test ...")
    dbt("test")
    verdict = "Every view equals its definition after every round." if all_equal else "SOME VIEWS DIFFER."
    print(f"{verdict} {time.perf_counter() - started:.0f}s in all.")
    return 0 if all_equal else 1


def dbt(*arguments: str) -> None:
    """Run a dbt command in this process, so that one Spark serves all of them."""
    settings = ["--no-use-colors", "--log-level", "none", "--log-path", str(WORK / "logs")]
    result = dbtRunner().invoke([*settings, *arguments])
    if result.success:
        return
    failures = [r.message for r in getattr(result.result, "results", None) or () if r.status in ("error", "fail")]
    raise DemoFailed(f"dbt {arguments[0]} failed: {'; '.join(map(str, failures)) or result.exception or 'see its log'}")


def _generate(scale: str) -> None:
    data = WORK / "data"
    data.mkdir(parents=True)
    tool = Path(sys.executable).with_name("tpchgen-cli")
    command = [str(tool), "parquet", "--scale-factor", scale, "--tables", ",".join(BASES)]
    command += ["--output-dir", str(data), "--quiet"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise DemoFailed("tpchgen-cli is missing beside this Python; install it with pip") from None
    except subprocess.CalledProcessError as error:
        raise DemoFailed(f"tpchgen-cli failed: {error.stderr.strip()}") from None


def _load(spark: SparkSession) -> None:
    spark.sql(f"create namespace if not exists {CATALOG}.tpch")
    spark.sql(f"create namespace if not exists {CATALOG}.rebuilt")
    for table, partitioning in BASES.items():
        spark.read.parquet(str(WORK / "data" / f"{table}.parquet")).createOrReplaceTempView("generated")
        _create_as(spark, f"{CATALOG}.tpch.{table}", partitioning, "select * from generated")


def _create_as(spark: SparkSession, table: str, partitioning: str | None, query: str) -> None:
    partitioned = f"partitioned by ({partitioning})" if partitioning else ""
    spark.sql(f"create or replace table {table} using iceberg {partitioned} as {query}")


def _print_tables(spark: SparkSession) -> None:
    for table, partitioning in BASES.items():
        if partitioning is None:
            continue
        row = spark.sql(
            f"select sum(record_count), sum(file_size_in_bytes), count(distinct partition) "
            f"from {CATALOG}.tpch.{table}.data_files"
        ).first()
        assert row is not None
        print(f"  {table:<9} {row[0]:>10,} rows {row[1] / MIB:>8.1f} MiB {row[2]:>4} partitions by {partitioning}")


def _models(spark: SparkSession) -> list[Model]:
    return [
        Model(name, result["compiled_code"], _partitioning(spark, result["adapter_response"]["storage_table"]))
        for name, result in _results().items()
    ]


def _partitioning(spark: SparkSession, table: str) -> str:
    """Return the partitioning of a table as PARTITIONED BY takes it."""
    rows = spark.sql(f"show create table {table}").first()
    assert rows is not None
    lines = [line for line in rows[0].splitlines() if line.startswith("PARTITIONED BY")]
    return lines[0].removeprefix("PARTITIONED BY (").removesuffix(")") if lines else ""


def _results() -> dict[str, dict[str, Any]]:
    """Return dbt's results of the last run by model name, from run_results.json."""
    results = json.loads((WORK / "target" / "run_results.json").read_text())["results"]
    return {r["unique_id"].split(".")[-1]: r for r in results}


def _play(spark: SparkSession, number: int, change: Round, models: Sequence[Model]) -> bool:
    """Change the base tables, run dbt, print what happened; return whether every view is right."""
    print(f"\nRound {number}. {change.title}")
    for statement in change.statements:
        spark.sql(statement)
    dbt("run")
    results = _results()
    print(HEADER)
    outcomes = []
    for model in models:
        outcome = _outcome(spark, model, results[model.name])
        outcomes.append(outcome)
        print("\n".join(outcome.lines()), flush=True)
    return all(o.equal for o in outcomes)


def _outcome(spark: SparkSession, model: Model, result: dict[str, Any]) -> Outcome:
    response = result["adapter_response"]
    started = time.perf_counter()
    _create_as(spark, f"{CATALOG}.rebuilt.{model.name}", model.partitioning, model.sql)
    return Outcome(
        view=model.name,
        done=f"{response['refresh_kind']}: {response['refresh_reason']}",
        refresh=result["execution_time"],
        rebuild=time.perf_counter() - started,
        equal=_is_equal(spark, model),
    )


def _is_equal(spark: SparkSession, model: Model) -> bool:
    shown, defined = f"(select * from {model.relation})", f"(select * from (\n{model.sql}\n))"
    either = f"({shown} except all {defined}) union all ({defined} except all {shown})"
    return spark.sql(f"select 1 from ({either}) limit 1").first() is None


if __name__ == "__main__":
    sys.exit(main())
