"""What it cost to ask changed rows what they reach, where the refresh was full all the same."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class VainQuestions:
    """Questions after which the last refreshes were full all the same.

    `rows` is how many rows the last questions had to read, as `rows_to_ask` counts, and `seconds` how long they took.
    They were in vain `times` times in a row. Since then `waited` refreshes were full without a question.
    """

    rows: int
    seconds: float
    times: int = 1
    waited: int = 0

    def to_json(self) -> str:
        """Return the text that records them."""
        return json.dumps({**asdict(self), "seconds": round(self.seconds, 1)})

    @classmethod
    def from_json(cls, text: str) -> VainQuestions:
        """Return what `to_json` wrote. Raises ValueError, KeyError or TypeError for anything else."""
        found = json.loads(text)
        return cls(int(found["rows"]), float(found["seconds"]), int(found["times"]), int(found["waited"]))
