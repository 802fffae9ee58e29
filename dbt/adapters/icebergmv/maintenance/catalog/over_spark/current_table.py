"""Which metadata file of a table is its current one, from what Iceberg's metadata table `metadata_log_entries` says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil

from dbt.adapters.icebergmv.maintenance.catalog.view_metadata import unzipped

LogEntry = tuple[str, int]
"""A metadata file and when it was written, in milliseconds."""


def current_metadata(entries: Sequence[LogEntry], read: Callable[[str], bytes]) -> tuple[str, TableMetadata] | None:
    """Return the current metadata file and its content; None when none of the files can be proven to be it.

    The entries are those of the current metadata's log, and itself. So it is the one file whose own log names all the
    others: an older file cannot know the later ones. The newest time alone would not do, as two commits of one
    millisecond share it.
    """
    newest = max((written for _, written in entries), default=0)
    for location, written in entries:
        if written != newest:
            continue
        metadata = TableMetadataUtil.parse_raw(unzipped(read(location)).decode())
        log = [(entry.metadata_file, entry.timestamp_ms) for entry in metadata.metadata_log]
        others = [entry for entry in entries if entry != (location, written)]
        if metadata.last_updated_ms == written and sorted(log) == sorted(others):
            return location, metadata
    return None
