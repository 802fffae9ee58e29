"""Where to cut a table that is partitioned by a period of time, so that a read of stale keys can skip most of it.

At run time Spark hands Iceberg only values of plain columns to prune by, never periods. So a base table by days(ts) is
read in ranges of literals, each dropped when no stale key lies in it. What changes is mostly new: the ranges grow
geometrically back from the newest partition and are open at both ends. Every range costs planning, so there are few.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyiceberg.manifest import ManifestContent
from pyiceberg.partitioning import PartitionField

from dbt.adapters.icebergmv.maintenance.catalog.manifests import manifests_of
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import TransformName, partition_domain
from dbt.adapters.icebergmv.maintenance.sql.rendering import literal
from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import IcebergSource

_GROWTH = 8
_MOST_CUTS = 4


def cuts(source: IcebergSource, column: str) -> tuple[tuple[str, str], ...]:
    """Return the cuts in ascending order, as literals for the column: the last value below and the first one above.

    Empty where the current partition spec has no period of time of the column, or the table no partitions.
    """
    field = _period(source, column)
    bounds = None if field is None else _bounds(source, field)
    if field is None or bounds is None:
        return ()
    type_ = source.table_schema.find_type(field.source_id)
    found = []
    for partition in reversed(list(_going_back(*bounds))):
        domain = partition_domain(field.transform, column, type_, partition)
        start = None if domain is None else domain[1].ranges[0].low
        if not isinstance(start, int):
            return ()
        found.append((literal(start - 1, spark_type(type_)), literal(start, spark_type(type_))))
    return tuple(found)


def _going_back(oldest: int, newest: int) -> Iterator[int]:
    """Yield first partitions of ranges, from the newest one back."""
    position, width = newest + 1, 1
    for _ in range(_MOST_CUTS):
        position, width = position - width, width * _GROWTH
        if position <= oldest:
            return
        yield position


def _period(source: IcebergSource, column: str) -> PartitionField | None:
    for field in source.table.spec().fields:
        is_period = TransformName.parse(str(field.transform)).period is not None
        if is_period and source.table_schema.find_column_name(field.source_id) == column:
            return field
    return None


def _bounds(source: IcebergSource, field: PartitionField) -> tuple[int, int] | None:
    """Return the smallest and the largest partition value in the manifest list."""
    metadata = source.table.metadata
    snapshot = None
    if source.version.snapshot_id is not None:
        snapshot = metadata.snapshot_by_id(source.version.snapshot_id)
    if snapshot is None:
        return None
    position = source.table.spec().fields.index(field)
    found: list[int] = []
    for manifest in manifests_of(source.table.io, snapshot):
        if manifest.content != ManifestContent.DATA or manifest.partition_spec_id != metadata.default_spec_id:
            continue
        summary = (manifest.partitions or [])[position : position + 1]
        bounds = [b for s in summary for b in (s.lower_bound, s.upper_bound) if b is not None]
        found += [int.from_bytes(b, "little", signed=True) for b in bounds]
    return (min(found), max(found)) if found else None
