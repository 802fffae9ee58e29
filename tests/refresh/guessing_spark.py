"""A RecordingSpark that answers questions at random: what a refresh asks, anything may come back."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.support.recording_spark import RecordingSpark

_COMPARES = "SELECT 1 FROM (SELECT /*+ COALESCE(1) */"
_KEYS = re.compile(r"SELECT DISTINCT .*? AS k(?P<last>\d+) FROM", re.DOTALL)


@dataclass
class GuessingSpark(RecordingSpark):
    """`asked` are the questions that it answered. `has_changes`: it refused to merge, so that something changed."""

    choices: random.Random = field(default_factory=random.Random)
    asked: list[str] = field(default_factory=list)
    has_changes: bool = False

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        if not sql.startswith(("SELECT DISTINCT", "SELECT 1 FROM", "SELECT approx_count")):
            # The reason that is recorded may name it, too.
            refuses = sql.startswith("INSERT") and "raise_error(concat('icebergmv_not_merged" in sql
            if refuses and self.choices.random() < 0.3:
                self.has_changes = True
                raise RuntimeError("icebergmv_not_merged sum")
            return super().__call__(sql)
        # Whether the rows written are those of before is no question about the plan.
        if not sql.startswith(_COMPARES):
            self.asked.append(sql)
        fate = self.choices.random()
        if fate < 0.15:
            raise RuntimeError("Spark fails")
        if not self.has_changes and fate < 0.5:
            return []
        if not sql.startswith("SELECT DISTINCT"):
            return [(1,)]
        keys = _KEYS.match(sql)
        width = 1 if keys is None else int(keys["last"]) + 1
        return [(None,) * width] if fate < 0.9 else [(None,) * width] * 2001
