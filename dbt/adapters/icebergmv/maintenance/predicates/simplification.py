"""Fewer disjuncts: a region of many TupleDomains, said in few that hold for no row fewer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain, union_of


def simplify(disjuncts: Iterable[TupleDomain], limit: int) -> tuple[TupleDomain, ...]:
    """Return fewer disjuncts that cover a superset: equal to the input while `limit` is kept, wider beyond.

    Disjuncts that differ in one key only are merged exactly. `limit` holds for disjuncts, and for the ranges of a
    domain: a domain of more ranges becomes their hull.
    What is still over the limit becomes one disjunct: the union column by column (Trino: columnWiseUnion, a superset).
    """
    merged = _merge_exactly([d for d in disjuncts if not d.is_none])
    few = merged if len(merged) <= limit else [column_wise_union(*merged)]
    return tuple(_with_few_ranges(d, limit) for d in few)


def within_bounds(rows: TupleDomain, limit: int) -> TupleDomain:
    """Return a superset in which each domain of more than `limit` ranges, or values, is one range."""
    return _each(rows, lambda domain: hull(domain) if len(domain.ranges) > limit else domain)


def _with_few_ranges(rows: TupleDomain, limit: int) -> TupleDomain:
    """Return a superset in which no domain has more than `limit` ranges; lists of single values stay as they are."""
    return _each(rows, lambda domain: _in_few_ranges(domain, limit))


def _each(rows: TupleDomain, change: Callable[[Domain], Domain]) -> TupleDomain:
    if not rows.constraints:
        return rows
    return TupleDomain.where({key: change(domain) for key, domain in rows.constraints})


def _in_few_ranges(domain: Domain, limit: int) -> Domain:
    ranges = domain.ranges
    if len(ranges) <= limit or all(r.is_single_value for r in ranges):
        return domain
    return hull(domain)


def hull(domain: Domain) -> Domain:
    """Return a superset of one range, from the start of a domain's first to the end of its last; it must have one."""
    first, last = domain.ranges[0], domain.ranges[-1]
    whole = Range(first.low, last.high, first.low_inclusive, last.high_inclusive)
    return domain.with_ranges([whole])


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
    keys = sorted({k for d in disjuncts for k, _ in d.constraints}, key=lambda k: k.order)
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
