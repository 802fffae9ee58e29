"""Where a table that is partitioned by a period is cut: few ranges, the newest ones narrow."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.snapshots import Operation
from pyiceberg.transforms import parse_transform
from pyiceberg.types import DateType, NestedField

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import IcebergSource
from dbt.adapters.icebergmv.maintenance.stitching.time_ranges import cuts
from tests.support.metadata_tables import UUID_OF_TABLE, MetadataTable, file_of

SCHEMA = Schema(NestedField(1, "d", DateType(), required=False), NestedField(2, "e", DateType(), required=False))


def source(folder: Path, transform: str, *partitions: int | None) -> IcebergSource:
    """Return a table partitioned by a transform of `d`, with a file in each of the partitions."""
    spec = PartitionSpec(PartitionField(1, 1000, parse_transform(transform), "p"))
    made = MetadataTable(folder, SCHEMA, spec)
    head = made.commit(Operation.APPEND, [file_of(f"f{p}", [p]) for p in partitions]) if partitions else None
    return IcebergSource(made.table(), ("lake", "ns", "t"), TableVersion(str(UUID_OF_TABLE), head, 0), SCHEMA, SCHEMA)


def days(*numbers: int) -> tuple[tuple[str, str], ...]:
    def text(number: int) -> str:
        return f"DATE '{date(1970, 1, 1) + timedelta(days=number)}'"

    return tuple((text(n - 1), text(n)) for n in numbers)


def test_ranges_grow_back_from_the_newest_partition(tmp_path: Path) -> None:
    assert cuts(source(tmp_path, "day", 0, 60, 100), "d") == days(28, 92, 100)


def test_months_are_cut_at_their_first_day(tmp_path: Path) -> None:
    assert cuts(source(tmp_path, "month", 0, 1), "d") == days(31)


def test_there_are_few_ranges_however_long_the_history(tmp_path: Path) -> None:
    assert len(cuts(source(tmp_path, "day", -700_000, 20_000), "d")) == 4


def test_null_and_a_single_partition_need_no_cut(tmp_path: Path) -> None:
    assert cuts(source(tmp_path, "day", 7), "d") == ()
    assert cuts(source(tmp_path, "day", None, 7), "d") == ()


@pytest.mark.parametrize(("transform", "column"), [("identity", "d"), ("bucket[4]", "d"), ("day", "e")])
def test_only_periods_of_the_column_are_cut(tmp_path: Path, transform: str, column: str) -> None:
    assert cuts(source(tmp_path, transform, 1, 3), column) == ()


def test_an_empty_table_is_not_cut(tmp_path: Path) -> None:
    assert cuts(source(tmp_path, "day"), "d") == ()
