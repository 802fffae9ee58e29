"""What did not pay at the last refreshes of a view in a row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias, get_args

Part: TypeAlias = Literal["questions", "incremental", "whether", "comparison"]
"""A part of a refresh that may not pay: questions after which it is full all the same; an incremental refresh that
takes longer than a full one; the question whether a change reaches the view at all, where it does; the comparison of
the rows that were written with those before, where some are other ones."""


@dataclass(frozen=True)
class Streak:
    """A part did not pay at `times` refreshes in a row; since then `waited` refreshes left it out.

    `rows` is how many rows had to be read of what changed the last time, as `rows_to_ask` counts, and `seconds` what
    could have been saved then.
    """

    rows: int
    seconds: float
    times: int = 1
    waited: int = 0


Streaks: TypeAlias = Mapping[Part, Streak]


def to_json(streaks: Streaks) -> str:
    """Return the text that records streaks; an empty one for none."""
    shown = {part: {**asdict(s), "seconds": round(s.seconds, 1)} for part, s in streaks.items()}
    return json.dumps(shown, sort_keys=True) if shown else ""


def from_json(text: str) -> dict[Part, Streak]:
    """Return what `to_json` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    found = json.loads(text) if text else {}
    return {part: _streak(found[part]) for part in get_args(Part) if part in found}


def _streak(found: Mapping[str, object]) -> Streak:
    rows, seconds, times, waited = (str(found[name]) for name in ("rows", "seconds", "times", "waited"))
    return Streak(int(rows), float(seconds), int(times), int(waited))
