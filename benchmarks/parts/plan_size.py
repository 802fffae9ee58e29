"""How large the plan of a read is: unlike times, the same at every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession


@dataclass(frozen=True)
class PlanSize:
    """Rows that a read gives, lines of its physical plan, and the jobs that it runs."""

    rows: int
    lines: int
    jobs: int


def plan_size(view: str, group: str) -> PlanSize:
    """Read a view; return the size of the plan. `group` is a name for its jobs that no other read has."""
    spark = SparkSession.active()
    context = spark.sparkContext
    context.setJobGroup(group, "a read whose plan is measured")
    read: Any = spark.table(view)
    rows = len(read.collect())
    jobs = len(context.statusTracker().getJobIdsForGroup(group))
    context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    return PlanSize(rows, read._jdf.queryExecution().executedPlan().toString().count("\n"), jobs)
