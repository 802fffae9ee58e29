"""Python models on real Spark, and a materialized view over one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt.tests.adapter.python_model.test_python_model import (
    BasePythonEmptyTests,
    BasePythonIncrementalTests,
    BasePythonMetaGetTests,
    BasePythonModelTests,
    BasePythonSampleTests,
)
from dbt.tests.util import run_dbt

ORDERS = """
import pandas as pd

def model(dbt, session):
    dbt.config(materialized="table", partition_by=["region"])
    days = dbt.config.get("days") or 2
    return pd.DataFrame({"region": ["EU", "US"] * days, "amount": range(2 * days)})
"""
REVENUE = """
{{ config(materialized='materialized_view') }}
select region, sum(amount) as amount from {{ ref('orders') }} group by region
"""


class TestPythonModel(BasePythonModelTests):
    pass


class TestPythonIncremental(BasePythonIncrementalTests):
    pass


class TestPythonEmpty(BasePythonEmptyTests):
    pytestmark = pytest.mark.long


class TestPythonSample(BasePythonSampleTests):
    pytestmark = pytest.mark.long


class TestPythonMetaGet(BasePythonMetaGetTests):
    pytestmark = pytest.mark.long


class TestViewOverPythonModel:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"orders.py": ORDERS, "revenue.sql": REVENUE}

    def test_it_is_a_base_table_as_any_other(self, project: Any) -> None:
        def responses() -> list[str]:
            return [result.adapter_response.get("refresh_kind", "") for result in run_dbt(["run"])]

        rows = "select region, amount from {schema}.revenue order by region"
        assert responses() == ["", "full"]
        assert [tuple(row) for row in project.run_sql(rows, fetch="all")] == [("EU", 2), ("US", 4)]
        # The same rows were written again.
        assert responses() == ["", "none"]

    def test_its_failure_is_told_with_its_line(self, project: Any) -> None:
        (Path(project.project_root) / "models" / "orders.py").write_text(ORDERS.replace("range(2 * days)", "range(1)"))
        failed = next(result for result in run_dbt(["run"], expect_pass=False) if result.status == "error")
        assert "The Python model orders failed in line 6 of its compiled code: ValueError" in str(failed.message)
