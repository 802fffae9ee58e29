"""dbt's own test suite for adapters: `--empty`."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.empty._models import (
    ALTER_COLUMN_COMMENT,
    ALTER_COLUMN_TYPE,
    ALTER_RELATION_ADD_REMOVE_COLUMNS,
    ALTER_RELATION_COMMENT,
    CONTROL,
    GET_COLUMNS_IN_RELATION,
    SCHEMA,
    TRUNCATE_RELATION,
)
from dbt.tests.adapter.empty.test_empty import (
    BaseTestEmpty,
    BaseTestEmptyInlineSourceRef,
    MetadataWithEmptyFlag,
)


class TestEmpty(BaseTestEmpty):
    pass


class TestEmptyInlineSourceRef(BaseTestEmptyInlineSourceRef):
    pass


class TestMetadataWithEmptyFlag(MetadataWithEmptyFlag):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "schema.yml": SCHEMA,
            "control.sql": CONTROL,
            "get_columns_in_relation.sql": GET_COLUMNS_IN_RELATION,
            # Spark has no varchar without a length.
            "alter_column_type.sql": ALTER_COLUMN_TYPE.replace("varchar", "string"),
            "alter_relation_comment.sql": ALTER_RELATION_COMMENT,
            "alter_column_comment.sql": ALTER_COLUMN_COMMENT,
            "alter_relation_add_remove_columns.sql": ALTER_RELATION_ADD_REMOVE_COLUMNS.replace("varchar", "string"),
            "truncate_relation.sql": TRUNCATE_RELATION,
        }
