"""Stitched views over tables of a few hundred rows, where planning is most of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark.sql import SparkSession

from benchmarks.parts.plan_size import PlanSize, plan_size
from benchmarks.parts.seconds import seconds

TITLES = {
    "small_identity": "one base by identity",
    "small_days": "one base by days(at)",
    "small_join": "join of two bases by days(at)",
    "small_bucket": "join of a base by bucket(8) and one by identity",
}
HEADER = [
    "| tables of 300 rows | storage | definition | by default | stitched, fresh | stitched, one partition stale"
    " | lines of the physical plan | jobs |",
    "|---|---|---|---|---|---|---|---|",
]
_RAW = "lake.raw.small"
_TABLES = {
    f"{_RAW}_regions": ("region", "id, CAST(id % 10 AS INT) AS region, id % 7 AS v"),
    f"{_RAW}_ids": ("bucket(8, id)", "id, id % 7 AS v"),
    **{
        f"{_RAW}_{name}": (
            "days(at)",
            "id, TIMESTAMP '2024-01-01 00:00:00' + make_dt_interval(CAST(id % 10 AS INT)) AS at, id % 7 AS v",
        )
        for name in ("days", "more_days")
    },
}
DEFINITIONS = {
    "small_identity": f"SELECT region, count(*) AS n, sum(v) AS s FROM {_RAW}_regions GROUP BY region",
    "small_days": f"SELECT date(at) AS d, count(*) AS n, sum(v) AS s FROM {_RAW}_days GROUP BY 1",
    "small_join": f"SELECT date(a.at) AS d, count(*) AS n, sum(b.v) AS s FROM {_RAW}_days a"
    f" JOIN {_RAW}_more_days b ON date(a.at) = date(b.at) GROUP BY 1",
    "small_bucket": f"SELECT k.id, a.region, sum(a.v) AS s FROM {_RAW}_ids k JOIN {_RAW}_regions a ON k.id = a.id"
    " GROUP BY 1, 2",
}
_CHANGES = (
    f"INSERT INTO {_RAW}_regions VALUES (1000, 3, 3)",
    f"INSERT INTO {_RAW}_days VALUES (1000, TIMESTAMP '2024-01-03 00:00:00', 3)",
)


@dataclass(frozen=True)
class SmallView:
    """Seconds of the fastest of several reads, each way, and the size of the plan of a fresh read.

    `default` is a read of a stale view with `use_stitching` and nothing else.
    """

    storage: float
    definition: float
    default: float
    fresh: float
    stale: float
    size: PlanSize


def measure(
    runs: int, build: Callable[[dict[str, str]], None], build_default: Callable[[dict[str, str]], None]
) -> Iterator[tuple[str, SmallView, bool]]:
    """Make the tables, let `build` make the stitched views, and yield what reads cost, and whether they are right.

    `build_default` makes views with the default `definition_below_rows`.
    """
    spark = SparkSession.active()
    for table, (partition, columns) in _TABLES.items():
        spark.sql(
            f"CREATE TABLE {table} USING iceberg PARTITIONED BY ({partition}) AS SELECT {columns} FROM range(300)"
        )
    build(DEFINITIONS)
    build_default({f"default_{name}": definition for name, definition in DEFINITIONS.items()})
    # A JVM is several times as slow at first.
    for name in DEFINITIONS:
        seconds(spark, f"SELECT * FROM lake.analytics.{name}", 2 * runs)
    fresh = {name: seconds(spark, f"SELECT * FROM lake.analytics.{name}", runs) for name in DEFINITIONS}
    stored = {name: seconds(spark, f"SELECT * FROM lake.analytics.__mv_storage__{name}", runs) for name in DEFINITIONS}
    sizes = {name: plan_size(f"lake.analytics.{name}", name) for name in DEFINITIONS}
    for change in _CHANGES:
        spark.sql(change)
    for name, definition in DEFINITIONS.items():
        stale, rows = seconds(spark, f"SELECT * FROM lake.analytics.{name}", runs)
        default, shown = seconds(spark, f"SELECT * FROM lake.analytics.default_{name}", runs)
        defined, wanted = seconds(spark, definition, runs)
        found = SmallView(stored[name][0], defined, default, fresh[name][0], stale, sizes[name])
        yield name, found, rows == shown == wanted


def line(name: str, found: SmallView) -> str:
    """Return the line of a view in the table that `HEADER` begins."""
    times = " | ".join(f"{s:.2f}" for s in (found.storage, found.definition, found.default, found.fresh, found.stale))
    return f"| {TITLES[name]} | {times} | {found.size.lines:,} | {found.size.jobs} |"
