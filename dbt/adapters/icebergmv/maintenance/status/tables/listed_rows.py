"""The changed rows of a table where they are few enough to be listed: their values, column by column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.rendering import literal_or_null

ListedValue: TypeAlias = Value | None

_MOST_LITERALS = 2000
"""Beyond so many values Spark parses a text longer than it compares the rows once more."""

_MOST_CHARACTERS = 100_000


@dataclass(frozen=True)
class ListedRows:
    """The rows that one of two versions of a table has more often, each once.

    `columns` are their columns by name, with their Spark types. A row holds for each what a Domain holds of the value,
    or a text that is another one for every other value, where no Domain holds its type. `surplus` says of each row how
    many more of it the later version has.
    """

    columns: Mapping[str, str]
    rows: tuple[tuple[ListedValue, ...], ...]
    surplus: tuple[int, ...]

    def of_columns(self, names: Collection[str]) -> ListedRows | None:
        """Return what differs where only some columns are read; None if not all of these are known."""
        if not {*names} <= self.columns.keys():
            return None
        places = [n for n, name in enumerate(self.columns) if name in names]
        counts: Counter[tuple[ListedValue, ...]] = Counter()
        for row, more in zip(self.rows, self.surplus, strict=True):
            counts[tuple(row[n] for n in places)] += more
        left = {row: more for row, more in counts.items() if more}
        return ListedRows({c: t for c, t in self.columns.items() if c in names}, (*left,), (*left.values(),))

    @property
    def domain_columns(self) -> Mapping[str, str]:
        """Return the columns whose values a Domain holds."""
        return {name: of for name, of in self.columns.items() if internal_form(of, "") is not None}

    @cached_property
    def characters(self) -> int:
        """Return how long the values are together, about."""
        return sum(len(str(value)) for row in self.rows for value in row)

    @property
    def values(self) -> TupleDomain:
        """Return the values of each column, as the rows that have one of them in every column."""
        return TupleDomain.where({ColumnKey(name): self.values_of(name) for name in self.domain_columns})

    def values_of(self, name: str) -> Domain:
        """Return the values of one of the `domain_columns`."""
        place = [*self.columns].index(name)
        return Domain.of(*{row[place] for row in self.rows})

    @cached_property
    def literals(self) -> Sequence[Sequence[str]] | None:
        """Return the rows as SQL; None if they are too many, or a value is not known but for being another one."""
        if len(self.domain_columns) < len(self.columns) or self.characters > _MOST_CHARACTERS:
            return None
        if len(self.rows) * len(self.columns) > _MOST_LITERALS:
            return None
        return [[literal_or_null(v, of) for v, of in zip(row, self.columns.values(), strict=True)] for row in self.rows]
