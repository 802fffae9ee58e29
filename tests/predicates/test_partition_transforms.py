"""The law of partition_domain, against PyIceberg's own transforms."""

from __future__ import annotations

import contextlib
import math
import struct
import uuid
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    Transform,
    TruncateTransform,
    UnknownTransform,
    VoidTransform,
    YearTransform,
)
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import (
    MICROS_PER_DAY,
    MICROS_PER_HOUR,
    civil_from_days,
    days_from_civil,
    domain_as_written,
    internal_value,
    partition_domain,
)

AnyTransform = Transform[Any, Any]

# PyIceberg computes years and months with Python's dates; beyond them the arithmetic of the engine is tested alone.
FIRST_DAY, LAST_DAY = (date.min - date(1970, 1, 1)).days, (date.max - date(1970, 1, 1)).days
DAYS = st.integers(FIRST_DAY, LAST_DAY) | st.sampled_from([-1, 0, 1, -365, 365, -31, 31, FIRST_DAY, LAST_DAY])
MICROS = st.integers(FIRST_DAY * MICROS_PER_DAY, (LAST_DAY + 1) * MICROS_PER_DAY - 1) | st.builds(
    lambda d, m: d * MICROS_PER_DAY + m, DAYS.filter(lambda d: d > FIRST_DAY), st.sampled_from([-1, 0, 1])
)
INTS = st.integers(-(2**31), 2**31 - 1) | st.integers(-25, 25)
LONGS = st.integers(-(2**63), 2**63 - 1) | st.integers(-25, 25)
DECIMALS = st.integers(-(10**9) + 1, 10**9 - 1).map(lambda u: Decimal(u).scaleb(-2)) | st.integers(-99, 99).map(
    lambda u: Decimal(u).scaleb(-2)
)

VALUES: dict[str, tuple[IcebergType, st.SearchStrategy[Any]]] = {
    "boolean": (BooleanType(), st.booleans()),
    "int": (IntegerType(), INTS),
    "long": (LongType(), LONGS),
    "float": (FloatType(), st.floats(width=32)),
    # Doubles of single precision; test_doubles_as_they_are_read has the others.
    "double": (DoubleType(), st.floats(width=32)),
    "decimal": (DecimalType(9, 2), DECIMALS),
    "date": (DateType(), DAYS),
    "timestamp": (TimestampType(), MICROS),
    "timestamptz": (TimestamptzType(), MICROS),
    "string": (StringType(), st.text(max_size=8)),
    "uuid": (UUIDType(), st.uuids()),
    "fixed": (FixedType(4), st.binary(min_size=4, max_size=4)),
    "binary": (BinaryType(), st.binary(max_size=8)),
}
TRANSFORMS: list[AnyTransform] = [
    IdentityTransform(),
    YearTransform(),
    MonthTransform(),
    DayTransform(),
    HourTransform(),
    TruncateTransform(1),
    TruncateTransform(10),
    TruncateTransform(7),
    BucketTransform(1),
    BucketTransform(16),
]
CASES = [
    pytest.param(t, name, id=f"{t}-{name}")
    for t in TRANSFORMS
    for name, (source, _) in VALUES.items()
    if t.can_transform(source)
]
RANGED = [
    c
    for c in CASES
    if not isinstance(c.values[0], BucketTransform) and "truncate" not in str(c.values[0]) and c.values[1] != "double"
] + [c for c in CASES if "truncate" in str(c.values[0]) and c.values[1] in ("int", "long", "decimal")]


def in_partition(key: ColumnKey, domain: Domain, transform: AnyTransform, source: IcebergType, x: Any) -> bool:
    assert key.column == "c"
    if key.transform is None:
        return domain.contains(None if x is None else internal_value(x))
    assert key.transform == str(transform)
    return domain.contains(transform.transform(source)(x))


def partition_value(transform: AnyTransform, source: IcebergType) -> Callable[[Any], Any]:
    return transform.transform(source)


@pytest.mark.parametrize(("transform", "name"), CASES)
@settings(max_examples=25)
@given(data=st.data())
def test_every_row_of_a_partition_is_in_its_domain(transform: AnyTransform, name: str, data: st.DataObject) -> None:
    source, values = VALUES[name]
    x = data.draw(values)
    found = partition_domain(transform, "c", source, partition_value(transform, source)(x))
    if name == "uuid" and isinstance(transform, BucketTransform):
        assert found is None  # Spark would hash its text
        return
    assert found is not None
    assert in_partition(*found, transform, source, x)
    assert not in_partition(*found, transform, source, None)


@pytest.mark.parametrize(("transform", "name"), RANGED)
@settings(max_examples=25)
@given(data=st.data())
def test_nothing_else_is_in_its_domain(transform: AnyTransform, name: str, data: st.DataObject) -> None:
    source, values = VALUES[name]
    partition = partition_value(transform, source)
    x, y = data.draw(values), data.draw(values)
    if isinstance(x, int) and not isinstance(x, bool) and data.draw(st.booleans()):
        y = min(max(x + data.draw(st.integers(-12, 12)), VALUE_BOUNDS[name][0]), VALUE_BOUNDS[name][1])
    found = partition_domain(transform, "c", source, partition(x))
    assert found is not None
    assume(x == x and y == y)
    assume(not (isinstance(x, float) and x == 0))  # both zeros are one group, so their neighbours come along
    assert in_partition(*found, transform, source, y) == (partition(y) == partition(x))


VALUE_BOUNDS = {
    "int": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
    "date": (FIRST_DAY, LAST_DAY),
    "timestamp": (FIRST_DAY * MICROS_PER_DAY, (LAST_DAY + 1) * MICROS_PER_DAY - 1),
    "timestamptz": (FIRST_DAY * MICROS_PER_DAY, (LAST_DAY + 1) * MICROS_PER_DAY - 1),
}


@pytest.mark.parametrize("transform", [YearTransform(), MonthTransform(), DayTransform(), HourTransform()], ids=str)
@given(value=st.integers(-3_000_000, 3_000_000))
def test_neighbouring_periods_touch_without_overlap(transform: AnyTransform, value: int) -> None:
    assume(not isinstance(transform, YearTransform) or abs(value) < 290_000)
    this = partition_domain(transform, "c", TimestampType(), value)
    after = partition_domain(transform, "c", TimestampType(), value + 1)
    assert this is not None and after is not None
    (mine,), (theirs,) = this[1].ranges, after[1].ranges
    assert (mine.low_inclusive, mine.high_inclusive) == (True, False)
    assert mine.high == theirs.low
    assert isinstance(mine.low, int) and isinstance(mine.high, int) and mine.low < mine.high


@pytest.mark.parametrize(
    ("transform", "value", "low", "high"),
    [
        (YearTransform(), 0, (1970, 1, 1), (1971, 1, 1)),
        (YearTransform(), -1, (1969, 1, 1), (1970, 1, 1)),
        (YearTransform(), -1970, (0, 1, 1), (1, 1, 1)),
        (YearTransform(), -1971, (-1, 1, 1), (0, 1, 1)),
        (YearTransform(), 8030, (10000, 1, 1), (10001, 1, 1)),
        (MonthTransform(), -1, (1969, 12, 1), (1970, 1, 1)),
        (MonthTransform(), -23641, (-1, 12, 1), (0, 1, 1)),
        (MonthTransform(), 96359, (9999, 12, 1), (10000, 1, 1)),
        (DayTransform(), -1, (1969, 12, 31), (1970, 1, 1)),
        (DayTransform(), 2932896, (9999, 12, 31), (10000, 1, 1)),
    ],
)
def test_calendar_edges(
    transform: AnyTransform, value: int, low: tuple[int, int, int], high: tuple[int, int, int]
) -> None:
    for source, scale in ((DateType(), 1), (TimestamptzType(), MICROS_PER_DAY)):
        found = partition_domain(transform, "c", source, value)
        assert found is not None
        (only,) = found[1].ranges
        assert (only.low, only.high) == (days_from_civil(*low) * scale, days_from_civil(*high) * scale)


def test_hour_before_the_epoch() -> None:
    found = partition_domain(HourTransform(), "c", TimestampType(), -1)
    assert found is not None
    assert found[1].contains(-1) and found[1].contains(-MICROS_PER_HOUR)
    assert not found[1].contains(0) and not found[1].contains(-MICROS_PER_HOUR - 1)


TIMES: list[AnyTransform] = [YearTransform(), MonthTransform(), DayTransform(), HourTransform()]


@pytest.mark.parametrize("transform", TIMES, ids=str)
@pytest.mark.parametrize("source", [DateType(), TimestampType(), TimestamptzType()], ids=str)
@given(value=st.integers(-100_000, 100_000))
def test_times_before_1970_may_be_in_the_next_partition(
    transform: AnyTransform, source: IcebergType, value: int
) -> None:
    own, before, found = (
        fits(transform, "c", source, number)
        for fits, number in ((partition_domain, value), (partition_domain, value - 1), (domain_as_written, value))
    )
    assert own is not None and before is not None
    is_date = isinstance(source, DateType) and isinstance(transform, DayTransform)
    assert found == (own if value > 0 or is_date else (own[0], own[1].union(before[1])))


@pytest.mark.parametrize("transform", [*TIMES, IdentityTransform(), BucketTransform(4), VoidTransform()], ids=str)
@pytest.mark.parametrize("value", [None, -3])
def test_other_partitions_are_written_as_they_are(transform: AnyTransform, value: int | None) -> None:
    if value is None or transform not in TIMES:
        source = IntegerType() if transform not in TIMES else DateType()
        assert domain_as_written(transform, "c", source, value) == partition_domain(transform, "c", source, value)


@pytest.mark.parametrize(("transform", "name"), CASES)
def test_null_is_a_partition_of_its_own(transform: AnyTransform, name: str) -> None:
    source, _ = VALUES[name]
    assert partition_value(transform, source)(None) is None
    found = partition_domain(transform, "c", source, None)
    assert found is not None
    assert found[1] == Domain.only_null()


@pytest.mark.parametrize("value", [None, 1, "a"])
@pytest.mark.parametrize("transform", [VoidTransform(), UnknownTransform("zorder")], ids=str)
def test_void_and_unknown_constrain_nothing(transform: AnyTransform, value: object) -> None:
    assert partition_domain(transform, "c", IntegerType(), value) is None


def test_uuid_is_text() -> None:
    value = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
    found = partition_domain(IdentityTransform(), "c", UUIDType(), value)
    assert found == (ColumnKey("c"), Domain.of("f79c3e09-677c-4bbd-a479-3f349cb785e7"))


@pytest.mark.parametrize("value", [1.401298464324817e-45, -1.401298464324817e-45])
def test_no_zero_is_a_bound(value: float) -> None:
    """Iceberg would take -0.0 for less than a bound of 0.0."""
    found = partition_domain(IdentityTransform(), "c", DoubleType(), value)
    assert found is not None
    ends = [end for values in found[1].ranges for end in (values.low, values.high)]
    assert found[1].contains(0.0)
    assert 0.0 not in ends


@given(st.floats(allow_nan=False))
@example(3.4028235677973366e38)
@example(1e300)
@example(-1e300)
@example(1e-300)
@example(-0.0)
def test_doubles_as_they_are_read(x: float) -> None:
    """PyIceberg's compiled decoder returns doubles rounded to single precision."""
    with contextlib.suppress(OverflowError):
        rounded = struct.unpack("<f", struct.pack("<f", x))[0]
    if abs(x) > 3.4028235e38:
        rounded = math.copysign(math.inf, x)
    found = partition_domain(IdentityTransform(), "c", DoubleType(), rounded)
    assert found is not None
    assert found[1].contains(x)
    assert not found[1].null and not found[1].nan


def test_a_value_of_another_kind_is_an_error() -> None:
    with pytest.raises(TypeError, match="list"):
        internal_value([1])


@given(st.integers(-(10**7), 10**7))
def test_civil_and_days_are_inverse(days: int) -> None:
    assert days_from_civil(*civil_from_days(days)) == days


@given(st.integers(-300_000, 300_000), st.integers(1, 12), st.integers(1, 28))
@example(0, 2, 29)
@example(-400, 2, 29)
@example(2000, 2, 29)
def test_days_and_civil_are_inverse(year: int, month: int, day: int) -> None:
    assert civil_from_days(days_from_civil(year, month, day)) == (year, month, day)


@given(st.dates())
def test_civil_days_are_pythons(day: date) -> None:
    assert days_from_civil(day.year, day.month, day.day) == (day - date(1970, 1, 1)).days
    assert date(*civil_from_days((day - date(1970, 1, 1)).days)) + timedelta(0) == day
