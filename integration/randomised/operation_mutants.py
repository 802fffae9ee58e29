"""Operations that are wrong on purpose: upkeep, rollback and the search for orphans, each to be found by the machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.operations import compaction, orphans, rollback, upkeep
from dbt.adapters.icebergmv.maintenance.refresh import storage_commit
from dbt.adapters.icebergmv.maintenance.refresh.publish import publish_as_found
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import STORAGE_SNAPSHOT_ID
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import state_of_snapshot
from integration.randomised.generator import Focus
from integration.randomised.history import Change, History, Maintain, Rollback, Sweep
from integration.randomised.mutants import Mutant

_FOCUS = Focus(
    frozenset({"filter", "group_by", "distinct"}),
    frozenset({"insert", "insert nulls"}),
    frozenset({"d", "k", "r"}),
    views=2,
    rounds=4,
    dbt=0,
    looks=0,
)


def _later_state_is_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        rollback,
        "state_of_snapshot",
        lambda name, table, _: state_of_snapshot(name, table, table.metadata.current_snapshot_id),
    )


def _published_without_the_snapshot(patch: pytest.MonkeyPatch) -> None:
    def wrong(lake: Any, found: Any, state: Any, *rest: Any) -> None:
        publish_as_found(
            lake, found, replace(state, storage_snapshot_id=int(found.properties[STORAGE_SNAPSHOT_ID])), *rest
        )

    patch.setattr(compaction, "publish_as_found", wrong)


def _published_over_the_files_before(patch: pytest.MonkeyPatch) -> None:
    def wrong(lake: Any, found: Any, state: Any, text: Any, stored: Any) -> None:
        publish_as_found(lake, found, state, replace(text, query=found.sql.strip()), stored)

    patch.setattr(compaction, "publish_as_found", wrong)


def _only_the_last_version_counts(patch: pytest.MonkeyPatch) -> None:
    def wrong(view: Any) -> set[int]:
        return {int(view.properties[STORAGE_SNAPSHOT_ID])}

    patch.setattr(upkeep, "pinned_by", wrong)
    patch.setattr(storage_commit, "pinned_by", wrong)


def _other_views_are_not_asked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(orphans, "all_views", lambda _: [])


def _with(step: type[Maintain | Rollback | Sweep]) -> Any:
    """Return whether a history has such a step, after a change that was refreshed."""

    def wanted(history: History) -> bool:
        return any(isinstance(s, step) for s in history.steps[6:]) and any(isinstance(s, Change) for s in history.steps)

    return wanted


OPERATION_MUTANTS = (
    Mutant("a rollback keeps the later state", _later_state_is_kept, _FOCUS, _with(Rollback)),
    Mutant("a compaction is published without its snapshot", _published_without_the_snapshot, _FOCUS, _with(Maintain)),
    Mutant("a compaction is published over old files", _published_over_the_files_before, _FOCUS, _with(Maintain)),
    Mutant("an expiry forgets kept versions", _only_the_last_version_counts, _FOCUS, _with(Maintain)),
    Mutant("orphans are what their own view does not read", _other_views_are_not_asked, _FOCUS, _with(Sweep)),
)
