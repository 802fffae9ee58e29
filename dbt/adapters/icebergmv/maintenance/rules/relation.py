"""What the rules pass to each other: relations whose columns track base columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from dbt.adapters.icebergmv.maintenance.catalog import ColumnInfo
from dbt.adapters.icebergmv.maintenance.key_functions import KeyFunction


@dataclass(frozen=True)
class Track:
    """The owning column's value is f(column) of every row of the base occurrence that the output row depends on."""

    reference: int
    column: str
    function: KeyFunction = ()


@dataclass(frozen=True)
class TrackedColumn:
    """A column of a relation. `type` is its Spark type where it is known."""

    name: str
    tracks: frozenset[Track] = frozenset()
    type: str | None = None


@dataclass(frozen=True)
class TrackedRelation:
    """The output of an operator. `columns` is None when its columns cannot be told.

    `references` are the base occurrences below it; `obstacles` says for some of them what cuts their tracking.
    """

    columns: tuple[TrackedColumn, ...] | None
    references: frozenset[int] = frozenset()
    obstacles: Mapping[int, str] = field(default_factory=dict)

    def cut(self, reason: str) -> TrackedRelation:
        """Return the relation after an operator that nothing tracks through."""
        columns = self.columns and tuple(replace(c, tracks=frozenset()) for c in self.columns)
        return TrackedRelation(columns, self.references, {**dict.fromkeys(self.references, reason), **self.obstacles})

    def blocked(self, references: Iterable[int], reason: str) -> TrackedRelation:
        """Return the relation with some occurrences added to what it reads but never tracked."""
        added = frozenset(references)
        return replace(
            self,
            references=self.references | added,
            obstacles={**dict.fromkeys(added, reason), **self.obstacles},
        )


@dataclass(frozen=True)
class Scope:
    """What names mean: columns of base occurrences (None: unknown), and relations of the CTEs in sight.

    `units_are_literals`: every date_trunc and trunc of the SQL names its unit by a string literal that Spark knows.
    The parser shows columns, abbreviations and literals alike, so this is read off the text.
    """

    columns: Mapping[int, tuple[ColumnInfo, ...] | None]
    session_is_utc: bool
    units_are_literals: bool = False
    ctes: Mapping[str, TrackedRelation] = field(default_factory=dict)

    def with_cte(self, name: str, relation: TrackedRelation) -> Scope:
        """Return the scope with one more common table expression in sight."""
        return replace(self, ctes={**self.ctes, name.lower(): relation})
