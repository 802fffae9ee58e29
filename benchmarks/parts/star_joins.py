"""Stitched views over a table of some million rows and small ones joined to it: from which size on a look pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark.sql import SparkSession

from benchmarks.parts.seconds import seconds

MILLIONS = (1, 4, 16)
MOST_TABLES = 4
HEADER = [
    "| rows | tables | definition | stitched, fresh | stitched, one day stale |",
    "|---|---|---|---|---|",
]
_DAYS = 60
_KEYS = 5000
_DIMENSIONS = "abc"


@dataclass(frozen=True)
class StarJoin:
    """Seconds of the fastest of several reads, each way, of a view over so many tables and rows."""

    millions: int
    tables: int
    definition: float
    fresh: float
    stale: float

    def line(self) -> str:
        """Return the line of the table that `HEADER` begins."""
        times = " | ".join(f"{s:.2f}" for s in (self.definition, self.fresh, self.stale))
        return f"| {self.millions} million | {self.tables} | {times} |"


def measure(runs: int, build: Callable[[dict[str, str]], None]) -> Iterator[tuple[StarJoin, bool]]:
    """Make the tables, let `build` make the stitched views, and yield what reads cost, and whether they are right."""
    spark = SparkSession.active()
    for name in _DIMENSIONS:
        rows = f"SELECT id, CAST(id % 20 AS INT) AS part FROM range({_KEYS})"
        spark.sql(f"CREATE TABLE lake.raw.star_{name} USING iceberg AS {rows}")
    # A JVM is several times as slow at first.
    list(_of_size(spark, MILLIONS[0], runs, build))
    for millions in MILLIONS:
        yield from _of_size(spark, millions, runs, build)


def _of_size(
    spark: SparkSession, millions: int, runs: int, build: Callable[[dict[str, str]], None]
) -> Iterator[tuple[StarJoin, bool]]:
    facts, rows = f"lake.raw.star_{millions}", millions * 1_000_000
    at = f"TIMESTAMP '2024-01-01 00:00:00' + make_dt_interval(CAST(id div {rows // _DAYS} AS INT))"
    keys = ", ".join(f"id * {i + 1} % {_KEYS} AS {name}" for i, name in enumerate(_DIMENSIONS))
    loaded = f"SELECT id, {at} AS at, {keys}, id % 1000 AS v FROM range({rows})"
    spark.sql(f"CREATE TABLE {facts} USING iceberg PARTITIONED BY (days(at)) AS {loaded}")
    views = {f"star_{millions}_{tables}": _definition(facts, tables) for tables in range(1, MOST_TABLES + 1)}
    build(views)
    fresh = {name: seconds(spark, _all_rows(f"lake.analytics.{name}"), runs)[0] for name in views}
    spark.sql(f"INSERT INTO {facts} SELECT -1, TIMESTAMP '2024-02-20 00:00:00', 1, 1, 1, 5")
    for tables, (name, definition) in enumerate(views.items(), 1):
        stale, stitched = seconds(spark, _all_rows(f"lake.analytics.{name}"), runs)
        defined, wanted = seconds(spark, _all_rows(f"({definition})"), runs)
        yield StarJoin(millions, tables, defined, fresh[name], stale), stitched == wanted
    spark.sql(f"DROP TABLE {facts} PURGE")


def _definition(facts: str, tables: int) -> str:
    """Return a SELECT over so many tables; no more than a day and two parts group it, so its rows stay few."""
    names = _DIMENSIONS[: tables - 1]
    joins = "".join(f" JOIN lake.raw.star_{name} d{name} ON f.{name} = d{name}.id" for name in names)
    keys = ["date(f.at)", *(f"d{name}.part" for name in names[:2])]
    more = "".join(f", max(d{name}.part) AS m{name}" for name in names[2:])
    shown = ", ".join(f"{key} AS k{i}" for i, key in enumerate(keys))
    sums = f"count(*) AS n, sum(f.v) AS s{more}"
    return f"SELECT {shown}, {sums} FROM {facts} f{joins} GROUP BY {', '.join(keys)}"


def _all_rows(relation: str) -> str:
    return f"SELECT count(*), sum(n), sum(s) FROM {relation}"
