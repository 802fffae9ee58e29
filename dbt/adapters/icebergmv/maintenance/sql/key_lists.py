"""Predicates of many keys: a list of rows in place of a term for each value.

Spark plans and compiles every term of a disjunction. An INSERT of 340 keys of five columns took 6.1 s, and takes 1.8 s
with a list of rows: to Spark that is one value, in which it looks a row up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod

from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.predicates.simplification import column_wise_union, hull
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, conjunction, disjunction, literal_or_null

MANY_KEYS = 10
"""From more keys than these a list of rows is quicker; Spark compares with each of so few (OptimizeIn)."""

_FEW_VALUES = 2
"""Rows of a list for each disjunct. What has many values in few disjuncts is planned fast as it is."""

_MOST_COMPARED = 200
"""Iceberg skips files by so many values of a column at the most (IN_PREDICATE_LIMIT), by bounds always."""

_EXACT = frozenset(["boolean", "int", "bigint", "string", "date", "timestamp", "timestamp_ntz"])
"""Types whose literals are of just this type: rows in a list are compared as they are."""


def in_lists(disjuncts: Sequence[TupleDomain], types: Mapping[str, str], dialect: Dialect) -> str:
    """Return the predicate that holds for the rows of any of the disjuncts, as `disjunction` does.

    Where they are many keys of the same columns, these are in lists: of the values of each column, by which Iceberg
    skips files, and of the rows that are wanted. Rows of a list are compared as `<=>` compares, NULL with NULL. Beside
    other disjuncts there are no lists, because Spark hands an OR to Iceberg as a whole or not at all.
    """
    keys = {tuple(key for key, _ in disjunct.constraints) for disjunct in disjuncts}
    listed = [[_values(domain) for _, domain in disjunct.constraints] for disjunct in disjuncts]
    counts = [prod(map(len, values)) for values in listed]
    if len(keys) != 1 or len(disjuncts) <= MANY_KEYS or not all(counts) or sum(counts) > _FEW_VALUES * len(counts):
        return disjunction(disjuncts, types, dialect)
    (columns,) = keys
    if len(columns) < 2 or any(key.transform is not None or types[key.column] not in _EXACT for key in columns):
        return disjunction(disjuncts, types, dialect)
    rows = (row for values in listed for row in product(*values))
    written = (_struct(literal_or_null(v, types[k.column]) for k, v in zip(columns, row, strict=True)) for row in rows)
    wanted = f"{_struct(dialect.text_of(key.column) for key in columns)} IN ({', '.join(written)})"
    superset = column_wise_union(*disjuncts)
    bounds = {key: hull(domain) for key, domain in superset.constraints if len(domain.ranges) > _MOST_COMPARED}
    pruning = [conjunction(TupleDomain.where(bounds), types, dialect)] if bounds else []
    return " AND ".join([*pruning, conjunction(superset, types, dialect), wanted])


def _values(domain: Domain) -> list[Value | None]:
    """Return the values that a domain lists; nothing if it holds others."""
    if domain.nan or not domain.is_discrete:
        return []
    return [*([None] if domain.null else []), *(r.low for r in domain.ranges)]


def _struct(items: Iterable[str]) -> str:
    """Return a struct: both sides of IN need the same names of fields."""
    return f"struct({', '.join(f'{item} AS key_{n}' for n, item in enumerate(items))})"
