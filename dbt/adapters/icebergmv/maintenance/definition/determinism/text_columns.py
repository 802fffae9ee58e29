"""Which values of a SELECT surely are texts, by the names of columns and the types of these in its tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes, choices_of, is_column_named
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name

CHOICES = (exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least)
"""What gives one of several values, which are compared or get one type."""
KEEP_TYPE = (exp.Paren, exp.Alias, exp.Window, exp.Filter, exp.Min, exp.Max)
"""What gives a value of the type of another one."""
_TEXT = re.compile(r"(string|varchar|char)\b(?!.*[<:])", re.IGNORECASE)
_TEXTS = frozenset([exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR])
_GENERATED = re.compile(r"(col\d*|pos|key|value|id)$")
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
        for name, value in _named(nodes):
            if not is_column_named(name, value):
                self._made.setdefault(name.lower(), []).append(value)
        self._others = self._names_of_others(nodes)
        of_fields = {*self._types, *self._made, *self._others}
        fields = [c for c in nodes.of(exp.Column) if any(part.name.lower() in of_fields for part in c.parts[:-1])]
        self._others |= {field.name.lower() for field in fields}
        self._others |= {dot.expression.name.lower() for dot in nodes.of(exp.Dot)}
        are_hidden = any(field.is_star for field in fields) or self._has_columns_of_no_name(nodes)
        self._is_known = None not in tables and not are_hidden

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
        name, around = column.name.lower(), {part.name.lower() for part in column.parts[:-1]}
        if not self._is_known or name in self._others or is_generated(name):
            return False
        if around & {*self._types, *self._made}:
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
        placed = [list(lists_of(union)) for union in _read_unions(nodes) if not union.args.get("by_name")]
        is_unplaced = not all(map(are_placed, placed))
        return is_unplaced or nodes.have(exp.Pivot) or any(known_of(name).generator for name in generators)

    def _names_of_others(self, nodes: Nodes) -> set[str]:
        """Return the names of columns, fields and arguments of which no type is known."""
        complex_types = (of for types in self._types.values() for of in types if not of.isalnum())
        fields = {word.lower() for of in complex_types for word in re.findall(r"\w+", of)}
        return fields | given_names(nodes)


def is_generated(name: str) -> bool:
    """Return whether a name, in lower case, is one that Spark gives to columns of generators, VALUES and range()."""
    return _GENERATED.match(name) is not None


def given_names(nodes: Nodes) -> frozenset[str]:
    """Return the names, in lower case, that are given beside values: columns of aliases, of generators, arguments."""
    renamed = {name.name.lower() for alias in nodes.of(exp.TableAlias) for name in alias.columns}
    generated = {name.name.lower() for aliases in nodes.of(exp.Aliases) for name in aliases.expressions}
    arguments = {argument.name.lower() for call in nodes.of(exp.Lambda) for argument in call.expressions}
    return frozenset(renamed | generated | arguments)


def lists_of(query: exp.Expr) -> Iterator[list[exp.Expr]]:
    """Yield the lists of all branches of a query; an empty one where places mean nothing."""
    match query:
        case exp.SetOperation():
            for branch in (query.left, query.right):
                yield from [[]] if query.args.get("by_name") else lists_of(branch)
        case exp.Subquery():
            yield from lists_of(query.this)
        case _:
            yield query.expressions


def are_placed(lists: Sequence[list[exp.Expr]]) -> bool:
    """Return whether the items at each place of the lists of a set operation are known."""
    are_as_long = all(len(values) == len(lists[0]) for values in lists)
    return bool(lists[0]) and are_as_long and not any(value.is_star for values in lists for value in values)


def _named(nodes: Nodes) -> Iterator[tuple[str, exp.Expr]]:
    """Yield what has a name: an alias, an item that Spark names by a column in it, and what gets one type with it."""
    for alias in nodes.of(exp.Alias):
        yield alias.alias, alias.this
    for select in nodes.of(exp.Select):
        yield from ((item.output_name, item) for item in select.expressions if isinstance(item, exp.Cast))
    for union in _read_unions(nodes):
        first, *others = lists_of(union)
        for values in others:
            yield from zip((item.output_name for item in first), values, strict=False)


def _read_unions(nodes: Nodes) -> list[exp.SetOperation]:
    """Return the set operations whose columns something in the text reads."""
    unions = nodes.of(exp.SetOperation)
    return [u for u in unions if u.args.get("order") or u.find_ancestor(exp.Select, exp.CTE) is not None]
