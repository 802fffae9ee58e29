"""The two ways to the tables: the catalog, read directly, and Spark, which does all writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader


class Spark(Protocol):
    """What the engine needs of Spark."""

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        """Run one statement and return its rows."""


@dataclass(frozen=True)
class Lake:
    """The two ways to the tables: the catalog, read directly, and Spark, which does all writing."""

    catalog: CatalogReader
    spark: Spark
