"""What was measured: of one run of a model, and of all rounds of it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

NUMBERS = (
    "files_read",
    "bytes_read",
    "files_written",
    "bytes_written",
    "files_removed",
    "bytes_removed",
    "rows_written",
)


@dataclass(frozen=True)
class Measured:
    """One run of a model. `plan` is what a materialized view did; `numbers` has those of NUMBERS that are known.

    `missing` and `surplus` rows are known where the table was compared with its SELECT.
    """

    seconds: float
    plan: str | None = None
    reason: str | None = None
    numbers: dict[str, int] = field(default_factory=dict)
    missing: int | None = None
    surplus: int | None = None


def result(rounds: Sequence[Measured]) -> dict[str, Any]:
    """Return the medians of several rounds with their spread, as JSON has them.

    Plans of the rounds may differ, so all are named. Wrong rows are the most of any round that was compared.
    """
    seconds = [r.seconds for r in rounds]
    found: dict[str, Any] = {
        "seconds": round(statistics.median(seconds), 3),
        "fastest": round(min(seconds), 3),
        "slowest": round(max(seconds), 3),
        "rounds": len(rounds),
    }
    if rounds[-1].plan is not None:
        found |= {"plans": sorted({str(r.plan) for r in rounds}), "reason": rounds[-1].reason}
    for name in NUMBERS:
        values = [r.numbers[name] for r in rounds if name in r.numbers]
        if values:
            found[name] = round(statistics.median(values))
    compared = [(r.missing, r.surplus) for r in rounds if r.missing is not None and r.surplus is not None]
    if compared:
        found["missing_rows"], found["surplus_rows"] = max(compared, key=sum)
    return found


def wrong_rows(found: dict[str, Any]) -> int | None:
    """Return how many rows of a result are wrong; None if they were not compared."""
    return found["missing_rows"] + found["surplus_rows"] if "missing_rows" in found else None
