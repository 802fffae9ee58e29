"""Names of transforms: what PyIceberg writes is taken apart, and put together as it was."""

from __future__ import annotations

import pytest
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    TruncateTransform,
    UnknownTransform,
    VoidTransform,
    YearTransform,
    parse_transform,
)

from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import TransformName

NAMES = {
    str(BucketTransform(16)): TransformName("bucket", 16),
    str(TruncateTransform(4)): TransformName("truncate", 4),
    str(IdentityTransform()): TransformName("identity"),
    str(YearTransform()): TransformName("year"),
    str(MonthTransform()): TransformName("month"),
    str(DayTransform()): TransformName("day"),
    str(HourTransform()): TransformName("hour"),
    str(VoidTransform()): TransformName("void"),
}


@pytest.mark.parametrize("text", NAMES)
def test_a_name_is_taken_apart_and_put_together(text: str) -> None:
    name = TransformName.parse(text)
    assert name == NAMES[text]
    assert str(name) == text
    assert type(parse_transform(str(name))) is type(parse_transform(text))


def test_periods_are_those_of_the_transforms_of_time() -> None:
    assert {n.kind: n.period for n in NAMES.values() if n.period} == {p: p for p in ("year", "month", "day", "hour")}


@pytest.mark.parametrize(
    "text", ["void", str(UnknownTransform("zorder[3]")), "week", "bucket", "bucket[x]", "days", ""]
)
def test_what_says_nothing_is_not_known(text: str) -> None:
    name = TransformName.parse(text)
    assert not name.is_known
    assert (name.width, name.period, str(name)) == (0, None, text)
