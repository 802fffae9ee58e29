"""dbt's own test suite for adapters: the macros that every adapter offers under one name."""

from __future__ import annotations

import inspect
from collections import Counter
from datetime import datetime, timezone
from typing import Any

import pytest
from dbt.tests.adapter.utils.data_types.test_type_bigint import BaseTypeBigInt
from dbt.tests.adapter.utils.data_types.test_type_boolean import BaseTypeBoolean
from dbt.tests.adapter.utils.data_types.test_type_float import BaseTypeFloat
from dbt.tests.adapter.utils.data_types.test_type_int import BaseTypeInt
from dbt.tests.adapter.utils.data_types.test_type_numeric import BaseTypeNumeric
from dbt.tests.adapter.utils.data_types.test_type_string import BaseTypeString
from dbt.tests.adapter.utils.data_types.test_type_timestamp import BaseTypeTimestamp
from dbt.tests.adapter.utils.fixture_get_intervals_between import models__test_get_intervals_between_yml
from dbt.tests.adapter.utils.test_any_value import BaseAnyValue
from dbt.tests.adapter.utils.test_array_append import BaseArrayAppend
from dbt.tests.adapter.utils.test_array_concat import BaseArrayConcat
from dbt.tests.adapter.utils.test_array_construct import BaseArrayConstruct
from dbt.tests.adapter.utils.test_bool_or import BaseBoolOr
from dbt.tests.adapter.utils.test_cast import BaseCast
from dbt.tests.adapter.utils.test_cast_bool_to_text import BaseCastBoolToText
from dbt.tests.adapter.utils.test_concat import BaseConcat
from dbt.tests.adapter.utils.test_current_timestamp import BaseCurrentTimestampNaive
from dbt.tests.adapter.utils.test_date import BaseDate
from dbt.tests.adapter.utils.test_date_spine import BaseDateSpine
from dbt.tests.adapter.utils.test_date_trunc import BaseDateTrunc
from dbt.tests.adapter.utils.test_dateadd import BaseDateAdd
from dbt.tests.adapter.utils.test_datediff import BaseDateDiff
from dbt.tests.adapter.utils.test_equals import BaseEquals
from dbt.tests.adapter.utils.test_escape_single_quotes import BaseEscapeSingleQuotesBackslash
from dbt.tests.adapter.utils.test_except import BaseExcept
from dbt.tests.adapter.utils.test_generate_series import BaseGenerateSeries
from dbt.tests.adapter.utils.test_get_intervals_between import BaseGetIntervalsBetween
from dbt.tests.adapter.utils.test_get_powers_of_two import BaseGetPowersOfTwo
from dbt.tests.adapter.utils.test_hash import BaseHash
from dbt.tests.adapter.utils.test_intersect import BaseIntersect
from dbt.tests.adapter.utils.test_last_day import BaseLastDay
from dbt.tests.adapter.utils.test_length import BaseLength
from dbt.tests.adapter.utils.test_listagg import BaseListagg
from dbt.tests.adapter.utils.test_null_compare import BaseMixedNullCompare, BaseNullCompare
from dbt.tests.adapter.utils.test_position import BasePosition
from dbt.tests.adapter.utils.test_replace import BaseReplace
from dbt.tests.adapter.utils.test_right import BaseRight
from dbt.tests.adapter.utils.test_safe_cast import BaseSafeCast
from dbt.tests.adapter.utils.test_source_freshness_custom_info import BaseCalculateFreshnessMethod
from dbt.tests.adapter.utils.test_split_part import BaseSplitPart
from dbt.tests.adapter.utils.test_string_literal import BaseStringLiteral
from dbt.tests.adapter.utils.test_timestamps import BaseCurrentTimestamps
from dbt.tests.adapter.utils.test_validate_sql import BaseValidateSqlMethod

pytestmark = pytest.mark.long


def typed_seed(column: str, value: str, type_name: str) -> dict[str, str]:
    """Return a seed of one value; without a type given, a number is loaded as bigint or double."""
    types = f"seeds: [{{name: expected, config: {{column_types: {{{column}: {type_name}}}}}}}]"
    return {"expected.csv": f"{column}\n{value}\n", "expected.yml": types}


class GetIntervalsBetween(BaseGetIntervalsBetween):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        # The suite writes 09/01/2023, which is no date in Spark.
        call = """{{ get_intervals_between("'2023-09-01'", "'2023-09-12'", "day") }}"""
        return {
            "test_get_intervals_between.yml": models__test_get_intervals_between_yml,
            "test_get_intervals_between.sql": f"select {call} as intervals, 11 as expected",
        }


class TestMacros(
    BaseAnyValue,
    BaseBoolOr,
    BaseCast,
    BaseCastBoolToText,
    BaseConcat,
    BaseDate,
    BaseDateAdd,
    BaseDateDiff,
    BaseDateSpine,
    BaseDateTrunc,
    BaseEscapeSingleQuotesBackslash,
    BaseGenerateSeries,
    BaseGetPowersOfTwo,
    BaseHash,
    GetIntervalsBetween,
    BaseLastDay,
    BaseLength,
    BaseListagg,
    BaseNullCompare,
    BasePosition,
    BaseReplace,
    BaseRight,
    BaseSafeCast,
    BaseSplitPart,
    BaseStringLiteral,
):
    """All macros in one project, because each class alone would parse and build one of its own."""

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return self.files("models")

    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return self.files("seeds")

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return self.given(BaseDateAdd, "project_config_update")

    def files(self, fixture: str) -> dict[str, str]:
        """Return the files that the classes give, which have names of their own."""
        given = [self.given(base, fixture) for base in type(self).__bases__ if hasattr(base, fixture)]
        names = Counter(name for files in given for name in files)
        assert [name for name, count in names.items() if count > 1] == []
        return {name: text for files in given for name, text in files.items()}

    def given(self, base: type, fixture: str) -> dict[str, Any]:
        """Return what a fixture of a class gives."""
        return inspect.unwrap(getattr(base, fixture))(self)  # type: ignore[no-any-return]


class TestTypeBigInt(BaseTypeBigInt):
    pass


class TestTypeBoolean(BaseTypeBoolean):
    pass


class TestTypeFloat(BaseTypeFloat):
    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return typed_seed("float_col", "1.2345", "float")


class TestTypeInt(BaseTypeInt):
    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return typed_seed("int_col", "12345678", "int")


class TestTypeNumeric(BaseTypeNumeric):
    def numeric_fixture_type(self) -> str:
        return "decimal(28,6)"


class TestTypeString(BaseTypeString):
    pass


class TestTypeTimestamp(BaseTypeTimestamp):
    pass


class TestArrayAppend(BaseArrayAppend):
    pass


class TestArrayConcat(BaseArrayConcat):
    pass


class TestArrayConstruct(BaseArrayConstruct):
    pass


class TestCurrentTimestampNaive(BaseCurrentTimestampNaive):
    def utcnow_matching_type(self, dt: datetime) -> datetime:
        """An instant comes without a zone, as the session shows it."""
        return datetime.now(timezone.utc).replace(tzinfo=None)


class TestEquals(BaseEquals):
    pass


class TestExcept(BaseExcept):
    pass


class TestIntersect(BaseIntersect):
    pass


class TestMixedNullCompare(BaseMixedNullCompare):
    pass


class TestCalculateFreshnessMethod(BaseCalculateFreshnessMethod):
    pass


class TestCurrentTimestamps(BaseCurrentTimestamps):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"get_current_timestamp.sql": "select {{ current_timestamp() }} as current_timestamp"}

    @pytest.fixture(scope="class")
    def expected_schema(self) -> dict[str, str]:
        return {"current_timestamp": "timestamp"}

    @pytest.fixture(scope="class")
    def expected_sql(self) -> str:
        return "select current_timestamp() as current_timestamp"


class TestValidateSqlMethod(BaseValidateSqlMethod):
    pass
