"""The rows of a view whose groups are merged: what is stored, what came, less what went. Text in, text out.

Each part gives groups with their states, or rows with what they add to these, and a sign. Then states are added up:
counts and sums of whole numbers and decimals are groups under addition. A merged group is what a full refresh gives, or
the query fails with `NOT_MERGED`:

- a sum overflows its type, or did so where it is stored;
- an average of whole numbers is of doubles that may have been rounded on the way;
- an extreme is no longer there: what went may have held it;
- more rows went than there were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from dbt.adapters.icebergmv.maintenance.definition.hidden_names import HIDDEN_STATE
from dbt.adapters.icebergmv.maintenance.definition.merging.merged_states import Call, Item, KeyRead, Merging, State
from dbt.adapters.icebergmv.maintenance.definition.merging.row_states import ROW_STATE
from dbt.adapters.icebergmv.maintenance.planning.queries.delta_queries import CAME, WENT, SignedQuery
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list, select_from
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier
from dbt.adapters.icebergmv.maintenance.sql.spark_types import (
    AVERAGED_AS_DOUBLES,
    EXACT_IN_DOUBLE,
    decimal_of,
    is_exact,
)

NOT_MERGED = "icebergmv_not_merged"
"""Is in the message of Spark's error when some group cannot be merged, followed by a word of `WHY_NOT`."""

_SUM, _EXTREME, _AVERAGE, _ROWS = "sum", "extreme", "average", "rows"
WHY_NOT: Mapping[str, str] = {
    _SUM: "a sum overflowed",
    _EXTREME: "the smallest or largest value of a group went",
    _AVERAGE: "an average would not be exact",
    _ROWS: "more rows of a group went than there were",
}

CHANGE_SIGN, _REFUSED = f"{HIDDEN_STATE}sign", f"{HIDDEN_STATE}refused"
_STORED = "0"
_SUM_OF_MAGNITUDES = "decimal(38,11)"
"""Of what is written as MAGNITUDE."""

_LEAST = "-9223372036854775808"
"""The smallest bigint: no bigint is its negative, so a sum that went is not taken off if it is this one."""

_EXACT_DIGITS = 34
_MOST_AVERAGED = 25
"""The precision of a sum of decimals up to which its average is computed; see `_average_of_decimals`."""

_MOST_IN_DOUBLE = AVERAGED_AS_DOUBLES + 10
"""The precision of a sum of decimals up to which Spark computes its average with doubles (DecimalAggregates)."""


def can_merge(merging: Merging, columns: Sequence[Column]) -> bool:
    """Return whether groups of these types are merged exactly. `columns` are the output columns and the hidden ones."""
    types = _types_of(merging, columns)
    keys = all(is_exact(columns[position].type) for position in merging.keys)
    return keys and all(_merges(call, types) for call in merging.calls)


def _merges(call: Call, types: Mapping[State, str]) -> bool:
    of = types[call.value]
    if call.kind == "count":
        return of == "bigint"
    if call.kind in ("min", "max"):
        return is_exact(of)
    decimal = decimal_of(of)
    if call.kind == "avg" and not _has_magnitude(call, types):
        return False
    if call.kind == "avg" and decimal is not None:
        return decimal[0] <= _MOST_AVERAGED
    return of == "bigint" or decimal is not None


def _has_magnitude(call: Call, types: Mapping[State, str]) -> bool:
    """Return whether an average that may be rounded on the way has a magnitude in which no digit is lost."""
    of = types[call.value]
    if not _is_averaged_in_double(of):
        return True
    return call.magnitude is not None and types[call.magnitude] in (of, _SUM_OF_MAGNITUDES)


def _is_averaged_in_double(of: str) -> bool:
    """Return whether Spark computes an average with doubles, given the type of the sum of its values."""
    decimal = decimal_of(of)
    return decimal is None or decimal[0] <= _MOST_IN_DOUBLE


def _types_of(merging: Merging, columns: Sequence[Column]) -> dict[State, str]:
    by_name = {c.name: c.type for c in columns}
    names = [c.name for c in columns]
    return {state: by_name[state.name(names)] for state in merging.states}


@dataclass(frozen=True)
class MergedGroups:
    """The groups of a view: how they are merged, and the output columns followed by the hidden ones.

    `is_one_change`: everything that came is there now, as it is one table that changed, in one place.
    """

    merging: Merging
    columns: Sequence[Column]
    is_one_change: bool

    def query(self, stored: str, changes: Iterable[SignedQuery]) -> str:
        """Return the rows of the storage table, given queries of the stored ones and of what came and went.

        What came and went is in rows where these need not be grouped (`Merging.ungrouped`), and in groups otherwise.
        """
        parts = [(SignedQuery(stored, _STORED), self._state_names)]
        parts += [(query, self._added_names) for query in changes]
        every, keys = self._every(parts), column_list(self._keys)
        merged = select_from(every, ", ".join(self._merged_columns())) + (f" GROUP BY {keys}" if keys else "")
        rows = identifier(self._name(self.merging.rows))
        kept = f" WHERE {rows} <> 0" if keys else ""
        return f"{select_from(merged, ', '.join(self._stored_columns()))}{kept}"

    def changes(self, changes: Iterable[SignedQuery]) -> str:
        """Return what came and what went of each group, in a row each, with its sign."""
        keys = [*self._keys, CHANGE_SIGN]
        states = [
            f"{_added_up(state, identifier(name), self._types[state])} AS {identifier(name)}"
            for state, name in zip(self.merging.states, self._added_names, strict=True)
        ]
        every = self._every((query, self._added_names) for query in changes)
        listed = ", ".join([*map(identifier, keys), *states])
        return f"{select_from(every, listed)} GROUP BY {column_list(keys)}"

    def _every(self, parts: Iterable[tuple[SignedQuery, Sequence[str]]]) -> str:
        """Return the rows of all queries, each with its names of the states: keys, states and the sign."""
        return "\nUNION ALL\n".join(
            select_from(query.text, f"{column_list([*self._keys, *states])}, {query.sign} AS {CHANGE_SIGN}")
            for query, states in parts
        )

    @property
    def change_columns(self) -> list[Column]:
        """Return the columns of changes but the sign, in their order: keys, and states under the names they have."""
        types = {column.name: column.type for column in self.columns}
        states = zip(self._state_names, self._added_names, strict=True)
        return [Column(key, types[key]) for key in self._keys] + [Column(name, types[of]) for of, name in states]

    @property
    def _names(self) -> list[str]:
        return [c.name for c in self.columns]

    @property
    def _keys(self) -> list[str]:
        keys = [self.columns[position].name for position in self.merging.keys]
        return [*keys, *(self._name(level) for level in self.merging.levels)]

    @property
    def _state_names(self) -> list[str]:
        return [self._name(state) for state in self.merging.states]

    @property
    def _added_names(self) -> list[str]:
        """Return the names of the states in what came and went. A UNION takes the names of its first query."""
        if self.merging.ungrouped is None:
            return self._state_names
        return [f"{ROW_STATE}{number}" for number in range(len(self.merging.states))]

    @cached_property
    def _types(self) -> Mapping[State, str]:
        return _types_of(self.merging, self.columns)

    def _name(self, state: State) -> str:
        return state.name(self._names)

    def _merged_columns(self) -> list[str]:
        """Return the select list that merges the parts of each group."""
        merged = [identifier(key) for key in self._keys]
        for state in self.merging.states:
            name = identifier(self._name(state))
            merged.append(f"{_merged(state, name, self._types[state])} AS {name}")
        merged.append(f"{_first_of(self._refusals())} AS {_REFUSED}")
        return merged

    def _refusals(self) -> Iterator[tuple[str, str]]:
        """Yield the conditions on the parts of a group under which it is not merged, each with its word."""
        for call in (call for call in self.merging.calls if call.count is not None):
            yield f"bool_or({self._lost(call.value, call)})", _SUM
            if _may_be_least(call.value, self._types[call.value]):
                yield f"bool_or({CHANGE_SIGN} = {WENT} AND {identifier(self._name(call.value))} = {_LEAST})", _SUM
            # A part of the magnitude that overflowed would count as nothing in the magnitude of all.
            if call.magnitude is not None and _is_averaged_in_double(self._types[call.value]):
                yield f"bool_or({self._lost(call.magnitude, call)})", _AVERAGE
        for state in dict.fromkeys(call.value for call in self.merging.calls if call.kind in ("min", "max")):
            yield self._extreme_went(state), _EXTREME

    def _lost(self, state: State, call: Call) -> str:
        """Return whether a part has values and no sum of them."""
        total, count = identifier(self._name(state)), identifier(self._name(call.count or call.value))
        return f"{total} IS NULL AND {count} <> 0"

    def _extreme_went(self, state: State) -> str:
        """Return whether what went held an extreme that nothing has replaced for certain."""
        name = identifier(self._name(state))
        before, came, went = (_extreme(state, name, sign) for sign in (_STORED, CAME, WENT))
        reached, passed = (">=", "<") if state.kind == "max" else ("<=", ">")
        is_gone = f"coalesce({went} {reached} {before}, {went} IS NOT NULL)"
        if self.is_one_change:
            return f"({is_gone} AND coalesce({came} {passed} {before}, true))"
        best = f"{'greatest' if state.kind == 'max' else 'least'}({before}, {came})"
        return f"coalesce({went} {reached} {best}, {went} IS NOT NULL)"

    def _stored_columns(self) -> list[str]:
        """Return the select list of what is stored: keys, items and hidden states, in the order of the columns."""
        items = {item.position: self._value(item) for item in self.merging.items}
        why, rows = f"coalesce({_REFUSED}, {_first_of(self._faults())})", self._name(self.merging.rows)
        listed = []
        for position, column in enumerate(self.columns):
            name = identifier(column.name)
            value = items.get(position, name)
            if column.name == rows:
                error = f"CAST(raise_error(concat('{NOT_MERGED} ', {why})) AS bigint)"
                value = f"CASE WHEN {why} IS NOT NULL THEN {error} ELSE {name} END"
            listed.append(f"{value} AS {name}" if value != name else name)
        return listed

    def _faults(self) -> Iterator[tuple[str, str]]:
        """Yield the conditions on a merged group under which it is not what a full refresh gives, with their words."""
        yield f"{identifier(self._name(self.merging.rows))} < 0", _ROWS
        for call in self.merging.calls:
            if call.count is not None:
                yield self._lost(call.value, call), _SUM
            if call.kind == "avg":
                yield self._inexact(call, self._types[call.value]), _AVERAGE

    def _inexact(self, call: Call, of: str) -> str:
        """Return whether an average may be another one than Spark computes of all values."""
        count = identifier(self._name(call.count or call.value))
        precision, scale = decimal_of(of) or (0, 0)
        if call.magnitude is None or not _is_averaged_in_double(of):
            return f"{count} >= {10 ** (_EXACT_DIGITS - precision)}"
        magnitude = identifier(self._name(call.magnitude))
        return f"{count} <> 0 AND coalesce({magnitude} >= {Decimal(EXACT_IN_DOUBLE).scaleb(-scale):f}, true)"

    def _value(self, item: Item) -> str:
        """Return the text of an item over merged states.

        In other words a state is no mere column: `struct` would take its name for that of a field.
        """
        is_alone = not any(isinstance(part, str) and part for part in item.parts)
        texts: list[str] = []
        for part in item.parts:
            match part:
                case Call():
                    texts.append(self._of_call(part) if is_alone else f"coalesce({self._of_call(part)})")
                case KeyRead():
                    texts.append(self._of_key(part))
                case _:
                    texts.append(part)
        return " ".join(texts).strip()

    def _of_key(self, read: KeyRead) -> str:
        """Return a key under the name by which the item reads it, or its level in the type of `grouping`."""
        if read.level is None:
            return identifier(self.columns[read.position].name)
        return f"CAST({identifier(self._name(read.level))} AS tinyint)"

    def _of_call(self, call: Call) -> str:
        value = identifier(self._name(call.value))
        if call.count is None:
            return value
        count, decimal = identifier(self._name(call.count)), decimal_of(self._types[call.value])
        if call.kind == "avg":
            value = _average(value, count) if decimal is None else _average_of_decimals(value, count, *decimal)
        return f"(CASE WHEN {count} <> 0 THEN {value} END)"


def _first_of(conditions: Iterable[tuple[str, str]]) -> str:
    """Return the word of the first condition that holds, NULL if none does."""
    arms = " ".join(f"WHEN {condition} THEN '{word}'" for condition, word in dict.fromkeys(conditions))
    return f"CASE {arms} END" if arms else "CAST(NULL AS string)"


def _merged(state: State, name: str, of: str) -> str:
    """Return the aggregate that merges the parts of a state."""
    if state.kind in ("min", "max"):
        return f"{state.kind}(CASE WHEN {CHANGE_SIGN} <> {WENT} THEN {name} END)"
    if _may_be_least(state, of):
        return _sum(f"CASE WHEN {CHANGE_SIGN} <> {WENT} THEN {name} WHEN {name} <> {_LEAST} THEN -{name} END", of)
    return _sum(f"CASE WHEN {CHANGE_SIGN} = {WENT} THEN -{name} ELSE {name} END", of)


def _may_be_least(state: State, of: str) -> bool:
    """Return whether a state of a type may be the smallest bigint."""
    return state.kind == "sum" and decimal_of(of) is None


def _added_up(state: State, name: str, of: str) -> str:
    """Return the aggregate that adds up what came of a group, or what went."""
    return f"{state.kind}({name})" if state.kind in ("min", "max") else _sum(name, of)


def _sum(value: str, of: str) -> str:
    """Return the sum of values in the type of a state, NULL where it overflows."""
    return f"try_cast(try_sum({value}) AS {of})" if decimal_of(of) else f"try_sum({value})"


def _extreme(state: State, name: str, sign: str) -> str:
    return f"{state.kind}(CASE WHEN {CHANGE_SIGN} = {sign} THEN {name} END)"


def _average(total: str, count: str) -> str:
    return f"CAST({total} AS double) / CAST({count} AS double)"


def _average_of_decimals(total: str, count: str, precision: int, scale: int) -> str:
    """Return the average that Spark gives of decimals: of a sum with ten digits more, with four digits more behind.

    Of values of up to 11 digits Spark averages the digits as whole numbers, with doubles, and sets the point behind
    that; what is rounded on the way may be seen in the last digit. Otherwise it divides to 38 digits and rounds to the
    type of the average. Here the quotient is rounded to 28 - p + s digits behind the point before that (p and s of the
    values, decimalOperations.allowPrecisionLoss as by default). Both round alike as long as the quotient cannot be so
    near to a boundary: for fewer than 10 ^ (24 - p) values.
    """
    average = f"{total} / CAST({count} AS decimal(20, 0))"
    if precision <= _MOST_IN_DOUBLE:
        average = f"{_average(f'({total} * {10**scale}BD)', count)} / {10**scale}D"
    return f"CAST({average} AS decimal({precision - 6}, {scale + 4}))"
