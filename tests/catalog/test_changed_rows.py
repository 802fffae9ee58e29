"""Which rows can changed files hold? Partitions, bounds, and delete files, which have no bounds of their own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.io import InputFile
from pyiceberg.manifest import DataFile, DataFileContent
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.snapshots import Operation
from pyiceberg.transforms import parse_transform
from pyiceberg.types import DateType, IntegerType, LongType, NestedField, PrimitiveType, StringType

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from tests.support.metadata_tables import MetadataTable, bounds, file_of

SCHEMA = Schema(
    NestedField(1, "id", IntegerType(), required=False),
    NestedField(2, "region", StringType(), required=False),
)


def spec(spec_id: int, transform: str, source: int) -> PartitionSpec:
    return PartitionSpec(PartitionField(source, 1000 + spec_id, parse_transform(transform), "p"), spec_id=spec_id)


PLAIN = PartitionSpec(spec_id=0)
BY_REGION = spec(1, "identity", 2)
BY_BUCKET = spec(2, "bucket[4]", 1)
BY_NOTHING = spec(3, "void", 2)


@pytest.fixture
def table(tmp_path: Path) -> MetadataTable:
    return MetadataTable(tmp_path, SCHEMA, PLAIN, BY_REGION, BY_BUCKET, BY_NOTHING)


def data(path: str, low: int, high: int, partition: Iterable[Any] = (), spec: int = 0, rows: int = 10) -> DataFile:
    """Return a data file with ids from low to high and regions a to b."""
    metrics = bounds(id=(IntegerType(), 1, low, high), region=(StringType(), 2, "a", "b"))
    return file_of(path, tuple(partition), spec=spec, rows=rows, **metrics)


def deletes(path: str, about: str | None = None, paths: tuple[str, str] | None = None, **more: Any) -> DataFile:
    """Return a position delete file; `paths` are the bounds of the paths in it."""
    if paths is not None:
        more |= {"lower": {2147483546: paths[0].encode()}, "upper": {2147483546: paths[1].encode()}}
    return file_of(path, content=DataFileContent.POSITION_DELETES, about=about, **more)


def ids(*ranges: tuple[int, int]) -> TupleDomain:
    return TupleDomain.where({ColumnKey("id"): Domain.between(*(Range(*r) for r in ranges))})


def in_region(*regions: str | None) -> TupleDomain:
    return TupleDomain.where({ColumnKey("region"): Domain.of(*regions)})


def found(change: TableChange) -> tuple[set[TupleDomain], int, str]:
    assert change.status == "stale"
    return set(change.constraints.data_disjuncts), change.changed_partitions, change.unit


def opened(monkeypatch: pytest.MonkeyPatch, table: MetadataTable) -> list[str]:
    """Return the list that the manifests opened from now on are added to."""
    paths: list[str] = []
    new_input = table.io.new_input

    def counted(location: str) -> InputFile:
        if "/manifest-" in location:
            paths.append(location)
        return new_input(location)

    monkeypatch.setattr(table.io, "new_input", counted)
    return paths


def both(rows: TupleDomain, others: TupleDomain) -> TupleDomain:
    return TupleDomain.where({**dict(rows.constraints), **dict(others.constraints)})


def test_partition_of_a_tracked_column_is_enough(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2, ["x"], 1)])
    table.commit(Operation.APPEND, [data("b", 3, 4, ["y"], 1), data("c", 5, 6, ["y"], 1)])
    assert found(table.since(start, "region")) == ({in_region("y")}, 1, "partition")
    assert found(table.since(start, "region", "id")) == ({in_region("y")}, 1, "partition")
    assert found(table.since(start)) == ({in_region("y")}, 1, "partition")
    assert found(table.since(start, "id")) == ({both(ids((3, 4), (5, 6)), in_region("y"))}, 2, "file")


def test_partition_of_a_transform_of_a_tracked_column(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2, [3], 2)])
    table.commit(Operation.APPEND, [data("b", 3, 4, [0], 2)])
    buckets = TupleDomain.where({ColumnKey("id", "bucket[4]"): Domain.of(0)})
    assert found(table.since(start, "id")) == ({buckets}, 1, "partition")
    expected = TupleDomain.where({ColumnKey("region"): Domain.between(Range("a", "b"))})
    assert found(table.since(start, "region")) == ({both(expected, buckets)}, 1, "file")


def test_void_field_leaves_the_bounds(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.APPEND, [data("b", 3, 4, [None], 3)])
    assert found(table.since(start, "id")) == ({ids((3, 4))}, 1, "file")


@pytest.mark.parametrize(
    ("by", "value", "type_", "narrows"),
    [
        (2, 3, StringType(), False),  # A bucket is of a hash of the value in its type.
        (4, 7, StringType(), False),
        (4, 7, DateType(), False),
        (2, 3, LongType(), True),  # A promotion (Iceberg spec, "Schema Evolution") leaves hash and value as they were.
        (4, 7, LongType(), True),
    ],
)
def test_a_column_that_was_of_another_type(
    tmp_path: Path, by: int, value: int, type_: PrimitiveType, narrows: bool
) -> None:
    """So it is where a table is replaced: Iceberg keeps the ids of fields by their names."""
    table = MetadataTable(tmp_path, SCHEMA, PLAIN, BY_REGION, BY_BUCKET, BY_NOTHING, spec(4, "identity", 1))
    start = table.commit(Operation.APPEND, [file := data("a", 7, 7, [value], by)])
    table.commit(Operation.OVERWRITE, removed=[file])
    retyped = Schema(NestedField(1, "id", type_, required=False), *SCHEMA.fields[1:], schema_id=1)
    change = table.since(start, "region", schema=retyped)
    assert change.status == "stale"
    (rows,) = change.constraints.data_disjuncts
    assert ({key.column for key, _ in rows.constraints} == {"id", "region"}) is narrows


def test_each_file_by_its_own_spec(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.APPEND, [data("b", 3, 4), data("c", 5, 6, ["y"], 1)])
    table.commit(Operation.APPEND, [data("d", 7, 8, [1], 2)])
    bounds = TupleDomain.where({ColumnKey("region"): Domain.between(Range("a", "b"))})
    buckets = TupleDomain.where({ColumnKey("id", "bucket[4]"): Domain.of(1)})
    assert found(table.since(start, "region")) == ({in_region("y"), bounds}, 3, "file")
    later = both(ids((5, 6)), in_region("y"))
    assert found(table.since(start, "id")) == ({ids((3, 4)), later, buckets}, 3, "file")


def test_partition_that_no_row_can_be_in_is_not_trusted(tmp_path: Path) -> None:
    odd = PartitionSpec(
        PartitionField(1, 1001, parse_transform("identity"), "p"),
        PartitionField(1, 1002, parse_transform("truncate[10]"), "q"),
    )
    table = MetadataTable(tmp_path, SCHEMA, odd)
    start = table.commit(Operation.APPEND, [data("a", 1, 2, [1, 0])])
    table.commit(Operation.APPEND, [data("b", 3, 4, [3, 50])])
    assert found(table.since(start, "id")) == ({ids((3, 4))}, 1, "file")
    assert found(table.since(start)) == ({TupleDomain.all()}, 1, "partition")


def test_rewrite_shows_both_sides(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2), data("b", 3, 4)])
    table.commit(Operation.OVERWRITE, [data("c", 30, 40)], [data("b", 3, 4)])
    assert found(table.since(start, "id")) == ({ids((3, 4), (30, 40))}, 2, "file")


def test_data_file_without_metrics_can_hold_anything(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.APPEND, [file_of("b"), data("c", 3, 4)])
    assert found(table.since(start, "id")) == ({TupleDomain.all()}, 2, "file")


def test_deletes_are_as_wide_as_their_data_file(table: MetadataTable, monkeypatch: pytest.MonkeyPatch) -> None:
    table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.APPEND, [data("b", 3, 4)])
    start = table.commit(Operation.APPEND, [data("c", 5, 6)])
    table.commit(Operation.DELETE, [deletes("x", about="b")])
    paths = opened(monkeypatch, table)
    assert found(table.since(start, "id")) == ({ids((3, 4))}, 1, "file")
    # The delete manifest and the data manifests up to that of b.
    assert len(paths) == 3


def test_paths_of_a_delete_file_name_its_data_file(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2), data("b", 3, 4)])
    one = table.commit(Operation.DELETE, [deletes("x", paths=("a", "a"))])
    assert found(table.since(start, "id")) == ({ids((1, 2))}, 1, "file")
    table.commit(Operation.DELETE, [deletes("y", paths=("a", "b"))])
    assert found(table.since(one, "id")) == ({TupleDomain.all()}, 1, "file")


def test_delete_file_that_names_no_data_file(table: MetadataTable, monkeypatch: pytest.MonkeyPatch) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.DELETE, [deletes("x"), deletes("y", about="a")])
    paths = opened(monkeypatch, table)
    assert found(table.since(start, "id")) == ({TupleDomain.all()}, 2, "file")
    assert len(paths) == 1


def test_delete_file_whose_data_file_is_unknown(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.DELETE, [deletes("x", about="a"), deletes("y", about="gone")])
    change = table.since(start, "id")
    assert (change.constraints.data_disjuncts, change.changed_partitions) == ((TupleDomain.all(),), 2)


def test_equality_deletes_are_about_every_file(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    equality = file_of("x", content=DataFileContent.EQUALITY_DELETES, **bounds(id=(IntegerType(), 1, 1, 1)))
    table.commit(Operation.DELETE, [equality])
    assert found(table.since(start, "id")) == ({TupleDomain.all()}, 1, "file")


def test_equality_deletes_of_a_partition(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2, ["x"], 1)])
    table.commit(Operation.DELETE, [file_of("x", ["x"], spec=1, content=DataFileContent.EQUALITY_DELETES)])
    assert found(table.since(start, "region")) == ({in_region("x")}, 1, "partition")
    assert found(table.since(start, "id")) == ({TupleDomain.all()}, 1, "file")


def test_deletes_in_a_partition_of_a_tracked_column(table: MetadataTable, monkeypatch: pytest.MonkeyPatch) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2, ["x"], 1)])
    table.commit(Operation.DELETE, [deletes("x", partition=["x"], spec=1)])
    paths = opened(monkeypatch, table)
    assert found(table.since(start, "region")) == ({in_region("x")}, 1, "partition")
    assert len(paths) == 1


def test_deletes_of_what_the_window_added_or_removed(table: MetadataTable, monkeypatch: pytest.MonkeyPatch) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2), data("z", 8, 9)])
    table.commit(Operation.APPEND, [data("b", 3, 4)])
    table.commit(Operation.DELETE, [deletes("x", about="b"), deletes("y", about="a")])
    table.commit(Operation.DELETE, [], [data("a", 1, 2), deletes("x"), deletes("y")])
    paths = opened(monkeypatch, table)
    assert found(table.since(start, "id"))[0] == {ids((1, 2), (3, 4))}
    assert len(paths) == 4


def test_deletes_of_what_compaction_wrote(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2), data("b", 3, 4), data("c", 5, 6)])
    table.commit(Operation.REPLACE, [data("ab", 1, 4, rows=20)], [data("a", 1, 2), data("b", 3, 4)])
    table.commit(Operation.DELETE, [deletes("x", about="ab")])
    assert found(table.since(start, "id")) == ({ids((1, 4))}, 1, "file")
    table.commit(Operation.REPLACE, [data("abc", 1, 6)], [data("ab", 1, 4), data("c", 5, 6), deletes("x")])
    assert found(table.since(start, "id")) == ({ids((1, 4))}, 1, "file")


def test_undone_deletes(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2), data("b", 3, 4)])
    table.commit(Operation.DELETE, [deletes("x", about="a")])
    undone = table.commit(Operation.APPEND, [data("c", 5, 6)])
    table.head = start
    assert found(table.since(undone, "id")) == ({ids((1, 2), (5, 6))}, 2, "file")


def test_deletes_between_unconnected_snapshots(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2), data("b", 3, 4)])
    lost = table.commit(Operation.DELETE, [deletes("p", about="a"), deletes("p", about="b")])
    table.commit(Operation.DELETE, [deletes("x", about="a")], [])
    table.snapshots = [s for s in table.snapshots if s.snapshot_id != lost]
    assert found(table.since(start, "id")) == ({ids((1, 2), (3, 4))}, 3, "file")


def test_a_file_that_is_there_twice_after_an_unconnected_snapshot(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2), data("b", 3, 4)])
    lost = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.APPEND, [])
    table.snapshots = [s for s in table.snapshots if s.snapshot_id != lost]
    assert found(table.since(start, "id")) == ({ids((1, 2))}, 1, "file")


def test_a_file_that_came_again_is_another_one_after_an_unconnected_snapshot(table: MetadataTable) -> None:
    """Deletes count for older files alone."""
    table.commit(Operation.APPEND, [data("a", 1, 2), data("b", 3, 4)])
    start = table.commit(Operation.DELETE, [deletes("p", about="a")])
    lost = table.commit(Operation.DELETE, [], [data("a", 1, 2)])
    table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.snapshots = [s for s in table.snapshots if s.snapshot_id != lost]
    assert found(table.since(start, "id")) == ({ids((1, 2))}, 2, "file")


def test_data_file_of_another_spec_than_its_deletes(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2, ["x"], 1)])
    table.commit(Operation.DELETE, [deletes("x", about="a")])
    assert found(table.since(start, "region")) == ({in_region("x")}, 1, "file")


def test_many_files_are_described_roughly(table: MetadataTable) -> None:
    """Two tracked columns: what cannot be merged exactly is merged column by column."""
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])

    def one(i: int) -> DataFile:
        region = f"{i:05}"
        metrics = bounds(id=(IntegerType(), 1, 10 * i, 10 * i + 5), region=(StringType(), 2, region, region))
        return file_of(f"f{i}", **metrics)

    few = table.commit(Operation.APPEND, [one(i) for i in range(900)])
    assert len(table.since(start, "id", "region").constraints.data_disjuncts) == 900
    table.commit(Operation.APPEND, [one(i) for i in range(900, 1100)])
    change = table.since(start, "id", "region")
    regions = Domain.of(*(f"{i:05}" for i in range(1100)))
    hull = Domain.between(Range(0, 10_995))
    expected = TupleDomain.where({ColumnKey("id"): hull, ColumnKey("region"): regions})
    assert found(change) == ({expected}, 1100, "file")
    assert len(table.since(few, "id", "region").constraints.data_disjuncts) == 200


def test_files_without_a_wanted_row_are_left_out_and_counted(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.APPEND, [data("b", 3, 4), data("c", 5, 6), file_of("d")])
    assert found(table.since(start, "id", rows=ids((4, 4)))) == ({TupleDomain.all()}, 3, "file")
    table.commit(Operation.DELETE, [], [file_of("d")])
    assert found(table.since(start, "id", rows=ids((9, 9)))) == ({TupleDomain.all()}, 4, "file")


def test_bounds_of_a_column_that_is_not_tracked_leave_files_out(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.APPEND, [data("b", 3, 4, ["a"], 1), data("c", 5, 6, ["a"], 1)])
    table.commit(Operation.APPEND, [file_of("d", ("y",), spec=1)])
    assert found(table.since(start, "region", rows=ids((3, 3)))) == ({in_region("a"), in_region("y")}, 2, "partition")
    assert found(table.since(start, "region", rows=ids((7, 9)))) == ({in_region("y")}, 2, "partition")
    assert found(table.since(start, rows=in_region("y"))) == ({in_region("y")}, 2, "partition")
    assert found(table.since(start, "region", rows=in_region(None))) == (set(), 2, "partition")
    assert found(table.since(start, "region", rows=TupleDomain.none())) == (set(), 2, "partition")


def test_a_transform_that_says_nothing_of_wanted_rows(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.APPEND, [file_of("b", (1,), spec=2)])
    assert table.since(start, "id", rows=ids((9, 9))).constraints.data_disjuncts


def test_deletes_from_files_without_a_wanted_row(table: MetadataTable) -> None:
    table.commit(Operation.APPEND, [data("a", 1, 2), data("b", 3, 4)])
    start = table.commit(Operation.APPEND, [data("c", 5, 6, ["x"], 1)])
    table.commit(Operation.DELETE, [deletes("v", about="b"), deletes("w", about="c", partition=("x",), spec=1)])
    assert found(table.since(start, "id", rows=ids((4, 9)))) == (
        {ids((3, 4)), both(ids((5, 6)), in_region("x"))},
        2,
        "file",
    )
    assert found(table.since(start, "id", rows=ids((5, 9)))) == ({both(ids((5, 6)), in_region("x"))}, 2, "file")
    assert found(table.since(start, "id", rows=ids((7, 9)))) == (set(), 2, "file")
    assert found(table.since(start, "id", rows=in_region("b"))) == ({ids((3, 4))}, 2, "file")


def test_deletes_of_which_nobody_knows_where_they_are(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.DELETE, [deletes("v")])
    assert found(table.since(start, "id", rows=ids((9, 9)))) == ({TupleDomain.all()}, 1, "file")


def test_a_file_that_came_and_was_deleted_from(table: MetadataTable) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.OVERWRITE, [data("b", 3, 4), deletes("v", about="b")])
    assert found(table.since(start, "id", rows=ids((9, 9)))) == (set(), 2, "file")


@pytest.mark.parametrize("region", ["a", "b", "x", None])
def test_partitions_and_bounds_that_no_row_can_be_in_leave_nothing_out(
    table: MetadataTable, region: str | None
) -> None:
    start = table.commit(Operation.APPEND, [data("a", 1, 2)])
    table.commit(Operation.APPEND, [data("b", 3, 4, ["x"], 1)])
    assert found(table.since(start, "region", rows=in_region(region))) == ({in_region("x")}, 1, "partition")
