"""What a SELECT says besides what its columns track."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Tracks
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain


@dataclass(frozen=True)
class FilterTerm:
    """A term of a condition, by the id() of its node; `columns` are the base columns that some of its columns show."""

    node: int
    columns: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Filter:
    """What the rows of a table that pass some terms say of the rows of other tables that are read beside it.

    Every row of their SELECT comes with a row of `occurrence`, named `alias` there. With the value that this row has in
    `column` it depends, of the occurrence of each of the `tracks`, only on rows which lead to that value. To all that
    is above, only rows of `occurrence` that pass the `terms` matter.
    """

    occurrence: Occurrence
    alias: str
    column: str
    terms: frozenset[FilterTerm]
    tracks: Tracks


@dataclass(frozen=True)
class StaticFilter:
    """What a condition with constants says of the rows of tables.

    To all that is above, of the occurrence of each of the `tracks` only rows matter that lead to a value in `passing`.
    """

    passing: Domain
    tracks: Tracks


@dataclass(frozen=True)
class WindowOrder:
    """A window whose value depends on the order of rows that tie in its ORDER BY, by the id() of its node.

    Ordered by the texts in `more` besides, no two rows tie that anything reads apart. Without any, none tie as it is.
    """

    node: int
    more: tuple[str, ...]


@dataclass(frozen=True)
class SettledCall:
    """An aggregate, by the id() of its node, whose value is sorted, so that no order of rows decides it."""

    node: int


@dataclass(frozen=True)
class OnlyShown:
    """A SELECT, by the id() of its node, that only shows values which depend on an order (see shown_groups.py)."""

    node: int


Finding: TypeAlias = Filter | StaticFilter | WindowOrder | SettledCall | OnlyShown
"""What a SELECT says besides what its columns track."""


def together(*found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return what is found of several relations, each once: both sides may use one common table expression."""
    return tuple(dict.fromkeys(chain.from_iterable(found)))
