"""Asks for the values of scalar subqueries that read a table which changed, as it is now and as it was.

A table that only such a subquery reads reaches nothing as long as its value is the same. If it is another one, only the
rows are reached for which it makes a difference (see definition/asking/moved_values.py).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.determinism.clock_texts import may_be_clock
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import (
    NotListed,
    are_texts_known,
    rows_of,
    value_of,
)
from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import QuestionTexts
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.queries import describe_query
from dbt.adapters.icebergmv.maintenance.sql.rendering import literal

_Values: TypeAlias = tuple[str, str]
"""The SQL of a value as it is now, and as it was."""

_NOW, _BEFORE = "icebergmv_now", "icebergmv_before"
_AS_TEXT = f"CAST({_NOW} AS string) <=> CAST({_BEFORE} AS string)"
SAME_VALUE = f"SELECT {_NOW} <=> {_BEFORE} AND {_AS_TEXT}"
"""Whether two values are one, -0.0 and 0.0 apart."""

SAME: Literal[""] = ""
"""No row at all."""

_EXACT_AS_TEXT = ("decimal", "double", "float")
"""Types of which no Domain holds a value, but whose text leads back to it."""


def moved_rows(texts: QuestionTexts, index: int, run: Spark) -> str | None:
    """Return the query for the rows that a reference reaches by a scalar subquery that reads it; SAME if it has none.

    None where there is no such subquery, or nobody can say its values.
    """
    moved = texts.asked.moved.get(index) if index in texts.asked.reach else None
    for subquery in texts.asked.scalars.get(index, ()):
        values = texts.of_subquery(subquery, index)
        is_same = None if values is None else _is_same(values, run)
        if is_same:
            return SAME
        if values is not None and is_same is False and moved is not None and moved.subquery == subquery:
            found = _literals(values, run)
            return None if found is None else texts.between_values(index, moved, *found)
    return None


def _is_same(values: _Values, run: Spark) -> bool | None:
    rows = rows_of(f"{SAME_VALUE} FROM ({_both(values)})", run)
    return None if isinstance(rows, NotListed) else bool(rows[0][0])


def _literals(values: _Values, run: Spark) -> _Values | None:
    """Return two values of one type as literals; None where Spark does not say them, or no literal is exactly one.

    NULL stays the subquery that gives it: Spark fails to say to Iceberg what `x > NULL OR x IS NULL` means.
    """
    columns = rows_of(describe_query(_both(values)), run)
    types = set[str]() if isinstance(columns, NotListed) else {str(column[1]) for column in columns}
    spark_type = types.pop() if len(types) == 1 else ""
    is_text = spark_type.startswith(_EXACT_AS_TEXT)
    form = "CAST({} AS string)" if is_text else internal_form(spark_type, "{}")
    if form is None:
        return None
    rows = rows_of(f"SELECT {form.format(_NOW)}, {form.format(_BEFORE)} FROM ({_both(values)})", run)
    if isinstance(rows, NotListed) or not are_texts_known(rows):
        return None
    if any(isinstance(value, str) and may_be_clock(value) for value in rows[0]):
        return None  # A constant 'today' is a date beside one, which a text that is read is not.
    found = (value_of(value) for value in rows[0])
    now, before = (
        sql if value is None else f"CAST({literal(value, 'string' if is_text else spark_type)} AS {spark_type})"
        for value, sql in zip(found, values, strict=True)
    )
    return now, before


def _both(values: _Values) -> str:
    now, before = values
    return f"SELECT {now} AS {_NOW}, {before} AS {_BEFORE}"
