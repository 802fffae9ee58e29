"""Iceberg partition transforms: their names, and from the value of a partition field to the rows it can hold.

The law of `partition_domain`: for every row with value x in the source column, transform(x) = value implies that the
returned domain contains x (or transform(x), where the key names the transform). Iceberg spec, "Partition Transforms".
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Context, Decimal
from typing import TypeVar
from uuid import UUID

from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    TruncateTransform,
    YearTransform,
)
from pyiceberg.types import (
    BinaryType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    IcebergType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, Value
from dbt.adapters.icebergmv.maintenance.predicates.periods import Period

MICROS_PER_HOUR = 3_600_000_000
MICROS_PER_DAY = 24 * MICROS_PER_HOUR
T = TypeVar("T")
_EXACT = Context(prec=100)
"""Wider than any decimal of the spec (38 digits); Python's default rounds at 28."""

_SMALLEST_SINGLE = 1.401298464324817e-45
_LARGEST_SINGLE = 3.4028234663852886e38
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_DAYS_PER_400_YEARS = 146_097
WIDEST_TRUNCATE = 2**30
"""Of wider ones the arithmetic of ints (or of what was one), `((v % w) + w) % w`, wraps round at values of any size."""

_WITH_WIDTH = re.compile(r"^(bucket|truncate)\[(\d+)]$")
_PERIODS: dict[str, Period] = {"hour": "hour", "day": "day", "month": "month", "year": "year"}


@dataclass(frozen=True)
class TransformName:
    """A transform as partition specs name it (Iceberg spec, Partition Transforms).

    kind   identity, bucket, truncate, year, month, day, hour or void; any other text names a transform we do not know
    width  the number of buckets, or the length; 0 for kinds without one
    """

    kind: str
    width: int = 0

    @staticmethod
    def parse(text: str) -> TransformName:
        """Return the parts of a transform's name."""
        matched = _WITH_WIDTH.match(text)
        return TransformName(text) if matched is None else TransformName(matched[1], int(matched[2]))

    def __str__(self) -> str:
        return f"{self.kind}[{self.width}]" if self.width else self.kind

    @property
    def period(self) -> Period | None:
        """Return the period that each partition is; None for transforms that are not of time."""
        return _PERIODS.get(self.kind)

    @property
    def is_known(self) -> bool:
        """Return whether the transform says something that we can use: not void, and in the spec."""
        return self.kind == "identity" or self.width > 0 or self.period is not None


def partition_domain(
    transform: object, source: str, source_type: IcebergType, value: object
) -> tuple[ColumnKey, Domain] | None:
    """Return the constraint that one partition field puts on its source column; None when it puts none.

    `value` is in the internal form that PyIceberg reads from manifests. NULL in a partition field means NULL in the
    column, for every transform of the spec but void.
    """
    column = ColumnKey(source)
    known = (IdentityTransform, YearTransform, MonthTransform, DayTransform, HourTransform, TruncateTransform)
    if not isinstance(transform, (*known, BucketTransform)):
        return None
    if value is None:
        return column, Domain.only_null()
    plain = internal_value(value)
    match transform:
        case IdentityTransform():
            return column, _identity_domain(source_type, plain)
        case BucketTransform():
            # Iceberg hashes the 16 bytes of a UUID; Spark sees text and would hash that.
            if isinstance(source_type, UUIDType):
                return None
            return ColumnKey(source, str(transform)), Domain.of(plain)
        case TruncateTransform():
            return _truncate_domain(transform, source, source_type, plain)
        case _:
            return _time_domain(transform, column, source_type, plain)


def domain_as_written(
    transform: object, source: str, source_type: IcebergType, value: object
) -> tuple[ColumnKey, Domain] | None:
    """Return the constraint that one partition field puts on what writers have put into it; None when it puts none.

    Some writers take times before 1970 to the next partition: Iceberg for Java did so up to 0.10, and PyIceberg's
    transforms in Rust do so in the last second of a day. Iceberg reads both partitions for such a time
    (ProjectionUtil.fixInclusiveTimeProjection).
    """
    found = partition_domain(transform, source, source_type, value)
    is_rounded = isinstance(transform, YearTransform | MonthTransform | DayTransform | HourTransform) and not (
        isinstance(transform, DayTransform) and isinstance(source_type, DateType)
    )
    if found is None or not is_rounded or not isinstance(value, int) or value > 0:
        return found
    before = partition_domain(transform, source, source_type, value - 1)
    return found if before is None else (found[0], found[1].union(before[1]))


def internal_value(value: object) -> Value:
    """Return a partition value as domain.Value; UUIDs become text, as Spark shows them."""
    match value:
        case UUID():
            return str(value)
        case bool() | int() | float() | str() | bytes() | Decimal():
            return value
        case _:
            raise TypeError(f"Cannot use partition value of type {type(value).__name__}")


def days_from_civil(year: int, month: int, day: int = 1) -> int:
    """Return days since 1970-01-01 of a proleptic Gregorian date; any year, also outside Python's 1..9999."""
    cycles, year_in_cycle = divmod(year - 1, 400)
    return date(year_in_cycle + 1, month, day).toordinal() - _EPOCH_ORDINAL + cycles * _DAYS_PER_400_YEARS


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Return (year, month, day) of days since 1970-01-01; the inverse of days_from_civil."""
    cycles, rest = divmod(days + _EPOCH_ORDINAL - 1, _DAYS_PER_400_YEARS)
    inside = date(1, 1, 1) + timedelta(days=rest)
    return inside.year + cycles * 400, inside.month, inside.day


def _identity_domain(source_type: IcebergType, value: Value) -> Domain:
    """Return the values of an identity partition.

    0.0 and -0.0 are two partitions and one group in Spark, so either means both.
    """
    if isinstance(value, float) and not math.isnan(value):
        if isinstance(source_type, DoubleType):
            return _around(value)
        if value == 0:
            return Domain.between(Range(_next_single(0, -1), _next_single(0, 1)))
    return Domain.of(value)


def _truncate_domain(
    transform: TruncateTransform[object], source: str, source_type: IcebergType, value: Value
) -> tuple[ColumnKey, Domain] | None:
    match source_type:
        case IntegerType() | LongType():
            whole = _of(int, value)
            if whole % transform.width != 0 or transform.width > WIDEST_TRUNCATE:
                return None  # Java's arithmetic wrapped round: at the smallest value of the type, or anywhere.
            return ColumnKey(source), Domain.between(Range(whole, whole + transform.width, True, False))
        case DecimalType():
            number = _of(Decimal, value)
            width = Decimal(transform.width).scaleb(-source_type.scale)
            return ColumnKey(source), Domain.between(Range(number, _EXACT.add(number, width), True, False))
        case StringType() | BinaryType() | FixedType():
            return ColumnKey(source, str(transform)), Domain.of(value)
        case _:
            raise TypeError(f"Cannot truncate a column of type {source_type}")


def _time_domain(
    transform: object, column: ColumnKey, source_type: IcebergType, value: Value
) -> tuple[ColumnKey, Domain] | None:
    ordinal = _of(int, value)
    match transform:
        case HourTransform():
            low, high = ordinal * MICROS_PER_HOUR, (ordinal + 1) * MICROS_PER_HOUR
            return column, Domain.between(Range(low, high, True, False))
        case DayTransform():
            first, last = ordinal, ordinal + 1
        case MonthTransform():
            first, last = _month_start(ordinal), _month_start(ordinal + 1)
        case _:
            first, last = days_from_civil(1970 + ordinal, 1), days_from_civil(1971 + ordinal, 1)
    match source_type:
        case DateType():
            return column, Domain.between(Range(first, last, True, False))
        case TimestampType() | TimestamptzType():
            return column, Domain.between(Range(first * MICROS_PER_DAY, last * MICROS_PER_DAY, True, False))
        case _:
            return None


def _around(value: float) -> Domain:
    """Return the doubles that a double may have been before it was read.

    PyIceberg's compiled Avro decoder returns doubles rounded to single precision, so the true value lies between the
    neighbouring singles; beyond the largest single everything reads as infinity.
    """
    if abs(value) >= _LARGEST_SINGLE:
        if value < 0:
            return Domain.between(Range(-math.inf, -_LARGEST_SINGLE))
        return Domain.between(Range(_LARGEST_SINGLE, math.inf))
    return Domain.between(Range(_next_single(value, -1), _next_single(value, 1)))


def _next_single(value: float, direction: int) -> float:
    """Return the neighbour of a single-precision value, upwards for direction 1 and downwards for -1; no zero."""
    if value == 0:
        return direction * _SMALLEST_SINGLE
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    neighbour: float = struct.unpack("<f", struct.pack("<i", bits + (direction if value > 0 else -direction)))[0]
    # A bound of 0.0 would leave out -0.0 where Iceberg compares.
    return neighbour or direction * _SMALLEST_SINGLE


def _of(wanted: type[T], value: object) -> T:
    if not isinstance(value, wanted):
        raise TypeError(f"Cannot use a partition value of type {type(value).__name__} where {wanted.__name__} is due")
    return value


def _month_start(months_since_epoch: int) -> int:
    year, month = divmod(months_since_epoch, 12)
    return days_from_civil(1970 + year, month + 1)
