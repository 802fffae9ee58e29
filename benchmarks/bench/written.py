"""What a run wrote, by the summaries of the snapshots that it left in a table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.table.snapshots import Snapshot

from dbt.adapters.icebergmv.catalog_properties import catalog_settings

_SUMS = {
    "files_written": ("added-data-files", "added-delete-files"),
    "bytes_written": ("added-files-size",),
    "files_removed": ("deleted-data-files", "removed-delete-files"),
    "bytes_removed": ("removed-files-size",),
    "rows_written": ("added-records",),
}


def open_tables(folder: Path) -> Catalog:
    """Return the catalog of a project, read without Spark."""
    return load_catalog("lake", **catalog_settings("lake", f"{folder}/warehouse", {}, str(folder)).pyiceberg)


def snapshots(catalog: Catalog, table: str) -> list[Snapshot]:
    """Return all snapshots of `lake.<schema>.<name>`; none if there is no such table."""
    name = tuple(table.split(".")[1:])
    return catalog.load_table(name).metadata.snapshots if catalog.table_exists(name) else []


def current_snapshot(catalog: Catalog, table: str) -> int:
    """Return the id of the current snapshot of a table, which has one."""
    found = catalog.load_table(tuple(table.split(".")[1:])).metadata.current_snapshot_id
    assert found is not None, f"{table} has no snapshot"
    return found


def written(before: Iterable[Snapshot], after: Iterable[Snapshot]) -> dict[str, int]:
    """Return the sums over the snapshots that came. A table made anew does not say which files it dropped."""
    known = {s.snapshot_id for s in before}
    new = [s for s in after if s.snapshot_id not in known]
    summaries = [{} if s.summary is None else s.summary.additional_properties for s in new]
    is_anew = any(s.parent_snapshot_id is None for s in new)
    return {
        name: sum(int(summary.get(key, 0)) for summary in summaries for key in keys)
        for name, keys in _SUMS.items()
        if not (is_anew and name in ("files_removed", "bytes_removed"))
    }
