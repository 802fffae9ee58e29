"""dbt's own test suite for adapters: a project of seeds, tables, views and incremental models, built twice."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.simple_copy.test_copy_uppercase import BaseSimpleCopyUppercase
from dbt.tests.adapter.simple_copy.test_simple_copy import EmptyModelsArentRunBase, SimpleCopyBase

from integration.support.postgres_sql import PreparedInPostgres


class TestSimpleCopy(PreparedInPostgres, SimpleCopyBase):
    pytestmark = pytest.mark.long


class TestEmptyModelsArentRun(PreparedInPostgres, EmptyModelsArentRunBase):
    pytestmark = pytest.mark.long


class TestSimpleCopyUppercase(BaseSimpleCopyUppercase):
    pytestmark = pytest.mark.long

    # The suite's own profile is one of PostgreSQL.
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, lake_target: dict[str, Any]) -> dict[str, Any]:
        return dict(lake_target)
