"""dbt's own test suite for adapters: incremental models."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import BaseMergeExcludeColumns
from dbt.tests.adapter.incremental.test_incremental_microbatch import BaseMicrobatch
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import BaseIncrementalOnSchemaChange
from dbt.tests.adapter.incremental.test_incremental_predicates import BaseIncrementalPredicates
from dbt.tests.adapter.incremental.test_incremental_unique_id import (
    BaseIncrementalUniqueKey,
    seeds__add_new_rows_sql,
    seeds__duplicate_insert_sql,
    seeds__seed_csv,
)


class TestIncrementalOnSchemaChange(BaseIncrementalOnSchemaChange):
    pytestmark = pytest.mark.long


class Merge:
    """A unique key needs a strategy that reads it; the default one appends."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {"models": {"+incremental_strategy": "merge"}}


class TestIncrementalUniqueKey(Merge, BaseIncrementalUniqueKey):
    pytestmark = pytest.mark.long

    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        # Spark writes no text into a date column.
        def with_dates(statements: str) -> str:
            return statements.replace("'2022-", "date '2022-")

        return {
            "seed.csv": seeds__seed_csv,
            "duplicate_insert.sql": with_dates(seeds__duplicate_insert_sql),
            "add_new_rows.sql": with_dates(seeds__add_new_rows_sql),
        }


class TestMergeExcludeColumns(BaseMergeExcludeColumns):
    pytestmark = pytest.mark.long


class TestIncrementalPredicates(BaseIncrementalPredicates):
    pytestmark = pytest.mark.long

    """The suite deletes and inserts; a merge that may not match row 2 leaves the same rows."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        predicates = ["DBT_INTERNAL_DEST.id != 2"]
        return {"models": {"+incremental_predicates": predicates, "+incremental_strategy": "merge"}}


class TestPredicates(BaseIncrementalPredicates):
    """The other name of `incremental_predicates`."""

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {"models": {"+predicates": ["DBT_INTERNAL_DEST.id != 2"], "+incremental_strategy": "merge"}}


class TestMicrobatch(BaseMicrobatch):
    """A batch replaces partitions, so the model has one a batch."""

    pytestmark = pytest.mark.long

    @pytest.fixture(scope="class")
    def microbatch_model_sql(self) -> str:
        return """
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='event_time', batch_size='day',
          begin=modules.datetime.datetime(2020, 1, 1, 0, 0, 0), partition_by='days(event_time)') }}
select * from {{ ref('input_model') }}
"""
