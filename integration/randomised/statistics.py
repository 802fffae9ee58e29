"""What the histories exercised: how often every shape and transform was refreshed in which way, and every change made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

INCREMENTAL = frozenset({"append", "overwrite", "merge"})


@dataclass
class Statistics:
    """Counts over many histories. Refreshes count only where rows of a base table had changed."""

    histories: int = 0
    statements: int = 0
    shapes: Counter[tuple[str, str]] = field(default_factory=Counter)
    transforms: Counter[tuple[str, str]] = field(default_factory=Counter)
    changes: Counter[tuple[str, str]] = field(default_factory=Counter)
    looks: Counter[tuple[str, str]] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)

    def refreshed(self, shape: str, transforms: Iterable[str], kind: str, reason: str) -> None:
        self.shapes[shape, kind] += 1
        for transform in set(transforms):
            self.transforms[transform, kind] += 1
        if kind == "full":
            self.reasons[shape, reason] += 1

    def add(self, other: Statistics) -> None:
        self.histories += other.histories
        self.statements += other.statements
        for mine, theirs in (
            (self.shapes, other.shapes),
            (self.transforms, other.transforms),
            (self.changes, other.changes),
            (self.reasons, other.reasons),
            (self.looks, other.looks),
        ):
            mine.update(theirs)
        self.events.update(other.events)

    def incremental(self, shape: str) -> int:
        return sum(n for (name, kind), n in self.shapes.items() if name == shape and kind in INCREMENTAL)

    def never_incremental(self, shapes: Iterable[str]) -> list[str]:
        """Return the shapes that no history refreshed incrementally."""
        return sorted(s for s in shapes if not self.incremental(s))

    def stitched(self, shape: str) -> int:
        """Return how often stale rows of a shape were known from fresh ones when it was read."""
        return self.looks[f"stitched {shape}", "stitched"]

    def never_stitched(self, shapes: Iterable[str]) -> list[str]:
        return sorted(s for s in shapes if not self.stitched(s))

    def never_applied(self) -> list[str]:
        """Return the kinds of change that Spark refused each time."""
        return sorted({k for k, _ in self.changes} - {k for k, how in self.changes if how == "applied"})

    def summary(self) -> str:
        total = sum(self.shapes.values())
        kinds = Counter[str]()
        for (_, kind), n in self.shapes.items():
            kinds[kind] += n
        lines = [
            f"{self.histories} histories, {self.statements} statements of refreshes, "
            f"{total} refreshes after changes: {_counts(kinds)}",
            f"events: {_counts(self.events)}",
        ]
        for title, table in (
            ("shape", self.shapes),
            ("partitioned by", self.transforms),
            ("change", self.changes),
            ("read", self.looks),
        ):
            lines += ["", f"{title:28} how often"]
            lines += [f"{name:28} {_counts(row)}" for name, row in sorted(_rows(table).items())]
        return "\n".join(lines)


def _rows(table: Counter[tuple[str, str]]) -> dict[str, Counter[str]]:
    rows: dict[str, Counter[str]] = {}
    for (name, kind), n in table.items():
        rows.setdefault(name, Counter())[kind] += n
    return rows


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{kind} {n}" for kind, n in sorted(counter.items())) or "nothing"
