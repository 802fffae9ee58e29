"""dbt's own test suite for adapters, its basic part."""

from __future__ import annotations

import getpass
from typing import Any, cast

import pytest
from dbt.tests.adapter.basic.expected_catalog import base_expected_catalog, expected_references_catalog, no_stats
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate, BaseDocsGenReferences
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_get_catalog_for_single_relation import BaseGetCatalogForSingleRelation
from dbt.tests.adapter.basic.test_incremental import (
    BaseIncremental,
    BaseIncrementalBadStrategy,
    BaseIncrementalNotSchemaChange,
)
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection
from dbt.tests.util import AnyInteger
from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, StatsItem, TableMetadata

SIZE_STATS = {
    "has_stats": {**no_stats()["has_stats"], "value": True},
    "rows": {
        "id": "rows",
        "label": "Rows",
        "value": AnyInteger(),
        "description": "Rows in the current snapshot",
        "include": True,
    },
    "bytes": {
        "id": "bytes",
        "label": "Size in bytes",
        "value": AnyInteger(),
        "description": "Size of its files",
        "include": True,
    },
}


class TestSimpleMaterializations(BaseSimpleMaterializations):
    pytestmark = pytest.mark.long


class TestSingularTests(BaseSingularTests):
    pass


class TestSingularTestsEphemeral(BaseSingularTestsEphemeral):
    pytestmark = pytest.mark.long


class TestEmpty(BaseEmpty):
    pass


class TestEphemeral(BaseEphemeral):
    pass


class TestIncremental(BaseIncremental):
    pass


class TestIncrementalNotSchemaChange(BaseIncrementalNotSchemaChange):
    pass


class TestIncrementalBadStrategy(BaseIncrementalBadStrategy):
    pytestmark = pytest.mark.long


class TestGenericTests(BaseGenericTests):
    pass


class TestSnapshotCheckCols(BaseSnapshotCheckCols):
    pytestmark = pytest.mark.long


class TestSnapshotTimestamp(BaseSnapshotTimestamp):
    pytestmark = pytest.mark.long


class TestTableMaterialization(BaseTableMaterialization):
    pass


class TestAdapterMethod(BaseAdapterMethod):
    pass


class TestValidateConnection(BaseValidateConnection):
    pass


class TestGetCatalogForSingleRelation(BaseGetCatalogForSingleRelation):
    COLUMNS = {
        "id": "bigint",
        "first_name": "string",
        "email": "string",
        "ip_address": "string",
        "updated_at": "timestamp",
    }

    @classmethod
    def expected(cls, project: Any, name: str, kind: str, owner: str | None) -> CatalogTable:
        columns = {c: ColumnMetadata(t, i, c) for i, (c, t) in enumerate(cls.COLUMNS.items())}
        metadata = TableMetadata(kind, project.test_schema, name, project.database, owner=owner)
        stats = {k: StatsItem(**v) for k, v in SIZE_STATS.items() if k != "has_stats"} if kind == "table" else {}
        return CatalogTable(metadata, columns, stats)

    @pytest.fixture(scope="class")
    def expected_catalog_my_seed(self, project: Any) -> CatalogTable:
        return self.expected(project, "my_seed", "table", getpass.getuser())

    @pytest.fixture(scope="class")
    def expected_catalog_my_view_model(self, project: Any) -> CatalogTable:
        return self.expected(project, "my_view_model", "view", None)


class _Docs:
    TYPES = {"text_type": "string", "time_type": "timestamp", "view_type": "view", "table_type": "table"}

    # The suite reads it from the profile; Spark takes the user of the machine.
    @pytest.fixture(scope="class")
    def profile_user(self) -> str:
        return getpass.getuser()

    @staticmethod
    def owned(expected: Any, *owned: str, owner: str) -> dict[str, Any]:
        """Return an expected catalog with an owner where Iceberg notes one, which is on tables only."""
        for key, node in {**expected["nodes"], **expected["sources"]}.items():
            node["metadata"]["owner"] = owner if key in owned else None
        return cast(dict[str, Any], expected)


class TestDocsGenerate(_Docs, BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any, profile_user: str) -> dict[str, Any]:
        expected = base_expected_catalog(
            project, role=None, id_type="bigint", model_stats=no_stats(), seed_stats=SIZE_STATS, **self.TYPES
        )
        return self.owned(expected, "seed.test.seed", "source.test.my_source.my_table", owner=profile_user)


class TestDocsGenReferences(_Docs, BaseDocsGenReferences):
    pytestmark = pytest.mark.long

    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any, profile_user: str) -> dict[str, Any]:
        expected = expected_references_catalog(
            project,
            role=None,
            id_type="bigint",
            bigint_type="bigint",
            model_stats=SIZE_STATS,
            seed_stats=SIZE_STATS,
            view_summary_stats=no_stats(),
            **self.TYPES,
        )
        for node in (*expected["nodes"].values(), *expected["sources"].values()):
            # dbt-spark, and so this adapter, counts columns from zero.
            columns = node["columns"].items()
            node["columns"] = {name: {**column, "index": column["index"] - 1} for name, column in columns}
        tables = ("seed.test.seed", "model.test.ephemeral_summary", "source.test.my_source.my_table")
        return self.owned(expected, *tables, owner=profile_user)
