"""Session time zones: from an instant to the time on the wall, with daylight saving, and back.

The wall clock is not monotone: it repeats an hour, or in some zones a day. So a range of instants is mapped with the
smallest and the largest offset that hold in it, which over-specifies by the jump at most.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range, Value
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_HOUR

_FOREVER = 2**64
_WIDEST = 18 * MICROS_PER_HOUR
"""No zone is further from UTC (java.time.ZoneOffset)."""

SAMPLED_EVERY = MICROS_PER_HOUR
"""Offsets are looked up at this distance; no zone has ever kept one for less than days."""


@dataclass(frozen=True)
class Offsets:
    """What a zone adds to UTC between two instants: (instant, offset) wherever a sample differs from the one before."""

    changes: tuple[tuple[int, int], ...] = ()
    end: int = 0

    @property
    def are_known(self) -> bool:
        """Return whether the zone was sampled at all."""
        return bool(self.changes)

    @property
    def _margin(self) -> int:
        """Return how far from a change its two offsets matter: up to the next sample, and as long as what it skips.

        A wall-clock time that was skipped means an instant after the change, by the offset before it.
        """
        offsets = [offset for _, offset in self.changes]
        return max([SAMPLED_EVERY, *(abs(b - a) for a, b in pairwise(offsets))])

    def between(self, low: int, high: int) -> tuple[int, int]:
        """Return the smallest and the largest offset in a closed range of instants; wide bounds outside the samples."""
        low, high = low - self._margin, high + self._margin
        instants = [instant for instant, _ in self.changes]
        if not instants or low < instants[0] or high > self.end:
            return -_WIDEST, _WIDEST
        inside = self.changes[max(bisect_right(instants, low) - 1, 0) : bisect_left(instants, high + 1)]
        found = [offset for _, offset in inside]
        return min(found), max(found)


@dataclass(frozen=True)
class LocalTime:
    """cast(ts as timestamp_ntz) in the session's time zone: microseconds on the wall clock."""

    offsets: Offsets = field(default=Offsets(), compare=False)
    name: str = field(default="local time", init=False)
    result_type: str = field(default="timestamp_ntz", init=False)
    only_adds_null: bool = field(default=False, init=False)

    def image(self, domain: Domain) -> Domain:
        """Return a superset of the local times."""
        return _mapped(domain, self._to_local)

    def preimage(self, domain: Domain) -> Domain:
        """Return a superset of the instants, including those that a local time in a gap or an overlap may mean."""
        return _mapped(domain, self._to_instants)

    def _to_local(self, low: int, high: int) -> tuple[int, int]:
        smallest, largest = self.offsets.between(low, high)
        return low + smallest, high + largest

    def _to_instants(self, low: int, high: int) -> tuple[int, int]:
        smallest, largest = self.offsets.between(low - _WIDEST, high + _WIDEST)
        if (smallest, largest) == (-_WIDEST, _WIDEST):
            return low - _WIDEST, high + _WIDEST
        # The instants lie within these offsets of the wall time; a second look at them alone is tighter.
        smallest, largest = self.offsets.between(low - largest, high - smallest)
        return low - largest, high - smallest


def _mapped(domain: Domain, convert: Callable[[int, int], tuple[int, int]]) -> Domain:
    ranges = []
    for r in domain.ranges:
        low = None if r.low is None else _integer(r.low) + (0 if r.low_inclusive else 1)
        high = None if r.high is None else _integer(r.high) - (0 if r.high_inclusive else 1)
        # With an open end every offset is possible.
        start, end = low if low is not None else -_FOREVER, high if high is not None else _FOREVER
        mapped = convert(start, end)
        ranges.append(Range(None if low is None else mapped[0], None if high is None else mapped[1]))
    return domain.with_ranges(ranges)


def _integer(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError(f"Cannot read a {type(value).__name__} as an instant")
    return value
