"""The grain that rows fill: when a partitioning is too fine, and what comes in its place."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from pyiceberg.transforms import DayTransform, MonthTransform, Transform, YearTransform
from pyiceberg.types import DateType, IcebergType, TimestampType

from dbt.adapters.icebergmv.maintenance.definition.partitioning import PartitionField
from dbt.adapters.icebergmv.maintenance.planning.cost.partition_grain import Grain, filled_grains, stays_coarser
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_DAY
from tests.support.shares import one_of

FIRST = (date(2023, 1, 1) - date(1970, 1, 1)).days


def grain(column: str, transform: str, spark_type: str) -> Grain:
    return Grain(PartitionField(column, transform), spark_type)


DAY, REGION = grain("d", "identity", "date"), grain("r", "identity", "string")
MOMENT = grain("ts", "identity", "timestamp")
TWO_YEARS = [(FIRST + n,) for n in range(730)]


def found(grains: tuple[Grain, ...], keys: list[tuple[object, ...]], rows: int) -> list[str] | None:
    filled = filled_grains(grains, keys, rows)
    return None if filled is None else [g.field.ddl() for g in filled]


@pytest.mark.parametrize(
    ("days", "rows", "expected"),
    [
        (100, 100, None),
        (101, 101, []),
        (730, 730_000, None),
        (730, 729_999, ["months(`d`)"]),
        (730, 240_000, ["months(`d`)"]),
        (730, 239_999, ["years(`d`)"]),
        (730, 20_000, ["years(`d`)"]),
        (730, 19_999, []),
        (730, 0, []),
        (0, 0, None),
    ],
)
def test_days_that_rows_do_not_fill(days: int, rows: int, expected: list[str] | None) -> None:
    assert found((DAY,), list(TWO_YEARS[:days]), rows) == expected


@pytest.mark.parametrize(
    ("grains", "keys", "rows", "expected"),
    [
        ([grain("id", "bucket[256]", "bigint")], [(n,) for n in range(256)], 200_000, ["bucket(16, `id`)"]),
        ([grain("id", "bucket[101]", "bigint")], [(n,) for n in range(101)], 100_000, []),
        ([REGION], [(str(n),) for n in range(500)], 400_000, []),
        ([grain("r", "truncate[3]", "string")], [(str(n),) for n in range(500)], 400_000, []),
        ([DAY, REGION], [(FIRST + n, r) for n in range(60) for r in "ab"], 90_000, ["months(`d`)"]),
        ([DAY, REGION], [(FIRST, str(n)) for n in range(200)], 90_000, ["`d`"]),
        ([REGION, DAY], [("a", *key) for key in TWO_YEARS], 240_000, ["`r`", "months(`d`)"]),
        ([grain("ts", "hour", "timestamp")], [(n,) for n in range(240)], 200_000, ["days(`ts`)"]),
        ([MOMENT], [(n * MICROS_PER_DAY,) for (n,) in TWO_YEARS], 20_000, ["years(`ts`)"]),
        ([grain("ts", "month", "timestamp_ntz")], [(n,) for n in range(-600, 0)], 500_000, ["years(`ts`)"]),
        ([DAY], [*TWO_YEARS, (None,)], 20_001, []),
        ([DAY], [*TWO_YEARS, (None,)], 30_000, ["years(`d`)"]),
        ([grain("x", "void", "int")], [(None,)], 0, None),
    ],
)  # fmt: skip
def test_grains_of_every_kind(
    grains: list[Grain], keys: list[tuple[object, ...]], rows: int, expected: list[str] | None
) -> None:
    assert found(tuple(grains), keys, rows) == expected


def test_no_grain_has_the_name_of_a_column() -> None:
    assert filled_grains((DAY,), TWO_YEARS, 240_000, ["d", "d_month"]) == (grain("d", "year", "date"),)
    assert filled_grains((DAY,), TWO_YEARS, 240_000, ["d", "d_month", "d_year"]) == ()
    assert filled_grains((DAY,), TWO_YEARS, 240_000, ["d", "D_MONTH"]) == (grain("d", "month", "date"),)
    months = (PartitionField("d", "month"),)
    assert stays_coarser(months, 1, (DAY,), ["d"])
    assert not stays_coarser(months, 1, (DAY,), ["d", "d_month"])


@pytest.mark.parametrize(
    ("fields", "rows", "stays"),
    [
        ((), 99_999, True),
        ((), 100_000, False),
        ((PartitionField("d", "year"),), 50_000, True),
        ((PartitionField("d", "identity"),), 1, False),
        ((PartitionField("d", "day"),), 1, False),
        ((PartitionField("other", "year"),), 1, False),
    ],
)
def test_a_coarser_grain_stays_while_rows_are_few(fields: tuple[PartitionField, ...], rows: int, stays: bool) -> None:
    assert stays_coarser(fields, rows, (DAY,)) is stays


def test_nothing_is_coarser_than_no_partitioning() -> None:
    assert not stays_coarser((), 1, ())


OF_TIME = [
    ("identity", DateType(), 1, "date"),
    ("day", DateType(), 1, "date"),
    ("identity", TimestampType(), MICROS_PER_DAY, "timestamp_ntz"),
]


@pytest.mark.parametrize(("first", "of", "unit", "spark_type"), one_of(3, OF_TIME))
@given(
    start=st.integers(-700_000, 2_900_000),
    offsets=st.sets(st.integers(0, 400), min_size=101, max_size=200),
    rows=st.integers(0, 250_000),
)
def test_partitions_of_time_are_counted_as_pyiceberg_makes_them(
    first: str, of: IcebergType, unit: int, spark_type: str, start: int, offsets: set[int], rows: int
) -> None:
    transforms: dict[str, Transform[int, int]] = {"month": MonthTransform(), "year": YearTransform()}
    if first == "identity" and spark_type != "date":
        transforms = {"day": DayTransform(), **transforms}
    moments = [(start + offset) * unit for offset in offsets]
    expected: list[str] | None = None if rows >= len(moments) * 1_000 else []
    for name, transform in transforms.items() if expected == [] else ():
        if rows >= len({transform.transform(of)(moment) for moment in moments}) * 10_000:
            expected = [f"{name}s(`c`)"]
            break
    event(f"{expected}")
    assert found((grain("c", first, spark_type),), [(moment,) for moment in moments], rows) == expected
