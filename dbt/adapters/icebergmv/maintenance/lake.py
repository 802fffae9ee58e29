"""The two ways to the tables: the catalog, read directly, and Spark, which does all writing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol, TypeAlias

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader


class Spark(Protocol):
    """What the engine needs of Spark."""

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        """Run one statement and return its rows."""


SparkUntil: TypeAlias = Callable[[str, float], Sequence[Sequence[object]]]
"""Runs a query until a moment of `time.monotonic`."""


def unheard(_: str) -> None:
    """Warn nobody."""


@dataclass(frozen=True)
class Lake:
    """The two ways to the tables: the catalog, read directly, and Spark, which does all writing.

    `warn` says a sentence to people. It may raise an error instead, so it is called before anything is written. `ask`
    runs a query as `spark` does, but only until a moment of `time.monotonic`; then it raises QueryStopped.
    """

    catalog: CatalogReader
    spark: Spark
    warn: Callable[[str], None] = unheard
    ask: SparkUntil | None = None

    def until(self, moment: float) -> Spark:
        """Return what runs queries until a moment, as far as they can be stopped."""
        ask = self.ask
        return self.spark if ask is None or moment == inf else lambda sql: ask(sql, moment)
