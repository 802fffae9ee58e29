"""What the scans of Spark took, by Iceberg's own metrics in Spark's SQL status store."""

from __future__ import annotations

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
    store, executions = _store(spark), _executions(spark)
    found = Scanned()
    for i in reversed(range(executions.size())):
        execution = executions.apply(i).executionId()
        if execution <= after:
            break
        found = _added(found, store, execution)
    return found


def splits_read(spark: SparkSession, table: str, after: int) -> int:
    """Return how many parts of files of a table were read since. A scan may take more, and prune by values later."""
    store, executions, found = _store(spark), _executions(spark), 0
    for execution in (executions.apply(i).executionId() for i in range(executions.size())):
        if execution > after:
            found += sum(_numbers(store, execution, f"BatchScan {table}", (_SPLITS,)))
    return found


def _numbers(store: Any, execution: int, node_name: str, wanted: tuple[str, ...]) -> list[int]:
    values, nodes = store.executionMetrics(execution), store.planGraph(execution).allNodes()
    found = []
    for node in (nodes.apply(i) for i in range(nodes.size())):
        metrics = node.metrics()
        for metric in (metrics.apply(i) for i in range(metrics.size())):
            value = values.get(metric.accumulatorId())
            if node.name() == node_name and metric.name() in wanted and value.isDefined():
                found.append(int(value.get().replace(",", "")))
    return found


def _added(found: Scanned, store: Any, execution: int) -> Scanned:
    values = store.executionMetrics(execution)
    nodes = store.planGraph(execution).allNodes()
    scans, files, size, silent = found.scans, found.files, found.size, found.silent
    for node in (nodes.apply(i) for i in range(nodes.size())):
        if not node.name().startswith("BatchScan"):
            continue  # Writes report the size of the whole table under the same name.
        metrics, before = node.metrics(), scans
        for metric in (metrics.apply(i) for i in range(metrics.size())):
            name, value = metric.name(), values.get(metric.accumulatorId())
            if not value.isDefined() or name not in _SIZES + _FILES:
                continue
            number = int(value.get().replace(",", ""))
            scans += name == _SIZES[0]
            size += number if name in _SIZES else 0
            files += number if name in _FILES else 0
        silent += scans == before
    return Scanned(scans, files, size, silent)


def _executions(spark: SparkSession) -> Any:
    """Return the executions that the status store keeps, oldest first."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return _store(spark).executionsList()


def _store(spark: SparkSession) -> Any:
    return spark._jsparkSession.sharedState().statusStore()
