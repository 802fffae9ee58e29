"""Medians, wrong rows, what runs wrote, and the sentences that sum them up."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyiceberg.table.snapshots import Operation, Snapshot, Summary

from benchmarks.bench.__main__ import as_text, wrong_view
from benchmarks.bench.measured import Measured, result, wrong_rows
from benchmarks.bench.results import choices, fastest_right, sweeps, times_faster, verdict
from benchmarks.bench.written import written


def one(contender: str, seconds: float, *, wrong: int = 0, plan: str | None = None, **more: Any) -> dict[str, Any]:
    place = {"view": "by_day", "change": "delete 1-local", **more}
    plans = {} if plan is None else {"plans": [plan], "reason": "because"}
    return {
        **place,
        "contender": contender,
        "seconds": seconds,
        "fastest": seconds,
        "slowest": seconds,
        "missing_rows": wrong,
        "surplus_rows": 0,
        **plans,
    }


def snapshot(number: int, parent: int | None, **summary: str) -> Snapshot:
    named = {key.replace("_", "-"): value for key, value in summary.items()}
    return Snapshot(
        snapshot_id=number,
        parent_snapshot_id=parent,
        sequence_number=number,
        timestamp_ms=number,
        manifest_list="list",
        summary=Summary(Operation.OVERWRITE, **named),
    )


def test_medians_with_their_spread() -> None:
    rounds = [
        Measured(3.0, "merge", "a", {"bytes_read": 10}, missing=1, surplus=2),
        Measured(1.0, "full", "b", {"bytes_read": 30}),
        Measured(2.0, "merge", "c", {"bytes_read": 20}, missing=0, surplus=0),
    ]
    found = result(rounds)
    assert (found["seconds"], found["fastest"], found["slowest"], found["rounds"]) == (2.0, 1.0, 3.0, 3)
    assert found["plans"] == ["full", "merge"]
    assert found["bytes_read"] == 20
    assert "bytes_removed" not in found
    assert (found["missing_rows"], found["surplus_rows"]) == (1, 2)
    assert wrong_rows(found) == 3


def test_rows_that_were_not_compared_are_not_right() -> None:
    found = result([Measured(1.0)])
    assert wrong_rows(found) is None
    assert "plans" not in found


def test_what_was_written_is_the_sum_over_the_new_snapshots() -> None:
    before = [snapshot(1, None, added_data_files="9", added_files_size="900")]
    after = [
        *before,
        snapshot(2, 1, deleted_data_files="2", removed_files_size="200"),
        snapshot(3, 2, added_data_files="1", added_delete_files="1", added_files_size="150", added_records="7"),
    ]
    assert written(before, after) == {
        "files_written": 2,
        "bytes_written": 150,
        "files_removed": 2,
        "bytes_removed": 200,
        "rows_written": 7,
    }


def test_a_table_made_anew_does_not_say_what_it_dropped() -> None:
    before = [snapshot(1, None, added_data_files="9")]
    found = written(before, [*before, snapshot(2, None, added_data_files="9", added_files_size="900")])
    assert found == {"files_written": 9, "bytes_written": 900, "rows_written": 0}


def test_the_fastest_with_wrong_rows_does_not_win() -> None:
    found = [one("auto", 2.0, plan="merge"), one("rebuild", 3.0), one("lookback", 1.0, wrong=1)]
    cell = {r["contender"]: r for r in found}
    assert fastest_right(cell) == "auto"
    assert times_faster(cell) == 1.5
    assert fastest_right({**cell, "rebuild": one("rebuild", 1.5)}) == "rebuild"


@pytest.mark.parametrize(
    ("auto", "incremental", "full", "best", "times"),
    [
        (("merge", 2.0), ("merge", 1.0), ("full", 1.5), "merge", 1.0),
        (("full", 2.0), ("merge", 1.0), ("full", 1.5), "merge", 1.5),
        (("none", 0.1), ("none", 0.2), ("full", 1.5), "none", 1.0),
    ],
)
def test_policies_that_took_the_same_plan_are_one_plan(
    auto: tuple[str, float], incremental: tuple[str, float], full: tuple[str, float], best: str, times: float
) -> None:
    of = {"auto": auto, "incremental": incremental, "full": full}
    found = {"results": [one(policy, seconds, plan=plan) for policy, (plan, seconds) in of.items()]}
    (choice,) = choices(found)
    assert (choice.taken, choice.best, choice.times) == (auto[0], best, times)
    assert choice.is_best == (auto[0] == best)


def test_the_verdict_names_losses() -> None:
    found = {
        "results": [
            one("auto", 2.0, plan="full"),
            one("rebuild", 1.0),
            one("lookback", 0.5, wrong=4),
            one("incremental", 1.0, plan="merge"),
            one("full", 2.0, plan="full"),
        ]
    }
    text = "\n".join(verdict(found))
    assert "faster than the rebuild in 0 of 1 cells" in text
    assert "insert_overwrite, 3 days: wrong rows in 1 of 1 cells" in text
    assert "the best plan in 0 of 1 cells; at worst its plan took 2.00 times" in text
    assert "more than 1.5 times in 1." in text


def test_sizes_are_in_order_and_few_are_no_curve() -> None:
    of_three = [one("auto", s, change=f"update-cow {share}-local") for s, share in ((1, "10"), (2, "0.1"), (3, "1"))]
    of_two = [one("auto", 1, change=f"delete {share}-local") for share in ("1", "10")]
    found = sweeps({"results": [*of_three, *of_two, one("auto", 1, change="none")]})
    assert {key: [share for share, _ in points] for key, points in found.items()} == {
        ("by_day", "update-cow", "local"): [0.1, 1, 10]
    }


def test_the_file_has_one_measurement_a_line_and_is_json() -> None:
    found = {"rows": 5, "machine": {"cores": 2}, "results": [one("auto", 1.0), one("rebuild", 2.0)]}
    text = as_text(found)
    assert json.loads(text) == found
    assert sum('"contender"' in line for line in text.splitlines()) == 2
    assert json.loads(as_text({**found, "results": []}))["results"] == []


def test_a_wrong_view_is_found_and_a_wrong_model_by_hand_is_not_one() -> None:
    assert wrong_view(one("auto", 1.0, wrong=1, plan="merge"))
    assert not wrong_view(one("auto", 1.0, plan="merge"))
    assert not wrong_view(one("lookback", 1.0, wrong=1))
