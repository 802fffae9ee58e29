"""What upkeep has to leave: the rows of kept versions, and a view that reads what its state names."""

from __future__ import annotations

from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import pinned_by
from integration.randomised.subject import Rows, Subject, WrongResult


def kept_rows(subject: Subject) -> dict[int, Rows]:
    """Return the rows of each snapshot that a version of the view reads, as a reader of then still gets them."""
    view, table = subject.world.view(subject.name), subject.world.table(subject.storage)
    if view is None or table is None:
        return {}
    return {s: _rows_at(subject, s) for s in pinned_by(view) if table.metadata.snapshot_by_id(s) is not None}


def check_kept(subject: Subject, before: dict[int, Rows]) -> None:
    """See that what versions of the view read is there still. A version that the view let go of counts no more."""
    view = subject.world.view(subject.name)
    for snapshot in set(before) & (set() if view is None else pinned_by(view)):
        try:
            rows = _rows_at(subject, snapshot)
        except Exception as error:
            # Spark raises whatever it likes where files or snapshots are gone.
            raise WrongResult("kept rows", subject.shape.name, f"{error!s:.300}; {subject.sql}") from error
        subject.compare("kept rows", rows, before[snapshot])


def check_pinned(subject: Subject) -> None:
    """See that main, the recorded state and the SQL of the view are at the same snapshot."""
    view, table = subject.world.view(subject.name), subject.world.table(subject.storage)
    recorded = subject.storage_snapshot()
    head = None if table is None else table.metadata.current_snapshot_id
    is_read = subject.world.layout == "table" or view is None or "VERSION AS OF" not in view.sql
    if head != recorded or not (is_read or (view is not None and f"VERSION AS OF {recorded}" in view.sql)):
        raise WrongResult("pinned", subject.shape.name, f"main is {head}, recorded {recorded}; {subject.sql}")


def _rows_at(subject: Subject, snapshot: int) -> Rows:
    return subject.world.rows(f"SELECT * FROM {subject.world.name(subject.storage)} VERSION AS OF {snapshot}")
