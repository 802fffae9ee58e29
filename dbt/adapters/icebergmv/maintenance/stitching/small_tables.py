"""Which base tables are small.

A view over small tables is computed sooner than it finds out what changed in them. And where it does find out, all of a
small table is read sooner than Spark plans which files to leave out.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable, IcebergSource

_MOST_BYTES = 128 * 1024 * 1024
_MOST_FILES = 200
"""For each table. To open a file takes some milliseconds, many times that in an object store."""

UNPRUNED_BYTES = 32 * 1024 * 1024
UNPRUNED_FILES = 32
"""Up to this many of both, no file of a table is left out."""


def pays_to_prune(source: IcebergSource) -> bool:
    """Return whether a read of a few rows should leave out files of a table; to plan that takes tenths of a second."""
    small = _fit([source.count("total-files-size")], UNPRUNED_BYTES) and _fit([_files(source)], UNPRUNED_FILES)
    return not small


def are_small(read: Sequence[BaseTable], looks: int, below_rows: int) -> bool:
    """Return whether there are fewer rows than that for each look at a table, in few and small files.

    `read` has the table of each reference: its rows count as often as the SELECT names it. `looks` is the number of
    tables that would be looked at. Other materialized views do not count as small: they may look at tables of their
    own, or raise an error.
    """
    looks = max(1, looks)
    sources = [base.source for base in read if base.source is not None and base.source.storage == base.name]
    return (
        len(sources) == len(read)
        and _fit([source.most_rows for source in sources], below_rows * looks - 1)
        and _fit([source.count("total-files-size") for source in sources], _MOST_BYTES * looks)
        and _fit([_files(source) for source in sources], _MOST_FILES * looks)
    )


def _fit(counts: Sequence[int | None], most: int) -> bool:
    known = [count for count in counts if count is not None]
    return len(known) == len(counts) and sum(known) <= most


def _files(source: IcebergSource) -> int | None:
    of_data, of_deletes = source.count("total-data-files"), source.count("total-delete-files")
    return None if of_data is None else of_data + (of_deletes or 0)
