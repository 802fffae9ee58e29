"""Constant texts that Spark takes for a time of today: `TIMESTAMP '06:00'`, or `ts >= '06:00'`.

A text that is a time without a date, made a timestamp, is that time of the day on which the query runs (Spark,
SparkDateTimeUtils.stringToTimestamp). As a timestamp without time zone it is an error, or NULL.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.nodes import Nodes, choices_of
from dbt.adapters.icebergmv.maintenance.definition.spark_functions import known_of, written_name

_TIME = re.compile(r"\s*(T\d{1,2}(:|\s*$)|\d{1,2}:\d{1,2}(:\d{1,2}(\.\d*)?)?\s*([A-Z+-].*)?$)", re.IGNORECASE)
_TIMESTAMPS = frozenset([exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.DATETIME])
_CASTS = (exp.Cast, exp.TryCast)
_CHOICES = (exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least)
_ABOUT_TEXT = (
    *(exp.Concat, exp.ConcatWs, exp.DPipe, exp.Like, exp.ILike, exp.RegexpLike, exp.RegexpExtract, exp.RegexpReplace),
    *(exp.Replace, exp.Split, exp.StrPosition, exp.Trim, exp.Pad, exp.Contains, exp.StartsWith, exp.EndsWith),
)
"""What takes a text for a text, whatever is beside it."""


def time_of_today(
    nodes: Nodes, tokens: Sequence[Token], tables: Collection[tuple[ColumnInfo, ...] | None]
) -> str | None:
    """Return which constant text may be a time of today, None if there is none.

    `tables` are the columns of each reference (None: not known). Where a text is named by a column of a query below,
    this does not follow it.
    """
    texts = [n for n in nodes.of(exp.Literal, exp.RawString) if not n.is_number and _TIME.match(n.name)]
    if not texts:
        return None
    types = _Types(nodes, tokens, tables)
    found = next((text for text in texts if types.may_make_timestamp(text)), None)
    return None if found is None else f"'{found.name}' may be read as that time of today, another one at every run"


class _Types:
    """What may be a timestamp in a tree."""

    def __init__(
        self, nodes: Nodes, tokens: Sequence[Token], tables: Collection[tuple[ColumnInfo, ...] | None]
    ) -> None:
        self._words = {token.start: token.text for token in tokens}
        self._are_known = None not in tables
        self._columns: dict[str, list[bool]] = {}
        for column in (column for table in tables for column in table or ()):
            self._columns.setdefault(column.name.lower(), []).append(column.type == "timestamp")
        self._aliases: dict[str, list[exp.Expr]] = {}
        for alias in nodes.of(exp.Alias):
            self._aliases.setdefault(alias.alias.lower(), []).append(alias.this)

    def may_make_timestamp(self, value: exp.Expr) -> bool:
        """Return whether a constant may be made a timestamp where it is."""
        parent = value.parent
        match parent:
            case exp.Paren():
                return self.may_make_timestamp(parent)
            case exp.Cast() | exp.TryCast():
                return parent.to.this in _TIMESTAMPS
            case exp.Case() | exp.If() | exp.Coalesce() | exp.Nullif() | exp.Greatest() | exp.Least():
                # It is the whole then that has its type: beside a timestamp it is one.
                return self._any(choices_of(parent)) or self.may_make_timestamp(parent)
            case exp.In():
                return parent.args.get("query") is not None or self._any([parent.this, *parent.expressions])
            case exp.Between():
                return self._any([parent.this, parent.args["low"], parent.args["high"]])
            case exp.Predicate() if isinstance(parent, exp.Binary) and not isinstance(parent, _ABOUT_TEXT):
                return self._any([parent.this, parent.expression])
            case exp.Func():
                return not isinstance(parent, _ABOUT_TEXT)
        return False

    def _any(self, values: Iterable[exp.Expr], seen: frozenset[str] = frozenset()) -> bool:
        return any(self._may_be_timestamp(value, seen) for value in values)

    def _may_be_timestamp(self, value: exp.Expr, seen: frozenset[str]) -> bool:
        """Return whether a value may be a timestamp; `seen` are the aliases on the way to it."""
        match value:
            case exp.Literal() | exp.RawString() | exp.Null() | exp.Boolean() | exp.Concat() | exp.DPipe():
                return False
            case exp.Paren():
                return self._may_be_timestamp(value.this, seen)
            case exp.Cast() | exp.TryCast():
                return value.to.this in _TIMESTAMPS
            case exp.Column():
                return self._column_may_be(value.name.lower(), seen)
        if isinstance(value, _CHOICES):
            return self._any(choices_of(value), seen)
        if not isinstance(value, exp.Func):
            return True
        known = known_of(self._words.get(value.meta.get("start", -1)) or written_name(value))
        return not (known.always_text or known.always_number or known.gives_number)

    def _column_may_be(self, name: str, seen: frozenset[str]) -> bool:
        named = self._aliases.get(name, [])
        if not self._are_known or (name not in self._columns and not named):
            return True
        are = any(self._columns.get(name, ()))
        return are or (name not in seen and self._any(named, seen | {name}))
