"""dbt's own test suite for adapters, its basic part."""

from __future__ import annotations

import getpass
from typing import Any, cast

import pytest
from dbt.tests.adapter.basic.expected_catalog import base_expected_catalog, no_stats
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_incremental import BaseIncremental
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection
from dbt.tests.util import AnyInteger

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
        "label": "Bytes",
        "value": AnyInteger(),
        "description": "Size of the current snapshot's files",
        "include": True,
    },
}


class TestSimpleMaterializations(BaseSimpleMaterializations):
    pass


class TestSingularTests(BaseSingularTests):
    pass


class TestSingularTestsEphemeral(BaseSingularTestsEphemeral):
    pass


class TestEmpty(BaseEmpty):
    pass


class TestEphemeral(BaseEphemeral):
    pass


class TestIncremental(BaseIncremental):
    pass


class TestGenericTests(BaseGenericTests):
    pass


class TestSnapshotCheckCols(BaseSnapshotCheckCols):
    pass


class TestSnapshotTimestamp(BaseSnapshotTimestamp):
    pass


class TestTableMaterialization(BaseTableMaterialization):
    pass


class TestAdapterMethod(BaseAdapterMethod):
    pass


class TestValidateConnection(BaseValidateConnection):
    pass


class TestDocsGenerate(BaseDocsGenerate):
    # The suite reads it from the profile; Spark takes the user of the machine.
    @pytest.fixture(scope="class")
    def profile_user(self) -> str:
        return getpass.getuser()

    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any, profile_user: str) -> dict[str, Any]:
        expected = base_expected_catalog(
            project,
            # Iceberg notes an owner on tables only.
            role=None,
            id_type="bigint",
            text_type="string",
            time_type="timestamp",
            view_type="view",
            table_type="table",
            model_stats=no_stats(),
            seed_stats=SIZE_STATS,
        )
        for node in (expected["nodes"]["seed.test.seed"], expected["sources"]["source.test.my_source.my_table"]):
            node["metadata"]["owner"] = profile_user
        return cast(dict[str, Any], expected)
