"""What a refresh does, as data: one type for each kind, and nothing left open that the kind needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain

BaseFilters: TypeAlias = Mapping[int, tuple[TupleDomain, ...]]
"""For each base occurrence the only rows that are read of it; one that is left out is read whole."""


@dataclass(frozen=True)
class Delta:
    """The definition over the change of one reference: over its rows that came, and over those that went.

    `since` is the snapshot before the change (None: there was none). Where rows were only `appended`, just these are
    read; else both versions of the rows in `touched` (None: of all). References in `before` are read at the snapshot
    given there, those in `empty` as empty, all others as they are now. The deltas of several references add up, as each
    reads those before it now and those after it as they were. `cancelled`: what both versions hold is left out first;
    `few`: so few rows are left that they may be sent to every task. `signed`: one query reads both versions, with a
    sign.
    """

    changed: int
    since: int | None
    before: Mapping[int, int | None] = field(default_factory=dict)
    empty: frozenset[int] = frozenset()
    appended: bool = True
    touched: tuple[TupleDomain, ...] | None = None
    cancelled: bool = False
    few: bool = False
    signed: bool = False


@dataclass(frozen=True)
class ReachedRows:
    """The definition over those rows below its aggregate that changes reach: as they are now, and as they were.

    `region` covers these rows; it is over the columns of `ViewDefinition.rows_below`, whose types are `types`. For
    those that were, references in `before` are read at the snapshot given there. References in `base_filters` need not
    be read beyond.
    """

    region: tuple[TupleDomain, ...]
    types: Mapping[str, str]
    before: Mapping[int, int | None]
    base_filters: BaseFilters = field(default_factory=dict)


@dataclass(frozen=True)
class ListedGroups:
    """What a change adds to groups and takes from them: a row of SQL literals each, the last one its sign."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class NoOp:
    """Compute no row. Recorded snapshot ids may move."""

    reason: str
    kind: ClassVar[Literal["none"]] = "none"


@dataclass(frozen=True)
class Append:
    """Add the rows of each delta; every stored row stays."""

    reason: str
    deltas: tuple[Delta, ...]
    base_filters: BaseFilters = field(default_factory=dict)
    kind: ClassVar[Literal["append"]] = "append"


@dataclass(frozen=True)
class Overwrite:
    """Replace the rows in `region`, which is over output columns. Outside of it the rows of each `added` are added."""

    reason: str
    region: tuple[TupleDomain, ...]
    base_filters: BaseFilters = field(default_factory=dict)
    added: tuple[Delta, ...] = ()
    kind: ClassVar[Literal["overwrite"]] = "overwrite"


@dataclass(frozen=True)
class Merge:
    """Add the signed deltas to the stored groups. `listed`: what they add to which, as far as it is known.

    All groups that they add to are in `region`, which is over output columns (None: not known).
    """

    reason: str
    deltas: tuple[Delta, ...] | tuple[ReachedRows]
    listed: ListedGroups | None = None
    region: tuple[TupleDomain, ...] | None = None
    kind: ClassVar[Literal["merge"]] = "merge"


@dataclass(frozen=True)
class Full:
    """Replace every row."""

    reason: str
    kind: ClassVar[Literal["full"]] = "full"


RefreshPlan: TypeAlias = NoOp | Append | Overwrite | Merge | Full
