"""What a partition of a base table and a column of the view have in common, as SQL.

A stale partition is known by its value v alone. To find the rows of the view that it can affect, both sides are brought
to one grain: `value` makes it from v, `row` from the output column k. The law: for every base row x in the partition,
row(f(x)) = value(v), where f is the function by which k tracks the column. Iceberg spec, "Partition Transforms".
"""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.predicates.key_functions import (
    KeyFunction,
    Monotone,
    OrNull,
    Prefix,
    Step,
    may_add_null,
)
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import WIDEST_TRUNCATE, TransformName
from dbt.adapters.icebergmv.maintenance.predicates.periods import Period, divides
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier
from dbt.adapters.icebergmv.maintenance.stitching.key_sql import IDENTITY, Expression, expression_of, template

_DATE = "DATE '1970-01-01'"
_FLOOR: dict[Period, str] = {
    "hour": "DATE_TRUNC('HOUR', {})",
    "day": "CAST({} AS DATE)",
    "month": "TRUNC(CAST({} AS DATE), 'MONTH')",
    "year": "TRUNC(CAST({} AS DATE), 'YEAR')",
}
_START: dict[Period, str] = {
    "hour": "TIMESTAMP_SECONDS({} * 3600L)",
    "day": "{}",
    "month": f"ADD_MONTHS({_DATE}, {{}})",
    "year": f"ADD_MONTHS({_DATE}, {{}} * 12)",
}
"""The first moment of a partition, from its value as Spark shows it: a date for days, a number for the others."""

ORDERED = frozenset({IDENTITY, *(template(floor) for floor in _FLOOR.values())})
"""The `row` expressions that keep the order of their argument."""


@dataclass(frozen=True)
class Grain:
    """How a stale partition value and an output column are compared. `adds_null`: rows where it is NULL are hit too."""

    value: Expression
    row: Expression
    adds_null: bool = False


def grain_of(
    transform: str, source_type: str, function: KeyFunction, session_is_utc: bool, catalog: str
) -> Grain | None:
    """Return how to compare partitions by a transform of a column with an output column that tracks it.

    `source_type` is the Spark type of the column. None where the partition does not determine the output values.
    """
    adds_null = may_add_null(function)
    parsed = TransformName.parse(transform)
    if parsed.kind == "identity":
        return _identity(source_type, function, adds_null)
    if parsed.width:
        call = f"{identifier(catalog)}.system.{parsed.kind}({parsed.width}, {{}})"
        if parsed.kind == "truncate" and any(isinstance(step, Prefix) for step in function):
            return _prefix(parsed.width, template(call), function, adds_null)
        if not all(isinstance(step, OrNull) for step in function):
            # Taken back, `or NULL` leads from NULL to every value: one NULL on the right of NOT IN takes all rows away.
            return None
        if parsed.kind == "truncate" and source_type in ("int", "bigint"):
            if parsed.width > WIDEST_TRUNCATE:
                return None
            return Grain(_unwrapped(parsed.width), template(call.format("CAST({} AS bigint)")), adds_null)
        return Grain(IDENTITY, template(call), adds_null)
    if parsed.period is None:
        return None
    if parsed.period == "day" and source_type == "date":
        return _identity(source_type, function, adds_null)
    if not session_is_utc and is_period_in_utc(transform, source_type):
        return None
    return _time(parsed.period, source_type, function, adds_null)


def is_period_in_utc(transform: str, source_type: str) -> bool:
    """Return whether the partitions are periods whose bounds Spark's clock shows in UTC alone."""
    period = TransformName.parse(transform).period
    return period == "hour" or (period is not None and source_type == "timestamp")


def _unwrapped(width: int) -> Expression:
    """Return a truncated int as the number that it is: Java's arithmetic wraps round at the smallest int.

    A bigint does not wrap there: one that the column is joined to, or what the column itself was widened to, while its
    older files keep what was truncated as an int. What wraps round at the smallest bigint is no int, and stays.
    """
    return template(f"IF({{}} % {width} = 0 OR {{}} > 2147483647, CAST({{}} AS bigint), {{}} - 4294967296L)")


def _prefix(width: int, truncate: Expression, function: KeyFunction, adds_null: bool) -> Grain | None:
    """Return the grain of the first characters of a string: the shorter prefix of the partition and of the function."""
    value = expression_of(function)
    lengths = [step.length for step in function if isinstance(step, Prefix)]
    if value is None or any(not isinstance(step, (Prefix, OrNull)) for step in function):
        return None
    return Grain(value, IDENTITY, adds_null) if min(lengths) <= width else Grain(IDENTITY, truncate, adds_null)


def _identity(source_type: str, function: KeyFunction, adds_null: bool) -> Grain | None:
    """Return the function itself: the partition value is the value of the column.

    0.0 and -0.0 are two partitions and one group, so floating point is left out.
    """
    value = expression_of(function)
    if value is None or source_type in ("float", "double"):
        return None
    return Grain(value, IDENTITY, adds_null)


def _time(period: Period, source_type: str, function: KeyFunction, adds_null: bool) -> Grain | None:
    """Return the grain of a period of time: the coarser one of the partition and of the function.

    A function that is the same all over a partition is applied to the partition's start. One that keeps every moment in
    its partition leaves the partition to be read off the output column.
    """
    start = template(_START[period])
    for position, step in enumerate(function):
        if _is_constant_within(period, step):
            if not all(_stays_within(period, s) for s in function[:position]):
                return None
            value = expression_of(function)
            typed = start.then(template(_as_type(source_type)))
            return None if value is None else Grain(typed.then(value), IDENTITY, adds_null)
    if not all(_stays_within(period, step) for step in function):
        return None
    return Grain(start, template(_FLOOR[period]), adds_null)


def _as_type(source_type: str) -> str:
    return {"date": "CAST({} AS DATE)", "timestamp": "CAST({} AS TIMESTAMP_LTZ)"}.get(
        source_type, "CAST({} AS TIMESTAMP_NTZ)"
    )


def _is_constant_within(period: Period, step: Step) -> bool:
    """Return whether the step gives one value for all moments of a partition."""
    return isinstance(step, Monotone) and step.constant_within is not None and divides(period, step.constant_within)


def _stays_within(period: Period, step: Step) -> bool:
    """Return whether the step leads every moment to one of the same partition."""
    if isinstance(step, OrNull):
        return True
    return isinstance(step, Monotone) and step.stays_within is not None and divides(step.stays_within, period)
