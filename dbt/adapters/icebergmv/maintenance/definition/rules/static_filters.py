"""Which rows of tables the conditions with constants keep, before anything is read: static filters, as data.

In `SELECT ... FROM sales WHERE day >= DATE '2026-01-01'` no row of sales of an earlier day comes to anything. So where
partitions or column bounds show that all changed rows are of earlier days, no row of the view depends on the change.

A condition may be on any column that tracks a base column. The column shows the key of each row of the base table that
the row depends on, so a key that does not pass leads to no row behind WHERE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.rules.constant_values import MOMENTS, value_of
from dbt.adapters.icebergmv.maintenance.definition.rules.dynamic_filters import conditions_of, reads_other_rows
from dbt.adapters.icebergmv.maintenance.definition.rules.projection import Names, key_of
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import Scope, StaticFilter
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range, Value
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_HOUR

_Ranges: TypeAlias = Callable[[Sequence[Value]], list[Range]]
_OF_COMPARISON: Mapping[type[exp.Expr], _Ranges] = {
    exp.EQ: lambda values: [Range(v, v) for v in values],
    exp.NullSafeEQ: lambda values: [Range(v, v) for v in values],
    exp.NEQ: lambda values: [r for v in values for r in (Range(None, v, True, False), Range(v, None, False))],
    exp.GT: lambda values: [Range(v, None, False) for v in values],
    exp.GTE: lambda values: [Range(v, None) for v in values],
    exp.LT: lambda values: [Range(None, v, True, False) for v in values],
    exp.LTE: lambda values: [Range(None, v) for v in values],
}
_MIRRORED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
}
_WIDEST_ZONE = 18 * MICROS_PER_HOUR
"""No zone is further from UTC (java.time.ZoneOffset)."""


@dataclass(frozen=True)
class _Condition:
    """A term that compares an expression with constants; NULL never passes it. `ranges` makes what does pass."""

    compared: exp.Expr
    constants: Sequence[exp.Expr]
    ranges: _Ranges


def static_filters(select: exp.Select, names: Names) -> Iterator[StaticFilter]:
    """Yield what the conditions of a SELECT keep of the tables below. `names` are those of FROM behind WHERE."""
    obstacles = names.sources.relation.obstacles
    for condition in map(_condition, () if reads_other_rows(select) else conditions_of(select)):
        key = None if condition is None else key_of(condition.compared, names)
        if condition is None or key is None or names.sources.slots[key.slot].column.has_subquery:
            continue
        passing = _passing(condition, key.type or "", names.scope)
        tracks = frozenset(t for t in names.tracks(key) if not t.is_of_literal and t.occurrence not in obstacles)
        if passing is not None and tracks:
            yield StaticFilter(passing, tracks)


def _condition(term: exp.Expr) -> _Condition | None:
    match term:
        case exp.Between():
            return _Condition(term.this, [term.args["low"], term.args["high"]], lambda ends: [Range(ends[0], ends[1])])
        case exp.In() if term.expressions:
            return _Condition(term.this, term.expressions, _OF_COMPARISON[exp.EQ])
        case exp.Not() if isinstance(term.this, exp.Is) and isinstance(term.this.expression, exp.Null):
            return _Condition(term.this.this, (), lambda _: [Range(None, None)])
        case exp.Binary() if type(term) in _OF_COMPARISON:
            comparison: type[exp.Expr] = type(term)
            if term.this.find(exp.Column) is not None:
                return _Condition(term.this, [term.expression], _OF_COMPARISON[comparison])
            mirrored = _MIRRORED.get(comparison, comparison)
            return _Condition(term.expression, [term.this], _OF_COMPARISON[mirrored])
    return None


def _passing(condition: _Condition, spark_type: str, scope: Scope) -> Domain | None:
    """Return a superset of the values of a type that pass; None where a constant is not known.

    A text is a moment in the zone of the session. Whether midnight is after its day depends on a legacy setting.
    """
    values = [value_of(constant, spark_type, scope) for constant in condition.constants]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    ranges = condition.ranges(known)
    if spark_type in MOMENTS:
        margin = 0 if scope.session_is_utc else _WIDEST_ZONE
        ranges = [Range(_moved(r.low, -margin), _moved(r.high, margin)) for r in ranges]
    return Domain(tuple(ranges), nan=True)


def _moved(moment: Value | None, distance: int) -> int | None:
    return moment + distance if isinstance(moment, int) else None
