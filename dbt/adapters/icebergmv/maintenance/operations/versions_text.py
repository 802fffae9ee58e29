"""The versions of a view, and what became of putting it back to one, as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.icebergmv.maintenance.operations.rollback import RolledBack
from dbt.adapters.icebergmv.maintenance.operations.versions import Version
from dbt.adapters.icebergmv.maintenance.reports.words import table
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import count

_HEAD = ("version", "published", "refresh", "rows", "storage snapshot", "roll back to it", "reason")


def versions_text(found: Sequence[Version]) -> str:
    """Return a line for each version, the latest first."""
    return "\n".join(table(_HEAD, [_row(version) for version in found]))


def rolled_back_text(done: RolledBack) -> str:
    """Return what was done, and what comes next."""
    rows = "" if done.rows is None else f", {count(done.rows, 'row')}"
    has = f"{done.name} has the rows of version {done.version_id} (storage snapshot {done.storage_snapshot_id}{rows})."
    if done.partial is not None:
        return f"{has} They were built with {done.partial}, so the next run refreshes the view in full."
    goes_on = done.next_refresh == "from there"
    following = "goes on from there, if refresh_policy lets it," if goes_on else "is full"
    said = f"{has} The next refresh {following} and brings it to now again; refresh_on_run: false keeps runs from it"
    if goes_on:
        return f"{said}."
    return (
        f"{said}, unless its SELECT was another one then. "
        "If its configuration was another one then, on_configuration_change decides."
    )


def _reason(version: Version) -> str:
    reason = version.refresh_reason or "?"
    return reason if version.rows_of is None else f"the rows of version {version.rows_of} ({reason})"


def _row(version: Version) -> tuple[str, ...]:
    return (
        str(version.version_id),
        version.published_at[:19].replace("T", " "),
        version.refresh_kind or "?",
        "?" if version.rows is None else str(version.rows),
        "-" if version.storage_snapshot_id is None else str(version.storage_snapshot_id),
        "yes" if version.obstacle is None else f"no: {version.obstacle}",
        _reason(version),
    )
