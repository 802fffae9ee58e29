"""Could a SELECT give other values, without an error, in ANSI mode and out of it?

The two modes agree on values of one kind. Where a text meets a number, a date or a time they convert the one or the
other; an integer and a float are a double in ANSI mode and a float out of it; the length of a missing array is -1 or
NULL; a decimal of many places is 0.0000001 or 1E-7 as a text. So every place where values meet is looked at, and what
their kind is. An unknown kind counts as any (Spark, "ANSI Compliance": type promotion, functions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes, choices_of, is_column_named
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import cast_type
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name

Kind = Literal["text", "number", "time", "boolean", "other"]
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between)
"""Here a text literal beside a time is read as a time in both modes; elsewhere the time becomes a text in one."""
_MEET = (
    *(*_COMPARED, exp.In, exp.Coalesce, exp.Case, exp.If, exp.Greatest, exp.Least, exp.Nullif),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod),
)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg)
_BOOLEANS = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)
_SAME = (exp.Paren, exp.Alias, exp.Max, exp.Min, exp.Window, exp.Filter, exp.First, exp.Last, exp.Lag, exp.Lead)
_READS_UNNAMED = frozenset({"natural", "table", "pivot", "unpivot"})
_FLOATS = ("float", "real")
_DECIMALS = ("decimal", "dec", "numeric")
_WORD = re.compile(r"\w+")
_MATCHES = (exp.DPipe, exp.Like, exp.ILike, exp.SimilarTo)


def ansi_matters(nodes: Nodes, types: Mapping[str, Iterable[str | None]], words: frozenset[str]) -> bool:
    """Return whether values of different kinds, or of an unknown one, meet anywhere in the query.

    `types` gives the Spark types of all base columns of a name (lower case), `words` the words of the SQL.
    """
    if nodes.have(exp.SetOperation, exp.Values, exp.Pivot, exp.ArraySize):
        return True
    if any(known_of(word).ansi_sensitive for word in words) or "using" in words or reads_unnamed(nodes, words):
        return True
    has_floats = _reads(_FLOATS, types, words) or any(cast_type(c.to) in _FLOATS for c in nodes.of(exp.Cast))
    if has_floats and nodes.have(*_MEET):
        return True
    has_decimals = _reads(_DECIMALS, types, words) or any(_is_decimal(v) for v in nodes.of(exp.Literal))
    if has_decimals and any(_may_make_text(node) for node in nodes.of(exp.Func, *_MATCHES)):
        return True
    kinds = _kinds_by_name(nodes, types)
    if any(_kind(v, kinds) is None for node in nodes.of(exp.Concat) for v in node.expressions):
        return True  # It may be one of arrays.
    return any(_one(_met(node, kinds)) is None for node in nodes.of(*_MEET))


def _kinds_by_name(nodes: Nodes, types: Mapping[str, Iterable[str | None]]) -> dict[str, Kind | None]:
    """Return the kinds of columns of tables and of aliases; None for a name that has several, or an unknown one.

    An alias may be made of another one, wherever that is in the text, so all are looked at until nothing is new.
    """
    kinds = {name: _one(_kind_of_type(t) for t in found) for name, found in types.items()}
    aliases = [
        (alias.alias.lower(), alias.this)
        for alias in nodes.of(exp.Alias)
        if not is_column_named(alias.alias, alias.this)
    ]
    before: dict[str, Kind | None] | None = None
    while kinds != before:
        before = dict(kinds)
        for name, made_of in reversed(aliases):
            kind = _kind(made_of, kinds)
            kinds[name] = kind if kinds.get(name, kind) == kind else None
    return kinds


def reads_unnamed(nodes: Nodes, words: frozenset[str]) -> bool:
    """Return whether columns of tables may be read without their names being written, other than by `*`."""
    return bool(words & _READS_UNNAMED) or any(alias.columns for alias in nodes.of(exp.TableAlias))


def _reads(of_types: Iterable[str], types: Mapping[str, Iterable[str | None]], words: frozenset[str]) -> bool:
    """Return whether a value of a type, or of one that contains it, may be read; `*` names columns without a word."""
    wanted = frozenset(of_types)
    found = {name for name, given in types.items() if any(t is None or wanted & set(_WORD.findall(t)) for t in given)}
    return bool(words & found) or bool(words & wanted) or (bool(found) and "*" in words)


def _is_decimal(literal: exp.Literal) -> bool:
    return not literal.is_string and "." in literal.this


def _may_make_text(node: exp.Expr) -> bool:
    if isinstance(node, (exp.Cast, exp.TryCast)):
        return _kind_of_type(cast_type(node.to)) in ("text", None)
    return not (isinstance(node, exp.Func) and known_of(written_name(node)).no_text_of_decimal)


def _met(node: exp.Expr, kinds: Mapping[str, Kind | None]) -> list[Kind | None]:
    """Return the kinds of the values that meet in a node; a text literal compared with a time is read as a time."""
    match node:
        case exp.Case() if node.this is not None:
            return [None]
        case exp.Case() | exp.If():
            values = choices_of(node)
        case exp.In():
            values = [node.this, *node.expressions, *([node.args["query"]] if node.args.get("query") else [])]
        case _:
            values = [v for v in node.iter_expressions() if isinstance(v, exp.Expr)]
    given = [v for v in values if not isinstance(v, exp.Null)]
    found = [_kind(v, kinds) for v in given]
    if "time" in found and isinstance(node, _COMPARED):
        return ["time" if isinstance(v, exp.Literal) and v.is_string else k for v, k in zip(given, found, strict=True)]
    return found


def _kind(node: exp.Expr, kinds: Mapping[str, Kind | None]) -> Kind | None:
    match node:
        case exp.Column():
            return kinds.get(node.name.lower())
        case exp.Literal():
            return "text" if node.is_string else "number"
        case exp.Cast() | exp.TryCast():
            return _kind_of_type(cast_type(node.to))
        case exp.Coalesce() | exp.Case() | exp.If():
            return _one(_met(node, kinds))
    if isinstance(node, _SAME) and node.this is not None:
        return _kind(node.this, kinds)
    if isinstance(node, _BOOLEANS):
        return "boolean"
    if isinstance(node, _ARITHMETIC):
        return "number"
    return _kind_of_call(node) if isinstance(node, exp.Func) else None


def _kind_of_call(call: exp.Func) -> Kind | None:
    function = known_of(written_name(call))
    if function.gives_number:
        return "number"
    if function.gives_text:
        return "text"
    return "time" if function.gives_time else None


def _one(kinds: Iterable[Kind | None]) -> Kind | None:
    found = set(kinds)
    return found.pop() if len(found) == 1 else None


def _kind_of_type(spark_type: str | None) -> Kind | None:
    if spark_type is None:
        return None
    name = spark_type.lower().split("(")[0].split("<")[0]
    if name in ("string", "varchar", "char"):
        return "text"
    if name in ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal"):
        return "number"
    if name == "boolean":
        return "boolean"
    return "time" if name.startswith(("date", "timestamp")) else None
