"""Real Spark, a real catalog: one Spark and one warehouse for the whole pytest process."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["dbt.tests.fixtures.project"]

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
    }
