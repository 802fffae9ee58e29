"""Which base tables are so small that a view over them is computed sooner than it finds out what changed in them."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.icebergmv.maintenance.catalog.reader import summary_count
from dbt.adapters.icebergmv.maintenance.status.base_tables import IcebergSource

_MOST_BYTES = 64 * 1024 * 1024
_MOST_FILES = 200
"""To open a file takes some milliseconds, many times that in an object store."""


def are_small(read: Sequence[IcebergSource | None], below_rows: int) -> bool:
    """Return whether the tables of all references together have fewer rows than that, in few and small files.

    A table counts as often as it is read. None stands for one of which nothing is known.
    """
    rows = [_count(source, "total-records") for source in read]
    return (
        _fits(rows, below_rows - 1)
        and _fits([_count(source, "total-files-size") for source in read], _MOST_BYTES)
        and _fits([_files(source) for source in read], _MOST_FILES)
    )


def _fits(counts: Sequence[int | None], most: int) -> bool:
    known = [count for count in counts if count is not None]
    return len(known) == len(counts) and sum(known) <= most


def _files(source: IcebergSource | None) -> int | None:
    of_data, of_deletes = _count(source, "total-data-files"), _count(source, "total-delete-files")
    return None if of_data is None else of_data + (of_deletes or 0)


def _count(source: IcebergSource | None, what: str) -> int | None:
    """Return a count of the snapshot that a table is read at; a table without one is empty."""
    if source is None:
        return None
    snapshot = source.version.snapshot_id
    return 0 if snapshot is None else summary_count(source.table, snapshot, what)
