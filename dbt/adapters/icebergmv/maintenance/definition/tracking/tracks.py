"""How a column depends on the rows of base tables: the uses of these in the text, and what leads from them to it."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Constant, KeyFunction, OrNull


@dataclass(frozen=True, order=True)
class Occurrence:
    """One use of a base table: its reference in the text, and through which repeated uses of CTEs it is reached."""

    index: int
    uses: tuple[int, ...] = ()


CLOCK = Occurrence(-1)
"""The clock, where it is asked what another value of it reaches. It comes before all tables."""

ANY_COLUMN = ""
"""The base column of a track that begins with a literal: it holds of each row, whatever the row has in a column."""


@dataclass(frozen=True)
class Track:
    """A column with value k depends, of the base occurrence, only on the rows whose column leads to k by `function`.

    A literal beside the rows is a track from ANY_COLUMN: with any other k, a row depends on no row of the occurrence.
    """

    occurrence: Occurrence
    column: str
    function: KeyFunction = ()

    def then(self, function: KeyFunction) -> Track:
        """Return the track of a column that is some steps further."""
        return Track(self.occurrence, self.column, self.function + function)

    @property
    def is_of_literal(self) -> bool:
        """Return whether it begins with a literal, and so says nothing of any base column."""
        return self.column == ANY_COLUMN

    @property
    def literal(self) -> Constant | None:
        """Return the literal that each row shows which depends on the occurrence; None if others may be shown."""
        first = self.function[0] if len(self.function) == 1 else None
        return first if isinstance(first, Constant) else None


Tracks = frozenset[Track]


def null_supplied(tracks: Tracks) -> Tracks:
    """Return tracks as seen from behind an outer join that may show NULL instead."""
    return frozenset(t if t.function[-1:] == (OrNull(),) else t.then((OrNull(),)) for t in tracks)
