"""The rows of a plan are written over stored ones, which stay where every row was there already."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError, first_line
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.plan import Merge
from dbt.adapters.icebergmv.maintenance.planning.queries.merged_groups import NOT_MERGED, WHY_NOT
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.planning.write import distribution_of, write_of
from dbt.adapters.icebergmv.maintenance.refresh import statements
from dbt.adapters.icebergmv.maintenance.refresh.meanwhile import check_appended
from dbt.adapters.icebergmv.maintenance.refresh.same_rows import NOT_KNOWN, compared, concluded
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import commit_on_branch
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import check_session


class NotMerged(MaintenanceError):
    """Groups could not be merged; nothing was written."""

    def __init__(self, error: Exception) -> None:
        refused = re.search(rf"{NOT_MERGED} ({'|'.join(WHY_NOT)})", str(error))
        super().__init__(f"groups were not merged: {first_line(error) if refused is None else WHY_NOT[refused[1]]}")


@dataclass(frozen=True)
class Published:
    """A plan that was carried out, and the rows that it left, built on the snapshot `start` (None: on none)."""

    settled: Settled
    stored: StoredRows
    start: int | None
    behavior: StaleReadBehavior


@dataclass(frozen=True)
class Written:
    """The rows that are stored after a plan was carried out; those of before where `are_same`."""

    settled: Settled
    stored: StoredRows
    are_same: bool


def write_plan(lake: Lake, settled: Settled, start: StoredRows, options: Mapping[str, str]) -> Written:
    """Write the rows of a plan over given ones, which stay where every row was there already; `options` are Iceberg's.

    Raises NotMerged, RefreshConflict, and InvalidConfig where the session's settings changed meanwhile.
    """
    write, distributed = write_of(settled, start), {**options, **distribution_of(settled, start)}

    def written_by(branch: str) -> Iterator[str]:
        yield from statements.write_rows(start.name, branch, write, distributed)
        # Threads share a session: a hook of another model may have changed it while these rows were computed.
        check_session(lake, settled.view.request.config.settings)
        check_appended(lake, settled.view)

    found = NOT_KNOWN

    def is_wanted(written: StoredRows) -> bool:
        nonlocal found
        found = compared(lake, settled, write, start, written)
        return not found.are_same

    try:
        stored = commit_on_branch(lake, start, written_by, is_wanted)
    except MaintenanceError:
        raise
    except Exception as error:
        # The statement itself finds out that some group cannot be merged exactly. It may also fail of values that no
        # full refresh meets: rows of two tables that were never there together, a sum that overflows on the way.
        if isinstance(settled.plan, Merge):
            raise NotMerged(error) from error
        raise
    return Written(concluded(settled, found), stored, found.are_same)
