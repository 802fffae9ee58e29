"""What a compaction of stored rows would take up, found out from their manifests.

It counts as Iceberg's `rewrite_data_files` does: files below three quarters of the target size, from some number in a
partition on, and each file with deletes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pyiceberg.manifest import DataFileContent

from dbt.adapters.icebergmv.maintenance.catalog.manifests import (
    PartitionKey,
    live_files,
    manifests_of,
    partition_key,
    referenced_data_file,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows

_TARGET_KEY = "write.target-file-size-bytes"
_TARGET = 512 * 1024 * 1024
_SMALL = 0.75
MIN_INPUT_FILES = 5
"""Iceberg's own default for `min-input-files`."""


@dataclass(frozen=True)
class FileCounts:
    """The files of stored rows: of data, of those the small ones that compaction takes up, and of deletes.

    Deletes from data files that are there no more do not count: Iceberg drops them sooner or later.
    """

    data: int
    small: int
    deletes: int

    @property
    def compaction_pays(self) -> bool:
        """Return whether there is anything to compact."""
        return self.small > 0 or self.deletes > 0


def file_counts(stored: StoredRows, min_input_files: int) -> FileCounts:
    """Return what there is to compact in stored rows; as many small files of a partition pay."""
    text = stored.table.properties.get(_TARGET_KEY, "")
    small_below = _SMALL * (int(text) if text.isdecimal() else _TARGET)
    small: Counter[PartitionKey] = Counter()
    paths, deleted_from = set[str](), list[str | None]()
    snapshot = stored.table.metadata.snapshot_by_id(stored.snapshot_id)
    for file in live_files(stored.table.io, manifests_of(stored.table.io, snapshot)):
        if file.content != DataFileContent.DATA:
            deleted_from.append(referenced_data_file(file))
            continue
        paths.add(file.file_path)
        if file.file_size_in_bytes < small_below:
            small[partition_key(file)] += 1
    deletes = sum(path is None or path in paths for path in deleted_from)
    return FileCounts(len(paths), sum(n for n in small.values() if n >= min_input_files), deletes)
