"""What is expected of a refresh besides its rows: its kind, the files that it leaves, and that the next one rests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from integration.randomised import shapes
from integration.randomised.subject import Recorder, Subject, WrongResult
from integration.randomised.tables import KeyColumn, transform_of

_REPLACED = re.compile(r" REPLACE WHERE (?P<where>.*?) SELECT `", re.DOTALL)
_DELETED = re.compile(r"^DELETE FROM \S+ WHERE (?P<where>.*)$", re.DOTALL)


@dataclass(frozen=True)
class Followed:
    """The views of a history, every partitioning that its tables have had, and the column that the history is about."""

    subjects: Sequence[Subject]
    specs: Mapping[str, list[tuple[str, ...]]]
    key: KeyColumn

    def must_be_incremental(self, subject: Subject) -> bool:
        """Return whether a full refresh would be a silent fallback."""
        if subject.shape.name not in shapes.MUST_BE_INCREMENTAL or not subject.built or subject.broken:
            return False
        return subject.changed <= subject.shape.tracked and all(self._is_followed(subject, t) for t in subject.changed)

    def _is_followed(self, subject: Subject, table: str) -> bool:
        """Return whether every partition of the table, under any of its specs, says something about the view's key."""
        if table == "mv":
            below = next(s for s in self.subjects if s.name == subject.reads["mv"])
            # Derived partitioning leaves floats out.
            is_partitioned = self.key.equates if below.partition_by is None else below.partition_by == ("key",)
            return below.flavour == "{}" and is_partitioned and self._is_followed(below, "a")
        if subject.shape.equates and not self.key.equates:
            return False
        return all(self._says_something(subject, spec) for spec in self.specs[table])

    def _says_something(self, subject: Subject, spec: Sequence[str]) -> bool:
        flavour, transforms = subject.flavour, [t for t, column in map(transform_of, spec) if column == self.key.name]
        if flavour == "{}":
            return bool(transforms)
        if flavour in self.key.followed and any(t in self.key.ranges for t in transforms):
            return True
        computed = flavour in self.key.computed and subject.shape.name in shapes.ONE_EXPRESSION
        return computed and "identity" in transforms


def check_idle(subject: Subject) -> None:
    """Check that a second refresh does nothing, and needs no Spark for it. Raises WrongResult."""
    recorder = Recorder(subject.world.spark)
    again = subject.refresh(recorder)
    if again.kind != "none" or recorder.statements:
        raise WrongResult("second refresh", subject.shape.name, f"{again.kind} ({again.reason}): {recorder.statements}")


def check_untouched(subject: Subject, start: int, statements: Sequence[str]) -> tuple[int, int]:
    """Check that files of the storage without a row in the replaced region are kept as they are.

    Return how many were replaced since the snapshot `start`, and how many kept. Raises WrongResult.
    """
    after = subject.storage_snapshot()
    assert after is not None
    kept, before = subject.storage_files(after), subject.storage_files(start)
    gone = before - kept
    where = next((m["where"] for s in statements if (m := _REPLACED.search(s) or _DELETED.search(s))), None)
    if not gone or start == after:
        return 0, 0
    if where is None:
        raise WrongResult("untouched", subject.shape.name, f"{len(gone)} files replaced by {statements}")
    inside = subject.world.spark(
        f"SELECT _file FROM {subject.world.name(subject.storage)} VERSION AS OF {start} "
        f"GROUP BY _file HAVING max(coalesce({where}, false))"
    )
    needless = gone - {str(row[0]) for row in inside}
    if needless:
        raise WrongResult("untouched", subject.shape.name, f"{len(needless)} files outside {where} were replaced")
    return len(gone), len(before & kept)
