"""Which values of a SELECT surely are texts, by the names of columns and the types of these in its tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.nodes import Nodes, choices_of, is_column_named
from dbt.adapters.icebergmv.maintenance.definition.spark_functions import known_of, written_name

CHOICES = (exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least)
"""What gives one of several values, which are compared or get one type."""
KEEP_TYPE = (exp.Paren, exp.Alias, exp.Window, exp.Filter, exp.Min, exp.Max)
"""What gives a value of the type of another one."""
_TEXT = re.compile(r"(string|varchar|char)\b(?!.*[<:])", re.IGNORECASE)
_TEXTS = frozenset([exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR])
_NAMED_BY_THEMSELVES = frozenset(["col", "pos", "key", "value", "id"])
"""Names that Spark gives to columns of generators and of range()."""
_EXPLODES = frozenset(["explode", "explode_outer", "posexplode", "posexplode_outer"])


class TextColumns:
    """What the names of a tree mean, with the columns of each reference (None: not known)."""

    def __init__(
        self, nodes: Nodes, tokens: Sequence[Token], tables: Collection[tuple[ColumnInfo, ...] | None]
    ) -> None:
        self._words = {token.start: token.text.lower() for token in tokens}
        self._types: dict[str, set[str]] = {}
        for column in (column for table in tables for column in table or ()):
            self._types.setdefault(column.name.lower(), set()).add(column.type or "")
        self._made: dict[str, list[exp.Expr]] = {}
        for alias in nodes.of(exp.Alias):
            if not is_column_named(alias.alias, alias.this):
                self._made.setdefault(alias.alias.lower(), []).append(alias.this)
        self._others = self._names_of_others(nodes)
        of_fields = {*self._types, *self._made, *self._others}
        columns = nodes.of(exp.Column)
        self._others |= {c.name.lower() for c in columns if c.table.lower() in of_fields}
        self._others |= {dot.expression.name.lower() for dot in nodes.of(exp.Dot)}
        names_are_shown = not any(c.is_star and c.table.lower() in of_fields for c in columns)
        self._is_known = None not in tables and names_are_shown and not self._has_columns_of_no_name(nodes)

    def is_text(self, value: exp.Expr, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether a value surely is a text, a binary or NULL; `seen` are the names on the way to it."""
        match value:
            case exp.Literal():
                return value.is_string
            case exp.RawString() | exp.Null() | exp.Concat() | exp.DPipe():
                return True
            case exp.Cast():
                return value.to.this in _TEXTS
            case exp.Column():
                return self._is_text_column(value, seen)
        if isinstance(value, KEEP_TYPE):
            return self.is_text(value.this, seen)
        if isinstance(value, CHOICES):
            return all(self.is_text(choice, seen) for choice in choices_of(value))
        return isinstance(value, exp.Func) and known_of(self._name(value)).always_text

    def _is_text_column(self, column: exp.Column, seen: frozenset[str]) -> bool:
        name, of = column.name.lower(), column.table.lower()
        if not self._is_known or name in self._others or of in self._types or of in self._made:
            return False
        types, made = self._types.get(name, ()), () if name in seen else self._made.get(name, ())
        if not types and name not in self._made:
            return False
        return all(map(_TEXT.match, types)) and all(self.is_text(value, seen | {name}) for value in made)

    def _name(self, call: exp.Func) -> str:
        return self._words.get(call.meta.get("start", -1)) or written_name(call)

    def _has_columns_of_no_name(self, nodes: Nodes) -> bool:
        """Return whether there are columns whose names neither the text nor a table shows."""
        generators = {self._name(call) for call in nodes.of(exp.Func)} - _EXPLODES
        return nodes.have(exp.Pivot) or any(known_of(name).generator for name in generators)

    def _names_of_others(self, nodes: Nodes) -> set[str]:
        """Return the names of columns, fields and arguments of which no type is known."""
        complex_types = (of for types in self._types.values() for of in types if not of.isalnum())
        fields = {word.lower() for of in complex_types for word in re.findall(r"\w+", of)}
        renamed = {name.name.lower() for alias in nodes.of(exp.TableAlias) for name in alias.columns}
        generated = {name.name.lower() for aliases in nodes.of(exp.Aliases) for name in aliases.expressions}
        arguments = {argument.name.lower() for call in nodes.of(exp.Lambda) for argument in call.expressions}
        return fields | renamed | generated | arguments | _NAMED_BY_THEMSELVES
