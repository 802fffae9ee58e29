"""The names of Iceberg's partition transforms, taken apart and put together: `bucket[16]`, `day`, `identity`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.predicates.periods import Period

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
