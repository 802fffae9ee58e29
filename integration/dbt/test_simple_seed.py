"""dbt's own test suite for adapters: seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt.tests.adapter.simple_seed import test_seed
from dbt.tests.adapter.simple_seed.fixtures import properties__schema_yml
from dbt.tests.adapter.simple_seed.test_seed import (
    BaseBasicSeedTests,
    BaseSeedConfigFullRefreshOff,
    BaseSeedConfigFullRefreshOn,
    BaseSeedCustomSchema,
    BaseSeedParsing,
    BaseSeedSpecificFormats,
    BaseSeedWithEmptyDelimiter,
    BaseSeedWithUniqueDelimiter,
    BaseSimpleSeedEnabledViaConfig,
    BaseSimpleSeedWithBOM,
    BaseTestEmptySeed,
)
from dbt.tests.adapter.simple_seed.test_seed_type_override import BaseSimpleSeedColumnOverride

from integration.support.postgres_sql import PreparedInPostgres, prepared_in_postgres

pytestmark = pytest.mark.long
TYPES = {"text": "string", "integer": "bigint", "timestamp without time zone": "timestamp"}


class _NothingCascades(PreparedInPostgres):
    """In PostgreSQL the views on a seed are dropped with it. Here they stay, and are right."""

    def _check_relation_end_state(self, run_result: Any, project: Any, exists: bool) -> None:
        super()._check_relation_end_state(run_result=run_result, project=project, exists=True)  # type: ignore[misc]


class TestBasicSeed(_NothingCascades, BaseBasicSeedTests):
    pass


class TestSeedConfigFullRefreshOn(_NothingCascades, BaseSeedConfigFullRefreshOn):
    pass


class TestSeedConfigFullRefreshOff(_NothingCascades, BaseSeedConfigFullRefreshOff):
    pass


class TestSeedCustomSchema(PreparedInPostgres, BaseSeedCustomSchema):
    pass


class TestSeedWithUniqueDelimiter(_NothingCascades, BaseSeedWithUniqueDelimiter):
    pass


class TestSeedWithEmptyDelimiter(PreparedInPostgres, BaseSeedWithEmptyDelimiter):
    pass


class TestSimpleSeedEnabledViaConfig(PreparedInPostgres, BaseSimpleSeedEnabledViaConfig):
    pass


class TestSeedParsing(PreparedInPostgres, BaseSeedParsing):
    pass


class TestSimpleSeedWithBOM(BaseSimpleSeedWithBOM):
    # The file is beside the suite.
    @pytest.fixture(scope="class")
    def project(self, project: Any) -> Any:
        project.test_dir = str(Path(test_seed.__file__).parent)
        return prepared_in_postgres(project)


class TestSeedSpecificFormats(BaseSeedSpecificFormats):
    pass


class TestEmptySeed(BaseTestEmptySeed):
    pass


class TestSimpleSeedColumnOverride(BaseSimpleSeedColumnOverride):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        text = properties__schema_yml
        for theirs, ours in TYPES.items():
            text = text.replace(f"type: {theirs}\n", f"type: {ours}\n")
        return {"schema.yml": text}

    @staticmethod
    def seed_enabled_types() -> dict[str, str]:
        return {"seed_id": "string", "birthday": "date"}

    @staticmethod
    def seed_tricky_types() -> dict[str, str]:
        return dict.fromkeys(("seed_id_str", "looks_like_a_bool", "looks_like_a_date"), "string")
