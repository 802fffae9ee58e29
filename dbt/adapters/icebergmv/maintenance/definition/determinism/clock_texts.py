"""Constant texts that Spark takes for the clock: `DATE 'today'`, or `day = 'today'`.

Spark puts the date or the time of the query in place of such a text where it casts a constant to a date or a timestamp
(rule SpecialDatetimeValues), be the cast written or implied by what is beside the text. A text that is only shown, or
compared with texts, stays what it is. So the way of its value is followed, and what is not known counts as a cast.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.determinism.text_columns import (
    CHOICES,
    KEEP_TYPE,
    TextColumns,
    are_placed,
    lists_of,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes, choices_of

_CLOCK_TEXT = re.compile(r"[\s\x00-\x20]*(now|today|yesterday|tomorrow)((\s+|[+-])\S+)?[\s\x00-\x20]*$", re.IGNORECASE)
"""A zone may follow. Spark trims as Java does, control characters too."""
_STILL_TEXT = (*KEEP_TYPE, exp.Concat, exp.DPipe, exp.Upper, exp.Lower, exp.Trim)
"""What makes a text of a text."""
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In)
_ASK_NO_DATE = (exp.Like, exp.ILike, exp.RegexpLike, exp.Count, exp.Length, exp.Group, exp.Ordered, exp.Exists)
"""What takes a text as a text, or values of any type, and gives none of them."""


def may_be_clock(text: str) -> bool:
    """Return whether a constant text is the date or the time of the query where it is taken for one."""
    return _CLOCK_TEXT.match(text) is not None


def clock_text(nodes: Nodes, tokens: Sequence[Token], tables: Collection[tuple[ColumnInfo, ...] | None]) -> str | None:
    """Return the first constant text that may be taken for the clock, None if there is none.

    `tables` are the columns of each reference (None: not known).
    """
    written = [t.text for t in tokens if t.token_type in (TokenType.STRING, TokenType.RAW_STRING)]
    written = [text for text in written if may_be_clock(text)]
    joined: list[exp.Expr] = nodes.of(exp.Concat, exp.DPipe)
    if not written and not joined:
        return None
    constants: list[exp.Expr] = nodes.of(exp.Literal, exp.RawString)
    found = [constant for constant in constants if not constant.is_number and may_be_clock(constant.name)]
    if len(found) < len(written):
        return written[0]  # The parser made something else of one.
    found += [constant for constant in joined if may_be_clock(_text_of(constant))]
    if not found:
        return None
    ways = _Ways(nodes, TextColumns(nodes, tokens, tables))
    return next((_text_of(constant) for constant in found if not ways.stays_text(constant)), None)


def _text_of(value: exp.Expr | None) -> str:
    """Return the text that a constant is, or that constants make together; "?" for another value."""
    match value:
        case exp.Literal() | exp.RawString():
            return value.name
        case exp.DPipe() | exp.Concat() | exp.Paren():
            return "".join(map(_text_of, value.iter_expressions()))
    return "?"


class _Ways:
    """Where the values of a tree go."""

    def __init__(self, nodes: Nodes, columns: TextColumns) -> None:
        self._is_text = columns.is_text
        self._named: dict[str, list[exp.Column]] = {}
        for column in nodes.of(exp.Column):
            self._named.setdefault(column.name.lower(), []).append(column)
        joins = nodes.of(exp.Join)
        self._joined_by = {str(name.name).lower() for join in joins for name in join.args.get("using") or ()}
        stars = (star.parent if isinstance(star.parent, exp.Column) else star for star in nodes.of(exp.Star))
        self._reads_unnamed = any(join.method for join in joins) or any(
            not isinstance(star.parent, (exp.Select, exp.Count)) for star in stars
        )

    def stays_text(self, value: exp.Expr, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether a text is surely never cast to a date; `seen` are the names on the way to it."""
        parent = value.parent
        match parent:
            case exp.Alias() | exp.Select():
                return self._stays_below(value if isinstance(parent, exp.Select) else parent, seen)
            case exp.Window() if value.arg_key == "partition_by":
                return True
            case exp.Cast():
                return self._is_text(parent) and self.stays_text(parent, seen)
            case exp.If() if isinstance(parent.parent, exp.Case) and value.arg_key == "this":
                return self._are_texts(_operands(parent.parent))
            case exp.If() if isinstance(parent.parent, exp.Case):
                return self._is_text(parent.parent) and self.stays_text(parent.parent, seen)
            case exp.Case() if value.arg_key == "this":
                return self._are_texts(_operands(parent))
            case exp.Distinct():
                return isinstance(parent.parent, exp.Count)
            case exp.Nullif():
                return self._are_texts(parent.iter_expressions()) and self.stays_text(parent, seen)
        if isinstance(parent, CHOICES):
            is_choice = any(value is choice for choice in choices_of(parent))
            return is_choice and self._are_texts(choices_of(parent)) and self.stays_text(parent, seen)
        if isinstance(parent, _COMPARED):
            return self._are_texts(parent.iter_expressions())
        if isinstance(parent, _STILL_TEXT):
            return self.stays_text(parent, seen)
        return isinstance(parent, _ASK_NO_DATE)

    def _are_texts(self, values: Iterable[exp.Expr]) -> bool:
        return all(map(self._is_text, values))

    def _stays_below(self, item: exp.Expr, seen: frozenset[str]) -> bool:
        """Return whether an item of a list stays a text in all that reads it."""
        select = item.parent
        if not isinstance(select, exp.Select) or item.arg_key != "expressions":
            return False
        whole, beside = _whole(select), _beside(item, select)
        if beside is None or not self._are_texts(beside) or not _has_readers_by_name(whole):
            return False
        names = {value.output_name.lower() for value in beside} - seen
        if whole.parent is not None and ("" in names or self._reads_unnamed or names & self._joined_by):
            return False
        return all(self.stays_text(c, seen | names) for name in names for c in self._named.get(name, ()))


def _operands(case: exp.Case) -> Iterator[exp.Expr]:
    """Yield what a CASE compares; of one without an operand its conditions, which are no texts."""
    if case.this is not None:
        yield case.this
    yield from (branch.this for branch in case.args["ifs"])


def _whole(query: exp.Query) -> exp.Query:
    """Return the set operation of which a query is a branch at any depth, or the query."""
    parent = query.parent
    is_branch = isinstance(parent, (exp.SetOperation, exp.Subquery)) and (
        isinstance(parent, exp.SetOperation) or isinstance(parent.parent, exp.SetOperation)
    )
    return _whole(parent) if is_branch else query  # type: ignore[arg-type]


def _beside(item: exp.Expr, select: exp.Select) -> list[exp.Expr] | None:
    """Return the items at the place of one in all branches of its set operation; None where places are not known."""
    lists = list(lists_of(_whole(select)))
    if len(lists) == 1:
        return [item]
    if not are_placed(lists):
        return None
    place = next(i for i, value in enumerate(select.expressions) if value is item)
    return [values[place] for values in lists]


def _has_readers_by_name(query: exp.Query) -> bool:
    """Return whether what reads the columns of a query names them: it is the whole text, or in a FROM."""
    above = query.parent
    if isinstance(above, exp.Subquery):
        return isinstance(above.parent, (exp.From, exp.Join)) and not above.alias_column_names
    return above is None or (isinstance(above, exp.CTE) and not above.alias_column_names)
