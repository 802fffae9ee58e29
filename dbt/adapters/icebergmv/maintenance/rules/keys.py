"""Projection of a key: which expressions are a known function of one input column.

Rules: a rename keeps the track; a monotone date or timestamp function g tracks through g after f. Everything else
tracks nothing, which is safe.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.key_functions import (
    KeyFunction,
    Step,
    date_to_timestamp,
    date_to_year,
    timestamp_to_date,
    truncate_date,
    truncate_timestamp,
)
from dbt.adapters.icebergmv.maintenance.rules.relation import Scope, Track, TrackedColumn


@dataclass(frozen=True)
class Key:
    """An expression that is `function` of the input column; `type` is its own Spark type where it is known."""

    column: TrackedColumn
    function: KeyFunction
    type: str | None

    def tracks(self) -> frozenset[Track]:
        """Return what a column with this expression tracks."""
        return frozenset(Track(t.reference, t.column, t.function + self.function) for t in self.column.tracks)

    def is_function_of(self, other: Key) -> bool:
        """Return whether this key is g(other) for a known g: equal, or some steps further."""
        return self.column == other.column and self.function[: len(other.function)] == other.function


@dataclass(frozen=True)
class Input:
    """The columns that an expression can name: those of the single relation in FROM, called `alias`."""

    columns: tuple[TrackedColumn, ...]
    alias: str
    scope: Scope

    def resolve(self, column: exp.Column) -> TrackedColumn | None:
        """Return the input column that a name means; None when it means something else or more than one."""
        qualifier = column.table.lower()
        if qualifier and qualifier != self.alias.lower():
            return None
        if any(c.name.lower() in (column.db.lower(), column.catalog.lower()) for c in self.columns):
            return None  # x.t.c is then a field of the struct x.
        found = [c for c in self.columns if c.name.lower() == column.name.lower()]
        return found[0] if len(found) == 1 else None


def key_of(expression: exp.Expr, given: Input) -> Key | None:
    """Return how the expression follows from one input column, or None when no rule says so."""
    match expression:
        case exp.Paren() | exp.Alias():
            return key_of(expression.this, given)
        case exp.Column():
            column = given.resolve(expression)
            return Key(column, (), column.type) if column else None
        case exp.Cast() | exp.TryCast():
            return _cast(key_of(expression.this, given), expression.to, given)
        case exp.TsOrDsToDate() if not expression.args.get("format"):
            return _to_date(key_of(expression.this, given), given)
        case exp.TimestampTrunc() | exp.DateTrunc():
            return _truncated(expression, given)
        case exp.Year():
            return _append(_to_date(key_of(expression.this, given), given), "date", date_to_year())
        case _:
            return None


def _cast(key: Key | None, to: exp.DataType, given: Input) -> Key | None:
    if to.is_type(exp.DataType.Type.DATE):
        return _to_date(key, given)
    if to.is_type(exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ):
        return _to_timestamp(key, given)
    return None


def _to_date(key: Key | None, given: Input) -> Key | None:
    if key is None or key.type == "date":
        return key
    if key.type == "timestamp_ntz":
        return _append(key, "timestamp_ntz", timestamp_to_date())
    return _append(key, "timestamp", timestamp_to_date()) if given.scope.session_is_utc else None


def _to_timestamp(key: Key | None, given: Input) -> Key | None:
    if key is None or key.type == "timestamp":
        return key
    return _append(key, "date", date_to_timestamp()) if given.scope.session_is_utc else None


def _truncated(expression: exp.TimestampTrunc | exp.DateTrunc, given: Input) -> Key | None:
    if not given.scope.units_are_literals:
        return None
    unit = expression.args["unit"].name
    key = key_of(expression.this, given)
    if isinstance(expression, exp.DateTrunc):
        return _append(_to_date(key, given), "date", truncate_date(unit))
    if key is not None and key.type == "timestamp_ntz":
        return _append(key, "timestamp_ntz", truncate_timestamp(unit)) if given.scope.session_is_utc else None
    return _append(
        _to_timestamp(key, given), "timestamp", truncate_timestamp(unit) if given.scope.session_is_utc else None
    )


def _append(key: Key | None, needed_type: str, step: Step | None) -> Key | None:
    if key is None or step is None or key.type != needed_type:
        return None
    return Key(key.column, (*key.function, step), step.result_type)
