"""How the rows of a plan reach the storage table, as data: one type for each way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pyiceberg.table import Table
from typing_extensions import assert_never

from dbt.adapters.icebergmv.maintenance.catalog.reader import column_types
from dbt.adapters.icebergmv.maintenance.definition.partitioning import can_prune, stored_partitioning
from dbt.adapters.icebergmv.maintenance.planning.answers.listed_groups import query_of_listed
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import FEW_ROWS
from dbt.adapters.icebergmv.maintenance.planning.cost.read_estimate import bytes_of
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, Merge, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.queries.delta_queries import appended_query, signed_queries
from dbt.adapters.icebergmv.maintenance.planning.queries.merged_groups import MergedGroups
from dbt.adapters.icebergmv.maintenance.planning.queries.pinned_queries import (
    are_pruned_by_values,
    bases_can_prune,
    pinned_query,
)
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.complement import outside
from dbt.adapters.icebergmv.maintenance.sql.key_lists import in_lists
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list, select_from
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import view_query
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows


@dataclass(frozen=True)
class Rows:
    """The rows that a query gives, of which only those where `where` holds are wanted (None: all)."""

    columns: tuple[str, ...]
    query: str
    where: str | None = None

    @property
    def sql(self) -> str:
        """Return the query of the rows that are wanted."""
        query = select_from(self.query, column_list(self.columns))
        return query if self.where is None else f"{query} WHERE {self.where}"


@dataclass(frozen=True)
class AddRows:
    """Add rows; every stored row stays."""

    rows: Rows


@dataclass(frozen=True)
class ReplaceAll:
    """Replace every stored row."""

    rows: Rows


@dataclass(frozen=True)
class ReplacePartitions:
    """Replace the stored rows where `where` holds, which are whole partitions: one commit, and no file is read."""

    rows: Rows
    where: str


@dataclass(frozen=True)
class ReplaceRows:
    """Replace the stored rows where `where` holds: they are deleted, then the new ones added.

    `delete_mode` is what the table has to be told first of how to delete, if it is told otherwise now.
    """

    rows: Rows
    where: str
    delete_mode: DeleteMode | None = None


DeleteMode: TypeAlias = Literal["copy-on-write", "merge-on-read"]
DELETE_MODE_KEY = "write.delete.mode"
DISTRIBUTION_KEY = "write.distribution-mode"
FEW_BYTES = 1024 * 1024
"""Of files that are read. Spark reads so little in one task, or a few, and makes as many of it when it groups rows."""

MANY_ROWS = 1_000_000
"""From this many stored rows, it is dear to write files anew for a few rows of each."""

MOST_DELETE_FILES = 50
"""Every reader has to apply them. Only a full refresh takes them all away."""

MOST_FILES = 50
"""Data files that few rows may be in. To write 100,000 rows anew takes as long as to read so many files."""

Write: TypeAlias = AddRows | ReplaceAll | ReplacePartitions | ReplaceRows


def write_of(settled: Settled, start: StoredRows) -> Write:
    """Return how the rows of a settled plan are written over the rows that the storage has at the start."""
    plan = settled.plan
    match plan:
        case Append():
            return AddRows(Rows(settled.stored_names, query_of(settled)))
        case Full():
            return ReplaceAll(Rows(settled.stored_names, query_of(settled)))
        case Merge():
            return _merged(settled, plan, start)
        case Overwrite():
            return _replacement(settled, plan, start)
        case _:
            assert_never(plan)


def query_of(settled: Settled, *, long_lists: bool = False) -> str:
    """Return the query that computes the rows of a plan, each base table at the snapshot that was inspected.

    Merged rows are computed over stored ones: `write_of` has their query. `long_lists` is as in Dialect.
    """
    definition, bases, plan = settled.view.definition, settled.view.bases, settled.plan
    match plan:
        case Append():
            return appended_query(definition, bases, plan, settled.stored_names, settled.edits)
        case Overwrite():
            return pinned_query(definition, bases, plan.base_filters, settled.edits, long_lists=long_lists)
        case Full() | Merge():
            return pinned_query(definition, bases, {}, settled.edits)
        case _:
            assert_never(plan)


def added_query(settled: Settled, plan: Overwrite) -> str:
    """Return the query of what the deltas of a plan add, inside of its region, too."""
    deltas = Append(plan.reason, plan.added)
    return appended_query(settled.view.definition, settled.view.bases, deltas, settled.stored_names, settled.edits)


def _merged(settled: Settled, plan: Merge, start: StoredRows) -> Write:
    """Return the replacement of the partitions that hold the merged groups, or of all rows where others hold some."""
    where = None if plan.region is None else start.where_of_partitions(plan.region)
    rows = Rows(settled.stored_names, _merged_query(settled, plan, start, where))
    return ReplaceAll(rows) if where is None else ReplacePartitions(rows, where)


def _merged_query(settled: Settled, plan: Merge, start: StoredRows, where: str | None) -> str:
    """Return the rows that the deltas of a plan make of the stored ones where `where` holds (None: of all)."""
    definition, bases = settled.view.definition, settled.view.bases
    merging = definition.merging
    if merging is None:
        raise AssertionError("only definitions whose groups can be merged are")
    if plan.listed is None:
        edits = merging.edits_of_changes
        changes = [query for delta in plan.deltas for query in signed_queries(definition, bases, delta, edits)]
    else:
        changes = [query_of_listed(plan.listed)]
    groups = MergedGroups(merging, (*settled.columns, *settled.hidden), len(plan.deltas) == 1)
    stored = Rows(settled.stored_names, view_query(start.name, settled.stored_names, start.snapshot_id), where)
    return groups.query(stored.query if where is None else stored.sql, changes)


def region_in_query(settled: Settled, plan: Overwrite, types: Mapping[str, str], *, long_lists: bool = False) -> str:
    """Return the predicate of a region on the rows that the definition gives; `types` are those of the columns."""
    view = settled.view
    can_prune = bases_can_prune(view.definition, view.bases, plan.base_filters, plan.region)
    return in_lists(plan.region, types, Dialect(view.bases.catalog_name, can_prune, long_lists=long_lists))


def outside_in_query(settled: Settled, plan: Overwrite, types: Mapping[str, str]) -> str:
    """Return the predicate of the rows outside of a region on what deltas give; `types` are those of the columns."""
    return outside(plan.region, types, Dialect(settled.view.bases.catalog_name, pushable=False))


def _replacement(settled: Settled, plan: Overwrite, start: StoredRows) -> Write:
    """Return the replacement of a region. The predicate is rendered twice: for the storage, and for the base tables."""
    view, region, table = settled.view, plan.region, start.table
    types = column_types(table.schema())
    query, where = (query_of(settled, long_lists=True), region_in_query(settled, plan, types, long_lists=True))
    rows = Rows(settled.stored_names, query, where)
    if plan.added:
        rows = _with_added(rows, settled, plan, types)
    elif (partitions := start.where_of_partitions(region)) is not None:
        return ReplacePartitions(rows, partitions)
    dialect = Dialect(view.bases.catalog_name, can_prune(table, table.schema(), region))
    if _is_scattered(start):
        return ReplaceAll(_with_others(rows, region, start))
    return ReplaceRows(rows, _stored_where(region, types, dialect, table), _delete_mode(view, plan, start))


def _stored_where(region: Sequence[TupleDomain], types: Mapping[str, str], dialect: Dialect, table: Table) -> str:
    """Return the predicate of a region on the storage; where several of its columns partition that, as terms.

    Terms name pairs of partitions. Lists would name all pairs that their values make.
    """
    partitioned = [(field.column, field.transform) for field in stored_partitioning(table)]
    columns = {key.column for disjunct in region for key, _ in disjunct.constraints}
    if len({column for column, _ in partitioned} & columns) > 1:
        return disjunction(region, types, dialect)
    return in_lists(region, types, replace(dialect, long_lists=not are_pruned_by_values(region, partitioned)))


def distribution_of(settled: Settled, start: StoredRows) -> dict[str, str]:
    """Return Iceberg's write option for few rows: each task writes what it has of a partition.

    Otherwise Spark shuffles the rows by partition first, so that one task has all of them, which takes a third of the
    time of a small INSERT. A partition may get several files so, until it is replaced again; rows that are only added
    would leave ever more of them. The model may say how by `write.distribution-mode`.
    """
    is_told = DISTRIBUTION_KEY in settled.view.request.config.tblproperties
    if is_told or not isinstance(settled.plan, Overwrite) or settled.plan.added or not stored_partitioning(start.table):
        return {}
    size = bytes_of(settled.view, settled.plan)
    return {"distribution-mode": "none"} if size is not None and size <= FEW_BYTES else {}


def _is_scattered(start: StoredRows) -> bool:
    """Return whether few rows, not partitioned, are in many files, as each refresh adds one."""
    is_small = start.row_count is not None and start.row_count <= FEW_ROWS
    return is_small and not stored_partitioning(start.table) and (start.count("total-data-files") or 0) > MOST_FILES


def _with_others(rows: Rows, region: Sequence[TupleDomain], start: StoredRows) -> Rows:
    """Return all rows of the storage, given those that replace the stored ones of a region."""
    columns, stored = column_list(rows.columns), view_query(start.name, rows.columns, start.snapshot_id)
    others = f"{select_from(stored, columns)} WHERE ({start.where(region)}) IS NOT TRUE"
    return Rows(rows.columns, f"{others}\nUNION ALL\n{rows.sql}")


def _with_added(rows: Rows, settled: Settled, plan: Overwrite, types: Mapping[str, str]) -> Rows:
    """Return the rows of a region, and those that the deltas of the plan add outside of it."""
    added = Rows(rows.columns, added_query(settled, plan), outside_in_query(settled, plan, types))
    return Rows(rows.columns, f"{rows.sql}\nUNION ALL\n{added.sql}")


def _delete_mode(view: Inspection, plan: Overwrite, start: StoredRows) -> DeleteMode | None:
    """Return how rows are deleted: scattered keys of a large table by delete files, as long as there are few of these.

    None where the table is told so already, or the model says how.
    """
    few_files = (start.count("total-delete-files") or 0) < MOST_DELETE_FILES
    of_keys = all(any(domain.is_discrete for _, domain in disjunct.constraints) for disjunct in plan.region)
    # Format 1 has no delete files.
    by_files = of_keys and few_files and (start.row_count or 0) >= MANY_ROWS and start.table.metadata.format_version > 1
    mode: DeleteMode = "merge-on-read" if by_files else "copy-on-write"
    is_told = start.table.properties.get(DELETE_MODE_KEY, "copy-on-write") == mode
    return None if is_told or DELETE_MODE_KEY in view.request.config.tblproperties else mode
