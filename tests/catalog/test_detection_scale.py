"""The cost of detection follows the change, not the table.

The table has 10,000 partitions and 20,000 files in 100 manifests; with five times the files, which takes long to write,
the same manifests are opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.io import InputFile
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.snapshots import Operation
from pyiceberg.transforms import parse_transform
from pyiceberg.types import DateType, LongType, NestedField

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange, ancestry
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.simplification import simplify
from tests.support.cost import cost
from tests.support.metadata_tables import MetadataTable, bounds, file_of

pytestmark = pytest.mark.slow

PARTITIONS = 10_000
SCHEMA = Schema(NestedField(1, "d", DateType(), required=False), NestedField(2, "id", LongType(), required=False))
BY_DAY = PartitionSpec(PartitionField(1, 1000, parse_transform("day"), "day"))


def day_file(name: str, day: int) -> DataFile:
    return file_of(name, [day], **bounds(id=(LongType(), 2, 3 * day, 3 * day + 1)))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[MetadataTable, int]:
    """Return a table and the snapshot from which two manifests touch every partition."""
    table = MetadataTable(tmp_path_factory.mktemp("large"), SCHEMA, BY_DAY)
    start = 0
    for m in range(100):
        start = table.commit(Operation.APPEND, [file_of(f"{m}-{i}", [(200 * m + i) % PARTITIONS]) for i in range(200)])
    for half in (range(PARTITIONS // 2), range(PARTITIONS // 2, PARTITIONS)):
        table.commit(Operation.APPEND, [day_file(f"new-{i}", i) for i in half])
    return table, start


@pytest.fixture
def opened(large: tuple[MetadataTable, int], monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    table, _ = large
    paths: list[str] = []
    new_input = table.io.new_input

    def counted(location: str) -> InputFile:
        paths.append(location.rsplit("/", 1)[-1].split("-", maxsplit=1)[0])
        return new_input(location)

    monkeypatch.setattr(table.io, "new_input", counted)
    yield paths


def test_window_that_touches_every_partition(large: tuple[MetadataTable, int], opened: list[str]) -> None:
    for column in ("d", "id"):
        _follows_every_partition(*large, column)
    # Those of the window and the one it starts from, whatever is asked of them.
    assert (opened.count("manifest"), opened.count("list")) == (2, 3)


def _follows_every_partition(table: MetadataTable, start: int, column: str) -> None:
    changes: list[TableChange] = []

    def detect() -> tuple[TupleDomain, ...]:
        changes.append(table.since(start, column))
        return simplify(changes[0].constraints.data_disjuncts, 1000)

    assert cost(detect, rounds=1) < 120
    (change,) = changes
    few = simplify(change.constraints.data_disjuncts, 1000)
    assert change.changed_partitions == PARTITIONS
    assert (change.appended_since, change.appended_rows) == (start, 10 * PARTITIONS)
    ranges = {"d": Range(0, PARTITIONS, True, False), "id": Range(0, 3 * PARTITIONS - 2)}
    said = {ColumnKey(name): Domain.between(ranges[name]) for name in dict.fromkeys(("d", column))}
    assert few == (TupleDomain.where(said),)


def test_without_a_change_no_file_is_opened(large: tuple[MetadataTable, int], opened: list[str]) -> None:
    table, _ = large
    assert table.since(table.head, "d").status == "fresh"
    assert cost(lambda: table.since(table.head, "d")) < 2
    assert opened == []


@pytest.mark.long
def test_simplify_is_not_quadratic() -> None:
    """Ten thousand disjuncts took minutes when each merge sorted all ranges anew."""
    apart = [
        TupleDomain.where({ColumnKey(f"c{c}"): Domain.between(Range(3 * i, 3 * i + 1)) for c in range(4)})
        for i in range(PARTITIONS)
    ]
    of_one_column = [TupleDomain.where(dict(d.constraints[:1])) for d in apart]
    (rows,) = simplify(apart, 1000)
    (days,) = simplify(of_one_column, 10 * PARTITIONS)
    assert cost(lambda: simplify(apart, 1000), rounds=1) < 60
    assert cost(lambda: simplify(of_one_column, 10 * PARTITIONS), rounds=1) < 20
    hull = Domain.between(Range(0, 3 * PARTITIONS - 2))
    assert rows == TupleDomain.where({ColumnKey(f"c{c}"): hull for c in range(4)})
    assert len(days.constraints[0][1].ranges) == PARTITIONS


def test_long_history_is_walked_once(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path, SCHEMA, BY_DAY)
    table.commit(Operation.APPEND, [day_file("a", 1)])
    first = table.snapshots[0]
    table.snapshots = [
        first.model_copy(update={"snapshot_id": i, "parent_snapshot_id": i - 1 if i > 1 else None})
        for i in range(1, 10_001)
    ]
    table.head = 10_000
    current = table.table()
    assert sum(1 for _ in ancestry(current.metadata, 10_000)) == 10_000
    assert cost(lambda: list(ancestry(current.metadata, 10_000))) < 5
