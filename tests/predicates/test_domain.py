"""Laws of the set algebra, checked point by point."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from functools import reduce
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.icebergmv.maintenance.predicates.domain import (
    ColumnKey,
    Domain,
    Range,
    TupleDomain,
    Value,
)
from dbt.adapters.icebergmv.maintenance.predicates.simplification import column_wise_union, simplify
from tests.support.strategies import FLOATS, INTEGERS, KINDS, domains, holds, probes, ranges, tuple_domains

ROWS: list[dict[str, Value | None]] = [
    {"a": a, "b": b, "c": c} for a, b, c in itertools.product((None, -1, 0, 1, 2), repeat=3)
]
SMALL: tuple[Value, ...] = (0, 1, 2)


@st.composite
def some_domains(draw: st.DrawFn, count: int) -> tuple[Sequence[Value], tuple[Domain, ...]]:
    pool = draw(st.sampled_from(KINDS))
    return pool, tuple(draw(domains(pool)) for _ in range(count))


@given(some_domains(2))
def test_membership_agrees_point_by_point(given_: tuple[Sequence[Value], tuple[Domain, ...]]) -> None:
    pool, (a, b) = given_
    for x in probes(pool):
        assert a.union(b).contains(x) == (a.contains(x) or b.contains(x))
        assert a.intersect(b).contains(x) == (a.contains(x) and b.contains(x))
        assert a.complement().contains(x) != a.contains(x)


@given(some_domains(3))
def test_laws(given_: tuple[Sequence[Value], tuple[Domain, ...]]) -> None:
    _, (a, b, c) = given_
    nothing, everything = Domain.none(), Domain.all()
    assert a.union(nothing) == a == a.intersect(everything)
    assert a.union(everything) == everything
    assert a.intersect(nothing) == nothing
    assert a.union(a) == a == a.intersect(a)
    assert a.union(b) == b.union(a)
    assert a.intersect(b) == b.intersect(a)
    assert a.union(b).union(c) == a.union(b.union(c))
    assert a.intersect(b).intersect(c) == a.intersect(b.intersect(c))
    assert a.intersect(b.union(c)) == a.intersect(b).union(a.intersect(c))
    assert a.union(b.intersect(c)) == a.union(b).intersect(a.union(c))
    assert a.union(b).complement() == a.complement().intersect(b.complement())
    assert a.intersect(b).complement() == a.complement().union(b.complement())
    assert a.complement().complement() == a
    assert a.union(a.complement()) == everything
    assert a.intersect(a.complement()) == nothing
    assert a.union(a.intersect(b)) == a == a.intersect(a.union(b))


@given(some_domains(1))
def test_ranges_are_sorted_disjoint_and_never_empty(given_: tuple[Sequence[Value], tuple[Domain, ...]]) -> None:
    _, (a,) = given_
    for domain in (a, a.complement()):
        assert not any(r.is_empty for r in domain.ranges)
        for left, right in itertools.pairwise(domain.ranges):
            assert left.high is not None and right.low is not None
            assert left.high <= right.low  # type: ignore[operator]
            assert left.high != right.low or not (left.high_inclusive or right.low_inclusive)


@given(st.sampled_from(KINDS).flatmap(lambda pool: st.lists(st.sampled_from(pool) | st.none(), max_size=6)))
def test_of_holds_exactly_its_values(values: list[Value | None]) -> None:
    domain = Domain.of(*values)
    for pool in KINDS:
        if any(type(pool[0]) is type(v) for v in values):
            for x in probes(pool):
                assert domain.contains(x) == (x in values)


THIRDS = tuple(Decimal(n) for n in (0, 3, 6))
"""Bounds with values between them, so that sets that differ differ at a bound or between two."""


@given(st.lists(ranges(THIRDS), max_size=5), st.lists(ranges(THIRDS), max_size=5), st.booleans(), st.booleans())
def test_equal_means_the_same_set(left: list[Range], right: list[Range], null: bool, other: bool) -> None:
    a, b = Domain(tuple(left), null), Domain(tuple(right), other)
    same = all(a.contains(x) == b.contains(x) for x in (None, *map(Decimal, range(-1, 8))))
    assert (a == b) == same
    assert not same or hash(a) == hash(b)


@given(st.sampled_from(KINDS).flatmap(lambda pool: st.lists(ranges(pool), max_size=5)), st.randoms())
def test_ranges_may_come_in_any_order_and_more_than_once(given_: list[Range], order: Random) -> None:
    shuffled = given_ + given_[:2]
    order.shuffle(shuffled)
    assert Domain(tuple(shuffled)) == Domain.between(*given_)
    assert Domain(Domain.between(*given_).ranges) == Domain.between(*given_)


@given(st.lists(ranges(FLOATS), max_size=4), domains(FLOATS))
def test_with_ranges_keeps_null_and_nan(given_: list[Range], domain: Domain) -> None:
    found = domain.with_ranges(given_)
    assert found.ranges == Domain.between(*given_).ranges
    assert (found.null, found.nan) == (domain.null, domain.nan)
    assert domain.with_ranges(domain.ranges) == domain


def test_null_is_in_no_range() -> None:
    assert not Domain.between(Range(None, None)).contains(None)
    assert Domain.only_null().contains(None)
    assert not Domain.only_null().complement().contains(None)
    assert Domain.only_null().complement().contains(0)


def test_nan_is_in_no_range() -> None:
    assert not Domain.between(Range(None, None)).contains(math.nan)
    assert not Domain.between(Range(0.0, math.inf)).contains(math.nan)
    assert Domain.of(math.nan).contains(math.nan)
    assert Domain.of(math.nan, math.nan) == Domain.of(math.nan)
    assert not Domain.of(math.nan).complement().contains(math.nan)
    assert Domain.of(math.nan).complement().contains(math.inf)


def test_zeros_are_one_value() -> None:
    assert Domain.of(0.0).contains(-0.0)
    assert Domain.of(-0.0) == Domain.of(0.0)
    assert not Domain.of(-0.0).complement().contains(0.0)
    assert Domain.between(Range(-0.0, 1.0, False, True)).contains(0.0) is False


def test_touching_ranges_merge_and_gaps_stay() -> None:
    assert Domain.between(Range(0, 1, True, False), Range(1, 2)) == Domain.between(Range(0, 2))
    assert Domain.between(Range(0, 1, True, False), Range(1, 2, False, True)) != Domain.between(Range(0, 2))
    assert Domain.between(Range(None, 1), Range(None, 5), Range(3, None)) == Domain.between(Range(None, None))
    assert Domain.between(Range(2, 1), Range(3, 3, True, False)) == Domain.none()


@pytest.mark.parametrize("pool", [INTEGERS, FLOATS])
def test_bounds_of_everything(pool: Sequence[Value]) -> None:
    assert Domain.all().is_all
    assert all(Domain.all().contains(x) for x in probes(pool))
    assert Domain.none().is_none
    assert not any(Domain.none().contains(x) for x in probes(pool))


@given(st.dictionaries(st.sampled_from([ColumnKey(c) for c in "abc"]), domains(SMALL)))
def test_where_is_the_conjunction(constraints: dict[ColumnKey, Domain]) -> None:
    rows = TupleDomain.where(constraints)
    for row in ROWS:
        assert holds(rows, row) == all(d.contains(row[k.column]) for k, d in constraints.items())
    assert rows == TupleDomain.where(dict(reversed(constraints.items())))
    assert not any(d.is_all or d.is_none for d in rows.domains.values())


@given(st.lists(tuple_domains("abc", SMALL), max_size=6), st.integers(1, 6))
def test_simplify_keeps_the_rows_up_to_the_limit_and_widens_beyond(disjuncts: list[TupleDomain], limit: int) -> None:
    simple = simplify(disjuncts, limit)
    assert len(simple) <= limit
    merged = simplify(disjuncts, 1000)
    domains = [domain for d in merged for _, domain in d.constraints]
    few_ranges = all(len(d.ranges) <= limit or all(r.is_single_value for r in d.ranges) for d in domains)
    exact = len(merged) <= limit and few_ranges
    for row in ROWS:
        before, after = any(holds(d, row) for d in disjuncts), any(holds(d, row) for d in simple)
        assert before == after if exact else before <= after


def test_simplify_limits_the_ranges_of_a_domain_too() -> None:
    key = ColumnKey("a")
    apart = TupleDomain.where(
        {key: Domain.between(Range(None, 0, True, False)).union(Domain.between(Range(0, None, False)))}
    )
    assert simplify([apart], 2) == (apart,)
    (whole,) = simplify([apart], 1)
    assert whole == TupleDomain.where({key: Domain.between(Range(None, None))})


def test_simplify_merges_neighbours_exactly() -> None:
    days = [TupleDomain.where({ColumnKey("d"): Domain.between(Range(i, i + 1, True, False))}) for i in range(50)]
    assert simplify(days, 1) == (TupleDomain.where({ColumnKey("d"): Domain.between(Range(0, 50, True, False))}),)
    grid = [
        TupleDomain.where({ColumnKey("a"): Domain.of(i), ColumnKey("b"): Domain.of(j)}) for i in (0, 1) for j in (5, 6)
    ]
    assert simplify(grid, 1) == (TupleDomain.where({ColumnKey("a"): Domain.of(0, 1), ColumnKey("b"): Domain.of(5, 6)}),)


def test_simplify_of_nothing_and_of_everything() -> None:
    assert simplify([], 1) == ()
    assert simplify([TupleDomain.none()], 1) == ()
    some = TupleDomain.where({ColumnKey("a"): Domain.of(1)})
    assert simplify([some, TupleDomain.all()], 5) == (TupleDomain.all(),)


def test_transformed_column_is_another_key() -> None:
    plain, bucket = ColumnKey("a"), ColumnKey("a", "bucket[4]")
    both = simplify([TupleDomain.where({plain: Domain.of(1)}), TupleDomain.where({bucket: Domain.of(1)})], 5)
    assert len(both) == 2
    assert column_wise_union(*both).is_all


@given(st.lists(tuple_domains("abc", SMALL), min_size=2, max_size=5))
def test_column_wise_union_is_a_superset(disjuncts: list[TupleDomain]) -> None:
    union = reduce(column_wise_union, disjuncts)
    for row in ROWS:
        assert holds(union, row) or not any(holds(d, row) for d in disjuncts)


@given(tuple_domains("ab", INTEGERS), tuple_domains("ab", INTEGERS))
def test_rows_in_both_are_in_each(left: TupleDomain, right: TupleDomain) -> None:
    both = left.intersect(right)
    assert both == right.intersect(left)
    for a, b in itertools.product(probes(INTEGERS), repeat=2):
        row = {ColumnKey("a"): a, ColumnKey("b"): b}
        held = [not one.is_none and all(d.contains(row[k]) for k, d in one.constraints) for one in (left, right, both)]
        assert held[2] == (held[0] and held[1])


def test_no_row_is_in_both_where_one_side_has_none() -> None:
    some = TupleDomain.where({ColumnKey("a"): Domain.of(1)})
    assert some.intersect(TupleDomain.none()) == TupleDomain.none().intersect(some) == TupleDomain.none()
