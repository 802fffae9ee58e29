"""The columns that a contract declares for a view, against those that it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import DIALECT

Declared: TypeAlias = Mapping[str, str | None]
"""Types by the names of columns; None where the contract gives no type."""


def are_declared(declared: Declared, columns: Sequence[ColumnInfo]) -> bool:
    """Return whether columns surely are those of a contract."""
    types = {column.name: column.type for column in columns}
    return declared.keys() == types.keys() and all(_same_type(declared[name], types[name]) for name in types)


def _same_type(declared: str | None, stored: str) -> bool:
    """Return whether two type texts surely mean one type; a text that cannot be parsed is in doubt."""
    if declared is None:
        return False
    try:
        return exp.DataType.build(declared, dialect=DIALECT) == exp.DataType.build(stored, dialect=DIALECT)
    except (SqlglotError, ValueError):
        return False
