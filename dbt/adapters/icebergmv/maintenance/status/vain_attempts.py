"""What it cost to compute less than everything, where a full refresh would have taken less time."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias, get_args

Attempt: TypeAlias = Literal["asked", "written"]
"""Questions about what changed, or the refresh that wrote only that."""


@dataclass(frozen=True)
class VainAttempts:
    """Refreshes in a row that were slower than a full one, because they tried to compute less.

    `rows` is how many rows the last one had to ask, as `rows_to_ask` counts. `seconds` is what it lost: the time of its
    questions where it was full all the same (`asked`), or how much longer than a full refresh it took (`written`).
    There were `times` such refreshes in a row. Since then `waited` refreshes were full without an attempt.
    """

    rows: int
    seconds: float
    times: int = 1
    waited: int = 0
    attempt: Attempt = "asked"

    def to_json(self) -> str:
        """Return the text that records them."""
        return json.dumps({**asdict(self), "seconds": round(self.seconds, 1)})

    @classmethod
    def from_json(cls, text: str) -> VainAttempts:
        """Return what `to_json` wrote. Raises ValueError, KeyError or TypeError for anything else."""
        found = json.loads(text)
        if found["attempt"] not in get_args(Attempt):
            raise ValueError(f"no attempt {found['attempt']!r}")
        return cls(
            int(found["rows"]),
            float(found["seconds"]),
            int(found["times"]),
            int(found["waited"]),
            found["attempt"],
        )
