"""Compare a table with the rows that it should have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Difference:
    """How many rows a table lacks, and how many it has that it should not have; a row with a wrong value is both."""

    missing: int
    surplus: int

    @property
    def rows(self) -> int:
        """All rows that are wrong."""
        return self.missing + self.surplus


def differences(wanted: str, columns: Sequence[str], tables: Sequence[str]) -> list[Difference]:
    """Compare several tables with a SELECT, as bags and both ways, in one query; NULLs are equal."""
    named, counts = ", ".join(columns), [f"n{i}" for i in range(len(tables))]
    sides = [f"select {named}, 0 as side from ({wanted})"]
    sides += [f"select {named}, {i} as side from {table}" for i, table in enumerate(tables, 1)]
    surplus = ", ".join(f"count_if(side = {i}) - count_if(side = 0) as n{i - 1}" for i in range(1, len(tables) + 1))
    totals = ", ".join(f"sum(greatest(-{n}, 0)), sum(greatest({n}, 0))" for n in counts)
    grouped = f"select {surplus} from ({' union all '.join(sides)}) group by {named}"
    (row,) = SparkSession.active().sql(f"select {totals} from ({grouped})").collect()
    numbers = [int(value or 0) for value in row]
    return [Difference(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
