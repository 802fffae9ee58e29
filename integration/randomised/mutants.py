"""Planners and detectors that are wrong on purpose; the machine has to find a wrong result with each of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from pyiceberg.manifest import DataFileContent, ManifestEntryStatus
from pyiceberg.table.snapshots import Operation

from dbt.adapters.icebergmv.maintenance.catalog import table_changes
from dbt.adapters.icebergmv.maintenance.catalog.manifests import changed_entries
from dbt.adapters.icebergmv.maintenance.planning import regions
from dbt.adapters.icebergmv.maintenance.planning.choice import planner
from dbt.adapters.icebergmv.maintenance.planning.write import Write
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.refresh import same_rows, statements
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, qualified
from dbt.adapters.icebergmv.maintenance.status import status
from integration.randomised.generator import Focus, generate
from integration.randomised.history import History
from integration.randomised.machine import run_history
from integration.randomised.subject import WrongResult
from integration.support.lake import LakeProject

_SHAPES = frozenset({"filter", "group_by", "distinct"})
_HISTORIES = 12


@dataclass(frozen=True)
class Mutant:
    """A defect, and the histories that it gets wrong: those of the focus that are `wanted`."""

    name: str
    break_it: Callable[[pytest.MonkeyPatch], None]
    focus: Focus
    wanted: Callable[[History], bool] = lambda _: True

    @contextmanager
    def applied(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            self.break_it(patch)
            yield

    def histories(self) -> Iterator[History]:
        """Return the histories in which the defect has to show."""
        made = (generate(f"{self.name}:{number}", self.focus) for number in itertools.count())
        return itertools.islice(filter(self.wanted, made), _HISTORIES)


def _focus(*kinds: str) -> Focus:
    return Focus(_SHAPES, frozenset(kinds), frozenset({"d", "k", "r"}), views=2, rounds=2, storm=False, dbt=0, looks=0)


def killed_by(lake: LakeProject, mutant: Mutant) -> tuple[str, WrongResult] | None:
    """Return the seed of the first history that finds the defect and is right without it, None when none does."""
    for history in mutant.histories():
        try:
            with mutant.applied():
                run_history(lake, history)
        except WrongResult as error:
            run_history(lake, history)
            return history.seed, error
    return None


def _entries(wanted: Callable[[Any], bool]) -> Callable[[pytest.MonkeyPatch], None]:
    """Return a defect: of the entries of changed manifests the detector sees only some."""
    return lambda patch: patch.setattr(table_changes, "changed_entries", lambda *a: filter(wanted, changed_entries(*a)))


def _changes(wrong: Callable[..., Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """Return a defect: `wrong` gets what the detector found, and what it was asked."""
    right = table_changes.change_since
    return lambda patch: patch.setattr(status, "change_since", lambda *asked: wrong(right(*asked), *asked))


def _has_null(entry: Any) -> bool:
    partition = entry.data_file.partition
    return any(partition[i] is None for i in range(len(partition)))


def _first_only(change: Any, *_: Any) -> Any:
    return replace(change, constraints=table_changes.StaleDataConstraints(change.constraints.data_disjuncts[:1]))


def _rollback_is_nothing(change: Any, recorded: Any, now: Any, table: Any, *_: Any) -> Any:
    undone = {s.snapshot_id for s in table_changes.ancestry(table.metadata, recorded.snapshot_id)} - {
        recorded.snapshot_id
    }
    return table_changes.TableChange("fresh", moved=True) if now.snapshot_id in undone else change


def _compaction_is_data(patch: pytest.MonkeyPatch) -> None:
    class NoReplace:
        REPLACE = None
        APPEND = Operation.APPEND

    patch.setattr(table_changes, "Operation", NoReplace)


def _base_filter_without_null(patch: pytest.MonkeyPatch) -> None:
    right = regions.base_filters

    def narrow(disjunct: TupleDomain) -> TupleDomain:
        return TupleDomain.where({key: replace(domain, null=False) for key, domain in disjunct.constraints})

    def wrong(*arguments: Any) -> Any:
        return {index: tuple(map(narrow, disjuncts)) for index, disjuncts in right(*arguments).items()}

    patch.setattr(planner, "base_filters", wrong)


def _emptied_partitions_kept(patch: pytest.MonkeyPatch) -> None:
    """Write as INSERT OVERWRITE does in dynamic mode: only partitions that get rows are replaced."""

    def wrong(storage: Any, branch: str, write: Write, summary: Any) -> list[str]:
        rows, target = write.rows, qualified(*storage, f"branch_{branch}")
        columns = ", ".join(map(identifier, rows.columns))
        return [f"INSERT OVERWRITE {target} SELECT {columns} FROM (\n{rows.query}\n) WHERE {rows.where or 'true'}"]

    patch.setattr(statements, "write_rows", wrong)


def _metrics_say_it_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(same_rows, "difference_query", lambda *_: "SELECT 1 WHERE false")


_ROWS = ("insert", "insert nulls", "delete", "move")
MUTANTS = (
    Mutant(
        "deleted entries are ignored",
        _entries(lambda entry: entry.status != ManifestEntryStatus.DELETED),
        _focus("wipe a partition", "empty"),
    ),
    Mutant("NULL partitions are dropped", _entries(lambda entry: not _has_null(entry)), _focus("insert nulls", "move")),
    Mutant(
        "delete files are ignored",
        _entries(lambda entry: entry.data_file.content == DataFileContent.DATA),
        _focus("delete", "wipe a partition"),
    ),
    Mutant("only the first changed partition", _changes(_first_only), _focus(*_ROWS)),
    Mutant("compaction is data", _compaction_is_data, _focus("compact")),
    Mutant("the filter on the base drops NULL", _base_filter_without_null, _focus("insert nulls")),
    Mutant("emptied partitions are kept", _emptied_partitions_kept, _focus("wipe a partition", "empty")),
    Mutant("a rollback is nothing", _changes(_rollback_is_nothing), _focus("insert", "roll back")),
    Mutant("rows with the same metrics are the same", _metrics_say_it_all, _focus("update", "move")),
)
