"""A stitched read opens the files of the stale partitions, and leaves the other files of its base tables alone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pyspark.sql import SparkSession

from benchmarks.parts.scans import last_execution, splits_read
from integration.support.following import in_turn
from integration.support.lake import LakeProject

ROWS = (
    "SELECT id, CAST(id % 10 AS INT) AS region, TIMESTAMP '2024-01-01 00:00:00' + make_dt_interval(CAST(id % 60 AS INT))"
    " AS at FROM range(600)"
)


@dataclass(frozen=True)
class Case:
    """How a base table is partitioned, the key of the view, and the files that are read when a row came."""

    partition: str
    key: str
    row: str
    files: int = 2


CASES = {
    "column": Case("region", "region", "(1000, 3, NULL)"),
    "newest_day": Case("days(at)", "date(at) AS d", "(1000, NULL, timestamp'2024-02-29 00:00:00')"),
    # The last day of a range of eight days.
    "day_before": Case("days(at)", "date(at) AS d", "(1000, NULL, timestamp'2024-02-28 00:00:00')", files=8 + 1),
    # Of the oldest range, 51 days, every tenth day has this region.
    "both": Case("region, days(at)", "region, date(at) AS d", "(1000, 3, timestamp'2024-01-04 00:00:00')", files=5 + 1),
}


@pytest.fixture(scope="module")
def tables(users_lake: LakeProject) -> dict[str, str]:
    lake = users_lake
    names = {name: f"lake.{lake.schema}.skips_{name}" for name in CASES}
    lake.at_once(
        f"CREATE TABLE {names[name]} USING iceberg PARTITIONED BY ({case.partition})"
        f" TBLPROPERTIES ('write.distribution-mode'='hash') AS {ROWS}"
        for name, case in CASES.items()
    )
    for name, case in CASES.items():
        sql = f"SELECT {case.key}, count(*) AS n FROM {names[name]} GROUP BY ALL"
        lake.model(f"skipping_{name}", sql, stale_read_behavior="use_stitching")
    lake.run()
    return names


@pytest.mark.parametrize("name", in_turn(CASES, 2))
def test_other_files_are_not_opened(users_lake: LakeProject, tables: dict[str, str], name: str) -> None:
    lake, table, view = users_lake, tables[name], users_lake.view(f"skipping_{name}")
    assert files_read(view, table) == 0
    lake.sql(f"INSERT INTO {table} VALUES {CASES[name].row}")
    assert files_read(view, table) == CASES[name].files
    lake.assert_equals_definition(f"skipping_{name}")


def files_read(view: str, table: str) -> int:
    """Return how many files of a table a read of the view opens; each is small, and so one split."""
    spark = SparkSession.active()
    before = last_execution(spark)
    spark.table(view).collect()
    return splits_read(spark, table, before)
