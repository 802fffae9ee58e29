"""The columns of a contract against those of a view."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.status.configured.declared_columns import are_declared

COLUMNS = (ColumnInfo("k", "int", None), ColumnInfo("total", "decimal(10,2)", None))


@pytest.mark.parametrize(
    ("declared", "same"),
    [
        ({"k": "int", "total": "decimal(10,2)"}, True),
        ({"k": "INTEGER", "total": "DECIMAL(10, 2)"}, True),
        ({"total": "decimal(10,2)", "k": "int"}, True),
        ({"k": "bigint", "total": "decimal(10,2)"}, False),
        ({"k": "int", "total": "decimal(12,2)"}, False),
        ({"k": "int"}, False),
        ({"k": "int", "total": "decimal(10,2)", "more": "int"}, False),
        ({"k": None, "total": "decimal(10,2)"}, False),
        ({"k": "no type (", "total": "decimal(10,2)"}, False),
    ],
)
def test_only_what_is_surely_the_same_is(declared: dict[str, str | None], same: bool) -> None:
    assert are_declared(declared, COLUMNS) is same
