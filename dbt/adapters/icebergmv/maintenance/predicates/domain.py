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

    `ranges` are sorted, disjoint and merged where they touch, so `==` means "the same set" up to the density of the
    type ({1} and (0, 2) differ although no integer tells them apart).
    """

    ranges: tuple[Range, ...] = ()
    null: bool = False
    nan: bool = False

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
        """Return the set of the given values; None stands for NULL."""
        plain = [v for v in values if v is not None and not _is_nan(v)]
        return Domain(
            _normalise(Range(v, v) for v in plain),
            null=any(v is None for v in values),
            nan=any(v is not None and _is_nan(v) for v in values),
        )

    @staticmethod
    def between(*ranges: Range) -> Domain:
        """Return the union of intervals, without NULL and NaN."""
        return Domain(_normalise(ranges))

    @property
    def is_none(self) -> bool:
        """Return whether the set is empty."""
        return not self.ranges and not self.null and not self.nan

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


@dataclass(frozen=True, order=True)
class ColumnKey:
    """What a Domain constrains: a column, or an Iceberg transform of it (`bucket[16]`) when values are transformed."""

    column: str
    transform: str | None = None


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
        kept = sorted(((k, d) for k, d in constraints.items() if not d.is_all), key=lambda kd: _key_order(kd[0]))
        return TupleDomain(tuple(kept))

    @property
    def is_all(self) -> bool:
        """Return whether every row is a member."""
        return not self.constraints and not self.is_none

    @property
    def domains(self) -> dict[ColumnKey, Domain]:
        """Return the constraints by key."""
        return dict(self.constraints)


def simplify(disjuncts: Iterable[TupleDomain], limit: int) -> tuple[TupleDomain, ...]:
    """Return fewer disjuncts that cover a superset: equal to the input while at most `limit` remain, wider beyond.

    Disjuncts that differ in one key only are merged exactly; a domain of more than `limit` ranges becomes their hull.
    What is still over the limit becomes one disjunct: the union column by column (Trino: columnWiseUnion, a superset).
    """
    merged = _merge_exactly([d for d in disjuncts if not d.is_none])
    few = merged if len(merged) <= limit else [column_wise_union(*merged)]
    return tuple(_with_few_ranges(d, limit) for d in few)


def _with_few_ranges(rows: TupleDomain, limit: int) -> TupleDomain:
    """Return a superset in which no domain has more than `limit` ranges; lists of single values stay as they are."""
    return (
        TupleDomain.where({key: _hull(domain, limit) for key, domain in rows.constraints}) if rows.constraints else rows
    )


def _hull(domain: Domain, limit: int) -> Domain:
    ranges = domain.ranges
    if len(ranges) <= limit or all(r.is_single_value for r in ranges):
        return domain
    first, last = ranges[0], ranges[-1]
    whole = Range(first.low, last.high, first.low_inclusive, last.high_inclusive)
    return Domain((whole,), domain.null, domain.nan)


def column_wise_union(*disjuncts: TupleDomain) -> TupleDomain:
    """Return a superset of all: the union of each key that is constrained in every one of them."""
    some = [d for d in disjuncts if not d.is_none]
    if not some:
        return TupleDomain.none()
    found: dict[ColumnKey, list[Domain]] = {}
    for disjunct in some:
        for key, domain in disjunct.constraints:
            found.setdefault(key, []).append(domain)
    return TupleDomain.where({k: union_of(domains) for k, domains in found.items() if len(domains) == len(some)})


def _merge_exactly(disjuncts: list[TupleDomain]) -> list[TupleDomain]:
    """Merge, key by key, the disjuncts that agree on all other keys.

    Domains are numbered first (0: no constraint), so that there may be many: the time is that of sorting their ranges.
    """
    if any(d.is_all for d in disjuncts):
        return [TupleDomain.all()]
    keys = sorted({k for d in disjuncts for k, _ in d.constraints}, key=_key_order)
    numbered = [_Numbered() for _ in keys]
    rows = []
    for disjunct in disjuncts:
        domains = disjunct.domains
        rows.append(tuple(n.number(domains.get(k)) for k, n in zip(keys, numbered, strict=True)))
    for i, known in enumerate(numbered):
        groups: dict[tuple[int, ...], list[int]] = {}
        for row in rows:
            groups.setdefault((*row[:i], *row[i + 1 :]), []).append(row[i])
        rows = [(*rest[:i], known.union(numbers), *rest[i:]) for rest, numbers in groups.items()]
    return [
        TupleDomain.where({k: n.domains[number] for k, n, number in zip(keys, numbered, row, strict=True)})
        for row in rows
    ]


class _Numbered:
    """The distinct domains of one key, by number."""

    def __init__(self) -> None:
        self.domains = [Domain.all()]
        self._numbers = {Domain.all(): 0}

    def number(self, domain: Domain | None) -> int:
        if domain is None:
            return 0
        number = self._numbers.setdefault(domain, len(self.domains))
        if number == len(self.domains):
            self.domains.append(domain)
        return number

    def union(self, numbers: list[int]) -> int:
        distinct = dict.fromkeys(numbers)
        if len(distinct) == 1:
            return numbers[0]
        return 0 if 0 in distinct else self.number(union_of([self.domains[n] for n in distinct]))


def union_of(domains: Sequence[Domain]) -> Domain:
    """Return the values of any of the sets, in the time of sorting all their ranges."""
    return Domain(
        _normalise(r for d in domains for r in d.ranges), any(d.null for d in domains), any(d.nan for d in domains)
    )


def _key_order(key: ColumnKey) -> tuple[str, str]:
    return (key.column, key.transform or "")


def _is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _normalise(ranges: Iterable[Range]) -> tuple[Range, ...]:
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
