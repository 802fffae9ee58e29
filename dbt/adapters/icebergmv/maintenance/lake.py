"""The two ways to the tables: the catalog, read directly, and Spark, which does all writing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from threading import Event
from time import monotonic
from typing import Protocol, TypeAlias, TypeVar

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.errors import SparkLost

Found = TypeVar("Found")


class Spark(Protocol):
    """What the engine needs of Spark."""

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        """Run one statement and return its rows."""


@dataclass(frozen=True)
class Limit:
    """Until when a query is wanted: up to a moment of `time.monotonic`, or until one of some events."""

    moment: float = inf
    unwanted: tuple[Event, ...] = ()

    def or_until(self, event: Event) -> Limit:
        """Return a limit that is reached with this one, and at an event."""
        return replace(self, unwanted=(*self.unwanted, event))

    @property
    def is_reached(self) -> bool:
        """Return whether the query is not wanted any more."""
        return monotonic() >= self.moment or any(event.is_set() for event in self.unwanted)


def unless_refused(ask: Callable[[], Found]) -> Found | None:
    """Return what comes of asking Spark, or for files; None if that is refused. Raises SparkLost if Spark went away."""
    try:
        return ask()
    except SparkLost:
        raise
    except Exception:
        # Both refuse in many kinds. Whoever asks so does without the answer, and says why that is right.
        return None


LimitedSpark: TypeAlias = Callable[[str, Limit], Sequence[Sequence[object]]]
"""Runs a query within a limit."""


def unheard(_: str) -> None:
    """Warn nobody."""


@dataclass(frozen=True)
class Lake:
    """The two ways to the tables: the catalog, read directly, and Spark, which does all writing.

    `warn` says a sentence to people. It may raise an error instead, so it is called before anything is written. `ask`
    runs a query as `spark` does, but only within a limit; then it raises QueryStopped. `beside` begins some work in
    another thread, which may call `ask` too, at the same time. `is_cold`: Spark may have just started, and take seconds
    for a query that takes a fraction of one later.
    """

    catalog: CatalogReader
    spark: Spark
    warn: Callable[[str], None] = unheard
    ask: LimitedSpark | None = None
    beside: Callable[[Callable[[], object]], object] | None = None
    is_cold: bool = False
