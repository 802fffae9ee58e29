"""Do the same rows of the tables give the same rows of a SELECT, to the last bit, whenever it is evaluated?

Not where values depend on the order in which rows arrive, which the rules of other refreshes need not mind: a sum of
floats is rounded on the way, equal floats and equal texts of a collation can be told apart, and rows that tie in the
ORDER BY of a window are numbered in any order. What may be so, as far as the text and the types of the columns that it
reads can show, is taken to be so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.references.table_references import REFERENCE_INDEX
from dbt.adapters.icebergmv.maintenance.definition.row_order.order_dependence import COLLATION, order_dependence
from dbt.adapters.icebergmv.maintenance.definition.row_order.rounded_values import MOMENTS, SUMS
from dbt.adapters.icebergmv.maintenance.definition.row_order.window_orders import is_of_rows, numbers_rows
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import choices_of, is_column_named
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import cast_type
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name
from dbt.adapters.icebergmv.maintenance.sql.spark_types import AVERAGED_AS_DOUBLES, EXACT_IN_DOUBLE, decimal_of

_OF_ANY = frozenset(["count", "count_if", "rank", "dense_rank", "percent_rank", "cume_dist", "grouping", "grouping_id"])
_OF_ANY_BOOLEAN = frozenset(["any", "some", "every", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor"])
_OF_EXACT: Mapping[str, type[exp.Expr]] = {"sum": exp.Sum, "min": exp.Min, "max": exp.Max, "avg": exp.Avg}

_EXACT_TYPES = frozenset(
    [
        *("tinyint", "smallint", "int", "integer", "long", "bigint", "boolean"),
        *("binary", "date", "timestamp", "timestamp_ntz"),
    ]
)
_MOST_DIGITS = 28
"""The precision of decimals whose sum Spark computes with ten digits more, and so without an overflow."""

_LARGEST = {"tinyint": 2**7, "smallint": 2**15, "int": 2**31}
_ANY_DIGITS = 99
"""What is taken of an alias before anything is known of it."""
_TEXT = -1
"""In place of digits: a text, which is exact. Where it is computed with, Spark makes a double of it."""

_SAME = (exp.Paren, exp.Alias, exp.Filter, exp.Window, exp.Max, exp.Min, exp.Subquery)
_OF_ONE_NUMBER = (exp.Neg, exp.Abs)
_WORDS = (exp.Var, exp.DataType)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Mod)
_EXACT = (exp.Boolean, exp.Predicate, exp.Connector, exp.Not, exp.Count, exp.CountIf, exp.IntDiv)


@dataclass(frozen=True)
class Averaged:
    """An average by doubles, which is exact of no more than `most` rows. They come from all rows of `references`."""

    references: frozenset[int]
    most: int


def repeatable(
    query: exp.Expr,
    tokens: Sequence[Token],
    types: Mapping[str, Iterable[str | None]],
    settled: Collection[int] = (),
) -> tuple[Averaged, ...] | None:
    """Return under which conditions no value of a query depends on the order of rows; None if some value may.

    `types` gives the Spark types of all base columns of a name (lower case). `settled` are windows whose rows do not
    tie, by the id() of their nodes (row_order/window_orders.py).
    """
    known = {name: [*found] for name, found in types.items()}
    texts = (*(t.text for t in tokens), *(of or "" for found in known.values() for of in found))
    if any(map(COLLATION.search, texts)) or order_dependence(query, tokens) is not None:
        return None
    called = [t.text.lower() for t, n in pairwise(tokens) if n.token_type == TokenType.L_PAREN]
    aggregates = [name for name in called if known_of(name).aggregate and name not in _OF_ANY | _OF_ANY_BOOLEAN]
    if not _OF_EXACT.keys() >= {*aggregates} or _may_tie(query, called, settled):
        return None
    generates = any(known_of(name).generator for name in called) or query.find(exp.Values, exp.Pivot) is not None
    kinds = _Kinds(query, {} if generates else known)
    nodes = [node for node in query.find_all(*_OF_EXACT.values()) if "start" in node.meta]
    inexact = [node for node in nodes if not kinds.is_exact(node)]
    averaged = [_averaged(node, {} if generates else kinds.of_columns) for node in inexact]
    if len(nodes) != len(aggregates) or None in averaged:
        return None
    return tuple(condition for condition in averaged if condition is not None)


def has_rounded_sums(query: exp.Expr, types: Mapping[str, Iterable[str | None]]) -> bool:
    """Return whether a sum or an average in a query may be rounded in one way or another; `types` as above.

    An average of whole numbers is not taken for that: it is exact as far as a double has their sum.
    """
    calls = [(call, written_name(call)) for call in query.find_all(exp.Func)]
    if any(name in MOMENTS or isinstance(call, exp.VariancePop) for call, name in calls):
        return True
    sums = [call for call, name in calls if name in SUMS]
    return bool(sums) and not all(map(_Kinds(query, {name: [*found] for name, found in types.items()}).is_number, sums))


def _may_tie(query: exp.Expr, called: Sequence[str], settled: Collection[int]) -> bool:
    """Return whether the order of rows that tie may decide a value, given the names of all that is called."""
    windows = list(query.find_all(exp.Window))
    numbering = [window for window in windows if id(window) in settled and numbers_rows(window)]
    is_settled = all(id(window) in settled for window in windows if is_of_rows(window))
    tied = [name for name in called if known_of(name).by_place or name == "nth_value"]
    return not is_settled or len(tied) > len(numbering)


def _averaged(call: exp.Expr, of_columns: Mapping[str, Sequence[str | None]]) -> Averaged | None:
    """Return when an average of a column is exact: while the sum of its digits is a whole number that a double has."""
    select = call.find_ancestor(exp.Select)
    if not isinstance(call, exp.Avg) or not isinstance(call.this, exp.Column) or select is None:
        return None
    tables = [table.meta.get(REFERENCE_INDEX) for table in select.find_all(exp.Table)]
    largest = [_LARGEST.get(of or "") or _largest_decimal(of) for of in of_columns.get(call.this.name.lower(), [None])]
    if None in tables or None in largest:
        return None
    references = frozenset(index for index in tables if index is not None)
    return Averaged(references, EXACT_IN_DOUBLE // max(size for size in largest if size is not None))


def _largest_decimal(of: str | None) -> int | None:
    decimal = decimal_of(of or "")
    return 10 ** decimal[0] if decimal is not None and decimal[0] <= AVERAGED_AS_DOUBLES else None


class _Kinds:
    """Knows what values expressions have: decimals (their least precision), other exact ones (0), texts, or floats.

    A name stands for every column and every alias of that name together, and for what a set operation shows under it.
    """

    def __init__(self, query: exp.Expr, types: Mapping[str, Sequence[str | None]]) -> None:
        named = _named(query)
        is_known = named is not None and not any(alias.columns for alias in query.find_all(exp.TableAlias))
        types = types if is_known else {}
        named = (named if is_known else None) or []
        self._types = types
        self._made = {name for name, e in named if not is_column_named(name, e)}
        known = {name: _least([*map(_of_type, found)]) for name, found in types.items()}
        self._names = {**{name: _ANY_DIGITS for name, _ in named}, **known}
        before: dict[str, int | None] = {}
        while before != self._names:
            before = dict(self._names)
            for name, expression in named:
                self._names[name] = _least([self._names[name], self._digits(expression)])

    @property
    def of_columns(self) -> Mapping[str, Sequence[str | None]]:
        """Return the types of names that are those of base columns alone."""
        return {name: found for name, found in self._types.items() if name not in self._made}

    def is_exact(self, call: exp.Expr) -> bool:
        """Return whether an aggregate gives one value in whatever order its arguments come."""
        digits = self._digits(call.this)
        if digits == _TEXT:
            return isinstance(call, (exp.Min, exp.Max))
        return digits is not None and (digits > AVERAGED_AS_DOUBLES or not isinstance(call, exp.Avg))

    def is_number(self, call: exp.Func) -> bool:
        """Return whether what an aggregate is of is a whole number or a decimal."""
        return self._number(call.this if isinstance(call, (exp.Sum, exp.Avg)) else None) is not None

    def _digits(self, node: exp.Expr | None) -> int | None:
        """Return the least precision of a decimal, 0 for another exact value, _TEXT, None for what may be a float."""
        match node:
            case exp.Column():
                is_field = node.table.lower() in self._names
                return None if is_field else self._names.get(node.name.lower())
            case exp.Literal():
                return _of_literal(node)
            case exp.Cast() | exp.TryCast():
                return _of_type(cast_type(node.to))
            case exp.Sum():
                digits = self._number(node.this)
                return digits + 10 if digits else digits
            case exp.Avg():
                digits = self._digits(node.this)
                return digits + 4 if digits and digits > AVERAGED_AS_DOUBLES else None
            case exp.Case() | exp.If() | exp.Coalesce() | exp.Greatest() | exp.Least():
                return _least([self._digits(n) for n in choices_of(node) if not isinstance(n, exp.Null)])
            case exp.Distinct() | exp.Select() if len(node.expressions) == 1:
                return self._digits(node.expressions[0])
        if isinstance(node, _EXACT):
            return 0
        if isinstance(node, _ARITHMETIC):
            found = [self._number(node.this), self._number(node.expression)]
            return None if None in found else max(d for d in found if d is not None)
        if isinstance(node, _OF_ONE_NUMBER):
            return self._number(node.this)
        if isinstance(node, _SAME):
            return self._digits(node.this)
        return self._of_call(node) if isinstance(node, exp.Func) else None

    def _of_call(self, call: exp.Func) -> int | None:
        """Return the same of a function of one row; where an argument may be a float, so may what it gives."""
        arguments = [part for part in call.iter_expressions() if not isinstance(part, _WORDS)]
        if any(self._digits(argument) is None for argument in arguments):
            return None
        function = known_of(written_name(call))
        if function.always_text:
            return _TEXT
        # Of what gives a number some give decimals; of these the digits are not known.
        return 0 if function.always_time or function.always_number else None

    def _number(self, node: exp.Expr | None) -> int | None:
        digits = self._digits(node)
        return None if digits == _TEXT else digits


def _named(query: exp.Expr) -> list[tuple[str, exp.Expr]] | None:
    """Return the names that expressions get, in lower case; None where those of a set operation are not known."""
    named = [(alias.alias.lower(), alias.this) for alias in query.find_all(exp.Alias)]
    for node in query.find_all(exp.SetOperation):
        shown, others = node.this.selects, node.expression.selects
        if len(shown) != len(others) or any(e.is_star for e in (*shown, *others)):
            return None
        named += [(e.output_name.lower(), other.unalias()) for e, other in zip(shown, others, strict=True)]
    return named


def _least(found: Sequence[int | None]) -> int | None:
    return None if None in found else min((d for d in found if d is not None), default=0)


def _of_literal(literal: exp.Literal) -> int | None:
    if literal.is_string:
        return _TEXT
    if literal.this.isdigit():
        return 0
    digits = literal.this.replace(".", "", 1)
    return max(1, len(digits.lstrip("0"))) if digits.isdigit() else None


def _of_type(spark_type: str | None) -> int | None:
    of = (spark_type or "").lower()
    decimal = decimal_of(of)
    if decimal is not None:
        return decimal[0] if decimal[0] <= _MOST_DIGITS else None
    return _TEXT if of == "string" else 0 if of in _EXACT_TYPES else None
