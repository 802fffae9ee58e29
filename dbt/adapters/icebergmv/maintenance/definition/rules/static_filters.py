"""Which rows of tables the conditions with constants keep, before anything is read: static filters, as data.

In `SELECT ... FROM sales WHERE day >= DATE '2026-01-01'` no row of sales of an earlier day comes to anything. So where
partitions or column bounds show that all changed rows are of earlier days, no row of the view depends on the change.

So it is with ON and the side of a join of which a row that matches none comes to nothing: the right one of a LEFT JOIN.

A condition may be on any column that tracks a base column. The column shows the key of each row of the base table that
the row depends on, so a key that does not pass leads to no row behind WHERE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.rules.constant_values import MOMENTS, value_of
from dbt.adapters.icebergmv.maintenance.definition.rules.dynamic_filters import reads_other_rows
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conditions_of, conjuncts
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import StaticFilter
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names, key_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Scope
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range, Value
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_HOUR

_OF_COMPARISON: Mapping[type[exp.Expr], Callable[[Value], list[Range]]] = {
    exp.EQ: lambda v: [Range(v, v)],
    exp.NullSafeEQ: lambda v: [Range(v, v)],
    exp.NEQ: lambda v: [Range(None, v, True, False), Range(v, None, False)],
    exp.GT: lambda v: [Range(v, None, False)],
    exp.GTE: lambda v: [Range(v, None)],
    exp.LT: lambda v: [Range(None, v, True, False)],
    exp.LTE: lambda v: [Range(None, v)],
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
    ranges: Callable[[Sequence[Value]], list[Range]]


def static_filters(select: exp.Select, names: Names) -> Iterator[StaticFilter]:
    """Yield what the conditions of a SELECT keep of the tables below. `names` are those of FROM behind WHERE."""
    terms = () if reads_other_rows(select) else conditions_of(select)
    return _filters(terms, names, range(len(names.sources.slots)))


def filters_of_join(on: exp.Expr | None, names: Names, slots: range) -> Iterator[StaticFilter]:
    """Yield what an ON keeps of a side of a join that has these slots: rows of which it is not true match none.

    `names` are those of both sides, as they are before they are joined.
    """
    return _filters(conjuncts(on), names, slots)


def _filters(terms: Iterable[exp.Expr], names: Names, slots: range) -> Iterator[StaticFilter]:
    obstacles = names.sources.relation.obstacles
    for condition in map(_condition, terms):
        key = None if condition is None else key_of(condition.compared, names)
        if condition is None or key is None or key.slot not in slots:
            continue
        if names.sources.slots[key.slot].column.is_unsettled:
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
            return _Condition(term.this, term.expressions, lambda listed: [Range(one, one) for one in listed])
        case exp.Not() if isinstance(term.this, exp.Is) and isinstance(term.this.expression, exp.Null):
            return _Condition(term.this.this, (), lambda _: [Range(None, None)])
        case exp.Binary() if type(term) in _OF_COMPARISON:
            comparison: type[exp.Expr] = type(term)
            compared, constant = term.this, term.expression
            if compared.find(exp.Column) is None:
                compared, constant, comparison = constant, compared, _MIRRORED.get(comparison, comparison)
            return _Condition(compared, [constant], lambda values: _OF_COMPARISON[comparison](values[0]))
    return None


def _passing(condition: _Condition, spark_type: str, scope: Scope) -> Domain | None:
    """Return a superset of the values of a type that pass; None where a constant is not known.

    A text is a moment in the zone of the session.
    """
    values = [value_of(constant, spark_type, scope) for constant in condition.constants]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    ranges = condition.ranges(known)
    if spark_type in MOMENTS and not scope.session_is_utc:
        ranges = [Range(_moved(r.low, -_WIDEST_ZONE), _moved(r.high, _WIDEST_ZONE)) for r in ranges]
    return Domain(tuple(ranges), nan=True)


def _moved(moment: Value | None, distance: int) -> int | None:
    return moment + distance if isinstance(moment, int) else None
