"""The items of a SELECT list as aggregates and keys, and the states that these need.

The text of items is kept: the calls in it are cut out by their places, and the rest must read nothing but keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import HIDDEN_STATE
from dbt.adapters.icebergmv.maintenance.definition.merging.merged_states import (
    Call,
    CallKind,
    Item,
    KeyRead,
    Merging,
    Part,
    State,
    StateKind,
)
from dbt.adapters.icebergmv.maintenance.definition.merging.row_states import (
    Argument,
    argument_of,
    magnitude_of,
    ungrouped,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import is_aggregate, is_generator
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import (
    Span,
    closing,
    end_before,
    from_of,
    names_in,
    token_at,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import (
    NotParsed,
    ParsedSql,
    means,
    parse,
    parse_expression,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.select_items import item_of, select_items
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Grouped

_CALLS: Mapping[type[exp.Expr], tuple[CallKind, frozenset[str]]] = {
    exp.Count: ("count", frozenset({"count"})),
    exp.CountIf: ("count", frozenset({"count_if"})),
    exp.Sum: ("sum", frozenset({"sum"})),
    exp.Avg: ("avg", frozenset({"avg"})),
    exp.Min: ("min", frozenset({"min"})),
    exp.Max: ("max", frozenset({"max"})),
}
_COUNT_ROWS = "count(1)"
_READS = (exp.Column, exp.Star, exp.Window, exp.Query, exp.GroupingId)
_RANKS = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)
"""Window functions that give equal groups one value, whatever the order in which they come."""


def called_aggregates(tokens: Sequence[Token]) -> set[int]:
    """Return the places of all names of aggregate functions that are called."""
    pairs = pairwise(tokens)
    return {t.start for t, n in pairs if n.token_type == TokenType.L_PAREN and known_of(t.text).aggregate}


class _NotMerged(Exception):
    """An item is made of something else than mergeable aggregates."""


@dataclass(frozen=True)
class _Words:
    """A call in the text: its tokens, end exclusive, the name in lower case, the argument, and a FILTER behind it.

    `of_row` is the argument of one row (None: a row alone says nothing), `magnitude` as in `magnitude_of`.
    """

    start: int
    end: int
    name: str
    argument: str
    filter: str
    of_row: Argument | None
    magnitude: str | None

    @property
    def key(self) -> str:
        """Return the call in one spelling."""
        return f"{self.name}({'1' if self.argument == '*' else self.argument}){self.filter}"


class ItemReader:
    """Reads the items of one SELECT list, and collects the states that they need."""

    def __init__(self, parsed: ParsedSql, listed: Span, grouped: Grouped) -> None:
        self._grouped = grouped
        self._parsed, self._tokens, self._listed = parsed, parsed.tokens, listed
        self._items = select_items(parsed.tokens)
        self._states: dict[str, State] = {}
        self._added: list[str | None] = []
        self._hidden: list[str] = []
        self._levels: dict[int, State] = {}

    def merging(self, select: exp.Select, additive: Mapping[int, frozenset[int]]) -> Merging | None:
        """Return how the groups are merged; None where an item is made of something else."""
        keys = self._grouped.keys
        others = [(i, item) for i, item in enumerate(select.expressions) if i not in keys]
        calls = {i: [node for node in item.walk() if is_aggregate(node)] for i, item in others}
        if not self._are_all_aggregates([call for found in calls.values() for call in found]):
            return None
        try:
            for i, item in others:
                self._take_shown(i, item.unalias())
            rows = self._state("count", _COUNT_ROWS, Argument("1"))
            self._levels = {i: self._level(select.expressions[i]) for i in keys if self._grouped.has_sets}
            items = tuple(self._item(i, item, calls[i]) for i, item in others)
        except _NotMerged:
            return None
        edit = self._edit(select)
        if self._hidden and edit is None:
            return None
        states, levels = tuple(self._states.values()), tuple(self._levels.values())
        of_rows = self._ungrouped(select)
        return Merging(keys, items, states, rows, tuple(self._hidden), edit, additive, levels=levels, ungrouped=of_rows)

    def _ungrouped(self, select: exp.Select) -> tuple[TextEdit, ...] | None:
        """Return what makes of the SELECT the one of what each row adds; None where that is not certain."""
        keys = [item for i, item in enumerate(select.expressions) if i in self._grouped.keys]
        added = [text for text in self._added if text is not None]
        if not keys and all(state.kind in ("count", "min", "max") for state in self._states.values()):
            return None  # Iceberg may know these from its manifests.
        left_out = {e.output_name.lower() for i, e in enumerate(select.expressions) if i not in self._grouped.keys}
        if left_out & {column.name.lower() for key in keys for column in key.find_all(exp.Column)}:
            return None  # A key may read another item by its alias.
        if self._levels or len(added) < len(self._added) or any(key.find(exp.Query) for key in keys):
            return None  # A table that a key reads would not be pinned.
        try:
            written = [(self._text(*self._item_tokens(key)), key) for key in keys]
        except _NotMerged:
            return None
        return ungrouped(self._parsed, self._listed, written, added)

    def _are_all_aggregates(self, calls: Sequence[exp.Expr]) -> bool:
        """Return whether the list calls no other aggregate function: the parser does not know each of them as one."""
        called = called_aggregates(self._tokens[self._listed.start : self._listed.end])
        return called == {call.meta.get("start") for call in calls}

    def _take_shown(self, position: int, expression: exp.Expr) -> None:
        """Note a state that an item shows as it is."""
        call = expression.this if isinstance(expression, exp.Filter) else expression
        kind = _CALLS[type(call)][0] if type(call) in _CALLS else "avg"
        if kind != "avg":
            words = self._words(call)
            if words.key not in self._states:
                self._note(words.key, State(kind, position=position), words.of_row)

    def _state(self, kind: StateKind, key: str, of_row: Argument | None, text: str | None = None) -> State:
        """Return the state of a key; it becomes a hidden column if nothing shows it."""
        if key not in self._states:
            self._note(key, State(kind, hidden=len(self._hidden)), of_row)
            self._hidden.append(text or key)
        return self._states[key]

    def _note(self, key: str, state: State, of_row: Argument | None) -> None:
        """Note the state of a key, and what a row adds to it."""
        self._states[key] = state
        self._added.append(None if of_row is None else of_row.added(state.kind))

    def _level(self, key: exp.Expr) -> State:
        """Return the hidden column that says whether a group leaves out a key."""
        self._hidden.append(f"CAST(grouping({self._text(*self._expression(key))}) AS int)")
        return State("level", hidden=len(self._hidden) - 1)

    def _item(self, position: int, item: exp.Expr, calls: Sequence[exp.Expr]) -> Item:
        """Return an item as its text with the calls in it, outside which it must read nothing but keys."""
        inside = {id(node) for call in calls for node in _with_filter(call).walk()}
        outside = [node for node in item.walk() if isinstance(node, _READS) and id(node) not in inside]
        keys = [node for node in outside if id(node) in self._grouped.named]
        if any(id(node) not in self._grouped.named and not _is_rank(node) for node in outside) or item.find(exp.Query):
            raise _NotMerged
        if is_generator(item) or any(call.find_ancestor(exp.Lambda) for call in calls):
            raise _NotMerged  # It gives several rows, or a variable may hide the column of a state.
        start, end = self._expression(item)
        parts: list[Part] = []
        in_text = sorted(calls, key=lambda call: int(call.meta.get("start", 0)))
        found = [*map(self._part, in_text), *map(self._key, keys)]
        for begin, behind, part in sorted(found, key=lambda one: one[0]):
            parts += [self._text(start, begin), part]
            start = behind
        return Item(position, (*parts, self._text(start, end)))

    def _part(self, call: exp.Expr) -> tuple[int, int, Part]:
        """Return a call in an item, and its tokens, end exclusive."""
        if not isinstance(call, exp.Grouping):
            words = self._words(call)
            return words.start, words.end, self._call(words, _CALLS[type(call)][0])
        start = token_at(call.meta.get("start"), self._tokens)
        of = [self._grouped.named.get(id(column)) for column in call.expressions]
        if start is None or len(of) != 1 or of[0] not in self._levels or isinstance(call.parent, exp.Filter):
            raise _NotMerged
        return start, self._closing(start + 1) + 1, KeyRead(of[0], self._levels[of[0]])

    def _key(self, column: exp.Expr) -> tuple[int, int, Part]:
        """Return a key in an item, and its tokens, end exclusive."""
        places = [token_at(name.meta["start"], self._tokens) for name in names_in(column)]
        found = [place for place in places if place is not None]
        if not found or len(found) < len(places):
            raise _NotMerged
        return min(found), max(found) + 1, KeyRead(self._grouped.named[id(column)])

    def _call(self, words: _Words, kind: CallKind) -> Call:
        """Return a call as the states that its value is made of. Hidden sums are NULL where they overflow."""
        of, argument, of_row = words.filter, words.argument, words.of_row
        match kind:
            case "count" | "min" | "max":
                return Call(kind, self._state(kind, words.key, of_row))
        value = self._state("sum", f"sum({argument}){of}", of_row, f"try_sum({argument}){of}")
        count = self._state("count", f"count({argument}){of}", of_row)
        if kind == "sum" or words.magnitude is None:
            return Call(kind, value, count)
        magnitude = f"try_sum({words.magnitude.format(argument)}){of}"
        return Call(kind, value, count, self._state("magnitude", magnitude, of_row))

    def _words(self, call: exp.Expr) -> _Words:
        """Return where a call is in the text, if it can be merged and the function is the one that the node means."""
        start = token_at(call.meta.get("start"), self._tokens)
        if start is None or type(call) not in _CALLS or call.find(exp.Query) or not _counts_if_distinct(call):
            raise _NotMerged
        name = self._tokens[start].text.lower()
        closed = self._closing(start + 1)
        if name not in _CALLS[type(call)][1]:
            raise _NotMerged
        argument, end, of, condition = self._text(start + 2, closed), closed + 1, "", ""
        if isinstance(call.parent, exp.Filter):
            end = self._closing(closed + 2) + 1
            of, condition = f" {self._text(closed + 1, end)}", self._text(closed + 4, end - 1)
        magnitude = magnitude_of(self._grouped.averaged.get(id(call)))
        of_row = argument_of(call, argument, condition, magnitude or "")
        return _Words(start, end, name, argument, of, of_row, magnitude)

    def _closing(self, opened: int) -> int:
        if opened >= len(self._tokens) or self._tokens[opened].token_type != TokenType.L_PAREN:
            raise _NotMerged
        closed = closing(opened, self._tokens)
        if closed is None:
            raise _NotMerged
        return closed

    def _expression(self, item: exp.Expr) -> tuple[int, int]:
        """Return the tokens of an item without its alias, end exclusive."""
        start, end = self._item_tokens(item)
        if isinstance(item, exp.Alias):
            end -= 2 if self._tokens[end - 2].token_type == TokenType.ALIAS else 1
        if not means(self._text(start, end), item.unalias()):
            raise _NotMerged
        return start, end

    def _item_tokens(self, item: exp.Expr) -> tuple[int, int]:
        """Return the tokens of an item, end exclusive."""
        found = item_of(item, self._items)
        start = token_at(found[0].start, self._tokens) if found else None
        if start is None:
            raise _NotMerged
        return start, start + len(found)

    def _text(self, start: int, end: int) -> str:
        """Return the text of some tokens, end exclusive; a comment behind the last of them is no part of it."""
        return self._parsed.sql[self._tokens[start].start : end_before(end, self._tokens)] if start < end else ""

    def _edit(self, select: exp.Select) -> TextEdit | None:
        """Return the edit that adds the hidden columns to the SELECT list."""
        behind = from_of(select, self._tokens)
        if behind is None or not self._hidden:
            return None
        place = end_before(behind, self._tokens)
        items = [f"{text} AS {HIDDEN_STATE}{n}" for n, text in enumerate(self._hidden)]
        edit = TextEdit(place, place, "".join(f", {item}" for item in items))
        again = parse(with_edits(self._parsed.sql, [edit]))
        if isinstance(again, NotParsed) or not isinstance(again.tree, exp.Select):
            return None
        shown = len(select.expressions)
        added = again.tree.expressions[shown:]
        if added != [parse_expression(item) for item in items]:
            return None
        again.tree.set("expressions", again.tree.expressions[:shown])
        return edit if again.tree == self._parsed.tree else None


def _counts_if_distinct(call: exp.Expr) -> bool:
    """Return whether DISTINCT is in a call as `count(DISTINCT ...)`, if at all.

    The values that are counted are those inside a region and those outside it, if the region says of each value which.
    """
    found = list(call.find_all(exp.Distinct))
    return not found or (isinstance(call, exp.Count) and [call.this] == found)


def _is_rank(node: exp.Expr) -> bool:
    """Return whether a node ranks merged groups by what is written in its OVER, as it would rank those of all rows."""
    if not isinstance(node, exp.Window) or not isinstance(node.this, _RANKS) or any(node.this.args.values()):
        return False
    return not any(node.args.get(a) for a in ("alias", "spec")) and not any(
        n is not node for n in node.find_all(exp.Window)
    )


def _with_filter(call: exp.Expr) -> exp.Expr:
    return call.parent if isinstance(call.parent, exp.Filter) else call
