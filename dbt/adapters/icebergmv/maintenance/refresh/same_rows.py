"""Whether a refresh has written the rows again that were stored. Then these stay, and views above see no change.

Files of the same rows have the same metrics, so Spark is asked only where these do not differ.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Literal

from pyiceberg.manifest import DataFileContent
from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.differing_metrics import ChangedFile, columns_that_differ
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import files_between
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import SIGN
from dbt.adapters.icebergmv.maintenance.lake import Lake, unless_refused
from dbt.adapters.icebergmv.maintenance.planning.choice.last_refreshes import Effort, leaves_out_comparison
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import FEW_ROWS
from dbt.adapters.icebergmv.maintenance.planning.plan import Overwrite
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import that_differ
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.planning.write import AddRows, ReplacePartitions, ReplaceRows, Write
from dbt.adapters.icebergmv.maintenance.sql.queries import in_one_task
from dbt.adapters.icebergmv.maintenance.sql.spark_types import is_comparable
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import view_query
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows

_FEW_CHARACTERS = 10_000
"""Of a list of keys, which Spark parses for each of the two snapshots. A list of partitions is never long."""

SAME_ROWS = "every row was there already"


@dataclass(frozen=True)
class Compared:
    """What came of a comparison of the rows written with those before, and how many seconds Spark took for it."""

    outcome: Literal["the same", "not known to be", "left out"]
    seconds: float = 0.0

    @property
    def are_same(self) -> bool:
        """Return whether every row was there already."""
        return self.outcome == "the same"


NOT_KNOWN = Compared("not known to be")


def compared(lake: Lake, settled: Settled, write: Write, start: StoredRows, written: StoredRows) -> Compared:
    """Compare the rows that a plan has written with those that it was to replace.

    Rows that are made anew (`--full-refresh`, another SELECT) are not compared, nor are many of them: that takes as
    long as it took to compute them.
    """
    effort, written_at = settled.effort, settled.view.definition.written_at
    types = {name: of for name, of in start.types.items() if name.lower() not in written_at}
    if effort is None or settled.makes_storage or isinstance(write, AddRows) or not start.is_written_as_read:
        return NOT_KNOWN
    # Files of snapshots that are expired meanwhile may be gone.
    files = unless_refused(lambda: files_between(written.table, start.snapshot_id, written.snapshot_id))
    if files is None or _show_a_difference(files, written.table, types):
        return NOT_KNOWN
    if not files:
        return Compared("the same")
    rows = written.count("added-records" if isinstance(write, ReplacePartitions) else "total-records")
    if rows is None or rows > FEW_ROWS or not all(map(is_comparable, types.values())):
        return NOT_KNOWN
    if leaves_out_comparison(effort):
        return Compared("left out")
    query = difference_query(start, written, types, _where_replaced(settled, write))
    began = monotonic()
    differing = unless_refused(lambda: lake.spark(query))
    are_same = differing is not None and not differing
    return Compared("the same" if are_same else "not known to be", monotonic() - began)


def _where_replaced(settled: Settled, write: Write) -> str | None:
    """Return the predicate outside of which no stored row is another one; None if there may be some, or it is long.

    Spark parses it twice more. Where rows are added beside a region, some are outside of it.
    """
    match write:
        case ReplacePartitions():
            return write.where
        case ReplaceRows() if len(write.where) <= _FEW_CHARACTERS:
            return None if isinstance(settled.plan, Overwrite) and settled.plan.added else write.where
        case _:
            return None


def _show_a_difference(files: Sequence[ChangedFile], table: Table, columns: Collection[str]) -> bool:
    """Return whether metrics of files that came and went show other rows, or delete files do not show any."""
    are_deletes = any(file.content != DataFileContent.DATA for file, _ in files)
    compared = [field for field in table.schema().fields if field.name in columns]
    return are_deletes or bool(columns_that_differ(files, compared))


def difference_query(start: StoredRows, written: StoredRows, types: Mapping[str, str], where: str | None) -> str:
    """Return the query that gives a row if one of two snapshots has some row more often, of those where `where` holds.

    `types` are those of the columns.
    """
    only = "" if where is None else f" WHERE {where}"
    both = " UNION ALL ".join(
        f"SELECT *, {sign} AS {SIGN} FROM ({view_query(rows.name, [*types], rows.snapshot_id)}{only})"
        for rows, sign in ((written, 1), (start, -1))
    )
    return f"SELECT 1 FROM ({in_one_task(both)}) {that_differ(types)} LIMIT 1"


def concluded(settled: Settled, found: Compared) -> Settled:
    """Return the plan with what came of the comparison of its rows."""
    if found.are_same:
        settled = replace(settled, plan=replace(settled.plan, reason=f"{settled.plan.reason}; {SAME_ROWS}"))
    effort = settled.effort
    return settled if effort is None else replace(settled, effort=_with(effort, found))


def _with(effort: Effort, found: Compared) -> Effort:
    if found.outcome == "left out":
        return replace(effort, left_out=effort.left_out | {"comparison"})
    return replace(effort, compared=found.seconds, same_rows=found.are_same)
