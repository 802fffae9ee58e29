"""Storage tables without a view as a table that a person reads."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.icebergmv.maintenance.operations.orphans import LooseStorage
from dbt.adapters.icebergmv.maintenance.reports.words import size, table
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import count

_HEAD = ("storage table", "made for", "size", "changed", "what", "why")


def orphans_text(found: Sequence[LooseStorage]) -> str:
    """Return a line for each storage table that its view does not read, and what is done with it."""
    if not found:
        return "Every storage table in the schemas of the project is read by its view."
    return "\n".join([_summary(found), "", *table(_HEAD, [_row(loose) for loose in found])])


def _summary(found: Sequence[LooseStorage]) -> str:
    orphans = [loose for loose in found if loose.is_orphan]
    dropped = [loose for loose in found if loose.dropped]
    number = count(len(dropped or orphans), "orphaned storage table")
    total = size(sum(loose.size or 0 for loose in orphans))
    if dropped:
        return f"{number} dropped, {total}"
    if orphans:
        return f"{number} to drop, {total}. Nothing was changed: --args '{{dry_run: false}}' drops."
    return "Nothing is dropped: the last column says why each is kept."


def _row(loose: LooseStorage) -> tuple[str, ...]:
    what = "dropped" if loose.dropped else "orphan" if loose.is_orphan else "kept"
    why = loose.reason if loose.kept is None else f"{loose.reason}, but {loose.kept}"
    return (loose.name, loose.storage_of, size(loose.size), loose.changed_at[:16].replace("T", " "), what, why)
