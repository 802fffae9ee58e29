"""What happened at the last refreshes of a view in a row, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias, get_args

StreakKind: TypeAlias = Literal["asked-in-vain", "dearer-than-full", "reached"]
"""Questions after which the refresh was full all the same; incremental refreshes that took longer than a full one; and
questions whether a change reaches the view at all, which it did."""


@dataclass(frozen=True)
class Streak:
    """The same thing at `times` refreshes in a row; since then `waited` refreshes left out what led to it.

    `rows` is how many rows had to be read of what changed the last time, as `rows_to_ask` counts, and `seconds` what
    could have been saved then.
    """

    rows: int
    seconds: float
    times: int = 1
    waited: int = 0


Streaks: TypeAlias = Mapping[StreakKind, Streak]


def to_json(streaks: Streaks) -> str:
    """Return the text that records streaks; an empty one for none."""
    shown = {kind: {**asdict(s), "seconds": round(s.seconds, 1)} for kind, s in streaks.items()}
    return json.dumps(shown, sort_keys=True) if shown else ""


def from_json(text: str) -> dict[StreakKind, Streak]:
    """Return what `to_json` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    found = json.loads(text) if text else {}
    return {kind: _streak(found[kind]) for kind in get_args(StreakKind) if kind in found}


def _streak(found: Mapping[str, object]) -> Streak:
    rows, seconds, times, waited = (str(found[name]) for name in ("rows", "seconds", "times", "waited"))
    return Streak(int(rows), float(seconds), int(times), int(waited))
