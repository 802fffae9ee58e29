"""How many of the stored rows are within the column bounds by which a change is known.

Few rows that come in no order have the bounds of the whole table. An overwrite of what is within them would then
compute and write nearly everything, which costs more than a full refresh. Stored rows are taken to be spread evenly
between the bounds of their file. Nothing but the choice between two right plans depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import prod

from pyiceberg.manifest import DataFile, DataFileContent
from pyiceberg.types import NestedField

from dbt.adapters.icebergmv.maintenance.catalog.column_bounds import column_domain
from dbt.adapters.icebergmv.maintenance.catalog.manifests import count_files, live_files, manifests_of
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.cost import NEARLY_EVERYWHERE, is_within_bounds
from dbt.adapters.icebergmv.maintenance.planning.regions import Partitioning, affected_rows, is_by_partition
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.stored_rows import StoredRows

COUNTED_FILES = 2_000
"""Reading so many entries takes less than a tenth of a second."""

_BYTES = 64
"""So many of a text say where it is. Bounds in manifests have 16 characters."""


def bounded_by_nearly_all(
    definition: ViewDefinition, status: MaterializedViewStatus, stored: StoredRows, partitioning: Partitioning
) -> frozenset[TableName]:
    """Return the base tables of which a change is known by bounds alone, with nearly all stored rows within them."""
    found: set[TableName] = set()
    for base in (b for b in status.stale if is_within_bounds(b, status)):
        uses = [use for index in base.occurrences for use in definition.uses_of(index)]
        for use in (use for use in uses if not is_by_partition(definition, base, use, partitioning)):
            if share_within(affected_rows(definition, base, use, partitioning), stored) >= NEARLY_EVERYWHERE:
                found.add(base.base.name)
    return frozenset(found)


def share_within(region: Sequence[TupleDomain], stored: StoredRows) -> float:
    """Return about which share of the stored rows is in the widest disjunct of a region, from 0 to 1.

    What is not known counts as outside: columns without metrics, partition transforms, tables of very many files.
    """
    table = stored.table
    manifests = manifests_of(table.io, table.snapshot_by_id(stored.snapshot_id))
    if count_files(manifests) > COUNTED_FILES:
        return 0.0
    files = [f for f in live_files(table.io, manifests) if f.content == DataFileContent.DATA]
    rows = sum(f.record_count for f in files)
    fields = {f.name: f for f in table.schema().fields}
    within = (sum(f.record_count * _share_of_file(f, disjunct, fields) for f in files) for disjunct in region)
    return max(within, default=0.0) / rows if rows else 0.0


def _share_of_file(file: DataFile, rows: TupleDomain, fields: dict[str, NestedField]) -> float:
    shares: list[float] = []
    for key, wanted in rows.constraints:
        field = fields.get(key.column)
        held = None if field is None or key.transform is not None else column_domain(file, field)
        shares.append(0.0 if held is None else _share(wanted, held))
    return prod(shares)


def _share(wanted: Domain, held: Domain) -> float:
    """Return about which share of the values between two bounds is wanted. A file of NULL alone has no bounds."""
    if not held.ranges:
        return float(wanted.null)
    low, high = held.ranges[0].low, held.ranges[-1].high
    if low is None or high is None:
        return 0.0
    return min(1.0, sum(_overlap(r, low, high) for r in wanted.ranges))


def _overlap(wanted: Range, low: Value, high: Value) -> float:
    if low == high:
        return float(wanted.contains(low))
    start, end = _place(low), _place(high)
    if start is None or end is None or start >= end:
        return 0.0
    first = start if wanted.low is None else _place(wanted.low)
    last = end if wanted.high is None else _place(wanted.high)
    if first is None or last is None:
        return 0.0
    return max(0.0, (min(last, end) - max(first, start)) / (end - start))


def _place(value: Value) -> int | float | None:
    """Return a number in the order of the values."""
    match value:
        case int():
            return value
        case Decimal():
            return float(value)
        case str():
            return int.from_bytes(value.encode()[:_BYTES].ljust(_BYTES, b"\0"), "big")
        case _:
            return None
