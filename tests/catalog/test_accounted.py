"""Snapshots of which the entries do not say all that changed: the files of both sides are compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyiceberg.manifest import DataFile, DataFileContent
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.snapshots import Operation
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, NestedField

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from tests.support.metadata_tables import MetadataTable, file_of

SCHEMA = Schema(NestedField(1, "k", IntegerType(), required=False))
BY_K = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "k"))


@pytest.fixture
def table(tmp_path: Path) -> MetadataTable:
    made = MetadataTable(tmp_path, SCHEMA, BY_K)
    made.commit(Operation.APPEND, [of(1), of(2)])
    return made


def of(k: int) -> DataFile:
    return file_of(f"file-{k}", (k,))


def changed(table: MetadataTable, since: int | None) -> tuple[set[TupleDomain], bool]:
    change = table.since(since, "k")
    return set(change.constraints.data_disjuncts), change.replaced


def where(*ks: int) -> set[TupleDomain]:
    return {TupleDomain.where({ColumnKey("k"): Domain.of(k)}) for k in ks}


LEFT_OUT: dict[str, tuple[Callable[[MetadataTable], object], set[TupleDomain]]] = {
    "nothing but a manifest left out": (lambda t: t.commit(Operation.DELETE, kept=False), where(1, 2)),
    "delete": (lambda t: t.commit(Operation.DELETE, [of(3)], kept=False), where(1, 2, 3)),
    "overwrite": (lambda t: t.commit(Operation.OVERWRITE, [of(3)], kept=False), where(1, 2, 3)),
    "append": (lambda t: t.commit(Operation.APPEND, [of(3)], kept=False), where(1, 2, 3)),
    "all made anew": (lambda t: t.commit(Operation.OVERWRITE, [of(1)], kept=False), where(1, 2)),
    "replace without what it replaced": (lambda t: t.commit(Operation.REPLACE, removed=[of(1)]), where(1)),
}


@pytest.mark.parametrize(("commit", "expected"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_the_entries_leave_out_changed(
    table: MetadataTable, commit: Callable[[MetadataTable], object], expected: set[TupleDomain]
) -> None:
    start = table.head
    commit(table)
    assert changed(table, start) == (expected, True)


def test_what_another_snapshot_added_is_seen(table: MetadataTable) -> None:
    start = table.head
    table.commit(Operation.APPEND, [of(4)])
    staged = table.state[-1:]
    table.head = start
    table.commit(Operation.OVERWRITE, [of(3)], more=staged)
    assert changed(table, start) == (where(3, 4), True)


def test_a_snapshot_before_or_behind_does_not_hide_it(table: MetadataTable) -> None:
    start = table.head
    table.commit(Operation.APPEND, [of(3)])
    table.commit(Operation.DELETE, [of(4)], kept=False)
    table.commit(Operation.APPEND, [of(5)])
    assert changed(table, start) == (where(1, 2, 4, 5), True)


def test_it_may_be_undone(table: MetadataTable) -> None:
    start = table.head
    made_anew = table.commit(Operation.DELETE, [of(3)], kept=False)
    table.head = start
    assert changed(table, made_anew) == (where(1, 2, 3), True)


def test_entries_that_say_all(table: MetadataTable) -> None:
    start = table.head
    deletes = file_of("deletes", (2,), content=DataFileContent.POSITION_DELETES, about="file-2")
    table.commit(Operation.OVERWRITE, [of(3), deletes], [of(1)])
    assert changed(table, start) == (where(1, 2, 3), False)
    middle = table.head
    # What deletes left of a file is less than it holds.
    table.commit(Operation.REPLACE, [file_of("rest-2", (2,), rows=9)], [of(2), deletes])
    assert table.since(middle, "k").status == "fresh"


def test_older_manifests_that_come_back_are_seen_though_there_are_as_many_files(table: MetadataTable) -> None:
    older = table.state
    table.commit(Operation.OVERWRITE, [of(3)], [of(1)])
    start = table.head
    table.commit(Operation.OVERWRITE, kept=False, more=older)
    assert changed(table, start) == (where(1, 3), True)


def test_compaction_makes_no_more_rows_beside_delete_files(table: MetadataTable) -> None:
    deletes = file_of("deletes", (2,), content=DataFileContent.POSITION_DELETES, about="file-2")
    table.commit(Operation.OVERWRITE, [deletes])
    start = table.head
    table.commit(Operation.REPLACE, [file_of("few", (2,))], [of(2)])
    assert changed(table, start) == (set(), False)
    table.commit(Operation.REPLACE, [file_of("more-1", (2,)), file_of("more-2", (2,))], [file_of("few", (2,))])
    assert changed(table, start)[0] != set()
