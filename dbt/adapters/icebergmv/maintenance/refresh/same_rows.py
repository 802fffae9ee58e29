"""Whether a refresh has written the rows again that were stored. Then these stay, and views above see no change.

Files of the same rows have the same metrics, so Spark is asked only where these do not differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import Literal

from pyiceberg.manifest import DataFileContent

from dbt.adapters.icebergmv.maintenance.catalog.differing_metrics import columns_that_differ
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import files_between
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import SIGN
from dbt.adapters.icebergmv.maintenance.lake import Lake, unless_refused
from dbt.adapters.icebergmv.maintenance.planning.cost import FEW_ROWS
from dbt.adapters.icebergmv.maintenance.planning.last_refreshes import Effort, leaves_out_comparison
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.planning.write import AddRows, ReplacePartitions, Write
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier
from dbt.adapters.icebergmv.maintenance.sql.spark_types import as_compared, is_comparable
from dbt.adapters.icebergmv.maintenance.status.pinned_view import view_query
from dbt.adapters.icebergmv.maintenance.status.stored_rows import StoredRows

SAME_ROWS = "every row was there already"


@dataclass(frozen=True)
class Compared:
    """What came of a comparison of the rows written with those before, and how many seconds Spark took for it."""

    outcome: Literal["same", "other", "left out"]
    seconds: float = 0.0


def compared(lake: Lake, settled: Settled, write: Write, start: StoredRows, written: StoredRows) -> Compared:
    """Compare the rows that a plan has written with those that it was to replace.

    They count as other ones where that is not known. Rows that are made anew (`--full-refresh`, another SELECT) are not
    compared, nor are many of them: that takes as long as it took to compute them.
    """
    effort = settled.effort
    if effort is None or isinstance(write, AddRows) or not start.is_written_as_read:
        return Compared("other")
    files = files_between(written.table, start.snapshot_id, written.snapshot_id)
    if not files:
        return Compared("same")
    are_deletes = any(file.content != DataFileContent.DATA for file, _ in files)
    if are_deletes or columns_that_differ(files, written.table.schema().fields):
        return Compared("other")
    rows = written.count("added-records" if isinstance(write, ReplacePartitions) else "total-records")
    types = start.types
    if rows is None or rows > FEW_ROWS or not all(map(is_comparable, types.values())):
        return Compared("other")
    if leaves_out_comparison(effort):
        return Compared("left out")
    where, began = (write.where if isinstance(write, ReplacePartitions) else None), monotonic()
    found = unless_refused(lambda: lake.spark(difference_query(start, written, types, where)))
    return Compared("same" if found is not None and not found else "other", monotonic() - began)


def difference_query(start: StoredRows, written: StoredRows, types: Mapping[str, str], where: str | None) -> str:
    """Return the query that gives a row if one of two snapshots has some row more often, of those where `where` holds.

    `types` are those of the columns.
    """
    only = "" if where is None else f" WHERE {where}"
    both = " UNION ALL ".join(
        f"SELECT *, {sign} AS {SIGN} FROM ({view_query(rows.name, [*types], rows.snapshot_id)}{only})"
        for rows, sign in ((written, 1), (start, -1))
    )
    groups = ", ".join(as_compared(identifier(name), of) for name, of in types.items())
    return f"SELECT 1 FROM ({both}) GROUP BY {groups} HAVING sum({SIGN}) <> 0 LIMIT 1"


def concluded(settled: Settled, found: Compared) -> Settled:
    """Return the plan with what came of the comparison of its rows."""
    if found.outcome == "same":
        settled = replace(settled, plan=replace(settled.plan, reason=f"{settled.plan.reason}; {SAME_ROWS}"))
    effort = settled.effort
    return settled if effort is None else replace(settled, effort=_with(effort, found))


def _with(effort: Effort, found: Compared) -> Effort:
    if found.outcome == "left out":
        return replace(effort, left_out=effort.left_out | {"comparison"})
    return replace(effort, compared=found.seconds, same_rows=found.outcome == "same")
