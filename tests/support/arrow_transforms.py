"""Partition transforms for PyIceberg's writer, without the package that its own need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    MonthTransform,
    Transform,
    TruncateTransform,
    YearTransform,
)
from pyiceberg.types import IcebergType

TRANSFORMS = (YearTransform, MonthTransform, DayTransform, HourTransform, TruncateTransform, BucketTransform)


def on_arrow(self: Transform[Any, Any], source: IcebergType) -> Callable[[pa.Array], pa.Array]:
    """Apply PyIceberg's own transform value by value; its vectorised one needs a package that nothing else needs."""
    compute = self.transform(source)
    result = schema_to_pyarrow(self.result_type(source))

    def transform(values: pa.Array | pa.ChunkedArray) -> pa.Array:
        if pa.types.is_temporal(values.type):
            values = values.cast(pa.int32() if pa.types.is_date(values.type) else pa.int64())
        return pa.array(
            [compute(v) for v in values.to_pylist()], pa.int32() if pa.types.is_temporal(result) else result
        )

    return transform
