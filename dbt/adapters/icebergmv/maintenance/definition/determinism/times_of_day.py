"""Constant texts that Spark takes for a time of today: `TIMESTAMP '06:00'`, or `ts >= '06:00'`.

A text that is a time without a date, made a timestamp, is that time of the day on which the query runs (Spark,
SparkDateTimeUtils.stringToTimestamp). As a timestamp without time zone it is an error, or NULL, and so it is as a date.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes, choices_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name

_ZONE = r"(Z|(UTC|GMT|UT)?([+-]\d{1,2}(:?\d{1,2}){0,2})?|[A-Za-z_]+/[A-Za-z_/+-]+\d*)"
_TIME = re.compile(rf"\s*(T\d{{1,2}}(:\d{{1,2}})?|\d{{1,2}}:\d{{1,2}})(:\d{{1,2}}(\.\d*)?)?\s*{_ZONE}\s*")
_TIMESTAMP = re.compile(r"\btimestamp\b")
_IN_ANOTHER = re.compile(r"[<:,]\s*timestamp\b")
_TIMESTAMPS = frozenset([exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.DATETIME])
_TAKE_TIMESTAMPS = frozenset(
    [
        *("hour", "minute", "second", "date_format", "date_trunc", "date_part", "datepart", "extract"),
        *("timestamp", "to_timestamp", "to_timestamp_ltz", "try_to_timestamp", "from_utc_timestamp"),
        *("to_utc_timestamp", "timestampadd", "timestampdiff", "dateadd", "months_between"),
        *("window", "session_window", "unix_micros", "unix_millis", "unix_seconds"),
    ]
)
_CHOICES = (exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least)
_TOGETHER = (exp.Array, exp.Map, exp.VarMap, exp.Struct, exp.Tuple)
"""What takes values of one type, or makes one value of several that may be compared."""


def time_of_today(
    nodes: Nodes, tokens: Sequence[Token], tables: Collection[tuple[ColumnInfo, ...] | None]
) -> str | None:
    """Return which constant text may be a time of today, None if there is none.

    `tables` are the columns of each reference (None: not known).
    """
    constants: list[exp.Expr] = nodes.of(exp.Literal, exp.RawString)
    text = next((constant for constant in constants if _is_text_of_time(constant)), None)
    if text is None or not _Values(nodes, tokens, tables).make_timestamp():
        return None
    return f"'{text.name}' may be read as that time of today, another one at every run"


def _is_text_of_time(constant: exp.Expr) -> bool:
    return not constant.is_number and _TIME.fullmatch(constant.name) is not None


class _Values:
    """What the values of a tree may be: timestamps, or texts that are times."""

    def __init__(
        self, nodes: Nodes, tokens: Sequence[Token], tables: Collection[tuple[ColumnInfo, ...] | None]
    ) -> None:
        self._nodes = nodes
        self._words = {token.start: token.text.lower() for token in tokens}
        self._types: dict[str, list[str]] = {}
        for column in (column for table in tables for column in table or ()):
            self._types.setdefault(column.name.lower(), []).append(column.type)
        types = [of for types in self._types.values() for of in types]
        self._some = None in tables or any(map(_TIMESTAMP.search, types))
        self._some_in_others = None in tables or any(map(_IN_ANOTHER.search, types))
        self._named: dict[str, list[exp.Expr]] = {}
        for alias in nodes.of(exp.Alias):
            self._named.setdefault(alias.alias.lower(), []).append(alias.this)
        self._renamed = {c.name.lower() for alias in nodes.of(exp.TableAlias) for c in alias.columns}

    def make_timestamp(self) -> bool:
        """Return whether a text that is a time is made a timestamp, by itself or by what is beside it."""
        casts = (c.this for c in self._nodes.of(exp.Cast) if c.to.this in _TIMESTAMPS)
        calls = (c for c in self._nodes.of(exp.Func) if self._name(c) in _TAKE_TIMESTAMPS)
        arguments = (a for call in calls if not self._has_format(call) for a in call.iter_expressions())
        if any(map(self._is_time, (*casts, *arguments))):
            return True
        return any(
            any(map(self._is_time, beside)) and any(map(self._is_timestamp, beside)) for beside in self._beside()
        )

    def _beside(self) -> Iterator[list[exp.Expr]]:
        """Yield the values that get one type."""
        for node in self._nodes.of(exp.Expr):
            match node:
                case exp.In():
                    yield [node.this, *node.expressions, *chain.from_iterable(_lists(node.args.get("query")))]
                case exp.Between():
                    yield [node.this, node.args["low"], node.args["high"]]
                case exp.Case():
                    yield choices_of(node)
                    yield [value for value in (node.this, *(i.this for i in node.args["ifs"])) if value is not None]
                case exp.SetOperation():
                    yield from map(list, zip(*_lists(node), strict=False))
                case exp.Binary():
                    yield [node.left, node.right]
                case _ if isinstance(node, (*_CHOICES, *_TOGETHER)):
                    yield choices_of(node)

    def _name(self, call: exp.Func) -> str:
        return self._words.get(call.meta.get("start", -1)) or written_name(call)

    def _has_format(self, call: exp.Func) -> bool:
        return self._name(call).endswith("to_timestamp") and len(list(call.iter_expressions())) > 1

    def _is_time(self, value: exp.Expr, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether a value may be a text that is a time; `seen` are the names on the way to it."""
        match value:
            case exp.Literal() | exp.RawString():
                return _is_text_of_time(value)
            case exp.Column():
                name = value.name.lower()
                named = () if name in seen else self._named.get(name, ())
                return name in self._renamed or any(self._is_time(n, seen | {name}) for n in named)
        return any(self._is_time(inner, seen) for inner in _same_type(value))

    def _is_timestamp(self, value: exp.Expr, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether a value may be a timestamp."""
        match value:
            case exp.Cast():
                return value.to.this in _TIMESTAMPS
            case exp.Column():
                return self._column_is_timestamp(value, seen)
            case exp.Lambda() | exp.Interval():
                return False
        if isinstance(value, exp.Func) and not isinstance(value, (*_CHOICES, *_TOGETHER)):
            known = known_of(self._name(value))
            if known.always_text or known.always_number or known.gives_number:
                return False
            return known.always_time or any(self._is_timestamp(a, seen) for a in value.iter_expressions())
        return any(self._is_timestamp(inner, seen) for inner in _same_type(value))

    def _column_is_timestamp(self, column: exp.Column, seen: frozenset[str]) -> bool:
        """Return whether a column, or a field of one, may be a timestamp or hold some."""
        name, of = column.name.lower(), column.table.lower()
        if name in self._renamed:
            return self._some
        named = () if name in seen else self._named.get(name, ())
        if name in self._types or name in self._named:
            is_column = any(map(_TIMESTAMP.search, self._types.get(name, ())))
            return is_column or any(self._is_timestamp(n, seen | {name}) for n in named)
        if of in self._types:
            return any(re.search(rf"\b{re.escape(name)}:\s*timestamp\b", type_.lower()) for type_ in self._types[of])
        return self._some_in_others


def _same_type(value: exp.Expr) -> Iterable[exp.Expr]:
    """Return the values of which a value has the type, or holds some."""
    match value:
        case exp.Paren() | exp.Bracket() | exp.Dot() | exp.Window() | exp.Filter() | exp.IgnoreNulls():
            return [value.this]
        case exp.Query():
            return chain.from_iterable(_lists(value))
        case exp.Add() | exp.Sub():
            return [value.left, value.right]
    if isinstance(value, exp.Struct):
        return [field.expression if isinstance(field, exp.PropertyEQ) else field for field in value.expressions]
    return choices_of(value) if isinstance(value, (*_CHOICES, *_TOGETHER)) else ()


def _lists(query: exp.Expr | None) -> list[list[exp.Expr]]:
    """Return the items of the list of a query, of a set operation those of each of its queries."""
    inner = query.unnest() if isinstance(query, exp.Subquery) else query
    if isinstance(inner, exp.SetOperation):
        return [*_lists(inner.left), *_lists(inner.right)]
    return [[item.unalias() for item in inner.expressions]] if isinstance(inner, exp.Select) else []
