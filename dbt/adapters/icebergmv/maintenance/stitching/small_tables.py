"""Which base tables are so small that a view over them is computed sooner than it finds out what changed in them."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.icebergmv.maintenance.catalog.reader import summary_count
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTable, IcebergSource

_MOST_BYTES = 64 * 1024 * 1024
_MOST_FILES = 200
"""To open a file takes some milliseconds, many times that in an object store."""


def are_small(read: Sequence[BaseTable], below_rows: int) -> bool:
    """Return whether the tables of all references together have fewer rows than that, in few and small files.

    A table counts as often as the SELECT names it. Other materialized views do not count as small: they may look at
    tables of their own, or raise an error.
    """
    sources = [base.source for base in read if base.source is not None and base.source.storage == base.name]
    return (
        len(sources) == len(read)
        and _fit([_count(source, "total-records") for source in sources], below_rows - 1)
        and _fit([_count(source, "total-files-size") for source in sources], _MOST_BYTES)
        and _fit([_files(source) for source in sources], _MOST_FILES)
    )


def _fit(counts: Sequence[int | None], most: int) -> bool:
    known = [count for count in counts if count is not None]
    return len(known) == len(counts) and sum(known) <= most


def _files(source: IcebergSource) -> int | None:
    of_data, of_deletes = _count(source, "total-data-files"), _count(source, "total-delete-files")
    return None if of_data is None else of_data + (of_deletes or 0)


def _count(source: IcebergSource, what: str) -> int | None:
    """Return a count of the snapshot that a table is read at; a table without one is empty."""
    snapshot = source.version.snapshot_id
    return 0 if snapshot is None else summary_count(source.table, snapshot, what)
