"""What makes a SELECT another one at every evaluation, by the columns of each of its tables."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from tests.support.analysis import analysed_in


def columns_of(reference: TableReference) -> tuple[ColumnInfo, ...]:
    names = ("id", "_file") if reference.name == "own" else ("id",)
    return tuple(ColumnInfo(name, "string", None) for name in names)


@pytest.mark.parametrize(
    ("sql", "is_metadata"),
    [
        ("SELECT _file FROM own", False),
        ("SELECT own._file FROM own", False),
        ("SELECT o._file FROM own o JOIN other b ON o.id = b.id", False),
        ("SELECT _file FROM own o JOIN other b ON o.id = b.id", False),
        ("SELECT b._file FROM own o JOIN other b ON o.id = b.id", True),
        ("SELECT other._FILE AS f FROM own JOIN other ON own.id = other.id", True),
        ("SELECT o._file FROM own o WHERE EXISTS (SELECT 1 FROM other b WHERE b._file = o._file)", True),
        ("SELECT _file FROM other", True),
        ("SELECT o._pos FROM own o", True),
    ],
)
def test_a_metadata_column_is_one_that_its_own_table_lacks(sql: str, is_metadata: bool) -> None:
    found = analysed_in(sql, "ns", columns_of, True).always_full
    assert (found is not None and "metadata column" in found) is is_metadata, found
