"""The upkeep of views as a table that a person reads."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.icebergmv.maintenance.operations.upkeep import Upkeep
from dbt.adapters.icebergmv.maintenance.reports.words import table

_HEAD = ("view", "data files", "delete files", "compacted", "branches dropped", "snapshots expired", "note")


def upkeep_text(found: Sequence[Upkeep], *, dry_run: bool) -> str:
    """Return a line for each view: what was done or, in a dry run, what is to be done."""
    if not found:
        return "No materialized view is in the project."
    head = ["Nothing was changed: this is what is to be done.", ""] if dry_run else []
    return "\n".join([*head, *table(_HEAD, [_row(view) for view in found])])


def _row(view: Upkeep) -> tuple[str, ...]:
    if view.error is not None:
        return (view.name, *["-"] * 5, view.error)
    after = "" if view.data_files_after is None else f" -> {view.data_files_after}"
    counts = (view.delete_files, view.compacted_files, view.dropped_branches, view.expired_snapshots)
    return (view.name, f"{view.data_files}{after}", *map(str, counts), view.note or "")
