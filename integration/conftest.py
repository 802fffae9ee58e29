"""Real Spark, a real catalog: one Spark and one warehouse for the whole pytest process."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.factory import reset_adapters

from integration.lake import Lake

pytest_plugins = ["dbt.tests.fixtures.project"]

# Test tables are tiny: one task a stage, and no time spent on planning for more.
SPARK = {"spark.sql.shuffle.partitions": "1", "spark.default.parallelism": "1", "spark.master": "local[2]"}
VERSIONS_SHOWN = ("dbt-core", "dbt-spark", "dbt-tests-adapter", "pyspark", "pyiceberg", "sqlglot")


def pytest_report_header() -> str:
    return ", ".join(f"{name} {version(name)}" for name in VERSIONS_SHOWN)


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A space and an accent, as in many a home folder.
    return tmp_path_factory.mktemp("lager haus é") / "warehouse"


@pytest.fixture(scope="class")
def dbt_profile_target(warehouse: Path) -> dict[str, Any]:
    return {
        "type": "icebergmv",
        "method": "session",
        "catalog": "lake",
        "warehouse": str(warehouse),
        "threads": 4,
        "server_side_parameters": SPARK,
    }


@pytest.fixture(scope="module")
def lake(request: pytest.FixtureRequest, warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A dbt project of the test module's own, in a schema of its own; Spark is started if it does not run yet."""
    name = request.module.__name__.rsplit(".", 1)[-1]
    target = {
        "type": "icebergmv",
        "method": "session",
        "catalog": "lake",
        "schema": f"mv_{name}",
        "warehouse": str(warehouse),
        "threads": 2,
        "server_side_parameters": SPARK,
    }
    made = Lake(tmp_path_factory.mktemp(name) / "project", target)
    assert made.dbt("debug").success
    made.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.`{target['schema']}`")
    yield made
    # `dbt debug` registers an adapter that knows its profile alone; dbt's own fixtures would take it over.
    reset_adapters()
