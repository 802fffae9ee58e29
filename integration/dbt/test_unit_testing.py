"""dbt's own test suite for adapters: unit tests of models."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.unit_testing.test_case_insensitivity import BaseUnitTestCaseInsensivity
from dbt.tests.adapter.unit_testing.test_invalid_input import BaseUnitTestInvalidInput
from dbt.tests.adapter.unit_testing.test_quoted_reserved_word_column_names import (
    BaseUnitTestQuotedReservedWordColumnNames,
    my_model_sql,
    test_my_model_csv_fixtures_yml,
)
from dbt.tests.adapter.unit_testing.test_types import BaseUnitTestingTypes, BaseUnitTestingVarcharFixtureNoTruncation
from dbt.tests.util import run_dbt

long = pytest.mark.long
NAMES = [f"m{number}" for number in range(6)]


class TestUnitTestsOfOneName:
    """All threads share one Spark session, and with it its temporary views."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        tests = "".join(
            f"  - {{name: it_is_right, model: {name}, given: [{{input: ref('below'), rows: [{{id: 1}}, {{id: 2}}]}}], "
            f"expect: {{rows: [{{{name}: 1}}, {{{name}: 2}}]}}}}\n"
            for name in NAMES
        )
        models = {f"{name}.sql": f"select id as {name} from {{{{ ref('below') }}}}" for name in NAMES}
        return {**models, "below.sql": "select 7 as id", "tests.yml": f"unit_tests:\n{tests}"}

    def test_each_has_its_own_view(self, project: Any) -> None:
        run_dbt(["run", "--empty"])
        assert len(run_dbt(["test", "--threads", "6"])) == len(NAMES)


class TestUnitTestCaseInsensivity(BaseUnitTestCaseInsensivity):
    pytestmark = long


class TestUnitTestInvalidInput(BaseUnitTestInvalidInput):
    pytestmark = long


class TestUnitTestQuotedReservedWordColumnNames(BaseUnitTestQuotedReservedWordColumnNames):
    pytestmark = long

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        # Spark quotes a name with backticks.
        return {
            "my_model.sql": my_model_sql,
            "my_upstream_model.sql": "select 1 as `GROUP`",
            "unit_tests.yml": test_my_model_csv_fixtures_yml,
        }


class TestUnitTestingTypes(BaseUnitTestingTypes):
    pytestmark = long

    @pytest.fixture
    def data_types(self) -> list[list[str]]:
        return [
            ["1", "1"],
            ["'it''s'", '"it\'s"'],
            ["true", "true"],
            ["date '2020-01-02'", "2020-01-02"],
            ["timestamp '2013-11-03 00:00:00-0'", "2013-11-03 00:00:00-0"],
            ["timestamp_ntz '2013-11-03 00:00:00'", "2013-11-03 00:00:00"],
            ["cast('1' as decimal(10, 2))", "1"],
            ["array(1, 2, 3)", "'array(1, 2, 3)'"],
            ["map('a', 1, 'b', null)", """'map("a", 1, "b", null)'"""],
            ["named_struct('a', 1, 'b', 'x')", """'named_struct("a", 1, "b", "x")'"""],
        ]


class TestUnitTestingVarcharFixtureNoTruncation(BaseUnitTestingVarcharFixtureNoTruncation):
    pytestmark = long
