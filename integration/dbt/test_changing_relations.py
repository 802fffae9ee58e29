"""dbt's own test suite for adapters: relations that change, are dropped, or are built at the same time."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.column_types.fixtures import schema_yml
from dbt.tests.adapter.column_types.test_column_types import BasePostgresColumnTypes
from dbt.tests.adapter.concurrency.test_concurrency import BaseConcurrency
from dbt.tests.adapter.ephemeral.test_ephemeral import BaseEphemeralErrorHandling
from dbt.tests.adapter.relations.test_changing_relation_type import BaseChangeRelationTypeValidator
from dbt.tests.adapter.relations.test_dropping_schema_named import BaseDropSchemaNamed

TYPES = """
select
    smallint(1) as smallint_col, int(2) as int_col, bigint(3) as bigint_col, float(4.0) as real_col,
    double(5.0) as double_col, cast(6.0 as decimal(10, 2)) as numeric_col, string('7') as text_col,
    cast('8' as varchar(20)) as varchar_col
"""


class TestChangeRelationType(BaseChangeRelationTypeValidator):
    pass


class TestDropSchemaNamed(BaseDropSchemaNamed):
    pass


class TestConcurrency(BaseConcurrency):
    pytestmark = pytest.mark.long


class TestEphemeralErrorHandling(BaseEphemeralErrorHandling):
    pass


class TestColumnTypes(BasePostgresColumnTypes):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, Any]:
        return {"model.sql": TYPES, "schema.yml": schema_yml}
