"""Facts of immutable files are found out once; what is current is asked each time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io import InputFile
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField

from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import Wanted
from dbt.adapters.icebergmv.maintenance.catalog.opening import open_catalog
from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import (
    TableChange,
    TableVersion,
    change_since,
    partitions_of,
)
from tests.support.metadata_tables import UUID_OF_TABLE, MetadataTable, file_of

SCHEMA = Schema(NestedField(1, "day", LongType()), NestedField(2, "k", LongType()), NestedField(3, "v", LongType()))
BY_DAY = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "day"))


def test_a_value_is_found_out_once() -> None:
    memory: Remembered[int] = Remembered(10)
    asked: list[int] = []

    def find_out(value: int) -> Callable[[], int]:
        def find() -> int:
            asked.append(value)
            return value

        return find

    assert [memory.get("a", find_out(1)), memory.get("a", find_out(2)), memory.get("b", find_out(3))] == [1, 1, 3]
    assert asked == [1, 3]


def test_two_threads_at_once_find_out_once() -> None:
    memory: Remembered[int] = Remembered(10)
    together, calls = threading.Barrier(4), Counter[str]()

    def slow() -> int:
        calls["made"] += 1
        threading.Event().wait(0.05)
        return 7

    def ask(_: int) -> int:
        together.wait()
        return memory.get("key", slow)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [7] * 4
    assert calls["made"] == 1


def test_a_failure_is_not_kept() -> None:
    memory: Remembered[int] = Remembered(10)
    together = threading.Barrier(2)
    turns = iter([True, False])

    def fails_first() -> int:
        if next(turns):
            together.wait()
            threading.Event().wait(0.05)
            raise OSError("no such file")
        return 7

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memory.get, "key", fails_first)
        together.wait()
        second = pool.submit(memory.get, "key", fails_first)
        with pytest.raises(OSError, match="no such file"):
            first.result()
        assert second.result() == 7


def test_what_was_asked_for_longest_ago_is_forgotten() -> None:
    memory: Remembered[str] = Remembered(6, len)
    memory.get(1, lambda: "aaa")
    memory.get(2, lambda: "bbb")
    memory.get(1, lambda: "never")
    memory.get(3, lambda: "cc")
    assert [memory.get(key, lambda: "new") for key in (1, 3)] == ["aaa", "cc"]
    assert memory.get(4, lambda: "too long for it") == "too long for it"
    assert memory.get(4, lambda: "x") == "x"


class Opened:
    """Counts the files that a table of metadata opens. Snapshots of several days are in it, by their ids."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.made = MetadataTable(folder, SCHEMA, BY_DAY)
        self.manifests = Counter[str]()
        new_input = self.made.io.new_input

        def counted(location: str) -> InputFile:
            if "/manifest-" in location:
                self.manifests[location] += 1
            return new_input(location)

        patch.setattr(self.made.io, "new_input", counted)
        self.start = self.made.commit(Operation.APPEND, [file_of(f"d{n}", (n,)) for n in range(3)])
        for n in range(3):
            self.made.commit(Operation.APPEND, [file_of(f"e{n}", (n,))])

    def table(self) -> Table:
        """Return the table as a reader loads it: with the place of its metadata file."""
        table = self.made.table()
        place = f"{table.metadata.location}/{self.made.head}.metadata.json"
        return Table(table.name(), table.metadata, place, table.io, table.catalog)

    def since_start(self, *tracked: str) -> TableChange:
        table = self.table()
        before, now = (TableVersion(str(UUID_OF_TABLE), i, SCHEMA.schema_id) for i in (self.start, self.made.head))
        return change_since(before, now, table, table.schema(), Wanted(frozenset(tracked)))


def test_a_window_is_detected_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Opened(tmp_path, monkeypatch)
    with ThreadPoolExecutor(4) as pool:
        wanted = [("day",), ("k",), ("day", "k"), ()] * 10
        changes = list(pool.map(lambda tracked: opened.since_start(*tracked), wanted))
    assert len(opened.manifests) == 3
    assert set(opened.manifests.values()) == {1}
    for tracked, change in zip(wanted, changes, strict=True):
        # Without the place of its metadata file, a table is looked at anew.
        assert change == opened.made.since(opened.start, *tracked)


def test_the_next_commit_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Opened(tmp_path, monkeypatch)
    assert opened.since_start("day").appended_rows == 30
    opened.made.commit(Operation.APPEND, [file_of("f", (9,))])
    assert opened.since_start("day").appended_rows == 40
    opened.made.commit(Operation.DELETE, removed=[file_of("d0", (0,))])
    assert opened.since_start("day").appended_since is None


def test_the_partitions_of_a_manifest_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Opened(tmp_path, monkeypatch)
    opened.made.commit(Operation.DELETE, removed=[file_of("d0", (0,)), file_of("e0", (0,))])
    table, ids = opened.table(), [s.snapshot_id for s in opened.made.snapshots]
    found = [partitions_of(table, snapshot_id) for snapshot_id in ids * 2]
    assert found == [{(0, (n,)) for n in days} for days in ([0, 1, 2],) * 4 + ([1, 2],)] * 2
    assert set(opened.manifests.values()) == {1}


def test_a_metadata_file_is_read_once(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'catalog.db'}"
    catalog = SqlCatalog("lake", uri=uri, warehouse=tmp_path.as_uri())
    catalog.create_namespace("ns")
    made = catalog.create_table(("ns", "t"), SCHEMA)
    reader = open_catalog("lake", {"type": "sql", "uri": uri})
    first, second = reader.table("ns", "t"), reader.table("ns", "t")
    assert first is not None
    assert second is not None
    assert first.metadata is second.metadata
    with made.transaction() as change:
        change.set_properties(new="1")
    third = reader.table("ns", "t")
    assert third is not None
    assert third.properties == {"new": "1"}
    assert third.metadata_location != first.metadata_location
