"""Predicates of many keys: a list of rows in place of a term for each value.

Spark plans and compiles every term of a disjunction. An INSERT of 340 keys of five columns took 6.1 s, and takes 1.8 s
with a list of rows: to Spark that is one value, in which it looks a row up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.predicates.simplification import column_wise_union
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, conjunction, disjunction, enclosed, literal

MANY_KEYS = 10
"""From more keys than these a list of rows is quicker; Spark compares with each of so few (OptimizeIn)."""

_MOST_ROWS = 4000
_EXACT = frozenset(["boolean", "int", "bigint", "string", "date", "timestamp", "timestamp_ntz"])
"""Types whose literals are of just this type: rows in a list are compared as they are."""


def in_lists(disjuncts: Iterable[TupleDomain], types: Mapping[str, str], dialect: Dialect) -> str:
    """Return the predicate that holds for the rows of any of the disjuncts, as `disjunction` does.

    Where many name values of the same columns, these are in lists: of the values of each column, by which Iceberg skips
    files, and of the rows that are wanted. Rows of a list are compared as `<=>` compares, NULL with NULL.
    """
    alike: dict[tuple[ColumnKey, ...], list[TupleDomain]] = {}
    for disjunct in disjuncts:
        alike.setdefault(tuple(key for key, _ in disjunct.constraints), []).append(disjunct)
    arms = [_listed(keys, some, types, dialect) or disjunction(some, types, dialect) for keys, some in alike.items()]
    if not arms:
        return "false"
    return arms[0] if len(arms) == 1 else " OR ".join(map(enclosed, arms))


def _listed(
    keys: Sequence[ColumnKey], disjuncts: Sequence[TupleDomain], types: Mapping[str, str], dialect: Dialect
) -> str | None:
    """Return the predicate of disjuncts over the same columns as lists; None where it is not one of many keys."""
    if len(keys) < 2 or len(disjuncts) <= MANY_KEYS:
        return None
    if any(key.transform is not None or types[key.column] not in _EXACT for key in keys):
        return None
    rows: list[tuple[Value | None, ...]] = []
    for disjunct in disjuncts:
        values = [_values(domain) for _, domain in disjunct.constraints]
        if not all(values):
            return None
        rows.extend(product(*values))
        if len(rows) > _MOST_ROWS:
            return None
    written = (_row(_literal(v, types[k.column]) for k, v in zip(keys, row, strict=True)) for row in rows)
    wanted = f"{_row(dialect.text_of(key.column) for key in keys)} IN ({', '.join(written)})"
    return f"{conjunction(column_wise_union(*disjuncts), types, dialect)} AND {wanted}"


def _values(domain: Domain) -> list[Value | None]:
    """Return the values that a domain lists; nothing if it holds others."""
    if domain.nan or not domain.is_discrete:
        return []
    return [*([None] if domain.null else []), *(r.low for r in domain.ranges)]


def _literal(value: Value | None, spark_type: str) -> str:
    """Return a typed literal of a value of a Domain, or of NULL."""
    return f"CAST(NULL AS {spark_type})" if value is None else literal(value, spark_type)


def _row(items: Iterable[str]) -> str:
    """Return a struct: both sides of IN need the same names of fields."""
    return f"struct({', '.join(f'{item} AS key_{n}' for n, item in enumerate(items))})"
