"""Null-safe sets of values (Domain) and of rows (TupleDomain), in the sense of the RFC and of Trino's spi.predicate.

Values are compared in Iceberg's internal form: dates are days and timestamps microseconds since 1970-01-01,
everything else is the Python value. NULL and NaN are never members of a range; each has a flag of its own, so that
complement, union and intersection are exact for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import TypeAlias

Value: TypeAlias = bool | int | float | str | bytes | Decimal


@dataclass(frozen=True)
class Range:
    """An interval of non-null values. A bound of None is unbounded; its inclusiveness is then False."""

    low: Value | None
    high: Value | None
    low_inclusive: bool = True
    high_inclusive: bool = True

    def __post_init__(self) -> None:
        if self.low is None and self.low_inclusive:
            object.__setattr__(self, "low_inclusive", False)
        if self.high is None and self.high_inclusive:
            object.__setattr__(self, "high_inclusive", False)

    @property
    def is_single_value(self) -> bool:
        """Return whether the interval holds exactly one value."""
        return self.low is not None and self.low_inclusive and self.high_inclusive and self.low == self.high

    @property
    def is_empty(self) -> bool:
        """Return whether no value fits between the bounds."""
        if self.low is None or self.high is None:
            return False
        if self.low == self.high:
            return not (self.low_inclusive and self.high_inclusive)
        return bool(self.low > self.high)  # type: ignore[operator]

    def contains(self, value: Value) -> bool:
        """Return whether a non-null, non-NaN value lies in the interval."""
        if self.low is not None and (value < self.low or (value == self.low and not self.low_inclusive)):  # type: ignore[operator]
            return False
        return not (
            self.high is not None and (value > self.high or (value == self.high and not self.high_inclusive))  # type: ignore[operator]
        )


_EVERYTHING = Range(None, None)


@dataclass(frozen=True)
class Domain:
    """A set of values of one column.

    Whatever ranges it is made of, it keeps them sorted, disjoint and merged where they touch. So `==` means "the same
    set", up to what the type leaves out: {1} and (0, 2) differ although no integer lies in one of them alone.
    """

    ranges: tuple[Range, ...] = ()
    null: bool = False
    nan: bool = False

    def __post_init__(self) -> None:
        if not _is_canonical(self.ranges):
            object.__setattr__(self, "ranges", _canonical(self.ranges))

    @staticmethod
    def none() -> Domain:
        """Return the empty set."""
        return Domain()

    @staticmethod
    def all() -> Domain:
        """Return the set of all values, NULL and NaN included."""
        return Domain((_EVERYTHING,), null=True, nan=True)

    @staticmethod
    def only_null() -> Domain:
        """Return {NULL}."""
        return Domain(null=True)

    @staticmethod
    def of(*values: Value | None) -> Domain:
        """Return the set of the given values; None means NULL."""
        plain = [v for v in values if v is not None and not _is_nan(v)]
        return Domain(
            tuple(Range(v, v) for v in plain),
            null=any(v is None for v in values),
            nan=any(v is not None and _is_nan(v) for v in values),
        )

    @staticmethod
    def between(*ranges: Range) -> Domain:
        """Return the union of intervals, without NULL and NaN."""
        return Domain(ranges)

    def with_ranges(self, ranges: Iterable[Range]) -> Domain:
        """Return the union of intervals, with NULL and NaN where this set has them.

        For functions of a column: they map the values, and NULL to NULL and NaN to NaN.
        """
        return Domain(tuple(ranges), self.null, self.nan)

    @property
    def is_none(self) -> bool:
        """Return whether the set is empty."""
        return not self.ranges and not self.null and not self.nan

    @property
    def is_discrete(self) -> bool:
        """Return whether it is a list of values."""
        return all(r.is_single_value for r in self.ranges)

    @property
    def is_all(self) -> bool:
        """Return whether the set holds every value."""
        return self.null and self.nan and self.ranges == (_EVERYTHING,)

    def contains(self, value: Value | None) -> bool:
        """Return whether the value (None for NULL) is a member."""
        if value is None:
            return self.null
        if _is_nan(value):
            return self.nan
        return any(r.contains(value) for r in self.ranges)

    def union(self, other: Domain) -> Domain:
        """Return the values of either set."""
        return union_of((self, other))

    def complement(self) -> Domain:
        """Return all other values, NULL and NaN included."""
        return Domain(tuple(_gaps(self.ranges)), not self.null, not self.nan)

    def intersect(self, other: Domain) -> Domain:
        """Return the values of both sets."""
        return self.complement().union(other.complement()).complement()


@dataclass(frozen=True)
class ColumnKey:
    """What a Domain constrains: a column, or an Iceberg transform of it (`bucket[16]`) when values are transformed."""

    column: str
    transform: str | None = None

    @property
    def order(self) -> tuple[str, str]:
        """Return what keys are sorted by: the column, then the transform, none first."""
        return (self.column, self.transform or "")


@dataclass(frozen=True)
class TupleDomain:
    """A conjunction: the rows whose every constrained key lies in its Domain. No constraint means all rows.

    A constraint that holds no value makes the whole empty; a constraint that holds every value is left out.
    """

    constraints: tuple[tuple[ColumnKey, Domain], ...] = field(default=())
    is_none: bool = False

    @staticmethod
    def all() -> TupleDomain:
        """Return all rows."""
        return TupleDomain()

    @staticmethod
    def none() -> TupleDomain:
        """Return no rows."""
        return TupleDomain(is_none=True)

    @staticmethod
    def where(constraints: Mapping[ColumnKey, Domain]) -> TupleDomain:
        """Return the rows that satisfy every constraint."""
        if any(d.is_none for d in constraints.values()):
            return TupleDomain.none()
        kept = sorted(((k, d) for k, d in constraints.items() if not d.is_all), key=lambda kd: kd[0].order)
        return TupleDomain(tuple(kept))

    @staticmethod
    def all_of(constraints: Iterable[tuple[ColumnKey, Domain]]) -> TupleDomain:
        """Return the rows that satisfy every constraint, of which several may be on one key."""
        met: dict[ColumnKey, Domain] = {}
        for key, domain in constraints:
            met[key] = domain.intersect(met[key]) if key in met else domain
        return TupleDomain.where(met)

    def intersect(self, other: TupleDomain) -> TupleDomain:
        """Return the rows that are in both."""
        if self.is_none or other.is_none:
            return TupleDomain.none()
        return TupleDomain.all_of((*self.constraints, *other.constraints))

    @property
    def is_all(self) -> bool:
        """Return whether every row is a member."""
        return not self.constraints and not self.is_none

    @property
    def domains(self) -> dict[ColumnKey, Domain]:
        """Return the constraints by key."""
        return dict(self.constraints)


def union_of(domains: Sequence[Domain]) -> Domain:
    """Return the values of any of the sets, in the time of sorting all their ranges."""
    return Domain(
        tuple(r for d in domains for r in d.ranges), any(d.null for d in domains), any(d.nan for d in domains)
    )


def _is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _is_canonical(ranges: tuple[Range, ...]) -> bool:
    """Return whether no range is empty and each lies after the one before, with a gap between them."""
    if any(r.is_empty for r in ranges):
        return False
    return all(right.low is not None and not _touch(left, right) for left, right in pairwise(ranges))


def _canonical(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Sort, drop the empty, merge what overlaps or touches."""
    kept = [r for r in ranges if not r.is_empty]
    unbounded = [r for r in kept if r.low is None]
    bounded = sorted((r for r in kept if r.low is not None), key=lambda r: (r.low, not r.low_inclusive))
    merged: list[Range] = []
    for current in (*unbounded, *bounded):
        if merged and _touch(merged[-1], current):
            merged[-1] = _join(merged[-1], current)
        else:
            merged.append(current)
    return tuple(merged)


def _touch(left: Range, right: Range) -> bool:
    """Return whether two ranges, `left` starting first, have no gap between them."""
    if left.high is None or right.low is None:
        return True
    if left.high == right.low:
        return left.high_inclusive or right.low_inclusive
    return bool(left.high > right.low)  # type: ignore[operator]


def _join(left: Range, right: Range) -> Range:
    if left.high is None or right.high is None:
        return Range(left.low, None, left.low_inclusive, False)
    if left.high == right.high:
        return Range(left.low, left.high, left.low_inclusive, left.high_inclusive or right.high_inclusive)
    later = left if left.high > right.high else right  # type: ignore[operator]
    return Range(left.low, later.high, left.low_inclusive, later.high_inclusive)


def _gaps(ranges: tuple[Range, ...]) -> Iterable[Range]:
    """Yield what the sorted, disjoint ranges leave out."""
    low: Value | None = None
    low_inclusive = False
    for r in ranges:
        if r.low is not None:
            yield Range(low, r.low, low_inclusive, not r.low_inclusive)
        if r.high is None:
            return
        low, low_inclusive = r.high, not r.high_inclusive
    yield Range(low, None, low_inclusive, False)
