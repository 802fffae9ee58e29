"""dbt's own test suite for adapters: models whose relation has another name."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.aliases.fixtures import MACROS__EXPECT_VALUE_SQL
from dbt.tests.adapter.aliases.test_aliases import (
    BaseAliasErrors,
    BaseAliases,
    BaseSameAliasDifferentDatabases,
    BaseSameAliasDifferentSchemas,
)

pytestmark = pytest.mark.long


class DbtStringLiteral:
    """The suite's own `string_literal` writes `::text`; without it, the adapter's is called."""

    @pytest.fixture(scope="class")
    def macros(self) -> dict[str, str]:
        return {"expect_value.sql": MACROS__EXPECT_VALUE_SQL}


class TestAliases(DbtStringLiteral, BaseAliases):
    pass


class TestAliasErrors(DbtStringLiteral, BaseAliasErrors):
    pass


class TestSameAliasDifferentSchemas(DbtStringLiteral, BaseSameAliasDifferentSchemas):
    pass


class TestSameAliasDifferentDatabases(DbtStringLiteral, BaseSameAliasDifferentDatabases):
    pass
