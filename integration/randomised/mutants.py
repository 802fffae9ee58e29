"""Planners and detectors that are wrong on purpose; the machine has to find a wrong result with each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from pyiceberg.manifest import DataFileContent, ManifestEntryStatus

from dbt.adapters.icebergmv.maintenance import planner, render, snapshots
from dbt.adapters.icebergmv.maintenance.sql import identifier, qualified
from integration.lake import Lake
from integration.randomised.generator import Focus, generate
from integration.randomised.machine import run_history
from integration.randomised.subject import WrongResult

_SHAPES = frozenset({"filter", "group_by", "distinct"})
_HISTORIES = 12


@dataclass(frozen=True)
class Mutant:
    """A defect, and the kinds of change that it gets wrong."""

    name: str
    break_it: Callable[[pytest.MonkeyPatch], None]
    kinds: frozenset[str]

    @contextmanager
    def applied(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            self.break_it(patch)
            yield

    @property
    def focus(self) -> Focus:
        return Focus(_SHAPES, self.kinds, frozenset({"d", "k", "r"}), views=2, rounds=2, storm=False, dbt=0)


def killed_by(lake: Lake, mutant: Mutant) -> tuple[str, WrongResult] | None:
    """Return the seed of the first history that finds the defect and is right without it, None when none does."""
    for number in range(_HISTORIES):
        history = generate(f"{mutant.name}:{number}", mutant.focus)
        try:
            with mutant.applied():
                run_history(lake, history)
        except WrongResult as error:
            run_history(lake, history)
            return history.seed, error
    return None


def _changed_files(wanted: Callable[[Any], bool], compactions: bool = False) -> Callable[[pytest.MonkeyPatch], None]:
    """Return a detector that sees only some entries of the manifests."""

    def changed_files(table: Any, snapshot: Any) -> Iterator[Any]:
        if snapshot.summary.operation == snapshots.Operation.REPLACE and not compactions:
            return
        for manifest in snapshot.manifests(table.io):
            if manifest.added_snapshot_id == snapshot.snapshot_id:
                for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False):
                    own = entry.snapshot_id == snapshot.snapshot_id and entry.status != ManifestEntryStatus.EXISTING
                    if own and wanted(entry):
                        yield entry.data_file

    return lambda patch: patch.setattr(snapshots, "_changed_files", changed_files)


def _null_partitions_dropped(patch: pytest.MonkeyPatch) -> None:
    right = snapshots._change_of

    def wrong(table: Any, schema: Any, files: Any) -> Any:
        return right(table, schema, [f for f in files if None not in snapshots._partition_key(f)[1]])

    patch.setattr(snapshots, "_change_of", wrong)


def _first_partition_only(patch: pytest.MonkeyPatch) -> None:
    right = snapshots._change_of

    def wrong(*arguments: Any) -> Any:
        change = right(*arguments)
        first = change.constraints.data_disjuncts[:1]
        return replace(change, constraints=snapshots.StaleDataConstraints(first))

    patch.setattr(snapshots, "_change_of", wrong)


def _base_filter_too_narrow(patch: pytest.MonkeyPatch) -> None:
    right = planner.base_filters
    patch.setattr(planner, "base_filters", lambda *a: {i: disjuncts[:1] for i, disjuncts in right(*a).items()})


def _emptied_partitions_kept(patch: pytest.MonkeyPatch) -> None:
    """Write as INSERT OVERWRITE does in dynamic mode: only partitions that get rows are replaced."""

    def wrong(storage: Any, branch: str, write: render.Write) -> list[str]:
        columns = ", ".join(map(identifier, write.columns))
        target = qualified(*storage, f"branch_{branch}")
        return [f"INSERT OVERWRITE {target} SELECT {columns} FROM (\n{write.query}\n) WHERE {write.query_where}"]

    patch.setattr(render, "write_rows", wrong)


def _undone_snapshots_ignored(patch: pytest.MonkeyPatch) -> None:
    right = snapshots._window

    def wrong(metadata: Any, start: Any, target: Any) -> Any:
        undone = {s.snapshot_id for s in snapshots.ancestry(metadata, start.snapshot_id)}
        window = right(metadata, start, target)
        return None if window is None else [s for s in window if s.snapshot_id not in undone]

    patch.setattr(snapshots, "_window", wrong)


_ROWS = frozenset({"insert", "insert nulls", "delete", "move"})
MUTANTS = (
    Mutant(
        "deleted entries are ignored",
        _changed_files(lambda entry: entry.status == ManifestEntryStatus.ADDED),
        frozenset({"wipe a partition", "move", "insert"}),
    ),
    Mutant("NULL partitions are dropped", _null_partitions_dropped, frozenset({"insert nulls", "move"})),
    Mutant(
        "delete files are ignored",
        _changed_files(lambda entry: entry.data_file.content == DataFileContent.DATA),
        frozenset({"delete", "wipe a partition"}),
    ),
    Mutant("only the first changed partition", _first_partition_only, _ROWS),
    Mutant("compaction is data", _changed_files(lambda _: True, compactions=True), frozenset({"insert", "compact"})),
    Mutant("the filter on the base is too narrow", _base_filter_too_narrow, _ROWS),
    Mutant("emptied partitions are kept", _emptied_partitions_kept, frozenset({"wipe a partition", "delete"})),
    Mutant("undone snapshots are ignored", _undone_snapshots_ignored, frozenset({"insert", "roll back"})),
)
IN_CI = MUTANTS[:2]
