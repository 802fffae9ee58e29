"""dbt's own test suite for adapters: snapshots."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.simple_snapshot.new_record_check_mode import BaseSnapshotNewRecordCheckMode
from dbt.tests.adapter.simple_snapshot.new_record_dbt_valid_to_current import BaseSnapshotNewRecordDbtValidToCurrent
from dbt.tests.adapter.simple_snapshot.new_record_timestamp_mode import BaseSnapshotNewRecordTimestampMode
from dbt.tests.adapter.simple_snapshot.test_ephemeral_snapshot_hard_deletes import (
    BaseSnapshotEphemeralHardDeletes,
    BaseSnapshotNewColumnSpecificCheckCols,
    BaseSnapshotNewColumnTimestampStrategy,
    BaseSnapshotNewColumnWithDeletes,
)
from dbt.tests.adapter.simple_snapshot.test_snapshot import BaseSimpleSnapshot, BaseSnapshotCheck
from dbt.tests.adapter.simple_snapshot.test_various_configs import (
    BaseSnapshotColumnNames,
    BaseSnapshotColumnNamesFromDbtProject,
    BaseSnapshotInvalidColumnNames,
    BaseSnapshotMultiUniqueKey,
)
from dbt.tests.util import run_dbt

from integration.support.postgres_sql import PreparedInPostgres

long = pytest.mark.long


class TestSimpleSnapshot(PreparedInPostgres, BaseSimpleSnapshot):
    pytestmark = long

    def add_fact_column(self, column: str | None = None, definition: str | None = None) -> None:
        # Iceberg's tables of format 2 have no default values; what a new column lacks is NULL anyway.
        super().add_fact_column(str(column), str(definition).removesuffix(" default null"))


class TestSnapshotCheck(BaseSnapshotCheck):
    pytestmark = long


class TestSnapshotNewRecordTimestampMode(PreparedInPostgres, BaseSnapshotNewRecordTimestampMode):
    pytestmark = long


class TestSnapshotNewRecordCheckMode(PreparedInPostgres, BaseSnapshotNewRecordCheckMode):
    pytestmark = long


class TestSnapshotNewRecordDbtValidToCurrent(PreparedInPostgres, BaseSnapshotNewRecordDbtValidToCurrent):
    pass


class TestSnapshotColumnNames(PreparedInPostgres, BaseSnapshotColumnNames):
    pytestmark = long


class TestSnapshotColumnNamesFromDbtProject(PreparedInPostgres, BaseSnapshotColumnNamesFromDbtProject):
    pytestmark = long


class TestSnapshotInvalidColumnNames(PreparedInPostgres, BaseSnapshotInvalidColumnNames):
    pytestmark = long


class TestSnapshotMultiUniqueKey(PreparedInPostgres, BaseSnapshotMultiUniqueKey):
    pytestmark = long


class _AltersWithoutDefault(PreparedInPostgres):
    """Iceberg's tables of format 2 have no default values."""

    @pytest.fixture(scope="class")
    def source_alter_sql(self) -> str:
        return "alter table {database}.{schema}.src_customers add column dummy_column string"


class TestSnapshotEphemeralHardDeletes(_AltersWithoutDefault, BaseSnapshotEphemeralHardDeletes):
    pytestmark = long


class TestSnapshotNewColumnTimestampStrategy(_AltersWithoutDefault, BaseSnapshotNewColumnTimestampStrategy):
    pytestmark = long


class TestSnapshotNewColumnSpecificCheckCols(_AltersWithoutDefault, BaseSnapshotNewColumnSpecificCheckCols):
    pytestmark = long


class TestSnapshotNewColumnWithDeletes(_AltersWithoutDefault, BaseSnapshotNewColumnWithDeletes):
    pytestmark = pytest.mark.long


class TestHooksOutsideATransaction:
    """dbt's own macro sends `commit` before them, which Spark does not know."""

    @pytest.fixture(scope="class")
    def snapshots(self) -> dict[str, str]:
        config = (
            "{% snapshot kept %}{{ config(unique_key='id', strategy='check', check_cols='all', "
            "target_schema=schema, pre_hook={'sql': said('before'), 'transaction': false}, "
            "post_hook=[after_commit(said('after')), said('inside')]) }}"
        )
        return {"kept.sql": f"{config} select 1 as id, 'a' as name {{% endsnapshot %}}"}

    @pytest.fixture(scope="class")
    def macros(self) -> dict[str, str]:
        said = "insert into {{ target.schema }}.said select count(*), '{{ what }}' from {{ target.schema }}.said"
        return {"said.sql": f"{{% macro said(what) %}}{said}{{% endmacro %}}"}

    def test_they_run(self, project: Any) -> None:
        project.run_sql("create table lake.{schema}.said (n int, what string) using iceberg")
        for _ in range(2):
            run_dbt(["snapshot"])
        said = project.run_sql("select what from lake.{schema}.said order by n", fetch="all")
        assert [row[0] for row in said] == ["before", "inside", "after"] * 2
        kept = project.run_sql("select id, name from lake.{schema}.kept", fetch="all")
        assert [tuple(row) for row in kept] == [(1, "a")]
