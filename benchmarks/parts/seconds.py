"""How long a query takes."""

from __future__ import annotations

import time

from pyspark.sql import SparkSession


def seconds(spark: SparkSession, query: str, runs: int) -> tuple[float, list[str]]:
    """Return the time of the fastest of several runs of a query, and its rows as texts in one order."""
    best, rows = float("inf"), []
    for _ in range(runs):
        started = time.perf_counter()
        rows = sorted(map(str, spark.sql(query).collect()))
        best = min(best, time.perf_counter() - started)
    return best, rows
