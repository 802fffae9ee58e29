"""How often each shape of view was refreshed incrementally, and why it was not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from dbt.adapters.icebergmv.maintenance.planning.plan import Overwrite
from tests.randomised.grammar import CLOCK
from tests.randomised.histories import Refreshed
from tests.randomised.views import View


class Tally:
    """Counts refreshes that had something to do, per shape whose tables hold all that changed.

    `clock` counts all refreshes before which nothing but the clock moved, `added` overwrites that add rows besides.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, Counter[str]] = defaultdict(Counter)
        self.reasons: dict[str, Counter[str]] = defaultdict(Counter)
        self.histories = 0
        self.refreshes: Counter[str] = Counter()
        self.clock: Counter[str] = Counter()
        self.added = 0

    def add(self, view: View, refreshes: Iterable[Refreshed]) -> None:
        """Count the refreshes of one history."""
        self.histories += 1
        for refreshed in refreshes:
            self.refreshes[refreshed.plan.kind] += 1
            self.clock[refreshed.plan.kind] += refreshed.changed == {CLOCK}
            self.added += isinstance(refreshed.plan, Overwrite) and bool(refreshed.plan.added)
            if refreshed.plan.kind == "none":
                continue
            for shape, tables in view.shapes:
                if refreshed.changed <= tables:
                    self.kinds[shape][refreshed.plan.kind] += 1
                    if refreshed.plan.kind == "full":
                        self.reasons[shape][_general(refreshed.plan.reason)] += 1

    def incremental(self, shape: str) -> int:
        """Return how many refreshes of the shape were not full."""
        found = self.kinds[shape]
        return found.total() - found["full"]

    def table(self) -> str:
        """Return a table for people: shape, incremental and full refreshes, the commonest reason of the latter."""
        lines = [f"{'shape':58} {'incr.':>6} {'full':>6}  commonest reason for full"]
        for shape in sorted(self.kinds):
            reason = self.reasons[shape].most_common(1)
            full = self.kinds[shape]["full"]
            lines.append(f"{shape:58} {self.incremental(shape):6} {full:6}  {reason[0][0] if reason else ''}")
        refreshes = ", ".join(f"{n} {kind}" for kind, n in sorted(self.refreshes.items()))
        clock = ", ".join(f"{n} {kind}" for kind, n in sorted(self.clock.items()) if n)
        histories = f"{self.histories} histories: {refreshes}; rows were added besides by {self.added} overwrites"
        return "\n".join([*lines, histories, f"the clock alone moved: {clock}"])


def _general(reason: str) -> str:
    words = ("T" if w.rstrip(":") in ("t0", "t1", "t2", "t3") else w for w in reason.split())
    return " ".join(words)[:90]
