"""Projection of a key: which expressions follow from one input column, and by which steps.

Rules: a rename keeps the track; a known monotone function g tracks through g; coalesce of two columns that a join
equates is the one that the join says it is; any other deterministic expression of one column is left for Spark to
evaluate on the values in question. Everything else tracks nothing, which is safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import cast_type, parse_expression
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import WIDER, Sources
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Scope
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Tracks
from dbt.adapters.icebergmv.maintenance.predicates.date_functions import (
    DATE_FUNCTIONS,
    DATE_TO_TIMESTAMP,
    DATE_TO_YEAR,
    TIMESTAMP_TO_DATE,
    truncate_date,
    truncate_timestamp,
)
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Inverse, KeyFunction, Monotone, Prefix
from dbt.adapters.icebergmv.maintenance.predicates.local_time import LocalTime


@dataclass(frozen=True)
class Key:
    """An expression that follows from a slot of FROM by steps; `type` is its own Spark type where it is known."""

    slot: int
    steps: KeyFunction = ()
    type: str | None = None

    def is_function_of(self, other: Key) -> bool:
        """Return whether this key is g(other) for a known g: equal, or some steps further."""
        return self.slot == other.slot and self.steps[: len(other.steps)] == other.steps


@dataclass(frozen=True)
class Names:
    """What an expression can name: the columns of FROM, and aliases of the same SELECT list.

    An alias whose key is None hides a name, and is followed by nothing.
    """

    sources: Sources
    scope: Scope
    aliases: Mapping[str, Key | None] = field(default_factory=dict)

    def tracks(self, key: Key) -> Tracks:
        """Return what a column with this expression tracks."""
        return frozenset(t.then(key.steps) for t in self.sources.slots[key.slot].column.tracks)

    def with_aliases_of(self, select: exp.Select) -> Names:
        """Return the names as an item of a list sees them: an alias of another one hides a column of a query around."""
        aliases = (item.alias.lower() for item in select.expressions if isinstance(item, exp.Alias))
        return replace(self, aliases=dict.fromkeys(aliases))

    def is_outer(self, column: exp.Column) -> bool:
        """Return whether a name in a subquery means a column of a query around it: names mean inner columns first."""
        parts = [part.name.lower() for part in column.parts]
        # Of `t.s.f` any but the last may be what the name begins with, behind a schema.
        names = {*parts[:-1]} or {*parts}
        inner = self.sources.relation_names | self.sources.column_names | self.aliases.keys()
        unknown = names & self.sources.unknown if column.table else self.sources.unknown
        return not unknown and names.isdisjoint(inner) and not names.isdisjoint(self.scope.outer_names)


def key_of(expression: exp.Expr, names: Names) -> Key | None:
    """Return how the expression follows from one input column, or None when no rule says so."""
    match expression:
        case exp.Paren() | exp.Alias():
            return key_of(expression.this, names)
        case exp.Column():
            return _column(expression, names)
        case exp.Coalesce() | exp.Case() | exp.If():
            return _merged(first_of(expression), names)
        case exp.Cast() | exp.TryCast():
            return _cast(key_of(expression.this, names), expression.to, names)
        case exp.TsOrDsToDate() if not expression.args.get("format"):
            return _to_date(key_of(expression.this, names), names)
        case exp.TimestampTrunc() | exp.DateTrunc():
            return _truncated(expression, names)
        case exp.Extract() if expression.this.name.upper() == "YEAR":
            return _append(_to_date(key_of(expression.expression, names), names), DATE_TO_YEAR)
        case exp.Substring() | exp.Left():
            return _prefix(expression, names)
        case exp.Func() if (step := _date_function(expression)) is not None:
            return _append(_to_date(key_of(expression.this, names), names), step)
        case _:
            return None


def _shape(function: exp.Expr) -> exp.Expr:
    """Return a function of one argument, and perhaps of constants, with its argument left out."""
    shape = function.copy()
    shape.set("this", None)
    return shape


def _shape_of(step: Monotone) -> exp.Expr:
    """Return the shape of a step's SQL. Raises ValueError where it is no function called on the argument."""
    function = parse_expression(step.sql.format("x"))
    argument = function.this.this if isinstance(function.this, exp.TsOrDsToDate) else function.this
    if not isinstance(function, exp.Func) or not isinstance(argument, exp.Column):
        raise ValueError(f"Cannot find {step.sql} in a SELECT: it is no function of one date. Write a rule for it.")
    return _shape(function)


_DATE_FUNCTIONS = {_shape_of(step): step for step in DATE_FUNCTIONS}
_DATE_FUNCTION_TYPES = tuple(type(shape) for shape in _DATE_FUNCTIONS)


def _date_function(function: exp.Func) -> Monotone | None:
    return _DATE_FUNCTIONS.get(_shape(function)) if isinstance(function, _DATE_FUNCTION_TYPES) else None


def _column(column: exp.Column, names: Names) -> Key | None:
    slot = names.sources.resolve(column)
    if slot is None:
        name = column.name.lower()
        known = name in names.sources.column_names
        return None if column.table or known or names.sources.unknown else names.aliases.get(name)
    return Key(names.sources.same(slot), (), names.sources.slots[slot].column.type)


def first_of(expression: exp.Expr) -> tuple[exp.Expr, ...]:
    """Return the expressions of which this one is the first that is not NULL; none where it is something else.

    That is coalesce(a, b, ...), but also CASE WHEN a IS NOT NULL THEN a ELSE b END, and so with IF.
    """
    if isinstance(expression, exp.Coalesce):
        return (expression.this, *expression.expressions)
    branch, other = expression, expression.args.get("false")
    if isinstance(expression, exp.Case) and expression.this is None and len(expression.args["ifs"]) == 1:
        branch, other = expression.args["ifs"][0], expression.args.get("default")
    if not isinstance(branch, exp.If) or other is None:
        return ()
    condition, then = branch.this.unnest(), branch.args["true"]
    negated = isinstance(condition, exp.Not)
    test = condition.this.unnest() if negated else condition
    first, second = (then, other) if negated else (other, then)
    is_test = isinstance(test, exp.Is) and isinstance(test.expression, exp.Null) and test.this == first
    return (first, second) if is_test else ()


def _merged(choices: Iterable[exp.Expr], names: Names) -> Key | None:
    """Return the key of the first of some columns that is not NULL, where a join makes it the value of one slot."""
    slot: int | None = None
    types = set[str | None]()
    for argument in choices:
        key = key_of(argument, names)
        if key is None or key.steps:
            return None
        types.add(key.type)
        slot = key.slot if slot in (None, key.slot) else _merge(slot, key.slot, names.sources)  # type: ignore[arg-type]
        if slot is None:
            return None
    return None if slot is None else Key(slot, (), types.pop() if len(types) == 1 else WIDER)


def _merge(left: int, right: int, sources: Sources) -> int | None:
    wanted = {left, right}
    found = (slot for pair, slot in sources.merged.items() if {sources.same(i) for i in pair} == wanted)
    return next((sources.same(slot) for slot in found), None)


def _cast(key: Key | None, to: exp.DataType, names: Names) -> Key | None:
    if key is not None and key.type is not None and cast_type(to) == key.type:
        return key
    if to.is_type(exp.DataType.Type.DATE):
        return _to_date(key, names)
    if to.is_type(exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ):
        return _to_timestamp(key, names)
    return None


def _to_date(key: Key | None, names: Names) -> Key | None:
    if key is None or key.type == "date":
        return key
    return _append(_on_the_wall(key, names), TIMESTAMP_TO_DATE)


def _to_timestamp(key: Key | None, names: Names) -> Key | None:
    if key is None or key.type == "timestamp":
        return key
    return _as_instant(_append(key, DATE_TO_TIMESTAMP), names)


def _on_the_wall(key: Key, names: Names) -> Key | None:
    """Return a timestamp as the time on the wall in the session's zone; in UTC the two are the same numbers."""
    if key.type != "timestamp":
        return key
    return Key(key.slot, key.steps if names.scope.session_is_utc else (*key.steps, LocalTime()), "timestamp_ntz")


def _as_instant(key: Key | None, names: Names) -> Key | None:
    if key is None:
        return None
    return Key(key.slot, key.steps if names.scope.session_is_utc else (*key.steps, Inverse(LocalTime())), "timestamp")


def _truncated(expression: exp.TimestampTrunc | exp.DateTrunc, names: Names) -> Key | None:
    """Return the key of date_trunc, which gives a timestamp (a timestamp_ntz is read in the session's zone first)."""
    if not names.scope.units_are_literals:
        return None
    unit = expression.args["unit"].name
    key = key_of(expression.this, names)
    if isinstance(expression, exp.DateTrunc):
        return _append(_to_date(key, names), truncate_date(unit))
    if key is not None and key.type == "date":
        key = _append(key, DATE_TO_TIMESTAMP)
    # A wall time in a gap of the zone does not exist; as an instant it is another one.
    instant = _as_instant(key, names) if key is not None and key.type == "timestamp_ntz" else key
    wall = None if instant is None else _on_the_wall(instant, names)
    return _as_instant(_append(wall, truncate_timestamp(unit)), names)


def _prefix(expression: exp.Substring | exp.Left, names: Names) -> Key | None:
    """Return the key of substr(s, 1, n) and left(s, n); Spark takes position 0 for 1."""
    if isinstance(expression, exp.Substring):
        start, length = expression.args.get("start"), expression.args.get("length")
        if not (isinstance(start, exp.Literal) and start.is_int and start.this in ("0", "1")):
            return None
    else:
        length = expression.expression
    if not (isinstance(length, exp.Literal) and length.is_int and int(length.this) > 0):
        return None
    return _append(key_of(expression.this, names), Prefix(int(length.this)))


def _append(key: Key | None, step: Monotone | Prefix | None) -> Key | None:
    if key is None or step is None or key.type != step.argument_type:
        return None
    return Key(key.slot, (*key.steps, step), step.result_type)
