"""How many of the stored rows are within the column bounds by which a change is known.

Few rows that come in no order have the bounds of the whole table. An overwrite of what is within them would then
compute and write nearly everything, which costs more than a full refresh. Stored rows are taken to be spread evenly
between the bounds of their file. Nothing but the choice between two right plans depends on it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import prod

from pyiceberg.manifest import DataFile, DataFileContent
from pyiceberg.types import NestedField

from dbt.adapters.icebergmv.maintenance.catalog.column_bounds import column_domain
from dbt.adapters.icebergmv.maintenance.catalog.manifests import count_files, live_files, manifests_of
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import COUNTED_FILES, is_within_bounds
from dbt.adapters.icebergmv.maintenance.planning.regions import Partitioning, affected_rows
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus

COUNTED_OVERLAPS = 20_000
"""Files times disjuncts: to compare so many takes a tenth of a second."""

_BYTES = 64
"""So many of a text say where it is. Bounds in manifests have 16 characters."""


def shares_within_bounds(
    definition: ViewDefinition, status: MaterializedViewStatus, stored: StoredRows, partitioning: Partitioning
) -> dict[int, float]:
    """Return, per reference whose changes are known by bounds alone, about which share of stored rows is within them.

    A reference of which some use is not tracked has no bounds in the view, and is left out.
    """
    shares: dict[int, float] = {}
    for base in (b for b in status.stale if is_within_bounds(b, status)):
        for index in base.references:
            affected = [affected_rows(definition, base, use, partitioning) for use in definition.uses_of(index)]
            if affected and not any(rows.is_all for region in affected for rows in region):
                shares[index] = max(share_within(region, stored) for region in affected)
    return shares


def share_within(region: Sequence[TupleDomain], stored: StoredRows) -> float:
    """Return about which share of the stored rows is in the widest disjunct of a region, from 0 to 1.

    What is not known counts as outside: columns without metrics, partition transforms, and regions and tables of so
    many disjuncts and files that to count would take long.
    """
    data = _data_files(region, stored)
    if data is None:
        return 0.0
    fields = _fields(region, stored)
    files = [(f.record_count, {c.name: _Held.of(f, c) for c in fields}) for f in data]
    rows = sum(count for count, _ in files)
    within = (sum(count * _share_of_file(held, disjunct) for count, held in files) for disjunct in region)
    return max(within, default=0.0) / rows if rows else 0.0


def most_within(region: Sequence[TupleDomain], stored: StoredRows) -> float:
    """Return a share of the stored rows that those of a region are not more than: what files hold which may have some.

    Columns without metrics may hold anything. Of tables of so many files that to look would take long, it is 1.
    """
    data = _data_files(region, stored)
    if data is None:
        return 1.0
    wanted = [{key.column: _Wanted.of(d) for key, d in one.constraints if key.transform is None} for one in region]
    fields = _fields(region, stored)
    within = rows = 0
    for file in data:
        held = {f.name: column_domain(file, f) for f in fields}
        reached = any(all(w.meets(held.get(name)) for name, w in one.items()) for one in wanted)
        rows, within = rows + file.record_count, within + file.record_count * reached
    return within / rows if rows else 0.0


def _data_files(region: Sequence[TupleDomain], stored: StoredRows) -> list[DataFile] | None:
    """Return the data files of the stored rows; None where there are so many that to compare them would take long."""
    table = stored.table
    manifests = manifests_of(table.io, table.snapshot_by_id(stored.snapshot_id))
    if count_files(manifests) > COUNTED_FILES or count_files(manifests) * len(region) > COUNTED_OVERLAPS:
        return None
    return [f for f in live_files(table.io, manifests) if f.content == DataFileContent.DATA]


def _fields(region: Sequence[TupleDomain], stored: StoredRows) -> list[NestedField]:
    wanted = {key.column for rows in region for key, _ in rows.constraints}
    return [f for f in stored.table.schema().fields if f.name in wanted]


@dataclass(frozen=True)
class _Wanted:
    """The values that are wanted of a column, those that are listed in their order."""

    domain: Domain
    values: Sequence[Value] | None

    @classmethod
    def of(cls, domain: Domain) -> _Wanted:
        is_listed = domain.is_discrete and not domain.nan
        lows = [r.low for r in domain.ranges if r.low is not None] if is_listed else None
        return cls(domain, lows)

    def meets(self, held: Domain | None) -> bool:
        """Return whether a file may hold one of the values."""
        if held is None or (self.domain.null and held.null):
            return True
        values = self.values
        if values is None or held.nan:
            return not self.domain.intersect(held).is_none
        return any(_is_between(values, r.low, r.high) for r in held.ranges)


def _is_between(values: Sequence[Value], low: Value | None, high: Value | None) -> bool:
    """Return whether some of the values, which come in their order, is between two; None: there is no bound."""
    if low is None or high is None:
        return True
    place = bisect_left(values, low)
    return place < len(values) and values[place] <= high  # type: ignore[operator]


@dataclass(frozen=True)
class _Held:
    """What a file holds of a column: values between two bounds, and a share of NULL. None: it is not known."""

    low: Value | None
    high: Value | None
    null: float

    @classmethod
    def of(cls, file: DataFile, column: NestedField) -> _Held | None:
        domain = column_domain(file, column)
        if domain is None:
            return None
        nulls = (file.null_value_counts or {}).get(column.field_id) or 0
        low, high = (domain.ranges[0].low, domain.ranges[-1].high) if domain.ranges else (None, None)
        return cls(low, high, nulls / file.record_count if file.record_count else 0.0)


def _share_of_file(held: Mapping[str, _Held | None], rows: TupleDomain) -> float:
    shares: list[float] = []
    for key, wanted in rows.constraints:
        of = None if key.transform is not None else held.get(key.column)
        shares.append(0.0 if of is None else _share(wanted, of))
    return prod(shares)


def _share(wanted: Domain, held: _Held) -> float:
    """Return about which share of the values that a file holds is wanted."""
    null = held.null if wanted.null else 0.0
    if held.low is None or held.high is None:
        return null
    overlaps = (_overlap(r, held.low, held.high) for r in wanted.ranges)
    return null + (1.0 - held.null) * min(1.0, sum(overlaps))


def _overlap(wanted: Range, low: Value, high: Value) -> float:
    """Return which share of the interval between two values is in another, if all are of one kind."""
    if len({_kind(v) for v in (low, high, wanted.low, wanted.high) if v is not None}) > 1:
        return 0.0
    if low == high:
        return float(wanted.contains(low))
    start, end = _place(low), _place(high)
    first = start if wanted.low is None else _place(wanted.low)
    last = end if wanted.high is None else _place(wanted.high)
    if end <= start:
        return 0.0
    return max(0.0, (min(last, end) - max(first, start)) / (end - start))


def _kind(value: Value) -> type:
    return str if isinstance(value, str) else int if isinstance(value, int | Decimal) else type(value)


def _place(value: Value) -> int | float:
    """Return a number in the order of the values; one for all of a kind that has no bounds."""
    match value:
        case int():
            return value
        case Decimal():
            return float(value)
        case str():
            return int.from_bytes(value.encode()[:_BYTES].ljust(_BYTES, b"\0"), "big")
        case _:
            return 0
