"""What changed between two snapshots, on real Iceberg tables that PyIceberg writes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import ManifestFile
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import parse_transform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)

from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import Wanted
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import (
    TableChange,
    TableVersion,
    ancestry,
    change_since,
    changed_partitions,
    files_between,
    partitions_of,
)
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_DAY, days_from_civil
from tests.support.arrow_transforms import TRANSFORMS, on_arrow

SCHEMA = Schema(
    NestedField(1, "id", IntegerType(), required=False),
    NestedField(2, "ts", TimestampType(), required=False),
    NestedField(3, "region", StringType(), required=False),
)
ARROW = pa.schema([("id", pa.int32()), ("ts", pa.timestamp("us")), ("region", pa.string())])
BY_DAY = PartitionSpec(PartitionField(2, 1000, parse_transform("day"), "ts_day"))
UNPARTITIONED = PartitionSpec()
Make = Callable[..., Table]


@pytest.fixture(autouse=True)
def transforms(monkeypatch: pytest.MonkeyPatch) -> None:
    for transform in TRANSFORMS:
        monkeypatch.setattr(transform, "pyarrow_transform", on_arrow)


@pytest.fixture
def make(catalog: SqlCatalog, request: pytest.FixtureRequest) -> Iterator[Make]:
    def create(spec: PartitionSpec = BY_DAY, schema: Schema = SCHEMA) -> Table:
        if catalog.table_exists("ns.t"):
            catalog.drop_table("ns.t")
        return catalog.create_table("ns.t", schema, partition_spec=spec)

    yield create


def rows(*values: tuple[int, str | None, str | None]) -> pa.Table:
    days = [None if d is None else dt.datetime.fromisoformat(d) for _, d, _ in values]
    columns = {"id": [i for i, _, _ in values], "ts": days, "region": [r for _, _, r in values]}
    return pa.table(columns, schema=ARROW)


def recorded(table: Table) -> TableVersion:
    metadata = table.metadata
    return TableVersion(str(metadata.table_uuid), metadata.current_snapshot_id, metadata.current_schema_id)


NEW_YEAR = days_from_civil(2024, 1, 1)
EVERY = frozenset(["id", "ts", "region", "area", "c"])


def since(before: TableVersion, table: Table, tracked: frozenset[str] = EVERY) -> TableChange:
    return change_since(before, recorded(table), table, table.schema(), Wanted(tracked))


def days(*texts: str | None) -> set[TupleDomain]:
    """Return the constraints of partitions by day of ts."""
    found = set()
    for text in texts:
        domain = Domain.only_null()
        if text is not None:
            low = days_from_civil(*(int(p) for p in text.split("-"))) * MICROS_PER_DAY
            domain = Domain.between(Range(low, low + MICROS_PER_DAY, True, False))
        found.add(TupleDomain.where({ColumnKey("ts"): domain}))
    return found


def assert_stale(change: TableChange, expected: set[TupleDomain], unit: str = "day") -> None:
    assert change.status == "stale"
    assert change.moved
    assert set(change.constraints.data_disjuncts) == expected
    assert change.changed_partitions == len(expected)
    assert change.unit == unit
    assert change.reason is None


def test_same_snapshot_is_fresh(make: Make) -> None:
    table = make()
    assert since(recorded(table), table) == TableChange("fresh")
    table.append(rows((1, "2024-01-01", "a")))
    assert since(recorded(table), table) == TableChange("fresh")


def test_schema_alone_moves_and_stays_fresh(make: Make) -> None:
    table = make()
    table.append(rows((1, "2024-01-01", "a")))
    before = recorded(table)
    with table.update_schema() as update:
        update.add_column("more", IntegerType())
    assert since(before, table) == TableChange("fresh", moved=True)


def test_append_names_its_partitions(make: Make) -> None:
    table = make()
    table.append(rows((1, "2024-01-01", "a")))
    before = recorded(table)
    table.append(rows((2, "2024-01-02", "a"), (3, None, "a")))
    table.append(rows((4, "2024-01-02", "b")))
    assert_stale(since(before, table), days("2024-01-02", None))


def test_a_day_before_1970_may_hold_rows_of_the_day_before(make: Make) -> None:
    table = make()
    before = recorded(table)
    table.append(rows((1, "1969-12-31", "a")))
    both = Domain.between(Range(-2 * MICROS_PER_DAY, 0, True, False))
    assert_stale(since(before, table), {TupleDomain.where({ColumnKey("ts"): both})})


def test_first_rows_since_there_was_no_snapshot(make: Make) -> None:
    table = make()
    before = recorded(table)
    assert before.snapshot_id is None
    table.append(rows((1, "2024-01-01", "a")))
    table.append(rows((2, "2024-01-02", "a")))
    table.delete("ts = '2024-01-02T00:00:00'")
    assert_stale(since(before, table), days("2024-01-01"))


def test_delete_of_whole_partitions_and_of_rows(make: Make) -> None:
    table = make()
    table.append(rows((1, "2024-01-01", "a"), (2, "2024-01-02", "a"), (3, "2024-01-02", "b"), (4, None, "a")))
    before = recorded(table)
    table.delete("ts = '2024-01-01T00:00:00'")
    assert_stale(since(before, table), days("2024-01-01"))
    table.delete("region = 'b'")
    assert_stale(since(before, table), days("2024-01-01", "2024-01-02"))
    table.delete("ts is null")
    assert_stale(since(before, table), days("2024-01-01", "2024-01-02", None))


def test_overwrite_names_both_sides(make: Make) -> None:
    table = make()
    table.append(rows((1, "2024-01-01", "a"), (2, "2024-01-02", "a")))
    before = recorded(table)
    table.overwrite(rows((1, "2024-01-03", "a")), "ts = '2024-01-01T00:00:00'")
    assert_stale(since(before, table), days("2024-01-01", "2024-01-03"))


def test_delete_that_matches_nothing_is_fresh(make: Make) -> None:
    table = make()
    table.append(rows((1, "2024-01-01", "a")))
    before = recorded(table)
    with pytest.warns(UserWarning, match="did not match"):
        table.delete("region = 'zz'")
    assert since(before, table).status == "fresh"


def test_rollback_names_what_was_undone(make: Make) -> None:
    table = make()
    table.append(rows((1, "2024-01-01", "a")))
    first = recorded(table)
    table.append(rows((2, "2024-01-02", "a")))
    table.append(rows((3, "2024-01-03", "a")))
    before = recorded(table)
    assert first.snapshot_id is not None
    table.manage_snapshots().rollback_to_snapshot(first.snapshot_id).commit()
    assert_stale(since(before, table), days("2024-01-02", "2024-01-03"))
    assert since(first, table).status == "fresh"
    # And on from there: what was undone and what was done since.
    table.append(rows((4, "2024-01-04", "a")))
    assert_stale(since(before, table), days("2024-01-02", "2024-01-03", "2024-01-04"))
    assert before.snapshot_id is not None
    table.manage_snapshots().set_current_snapshot(before.snapshot_id).commit()
    assert since(before, table).status == "fresh"


def test_dropped_and_created_again_is_unknown(make: Make) -> None:
    table = make()
    table.append(rows((1, "2024-01-01", "a")))
    before = recorded(table)
    again = make()
    again.append(rows((1, "2024-01-01", "a")))
    change = since(before, again)
    assert (change.status, change.moved, change.reason) == ("unknown", True, "was dropped and created again")


def test_expired_snapshot_is_unknown(make: Make) -> None:
    table = make()
    table.append(rows((1, "2024-01-01", "a")))
    before = recorded(table)
    table.append(rows((2, "2024-01-02", "a")))
    assert before.snapshot_id is not None
    table.maintenance.expire_snapshots().by_id(before.snapshot_id).commit()
    change = since(before, table.refresh())
    assert change.status == "unknown"
    assert change.reason == f"has expired the snapshot {before.snapshot_id} of the last refresh"


def test_expired_snapshot_in_between_is_bridged_by_the_files(make: Make) -> None:
    table = make()
    table.append(rows((1, "2024-01-01", "a"), (2, "2024-01-02", "a")))
    before = recorded(table)
    table.delete("ts = '2024-01-02T00:00:00'")
    between = table.metadata.current_snapshot_id
    table.append(rows((3, "2024-01-03", "a")))
    assert between is not None
    table.maintenance.expire_snapshots().by_id(between).commit()
    assert_stale(since(before, table.refresh()), days("2024-01-02", "2024-01-03"))


def test_recorded_snapshot_that_is_now_unknown(make: Make) -> None:
    table = make()
    table.append(rows((1, "2024-01-01", "a")))
    now = recorded(table)
    lost = TableVersion(now.uuid, 17, now.schema_id)
    assert change_since(lost, now, table, table.schema(), Wanted(EVERY)).status == "unknown"
    assert change_since(now, lost, table, table.schema(), Wanted(EVERY)).reason == "has lost the snapshot 17"
    none = TableVersion(now.uuid, None, now.schema_id)
    assert change_since(now, none, table, table.schema(), Wanted(EVERY)).status == "unknown"


def test_partition_evolution_reads_each_file_by_its_own_spec(make: Make) -> None:
    table = make(UNPARTITIONED)
    table.append(rows((1, "2024-01-01", "a")))
    with table.update_spec() as update:
        update.add_field("region", "identity")
    before = recorded(table)
    table.append(rows((2, "2024-01-02", "b"), (3, "2024-01-02", None)))
    regions = {TupleDomain.where({ColumnKey("region"): Domain.of(r)}) for r in ("b", None)}
    assert_stale(since(before, table), regions, "partition")
    with table.update_spec() as update:
        update.remove_field("region")
        update.add_field("ts", "day")
    table.append(rows((4, "2024-01-04", "c")))
    assert_stale(since(before, table), regions | days("2024-01-04"), "partition")
    # Of the file of the first spec only its own bounds say something.
    table.delete("id = 1")
    change = since(before, table, frozenset(["region", "ts"]))
    bounds = {ColumnKey("region"): Domain.of("a"), ColumnKey("ts"): Domain.of(NEW_YEAR * MICROS_PER_DAY)}
    assert set(change.constraints.data_disjuncts) == {*regions, *days("2024-01-04"), TupleDomain.where(bounds)}
    assert (change.changed_partitions, change.unit) == (4, "file")


def test_unpartitioned_table_changes_where_its_files_have_values(make: Make) -> None:
    table = make(UNPARTITIONED)
    before = recorded(table)
    table.append(rows((1, "2024-01-01", "a"), (7, None, "b")))
    ids = {TupleDomain.where({ColumnKey("id"): Domain.between(Range(1, 7))})}
    assert_stale(since(before, table, frozenset(["id"])), ids, "file")
    both = {ColumnKey("region"): Domain.between(Range("a", "b"))}
    both[ColumnKey("ts")] = Domain.of(NEW_YEAR * MICROS_PER_DAY, None)
    assert_stale(since(before, table, frozenset(["ts", "region"])), {TupleDomain.where(both)}, "file")
    assert_stale(since(before, table, frozenset()), {TupleDomain.all()}, "table")


def test_renamed_and_dropped_columns(make: Make) -> None:
    table = make(PartitionSpec(PartitionField(3, 1000, parse_transform("identity"), "region")))
    before = recorded(table)
    table.append(rows((1, "2024-01-01", "a")))
    with table.update_schema() as update:
        update.rename_column("region", "area")
    assert_stale(since(before, table), {TupleDomain.where({ColumnKey("area"): Domain.of("a")})}, "partition")
    with table.update_spec() as spec_update:
        spec_update.remove_field("region")
    with table.update_schema() as update:
        update.delete_column("area")
    with table.update_schema() as update:
        update.add_column("area", StringType())
    # The new column of the old name is another column.
    assert_stale(since(before, table, frozenset(["area"])), {TupleDomain.all()}, "file")


def moment(text: str, zone: dt.timezone | None = None) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=zone)


MICROS = days_from_civil(2024, 2, 29) * MICROS_PER_DAY + 3_600_000_001
DAY = days_from_civil(2024, 2, 29)
TYPED: list[tuple[IcebergType, str, pa.DataType, Any, ColumnKey, Domain]] = [
    (BooleanType(), "identity", pa.bool_(), True, ColumnKey("c"), Domain.of(True)),
    (IntegerType(), "identity", pa.int32(), -7, ColumnKey("c"), Domain.of(-7)),
    (LongType(), "identity", pa.int64(), -(2**63), ColumnKey("c"), Domain.of(-(2**63))),
    (FloatType(), "identity", pa.float32(), 0.1, ColumnKey("c"), Domain.of(0.10000000149011612)),
    (DecimalType(9, 2), "identity", pa.decimal128(9, 2), Decimal("-1.10"), ColumnKey("c"), Domain.of(Decimal("-1.1"))),
    (DateType(), "identity", pa.date32(), dt.date(2024, 2, 29), ColumnKey("c"), Domain.of(DAY)),
    (StringType(), "identity", pa.string(), "a/b='é${x}\\", ColumnKey("c"), Domain.of("a/b='é${x}\\")),
    (BinaryType(), "identity", pa.large_binary(), b"\x00\xff", ColumnKey("c"), Domain.of(b"\x00\xff")),
    (TimestampType(), "identity", pa.timestamp("us"), moment("2024-02-29T01:00:00.000001"), ColumnKey("c"),
     Domain.of(MICROS)),
    (TimestamptzType(), "hour", pa.timestamp("us", "UTC"), moment("2024-02-29T01:00:00.000001", dt.timezone.utc),
     ColumnKey("c"), Domain.between(Range(MICROS - 1, MICROS - 1 + 3_600_000_000, True, False))),
    (TimestamptzType(), "month", pa.timestamp("us", "UTC"), moment("2024-02-29T01:00:00.000001", dt.timezone.utc),
     ColumnKey("c"), Domain.between(Range((DAY - 28) * MICROS_PER_DAY, (DAY + 1) * MICROS_PER_DAY, True, False))),
    (DateType(), "year", pa.date32(), dt.date(1969, 2, 28), ColumnKey("c"),
     Domain.between(Range(-731, 0, True, False))),
    (DateType(), "day", pa.date32(), dt.date(2024, 2, 29), ColumnKey("c"),
     Domain.between(Range(DAY, DAY + 1, True, False))),
    (IntegerType(), "truncate[10]", pa.int32(), -1, ColumnKey("c"), Domain.between(Range(-10, 0, True, False))),
    (StringType(), "truncate[2]", pa.string(), "éab", ColumnKey("c", "truncate[2]"), Domain.of("éa")),
    (IntegerType(), "bucket[16]", pa.int32(), 34, ColumnKey("c", "bucket[16]"), Domain.of(3)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("type_", "transform", "arrow", "value", "key", "domain"), TYPED, ids=[f"{t[1]}-{t[0]}-{t[3]!r:.12}" for t in TYPED]
)
def test_partition_values_as_manifests_hold_them(
    make: Make, type_: IcebergType, transform: str, arrow: pa.DataType, value: object, key: ColumnKey, domain: Domain
) -> None:
    schema = Schema(NestedField(1, "c", type_, required=False))
    table = make(PartitionSpec(PartitionField(1, 1000, parse_transform(transform), "p")), schema)
    before = recorded(table)
    table.append(pa.table({"c": pa.array([value], arrow)}))
    (found,) = since(before, table).constraints.data_disjuncts
    assert found == TupleDomain.where({key: domain})


def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    paths: list[str] = []
    original = ManifestFile.fetch_manifest_entry

    def fetch(self: ManifestFile, *args: Any, **kwargs: Any) -> Any:
        paths.append(self.manifest_path)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(ManifestFile, "fetch_manifest_entry", fetch)
    return paths


def test_only_manifests_of_the_window_are_opened(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make()
    for i in range(1, 9):
        table.append(rows((i, f"2024-01-{i:02}", "a")))
    before = recorded(table)
    table.append(rows((9, "2024-02-01", "a")))
    table.append(rows((10, "2024-02-02", "a")))
    paths = opened(monkeypatch)
    assert since(before, table).changed_partitions == 2
    assert len(paths) == len(set(paths)) == 2
    paths.clear()
    assert since(recorded(table), table).status == "fresh"
    assert paths == []


def test_partitions_of_and_changed_partitions(make: Make) -> None:
    table = make()
    table.append(rows((1, "2024-01-01", "a"), (2, None, "a")))
    first = table.metadata.current_snapshot_id
    table.append(rows((3, "2024-01-03", "a")))
    second = table.metadata.current_snapshot_id
    assert first is not None and second is not None
    day = days_from_civil(2024, 1, 1)
    assert {values for _, values in partitions_of(table, second)} == {(day,), (day + 2,), (None,)}
    assert {values for _, values in partitions_of(table, first)} == {(day,), (None,)}
    assert {values for _, values in changed_partitions(table, first, second)} == {(day + 2,)}
    assert changed_partitions(table, second, second) == set()
    assert partitions_of(table, 17) == set()
    assert [s.snapshot_id for s in ancestry(table.metadata, second)] == [second, first]


def test_a_table_without_a_file_of_before_was_written_again(make: Make) -> None:
    table = make(UNPARTITIONED)
    table.append(rows((1, None, "a"), (2, None, "b")))
    table.append(rows((3, None, "c")))
    before = recorded(table)
    # As a seed is loaded: emptied, then filled.
    table.delete()
    table.append(rows((1, None, "a"), (2, None, "x")))
    assert since(before, table).is_whole
    once = recorded(table)
    table.overwrite(rows((9, None, "z")))
    assert since(once, table).is_whole
    # A file of between is no file of before, but then counts of files do not show it.
    assert not since(before, table).is_whole


@pytest.mark.parametrize(
    "write",
    [
        lambda table: table.append(rows((4, None, "d"))),
        lambda table: table.delete("id = 3"),
        lambda table: table.delete(),
    ],
    ids=["append", "delete of a file", "emptied"],
)
def test_a_table_with_a_file_of_before_was_not_written_again(make: Make, write: Callable[[Table], None]) -> None:
    table = make(UNPARTITIONED)
    table.append(rows((1, None, "a"), (2, None, "b")))
    table.append(rows((3, None, "c")))
    before = recorded(table)
    write(table)
    emptied = table.current_snapshot()
    assert emptied is not None and emptied.summary is not None
    assert since(before, table).is_whole == (emptied.summary.additional_properties["total-data-files"] == "0")


def test_the_first_rows_of_a_table_are_not_written_again(make: Make) -> None:
    table = make(UNPARTITIONED)
    empty = recorded(table)
    table.append(rows((1, None, "a")))
    assert not since(empty, table).is_whole
    table.delete()
    none = recorded(table)
    table.append(rows((1, None, "a")))
    assert not since(none, table).is_whole


def test_files_between_snapshots_of_which_one_is_gone_are_not_known(make: Make) -> None:
    table = make()
    for number in range(3):
        table.append(rows((number, "2024-01-01", "EU")))
    first, second, third = (s.snapshot_id for s in table.metadata.snapshots)
    assert files_between(table, first, first) == []
    assert [is_new for _, is_new in files_between(table, first, third) or ()] == [True, True]
    kept = [s for s in table.metadata.snapshots if s.snapshot_id != second]
    table.metadata = table.metadata.model_copy(update={"snapshots": kept})
    assert files_between(table, first, third) is None
    assert files_between(table, second, third) is None
