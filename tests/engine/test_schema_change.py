"""A schema change without new rows: when does it change what the SELECT means?"""

from __future__ import annotations

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

from dbt.adapters.icebergmv.maintenance.schema_change import changed_meaning

BEFORE = Schema(
    NestedField(1, "id", IntegerType(), required=False),
    NestedField(2, "region", StringType(), required=False),
)


@pytest.mark.parametrize(
    ("fields", "mentions", "reason"),
    [
        ([(1, "id", IntegerType()), (2, "region", StringType()), (3, "note", StringType())], "id region", None),
        ([(1, "id", IntegerType()), (2, "region", StringType()), (3, "n", StringType())], "id n", "new column n"),
        ([(1, "id", IntegerType()), (2, "old", StringType()), (3, "region", StringType())], "region", "another column"),
        ([(1, "id", IntegerType()), (2, "old", StringType()), (3, "REGION", StringType())], "region", "another column"),
        ([(1, "id", IntegerType()), (2, "old", StringType()), (3, "region", StringType())], "id", None),
        ([(1, "id", IntegerType()), (2, "old", StringType()), (3, "region", StringType())], "*", "another column"),
        ([(1, "id", LongType()), (2, "region", StringType())], "id", "another type"),
        ([(1, "id", LongType()), (2, "region", StringType())], "region", None),
        ([(2, "region", StringType()), (1, "id", IntegerType())], "* id", None),
        ([(1, "id", IntegerType())], "id", None),
    ],
)
def test_changed_meaning(fields: list[tuple[int, str, object]], mentions: str, reason: str | None) -> None:
    now = Schema(*(NestedField(i, name, kind, required=False) for i, name, kind in fields))  # type: ignore[arg-type]
    found = changed_meaning(BEFORE, now, frozenset(mentions.split()))
    assert found is None if reason is None else reason in (found or "")
