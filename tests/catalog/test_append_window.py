"""When is a window nothing but appends?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, DataFileContent
from pyiceberg.schema import Schema
from pyiceberg.table.snapshots import Operation, Snapshot
from pyiceberg.types import IntegerType, LongType, NestedField

from tests.support.metadata_tables import MetadataTable, file_of

SCHEMA = Schema(NestedField(1, "id", IntegerType(), required=False))


@pytest.fixture
def table(tmp_path: Path) -> MetadataTable:
    made = MetadataTable(tmp_path, SCHEMA)
    made.commit(Operation.APPEND, files("a", "b"))
    return made


def files(*paths: str, rows: int = 10) -> list[DataFile]:
    return [file_of(p, rows=rows) for p in paths]


def deletes(path: str, about: str) -> list[DataFile]:
    return [file_of(path, content=DataFileContent.POSITION_DELETES, about=about)]


def appended(table: MetadataTable, since: int | None) -> tuple[int | None, int]:
    change = table.since(since, "id")
    return change.appended_since, change.appended_rows


NOT = (None, 0)


def test_a_window_of_appends_alone_counts_their_rows(table: MetadataTable) -> None:
    start = table.head
    middle = table.commit(Operation.APPEND, files("c", "d"))
    table.commit(Operation.APPEND, files("e", rows=3))
    assert appended(table, start) == (start, 23)
    assert appended(table, middle) == (middle, 3)
    assert appended(table, table.head) == NOT
    assert appended(table, None) == NOT


def test_append_of_files_that_compaction_then_rewrote(table: MetadataTable) -> None:
    start = table.head
    table.commit(Operation.APPEND, files("c"))
    table.commit(Operation.REPLACE, files("big", rows=30), files("a", "b", "c"))
    assert appended(table, start) == (start, 10)
    middle = table.commit(Operation.APPEND, files("d"))
    assert appended(table, start) == (start, 20)
    table.commit(Operation.REPLACE, files("bigger", rows=40), files("big", "d"))
    assert appended(table, start) == (start, 20)
    # Compaction alone changes nothing.
    assert table.since(middle, "id").status == "fresh"


def test_append_after_deletes_that_compaction_applied(table: MetadataTable) -> None:
    table.commit(Operation.OVERWRITE, deletes("x", "a"))
    start = table.head
    table.commit(Operation.REPLACE, files("a2", rows=9), [*files("a"), *deletes("x", "a")])
    table.commit(Operation.APPEND, files("c"))
    assert appended(table, start) == (start, 10)


def test_append_that_rewrote_manifests(table: MetadataTable) -> None:
    """The compaction writes the rest of the manifest anew, as EXISTING."""
    start = table.head
    table.commit(Operation.REPLACE, files("a2"), files("a"))
    table.commit(Operation.APPEND, files("c"))
    assert appended(table, start) == (start, 10)


Commit = Callable[[MetadataTable], object]
OTHERS: dict[str, Commit] = {
    "overwrite": lambda t: t.commit(Operation.OVERWRITE, files("x"), files("a")),
    "overwrite that only adds": lambda t: t.commit(Operation.OVERWRITE, files("x")),
    "delete": lambda t: t.commit(Operation.DELETE, removed=files("a")),
    "delete file": lambda t: t.commit(Operation.DELETE, deletes("x", "a")),
    "append that removes a file": lambda t: t.commit(Operation.APPEND, files("x"), files("a")),
    "append that only removes": lambda t: t.commit(Operation.APPEND, removed=files("a")),
    "append with a delete file": lambda t: t.commit(Operation.APPEND, [*files("x"), *deletes("y", "a")]),
    "append that leaves manifests out": lambda t: t.commit(Operation.APPEND, files("x"), kept=False),
    "append of files older than their snapshot": lambda t: t.commit(Operation.APPEND, files("x"), sequence_number=1),
    "snapshot without a summary": lambda t: t.commit(None, files("x")),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_anything_else_in_the_window(table: MetadataTable, other: Commit, first: bool) -> None:
    start = table.head
    if not first:
        table.commit(Operation.APPEND, files("c"))
    other(table)
    if first:
        table.commit(Operation.APPEND, files("c"))
    assert table.since(start, "id").status == "stale"
    assert appended(table, start) == NOT


def test_append_that_drops_a_delete_file(table: MetadataTable) -> None:
    table.commit(Operation.OVERWRITE, deletes("x", "a"))
    start = table.head
    table.commit(Operation.APPEND, files("c"), deletes("x", "a"))
    assert appended(table, start) == NOT


def test_append_that_carries_manifests_over_from_elsewhere(table: MetadataTable) -> None:
    """They name another snapshot as their own, so that neither detection nor an incremental scan would see them."""
    start = table.head
    table.commit(Operation.APPEND, files("staged"))
    staged = table.state
    table.head = start
    table.commit(Operation.APPEND, files("c"), more=staged)
    assert appended(table, start) == NOT


def test_append_whose_removal_the_counts_hide(table: MetadataTable) -> None:
    start = table.head
    table.commit(Operation.APPEND, files("s", "t"))
    staged = table.state[-1:]
    table.head = start
    table.commit(Operation.APPEND, files("c"), files("a"), more=staged)
    assert appended(table, start) == NOT


def test_append_after_compaction_was_undone(table: MetadataTable) -> None:
    """The recorded snapshot is no ancestor of the current one, as an incremental scan asks."""
    start = table.head
    compacted = table.commit(Operation.REPLACE, files("a2"), files("a"))
    table.head = start
    table.commit(Operation.APPEND, files("c"))
    assert table.since(compacted, "id").status == "stale"
    assert appended(table, compacted) == NOT


def test_published_append(table: MetadataTable) -> None:
    """A cherry-pick adds the files of a staged snapshot anew, as its own."""
    start = table.head
    staging: dict[str, Any] = {"wap.id": "1"}
    staged = table.commit(Operation.APPEND, files("w"), **staging)
    table.head = start
    table.commit(Operation.APPEND, files("c"))
    source: dict[str, Any] = {"source-snapshot-id": str(staged), "published-wap-id": "1"}
    table.commit(Operation.APPEND, files("w"), **source)
    assert appended(table, start) == (start, 20)


def test_append_of_no_row(table: MetadataTable) -> None:
    start = table.head
    table.commit(Operation.APPEND)
    assert appended(table, start) == NOT
    table.commit(Operation.APPEND, files("empty", rows=0))
    assert table.since(start, "id").status == "stale"
    assert appended(table, start) == NOT
    table.commit(Operation.APPEND, files("c"))
    assert appended(table, start) == (start, 10)


def test_rollback_is_no_append(table: MetadataTable) -> None:
    start = table.head
    undone = table.commit(Operation.APPEND, files("c"))
    table.head = start
    assert appended(table, undone) == NOT
    table.commit(Operation.APPEND, files("d"))
    assert appended(table, undone) == NOT
    assert appended(table, start) == (start, 10)


def test_lost_snapshot_in_between(table: MetadataTable) -> None:
    start = table.head
    between = table.commit(Operation.APPEND, files("c"))
    table.commit(Operation.APPEND, files("d"))
    table.snapshots = [s for s in table.snapshots if s.snapshot_id != between]
    assert table.since(start, "id").status == "stale"
    assert appended(table, start) == NOT


def test_other_schema(table: MetadataTable) -> None:
    start = table.head
    table.commit(Operation.APPEND, files("c"))
    wider = Schema(NestedField(1, "id", LongType(), required=False), schema_id=1)
    change = table.since(start, "id", schema=wider)
    assert (change.status, change.appended_since) == ("stale", None)


def test_manifests_that_do_not_count_their_files(table: MetadataTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first format version allows it."""
    start = table.head
    table.commit(Operation.APPEND, files("c"))
    assert appended(table, start) == (start, 10)
    manifests_of = Snapshot.manifests

    def uncounted(self: Snapshot, io: FileIO) -> object:
        found = manifests_of(self, io)
        for manifest in found:
            manifest[8] = None
        return found

    monkeypatch.setattr(Snapshot, "manifests", uncounted)
    table.commit(Operation.APPEND, files("d"))
    assert table.since(start, "id").status == "stale"
    assert appended(table, start) == NOT
