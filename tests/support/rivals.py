"""Rivals that act while the job of a statement runs: after Spark planned it, before its commit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.support.recording_spark import RecordingSpark

_BRANCH = re.compile(r"`lake`\.(?:system\.\w+\(table => '`lake`\.)?`ns`\.`(\w+)`.*?(?:`branch_|branch => ')(\w+)")


@dataclass
class Interrupted(RecordingSpark):
    """Something happens before the first statement that begins in some way."""

    begins: str = ""
    happens: Callable[[], object] | None = None

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        self.interrupt(sql)
        return super().__call__(sql)

    def interrupt(self, sql: str) -> None:
        """Let it happen, if it has not, and the statement begins so."""
        if self.happens is not None and sql.startswith(self.begins):
            happens, self.happens = self.happens, None
            happens()


class InterruptedAfter(Interrupted):
    """Something happens after the first statement that begins in some way, which does not see it."""

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        found = RecordingSpark.__call__(self, sql)
        self.interrupt(sql)
        return found


@dataclass
class BesideARival(RecordingSpark):
    """A rival acts during the first statement that holds some words.

    As Iceberg does it (SnapshotUtil.latestSnapshot), a commit to a branch that was dropped meanwhile makes the branch
    again, on top of main.
    """

    words: str = ""
    rival: Callable[[], object] = lambda: None
    dropped: list[str] = field(default_factory=list)
    has_met: bool = False

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        if self.words in sql and not self.has_met:
            self.has_met = True
            found = _BRANCH.search(sql)
            assert found is not None, sql
            name, branch = found.groups()
            assert branch in self.catalog.iceberg.load_table(f"ns.{name}").metadata.refs
            self.rival()
            table = self.catalog.iceberg.load_table(f"ns.{name}")
            if branch not in table.metadata.refs:
                self.dropped.append(branch)
                head = table.metadata.current_snapshot_id
                assert head is not None
                table.manage_snapshots().create_branch(head, branch).commit()
        return super().__call__(sql)
