"""What the scans of Spark took, by Iceberg's own metrics in Spark's SQL status store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

_SIZES = ("total data file size (bytes)", "total delete file size (bytes)")
_SPLITS = "number of file splits read"
_FILES = ("number of result data files", "number of result delete files")


@dataclass(frozen=True)
class Scanned:
    """The files that scans took, with their sizes: of whole files, not of the columns that are decoded.

    `silent` scans report none: Iceberg's reads of appended rows alone, and of metadata tables.
    """

    scans: int = 0
    files: int = 0
    size: int = 0
    silent: int = 0


def last_execution(spark: SparkSession) -> int:
    """Return the id of the newest SQL execution, -1 if there is none."""
    executions = _executions(spark)
    size = executions.size()
    return int(executions.apply(size - 1).executionId()) if size else -1


def scanned_since(spark: SparkSession, after: int) -> Scanned:
    """Return what the scans of all tables took in the executions after one of them."""
    found = [metrics for _, metrics in _scans(spark, after)]
    files, size = (sum(metrics.get(name, 0) for metrics in found for name in names) for names in (_FILES, _SIZES))
    scans = sum(_SIZES[0] in metrics for metrics in found)
    return Scanned(scans, files, size, len(found) - scans)


def splits_read(spark: SparkSession, table: str, after: int) -> int:
    """Return how many parts of files of a table were read since. A scan may take more, and prune by values later."""
    return sum(metrics.get(_SPLITS, 0) for name, metrics in _scans(spark, after) if name == f"BatchScan {table}")


def _scans(spark: SparkSession, after: int) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the name and the metrics, if they are reported, of each scan in the executions after one of them."""
    store, executions = _store(spark), _executions(spark)
    for i in reversed(range(executions.size())):
        execution = executions.apply(i).executionId()
        if execution <= after:
            break
        values, nodes = store.executionMetrics(execution), store.planGraph(execution).allNodes()
        for node in (nodes.apply(n) for n in range(nodes.size())):
            # Writes report the size of the whole table under the same name.
            if node.name().startswith("BatchScan"):
                yield node.name(), _reported(node.metrics(), values)


def _reported(metrics: Any, values: Any) -> dict[str, int]:
    found = ((m.name(), values.get(m.accumulatorId())) for m in (metrics.apply(i) for i in range(metrics.size())))
    return {
        name: int(value.get().replace(",", ""))
        for name, value in found
        if value.isDefined() and name in (*_SIZES, *_FILES, _SPLITS)
    }


def _executions(spark: SparkSession) -> Any:
    """Return the executions that the status store keeps, oldest first."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return _store(spark).executionsList()


def _store(spark: SparkSession) -> Any:
    return spark._jsparkSession.sharedState().statusStore()
