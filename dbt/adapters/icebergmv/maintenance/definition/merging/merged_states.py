"""The states by which groups are merged, and what the items of a SELECT are made of.

A state is an aggregate of a group that is known for the rows of a change alone, and then added to, or taken off, what
is stored: a count, a sum, an extreme. Those that the SELECT does not show itself are hidden columns of the storage
table; the same SELECT computes them, by items that are added to its list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import HIDDEN_STATE
from dbt.adapters.icebergmv.maintenance.definition.merging.rows_below import RowsBelow

StateKind = Literal["count", "sum", "magnitude", "min", "max", "level"]
"""How a state is merged: counts and sums are added; the magnitude of a sum is the sum of absolute values.

The level of a group, of several grouping sets, is a key of it: 1 where it leaves a column out, which it shows as NULL.
"""

CallKind = Literal["count", "sum", "avg", "min", "max"]


@dataclass(frozen=True)
class State:
    """An aggregate that is stored for each group: in the output column at a place, or as the hidden column `hidden`."""

    kind: StateKind
    position: int | None = None
    hidden: int | None = None

    def name(self, columns: Sequence[str]) -> str:
        """Return its column in the storage table, for the names of the output columns."""
        return f"{HIDDEN_STATE}{self.hidden}" if self.position is None else columns[self.position]


@dataclass(frozen=True)
class Call:
    """A call of an aggregate function in an item: the value itself for count, min and max.

    A sum has `count`, the number of values that are not NULL; an average that may be rounded on the way `magnitude`.
    """

    kind: CallKind
    value: State
    count: State | None = None
    magnitude: State | None = None


@dataclass(frozen=True)
class KeyRead:
    """A key that an item reads: the place of its column or, for `grouping(column)`, its level."""

    position: int
    level: State | None = None


Part: TypeAlias = str | Call | KeyRead


@dataclass(frozen=True)
class Item:
    """An output column that is no key: the text of its expression, with calls and keys in place of their words."""

    position: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Merging:
    """How the groups of a SELECT are merged.

    `keys` are the places of the grouping expressions in the SELECT list; without any the SELECT has one row. `levels`
    tell the groups of several grouping sets apart, one for each key. `rows` counts the rows of a group. `hidden` are
    the texts of the hidden columns, and `edit` adds them to the SELECT list. `additive`: the references whose changed
    rows alone give the changes of the states, with those read as empty for it. `below`: the rows that the SELECT
    aggregates, for changes of other references that no output column answers. Where rows are counted that differ,
    `compared` are columns of these rows (as texts): a change is followed by them alone. `whole`: the reference of which
    every row is in a group, because the SELECT reads nothing else and has no WHERE. `ungrouped` makes of the text the
    SELECT that gives, of each row below the aggregates, its keys and what it adds to the states (None: not certain).
    It could give the sign of a row besides, if one of the references in `signed` has it, with the edits there that hand
    it on. `only_adds`: a row that went may be taken off another group than the one that it was added to, as others
    beside it depend on the order of rows.
    """

    keys: tuple[int, ...]
    items: tuple[Item, ...]
    states: tuple[State, ...]
    rows: State
    hidden: tuple[str, ...]
    edit: TextEdit | None
    additive: Mapping[int, frozenset[int]]
    below: RowsBelow | None = None
    compared: frozenset[str] | None = None
    levels: tuple[State, ...] = ()
    whole: int | None = None
    ungrouped: tuple[TextEdit, ...] | None = None
    signed: Mapping[int, tuple[TextEdit, ...]] = field(default_factory=dict)
    only_adds: bool = False

    @property
    def is_by_rows(self) -> bool:
        """Return whether groups may be merged by the rows below; not where each DISTINCT compares another column."""
        return self.below is not None and self.compared != frozenset()

    @property
    def calls(self) -> tuple[Call, ...]:
        """Return the calls in all items."""
        return tuple(part for item in self.items for part in item.parts if isinstance(part, Call))

    def read_back(self, columns: Sequence[str]) -> frozenset[str]:
        """Return the stored columns, of those with these names, that are read when groups are merged."""
        states = (state.name(columns) for state in (*self.states, *self.levels))
        return frozenset((*(columns[position] for position in self.keys), *states))

    @property
    def edits_of_changes(self) -> tuple[TextEdit, ...]:
        """Return what the text needs to give what changed rows add to the states: in rows if it can, else in groups."""
        return self.edits if self.ungrouped is None else self.ungrouped

    @property
    def edits(self) -> tuple[TextEdit, ...]:
        """Return what the text needs so that the query gives the hidden columns too."""
        return () if self.edit is None else (self.edit,)
