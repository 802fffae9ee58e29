"""What the metrics of a data file allow to conclude, and what not."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.conversions import to_bytes
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema
from pyiceberg.table.snapshots import Operation
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
    ListType,
    LongType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)
from pyiceberg.utils.truncate import truncate_upper_bound_text_string

from dbt.adapters.icebergmv.maintenance.catalog.column_bounds import bounded_rows, column_domain
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from tests.support.metadata_tables import MetadataTable, file_of


def metrics(
    low: bytes | None = None,
    high: bytes | None = None,
    nulls: int | None = 0,
    values: int | None = 10,
    rows: int = 10,
) -> DataFile:
    """Return a file with the metrics of the column with field id 1."""
    return file_of(
        "f",
        rows=rows,
        lower=None if low is None else {1: low},
        upper=None if high is None else {1: high},
        nulls=None if nulls is None else {1: nulls},
        values=None if values is None else {1: values},
    )


def known(file: DataFile, type_: IcebergType) -> Domain | None:
    return column_domain(file, NestedField(1, "c", type_, required=False))


def encoded(type_: PrimitiveType, low: Any, high: Any) -> tuple[bytes, bytes]:
    return to_bytes(type_, low), to_bytes(type_, high)


USED: list[tuple[PrimitiveType, Any, Any]] = [
    (IntegerType(), -(2**31), 2**31 - 1),
    (LongType(), -(2**63), 2**63 - 1),
    (DateType(), -1, 19_000),
    (TimestampType(), -1, 1_704_067_200_000_001),
    (TimestamptzType(), -1, 1_704_067_200_000_001),
    (StringType(), "", "é\U0001f600"),
    (DecimalType(9, 2), Decimal("-1.10"), Decimal("300.00")),
    (DecimalType(38, 0), Decimal("-" + "9" * 38), Decimal("9" * 38)),
]


@pytest.mark.parametrize(("type_", "low", "high"), USED, ids=[str(t) for t, _, _ in USED])
def test_bounds_enclose_the_values(type_: PrimitiveType, low: Any, high: Any) -> None:
    both = encoded(type_, low, high)
    assert known(metrics(*both), type_) == Domain.between(Range(low, high))
    assert known(metrics(*both, nulls=3), type_) == Domain(Domain.between(Range(low, high)).ranges, null=True)
    # Without a count NULL may be there, without the other counts nothing changes.
    assert known(metrics(*both, nulls=None), type_) == Domain(Domain.between(Range(low, high)).ranges, null=True)
    assert known(metrics(*both, values=None), type_) == Domain.between(Range(low, high))
    # One bound alone, or none at all, says nothing of the values.
    assert known(metrics(both[0]), type_) is None
    assert known(metrics(None, both[1]), type_) is None
    assert known(metrics(), type_) is None
    # Bounds in the wrong order are no bounds.
    assert known(metrics(both[1], both[0]), type_) is None


def test_booleans_are_listed() -> None:
    assert known(metrics(b"\x00", b"\x01"), BooleanType()) == Domain.of(False, True)
    assert known(metrics(b"\x01", b"\x01", nulls=1), BooleanType()) == Domain.of(True, None)


def test_nothing_but_null() -> None:
    assert known(metrics(nulls=10), IntegerType()) == Domain.only_null()
    assert known(metrics(nulls=9), IntegerType()) is None
    assert known(metrics(nulls=10, values=None), IntegerType()) is None
    assert known(metrics(nulls=None), IntegerType()) is None
    # Counts that do not cover all rows of the file say nothing of the others.
    assert known(metrics(nulls=10, rows=11), IntegerType()) is None


def test_bounds_beside_a_count_of_null_for_every_value_are_kept() -> None:
    both = encoded(IntegerType(), 1, 2)
    assert known(metrics(*both, nulls=10), IntegerType()) == Domain(Domain.between(Range(1, 2)).ranges, null=True)


def test_column_that_the_file_does_not_know() -> None:
    added_later = NestedField(2, "c", IntegerType(), required=False)
    assert column_domain(metrics(*encoded(IntegerType(), 1, 2)), added_later) is None
    assert column_domain(metrics(nulls=10), added_later) is None
    assert column_domain(metrics(nulls=None, values=None), added_later) is None


UNUSED: list[tuple[IcebergType, bytes]] = [
    (FloatType(), to_bytes(FloatType(), 1.0)),
    (DoubleType(), to_bytes(DoubleType(), 1.0)),
    (UUIDType(), b"\x01" * 16),
    (FixedType(2), b"ab"),
    (BinaryType(), b"ab"),
    (TimeType(), to_bytes(TimeType(), 1)),
    (TimestampNanoType(), to_bytes(TimestampNanoType(), 1)),
    (StructType(NestedField(5, "x", IntegerType())), b"\x01\x00\x00\x00"),
    (ListType(5, IntegerType()), b"\x01\x00\x00\x00"),
]


@pytest.mark.parametrize(("type_", "value"), UNUSED, ids=[str(t) for t, _ in UNUSED])
def test_types_whose_bounds_are_not_used(type_: IcebergType, value: bytes) -> None:
    assert known(metrics(value, value), type_) is None
    assert known(metrics(nulls=10), type_) is None


def test_promoted_types() -> None:
    four = encoded(IntegerType(), -1, 2)
    assert known(metrics(*four), LongType()) == Domain.between(Range(-1, 2))
    mixed = (four[0], to_bytes(LongType(), 2**40))
    assert known(metrics(*mixed), LongType()) == Domain.between(Range(-1, 2**40))
    narrow = encoded(DecimalType(4, 2), Decimal("-1.10"), Decimal("99.99"))
    assert known(metrics(*narrow), DecimalType(38, 2)) == Domain.between(Range(Decimal("-1.1"), Decimal("99.99")))
    day = encoded(DateType(), 19_000, 19_001)
    assert known(metrics(*day), TimestampType()) is None
    assert known(metrics(*day), TimestamptzType()) is None


UNREADABLE: list[tuple[PrimitiveType, bytes, bytes]] = [
    (IntegerType(), b"", b"\x01\x00\x00\x00"),
    (IntegerType(), b"\x00" * 8, b"\x01" * 8),
    (LongType(), b"\x00" * 5, b"\x01" * 5),
    (DateType(), b"\x00" * 4, b"\x01" * 3),
    (TimestampType(), b"\x00" * 8, b""),
    (BooleanType(), b"", b"\x01"),
    (DecimalType(9, 2), b"", b"\x01"),
    (DecimalType(9, 2), b"\x01", b"\x01" * 17),
    (StringType(), b"a", b"\xff"),
    (StringType(), b"\xc3", b"z"),
]


@pytest.mark.parametrize(("type_", "low", "high"), UNREADABLE, ids=[f"{t}-{a!r}-{b!r}" for t, a, b in UNREADABLE])
def test_bytes_that_are_no_value_of_the_type(type_: PrimitiveType, low: bytes, high: bytes) -> None:
    assert known(metrics(low, high), type_) is None


def test_text_that_was_no_utf8() -> None:
    """A writer shows such bytes as U+FFFD, which sorts before FF; a truncated upper bound as its successor."""
    assert known(metrics(b"a", "x\ufffd".encode()), StringType()) is None
    assert known(metrics(b"a", "x\ufffe".encode()), StringType()) is None
    assert known(metrics("\ufffdx".encode(), "\uffff".encode()), StringType()) is None


@given(st.lists(st.text(max_size=6), min_size=1, max_size=5), st.integers(1, 4))
def test_truncated_text_is_inside_its_bounds(texts: list[str], width: int) -> None:
    low, high = min(texts)[:width], truncate_upper_bound_text_string(max(texts), width)
    try:
        upper = None if high is None else high.encode()
    except UnicodeEncodeError:  # The successor of the last character is a surrogate: the writer has no upper bound.
        upper = None
    domain = known(metrics(low.encode(), upper), StringType())
    assert (domain is None) == (upper is None or not {"\ufffd", "\ufffe"}.isdisjoint(low + upper.decode()))
    assert domain is None or all(domain.contains(t) for t in texts)


def test_columns_are_constrained_one_by_one() -> None:
    columns = [NestedField(1, "a", IntegerType()), NestedField(2, "b", DoubleType()), NestedField(3, "c", StringType())]
    eight = to_bytes(DoubleType(), 1.0)
    file = file_of(
        "f",
        lower={1: b"\x01\x00\x00\x00", 2: eight},
        upper={1: b"\x02\x00\x00\x00", 2: eight},
        nulls={1: 0, 2: 0, 3: 10},
        values={1: 10, 2: 10, 3: 10},
    )
    expected = {ColumnKey("a"): Domain.between(Range(1, 2)), ColumnKey("c"): Domain.only_null()}
    assert bounded_rows(file, columns) == TupleDomain.where(expected)
    assert bounded_rows(file, columns[1:2]) == TupleDomain.all()
    assert bounded_rows(file, []) == TupleDomain.all()


def test_metrics_survive_manifests_and_removal(tmp_path: Path) -> None:
    """As PyIceberg reads them, also from a DELETED entry."""
    table = MetadataTable(tmp_path, Schema(NestedField(1, "c", StringType(), required=False)))
    first = table.commit(Operation.APPEND, [metrics(b"a", b"b", nulls=1)])
    second = table.commit(Operation.DELETE, removed=[metrics()])
    expected = (TupleDomain.where({ColumnKey("c"): Domain(Domain.between(Range("a", "b")).ranges, null=True)}),)
    assert table.since(first, "c").constraints.data_disjuncts == expected
    assert table.since(None, "c").status == "fresh"
    assert second == table.head
