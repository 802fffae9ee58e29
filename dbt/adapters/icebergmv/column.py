"""Columns of tables and views."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.spark.column import SparkColumn

from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified


@dataclass
class IcebergMVColumn(SparkColumn):
    """A column with its Spark type text and its comment."""

    comment: str | None = None

    @property
    def quoted(self) -> str:
        """The name in backticks, its own backticks doubled."""
        return qualified(self.column)
