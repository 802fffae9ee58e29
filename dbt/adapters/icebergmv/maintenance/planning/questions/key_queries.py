"""Asks Spark for keys: a query in, the region that its rows name out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.errors import QueryStopped, SparkLost, first_line
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column, stored_type
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.predicates.simplification import simplify
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.queries import describe_query
from dbt.adapters.icebergmv.maintenance.sql.rendering import LONG_LIST, identifier

MOST_KEYS = LONG_LIST
"""So many keys are literals in a predicate. More values of one column are one text."""

MOST_OF_ONE = 50_000
_MOST_CHARACTERS = 1_000_000
"""So many values of one column are listed for a query that runs at once, and so long are they together."""

MOST_COLLECTED = 10_000
"""So many rows are collected to see which of their columns have few values: it is quicker than to ask again."""

_MOST_TRIED = 3
"""So many columns are asked for by themselves whether they have few enough values. Each is a question."""

_MOST_TERMS = 2000
"""Beyond this many terms Spark takes seconds to plan the predicate of a region."""


@dataclass(frozen=True)
class NotListed:
    """The keys that some rows reach are not known; `reason` goes on a sentence that names these rows."""

    reason: str


NEARLY_ALL = NotListed("reach nearly all rows of the view, and to compute all costs less than to overwrite these")

TOO_MANY_CHANGED = NotListed("are not asked: that would read more than half as many rows as everything has")

TOO_DEAR = NotListed("take longer to ask than everything takes to compute")

TOO_LATE = NotListed(
    "could not all be asked in time (a third of what the last full refresh took, or half a second; there is no limit "
    "with refresh_policy incremental)"
)

NOT_UTF8 = NotListed("reach a key that may not be UTF-8")

Answer: TypeAlias = tuple[TupleDomain, ...] | NotListed
"""The output rows that the changed rows of a reference reach."""


def too_many(most: int) -> NotListed:
    """Return that more keys are reached than may be listed."""
    return NotListed(f"reach more than {most} keys")


def none_of(query: str, run: Spark) -> Answer | None:
    """Return that nothing is reached, if a query gives no row."""
    rows = rows_of(f"{query} LIMIT 1", run)
    return rows if isinstance(rows, NotListed) else None if rows else ()


def ask(
    question: str,
    choices: Sequence[Sequence[Column]],
    run: Spark,
    last: Sequence[Column] = (),
    most_of_one: int = MOST_KEYS,
) -> Answer:
    """Return the distinct values that a question gives, as a region of one choice of columns.

    That is the first with few enough of them. Where none has, it is a column by itself of up to `most_of_one` values,
    rather one with many, which tells most rows apart; or else the one with the fewest, or the `last` columns. All are
    asked for at once; only where they are more than are collected, a choice is asked for again by itself.
    """
    columns = tuple(dict.fromkeys(c for some in (*choices, last) for c in some))
    rows = _distinct(question, columns, MOST_COLLECTED, run)
    if isinstance(rows, NotListed):
        return rows
    is_complete = len(rows) <= MOST_COLLECTED
    values = {c: {row[n] for row in rows} for n, c in enumerate(columns)}
    alone = sorted(dict.fromkeys(c for some in choices for c in some), key=lambda c: len(values[c]))
    wanted, others = _limited(choices), _limited([alone[:1], last])
    fine = list(reversed(alone))[:_MOST_TRIED] if most_of_one > MOST_KEYS else []
    many = [((column,), most_of_one) for column in fine]
    for some, most in dict.fromkeys((*wanted, *many, *others)):
        few = _projected(rows, [columns.index(c) for c in some])
        if not some or len(few) > most:
            continue
        found = few if is_complete else _distinct(question, some, most, run)
        if isinstance(found, NotListed):
            return found
        if _can_be_listed(found, most):
            return _region_of(found, some)
    return too_many(most_of_one)


def _can_be_listed(rows: Sequence[Sequence[object]], most: int) -> bool:
    """Return whether rows are so many at the most, and not too long together."""
    return len(rows) <= most and sum(len(str(value)) for row in rows for value in row) <= _MOST_CHARACTERS


def _limited(choices: Sequence[Sequence[Column]]) -> list[tuple[tuple[Column, ...], int]]:
    """Return the choices, each with how many rows of it may be listed."""
    return [(tuple(some), most_keys(some)) for some in choices]


def _distinct(
    question: str, columns: Sequence[Column], most: int, run: Spark
) -> Sequence[Sequence[object]] | NotListed:
    """Return the distinct values of some columns, or one row more than `most`."""
    values = ", ".join(f"{internal_form(c.type, identifier(c.name))} AS k{n}" for n, c in enumerate(columns))
    return rows_of(f"SELECT DISTINCT {values} FROM (\n{question}\n) LIMIT {most + 1}", run)


def most_keys(columns: Sized) -> int:
    """Return how many rows of some columns may be listed in a predicate."""
    return max(1, min(MOST_KEYS, _MOST_TERMS // max(1, len(columns))))


def _projected(rows: Sequence[Sequence[object]], places: Sequence[int]) -> Sequence[Sequence[object]]:
    return list(dict.fromkeys(tuple(row[n] for n in places) for row in rows))


def _region_of(rows: Sequence[Sequence[object]], keys: Sequence[Column]) -> Answer:
    if not are_texts_known(rows):
        return NOT_UTF8
    names = [ColumnKey(c.name) for c in keys]
    if len(names) == 1:
        # As below, but in a fraction of the time for many rows.
        domain = _values(rows)
        return () if domain.is_none else (TupleDomain.where({names[0]: domain}),)
    return simplify([_region(dict(zip(names, row, strict=True))) for row in rows], MOST_KEYS)


def rows_of(query: str, run: Spark) -> Sequence[Sequence[object]] | NotListed:
    """Return the rows of a query, or why there are none."""
    try:
        return run(query)
    except SparkLost:
        raise
    except QueryStopped:
        return TOO_LATE
    except Exception as error:
        # A clause that is left out may have kept an expression from failing.
        return NotListed(f"cannot be asked ({first_line(error)})")


def described(query: str, run: Spark) -> tuple[Column, ...] | None:
    """Return the columns of a query as Spark sees them; None where it does not."""
    rows = rows_of(describe_query(query), run)
    return None if isinstance(rows, NotListed) else tuple(Column(str(r[0]), stored_type(str(r[1]))) for r in rows)


def values_of(query: str, run: Spark, most: int = MOST_KEYS) -> Domain | NotListed:
    """Return the values that a query of one column gives, if they are few enough for a predicate."""
    rows = rows_of(f"{query} LIMIT {most + 1}", run)
    if isinstance(rows, NotListed):
        return rows
    if not _can_be_listed(rows, most):
        return too_many(most)
    return _values(rows) if are_texts_known(rows) else NOT_UTF8


def _values(rows: Sequence[Sequence[object]]) -> Domain:
    """Return the values of the first column."""
    return Domain.of(*(value_of(row[0]) for row in rows))


def count_keys(region: Iterable[TupleDomain]) -> int:
    """Return how many keys a region lists, each of one value a column."""
    return sum(prod(len(domain.ranges) + domain.null for _, domain in rows.constraints) for rows in region)


def are_texts_known(rows: Sequence[Sequence[object]]) -> bool:
    """Return whether all texts came as they are: what is not UTF-8 comes with U+FFFD in place of its bytes."""
    return not any(isinstance(value, str) and "\ufffd" in value for row in rows for value in row)


def _region(values: Mapping[ColumnKey, object]) -> TupleDomain:
    return TupleDomain.where({key: Domain.of(value_of(value)) for key, value in values.items()})


def value_of(value: object) -> Value | None:
    """Return a value in the form that a Domain holds it in, as Spark gave it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    raise TypeError(f"Cannot use a {type(value).__name__} as a key")
