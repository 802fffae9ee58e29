"""Columns of tables and views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dbt.adapters.base.column import Column
from dbt.adapters.spark.column import SparkColumn

from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified


@dataclass
class IcebergMVColumn(SparkColumn):
    """A column with its Spark type text and its comment. Spark's names of types are not those that dbt knows."""

    comment: str | None = None

    @property
    def quoted(self) -> str:
        """The name in backticks, its own backticks doubled."""
        return qualified(self.column)

    @property
    def _type(self) -> str:
        return self.dtype.lower().partition("(")[0].strip()

    def is_string(self) -> bool:
        """Return whether the column holds text."""
        return self._type in ("string", "varchar", "char")

    def is_float(self) -> bool:
        """Return whether the column holds floating point numbers."""
        return self._type in ("float", "real", "double")

    def is_integer(self) -> bool:
        """Return whether the column holds whole numbers."""
        return self._type in ("tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long")

    def is_numeric(self) -> bool:
        """Return whether the column holds decimals."""
        return self._type in ("decimal", "dec", "numeric")

    def can_expand_to(self, other_column: Column) -> bool:  # noqa: ARG002
        """Return False: text has no size in Iceberg, so dbt need not widen a column for it."""
        return False


def described_columns(rows: Iterable[Mapping[str, str]]) -> list[IcebergMVColumn]:
    """Return the columns that DESCRIBE shows, of which partitions are no part."""
    columns: list[IcebergMVColumn] = []
    for index, row in enumerate(rows):
        if not row["col_name"] or row["col_name"].startswith("#"):
            break
        columns.append(IcebergMVColumn(column=row["col_name"], dtype=row["data_type"], column_index=index))
    return columns
