"""Columns that hold other values than before, as the metrics of the files that came and went say.

Rows that are only written again have the same number, bounds and NULLs. Writers may cut bounds at different lengths, so
a difference is a good sign that rows changed, and no proof; where there is none, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from pyiceberg.manifest import DataFile, DataFileContent
from pyiceberg.types import NestedField

from dbt.adapters.icebergmv.maintenance.catalog.column_bounds import column_domain
from dbt.adapters.icebergmv.maintenance.predicates.domain import Value

ChangedFile: TypeAlias = tuple[DataFile, bool]
"""A file, and whether it came (True) or went."""

_MOST_BOUNDS = 2_000
"""Bounds of so many columns of files are decoded in a hundredth of a second."""


def columns_that_differ(files: Sequence[ChangedFile], columns: Sequence[NestedField]) -> frozenset[str]:
    """Return the names of the columns of which files that came and files that went show other values.

    All of them, where the numbers of rows differ; none where rows were deleted by delete files, which have no metrics
    of columns.
    """
    if len(files) * len(columns) > _MOST_BOUNDS or any(file.content != DataFileContent.DATA for file, _ in files):
        return frozenset()
    came, went = ({file.file_path: file for file, is_new in files if is_new is side} for side in (True, False))
    added = [file for path, file in came.items() if path not in went]
    removed = [file for path, file in went.items() if path not in came]
    if _rows(added) != _rows(removed):
        return frozenset(c.name for c in columns)
    return frozenset(c.name for c in columns if _differ(_metrics(added, c), _metrics(removed, c)))


def _rows(files: Iterable[DataFile]) -> int:
    return sum(file.record_count for file in files)


_Metrics: TypeAlias = tuple[Value | None, Value | None, int] | None
"""The lowest and the highest value of a column, and how often it is NULL; None where some file does not say it."""


def _metrics(files: Sequence[DataFile], column: NestedField) -> _Metrics:
    low, high, nulls = None, None, 0
    for file in files:
        domain, count = column_domain(file, column), (file.null_value_counts or {}).get(column.field_id)
        if domain is None or count is None:
            return None
        nulls += count
        for values in domain.ranges:
            low = values.low if low is None else min(low, values.low)  # type: ignore[type-var]
            high = values.high if high is None else max(high, values.high)  # type: ignore[type-var]
    return low, high, nulls


def _differ(came: _Metrics, went: _Metrics) -> bool:
    return came is not None and went is not None and came != went
