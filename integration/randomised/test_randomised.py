"""Random histories on real Spark, and wrong planners that they have to find."""

from __future__ import annotations

import os

import pytest

from integration.randomised.generator import EVERYTHING, generate
from integration.randomised.history import BEHAVIORS, LITERAL, Change, Crash, History, Look, Refresh, View
from integration.randomised.machine import run_history
from integration.randomised.mutants import MUTANTS, Mutant, killed_by
from integration.randomised.operation_mutants import OPERATION_MUTANTS
from integration.randomised.soak import failure
from integration.randomised.statistics import Statistics
from integration.randomised.stitching_mutants import STITCHING_MUTANTS
from integration.randomised.subject import WrongResult
from integration.randomised.tables import COLUMN_LIST, Table
from integration.support.lake import LakeProject

AT_MOST = 6


def test_random_histories(lake: LakeProject) -> None:
    """The same histories each time; ICEBERGMV_SEED=<seed> runs others and ICEBERGMV_SEED=<seed>:<number> one of them.

    `make soak` looks for new ones.
    """
    seed = os.environ.get("ICEBERGMV_SEED") or "111"
    print(f"\nICEBERGMV_SEED={seed}")
    statistics, number = Statistics(), 0
    while number < AT_MOST and not _read_in_every_way(statistics):
        history = generate(seed if ":" in seed else f"{seed}:{number}", EVERYTHING)
        try:
            run_history(lake, history, statistics)
        except WrongResult as error:
            pytest.fail(failure(lake, history, error, seconds=90), pytrace=False)
        number += 1
        if ":" in seed:
            break
    print(statistics.summary())
    assert statistics.shapes, "no view was refreshed after a change"
    assert ":" in seed or _read_in_every_way(statistics), "some behaviour was not read between refreshes"


def _read_in_every_way(statistics: Statistics) -> bool:
    read = {way for way, _ in statistics.looks}
    return read >= {*BEHAVIORS, LITERAL} and ("use_stitching", "stitched") in statistics.looks


def test_view_over_a_view_whose_refresh_died_before_it_was_published(lake: LakeProject) -> None:
    row = "({}, 1, NULL, NULL, NULL, NULL, 1, NULL, NULL)"
    table = Table("a", ("k",), 2, "merge-on-read", (row.format(1),))
    insert = Change("insert", "a", (f"INSERT INTO {{t}} ({COLUMN_LIST}) VALUES {{rows}}",), (row.format(2),))
    views = (View("group_by"), View("over_view"))
    looks = [Look("over_view", behavior) for behavior in ("use_view_query", "use_stitching", LITERAL)]
    statistics = Statistics()
    run_history(lake, History("died", "k", (table,), views, (Refresh(), insert, Crash(0, 6, True), *looks)), statistics)
    assert statistics.looks["stitched over_view", "whole"] == 1, "the refresh died before it moved the storage table"


IN_EVERY_RUN = ("NULL partitions are dropped",)
WRONG = [
    pytest.param(m, id=m.name.replace(" ", "_"), marks=() if m.name in IN_EVERY_RUN else pytest.mark.long)
    for m in (*MUTANTS, *STITCHING_MUTANTS, *OPERATION_MUTANTS)
]


@pytest.mark.parametrize("mutant", WRONG)
def test_wrong_planner_is_found(lake: LakeProject, mutant: Mutant) -> None:
    found = killed_by(lake, mutant)
    assert found is not None, f"no history finds it: {mutant.name}"
    print(f"\n{mutant.name}: {found[0]}: {found[1]}")
