"""The rows outside a region, without NOT.

Iceberg takes `NOT (c = x)` over a partition column for true where c is NULL, and Spark then drops its own filter. So
the complement is made of sets: NOT(OR_i AND_j c_ij) = AND_i OR_j (column j in the complement of its Domain), and the
complement of a Domain holds NULL and NaN exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import TransformName
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction, enclosed

LISTED_BUCKETS = 1000
"""Up to this many buckets the others are listed one by one."""


def complement(region: Iterable[TupleDomain]) -> tuple[tuple[TupleDomain, ...], ...]:
    """Return the rows that lie in no disjunct of the region: those that lie in some part of every clause."""
    return tuple(
        tuple(TupleDomain.where({key: _others(key, domain)}) for key, domain in disjunct.constraints)
        for disjunct in region
        if not disjunct.is_none
    )


def outside(region: Iterable[TupleDomain], types: Mapping[str, str], dialect: Dialect) -> str:
    """Return the predicate that holds for exactly the rows for which `sql.disjunction` of the region does not.

    `types` gives the Spark type of every constrained column, under its stored name.
    """
    clauses = [disjunction(clause, types, dialect) for clause in complement(region)]
    return " AND ".join(map(enclosed, clauses)) if clauses else "true"


def _others(key: ColumnKey, domain: Domain) -> Domain:
    """Return the other values of a key. Buckets are not negative: a predicate that is not pushed has -1 for NULL."""
    others = domain.complement()
    transform = TransformName.parse(key.transform or "identity")
    if transform.kind != "bucket":
        return others
    if transform.width <= LISTED_BUCKETS:
        listed = Domain.of(*(b for b in range(transform.width) if not domain.contains(b)))
        return listed.union(Domain.only_null()) if others.null else listed
    return others.intersect(Domain((Range(0, None),), null=True))
