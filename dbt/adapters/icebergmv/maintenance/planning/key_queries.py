"""Asks Spark for keys: a query in, the region that its rows name out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.errors import SparkLost, first_line
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.predicates.simplification import simplify
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier
from dbt.adapters.icebergmv.maintenance.sql.spark_types import internal_form

MOST_KEYS = 1000
_MOST_TERMS = 2000
"""Beyond this many terms Spark takes seconds to plan the predicate of a region."""


@dataclass(frozen=True)
class NotListed:
    """The keys that some rows reach are not known; `reason` goes on a sentence that names these rows."""

    reason: str


TOO_MANY = NotListed(f"reach more than {MOST_KEYS} keys")

TOO_DEAR = NotListed("take longer to ask than everything takes to compute")

NOT_UTF8 = NotListed("reach a key that may not be UTF-8")

Answer: TypeAlias = tuple[TupleDomain, ...] | NotListed
"""The output rows that the changed rows of a reference reach."""


def none_of(query: str, run: Spark) -> Answer | None:
    """Return that nothing is reached, if a query gives no row."""
    rows = rows_of(f"{query} LIMIT 1", run)
    return rows if isinstance(rows, NotListed) else None if rows else ()


def ask(question: str, keys: Sequence[Column], run: Spark) -> Answer:
    """Return the distinct values of the keys that a question gives, as a region."""
    most = max(1, min(MOST_KEYS, _MOST_TERMS // len(keys)))
    values = ", ".join(f"{internal_form(c.type, identifier(c.name))} AS k{n}" for n, c in enumerate(keys))
    rows = rows_of(f"SELECT DISTINCT {values} FROM (\n{question}\n) LIMIT {most + 1}", run)
    if isinstance(rows, NotListed):
        return rows
    if len(rows) > most:
        return TOO_MANY
    if not are_texts_known(rows):
        return NOT_UTF8
    names = [ColumnKey(c.name) for c in keys]
    return simplify([_region(dict(zip(names, row, strict=True))) for row in rows], MOST_KEYS)


def with_fewest_values(question: str, keys: Sequence[Column], run: Spark) -> Column:
    """Return the column that has the fewest values among what is reached, as far as an estimate says."""
    estimates = ", ".join(f"approx_count_distinct({identifier(c.name)})" for c in keys)
    rows = rows_of(f"SELECT {estimates} FROM (\n{question}\n)", run)
    counts = [0] * len(keys) if isinstance(rows, NotListed) else [int(str(count)) for count in rows[0]]
    return keys[counts.index(min(counts))]


def rows_of(query: str, run: Spark) -> Sequence[Sequence[object]] | NotListed:
    """Return the rows of a query, or why there are none."""
    try:
        return run(query)
    except SparkLost:
        raise
    except Exception as error:
        # A clause that is left out may have kept an expression from failing.
        return NotListed(f"cannot be asked ({first_line(error)})")


def values_of(query: str, run: Spark) -> Domain | NotListed:
    """Return the values that a query of one column gives, if they are few enough for a predicate."""
    rows = rows_of(f"{query} LIMIT {MOST_KEYS + 1}", run)
    if isinstance(rows, NotListed):
        return rows
    if len(rows) > MOST_KEYS:
        return TOO_MANY
    return Domain.of(*(_value(row[0]) for row in rows)) if are_texts_known(rows) else NOT_UTF8


def values_of_columns(rows: str, columns: Sequence[str], run: Spark) -> list[Domain] | None:
    """Return the values that some rows, a FROM item, have in each column; None if they are too many to be listed.

    `columns` are in the form that a Domain holds values in. Without any row no column has a value.
    """
    most = max(1, min(MOST_KEYS, _MOST_TERMS // len(columns)))
    found = rows_of(f"SELECT DISTINCT {', '.join(columns)} FROM {rows} LIMIT {most + 1}", run)
    if isinstance(found, NotListed) or len(found) > most or not are_texts_known(found):
        return None
    return [Domain.of(*{_value(row[n]) for row in found}) for n in range(len(columns))]


def are_texts_known(rows: Sequence[Sequence[object]]) -> bool:
    """Return whether all texts came as they are: what is not UTF-8 comes with U+FFFD in place of its bytes."""
    return not any(isinstance(value, str) and "\ufffd" in value for row in rows for value in row)


def _region(values: Mapping[ColumnKey, object]) -> TupleDomain:
    return TupleDomain.where({key: Domain.of(_value(value)) for key, value in values.items()})


def _value(value: object) -> Value | None:
    if value is None or isinstance(value, bool | int | str):
        return value
    raise TypeError(f"Cannot use a {type(value).__name__} as a key")
