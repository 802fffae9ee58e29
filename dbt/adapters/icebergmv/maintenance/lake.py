"""The two ways to the tables: the catalog, read directly, and Spark, which does all writing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader


class Spark(Protocol):
    """What the engine needs of Spark."""

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        """Run one statement and return its rows."""


def unheard(_: str) -> None:
    """Warn nobody."""


@dataclass(frozen=True)
class Lake:
    """The two ways to the tables: the catalog, read directly, and Spark, which does all writing.

    `warn` says a sentence to people. It may raise an error instead, so it is called before anything is written.
    """

    catalog: CatalogReader
    spark: Spark
    warn: Callable[[str], None] = unheard
