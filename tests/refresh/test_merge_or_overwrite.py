"""Groups are merged where that reads less than to overwrite what partitions say is affected."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt.adapters.icebergmv.maintenance.planning.choice import merge_or_overwrite
from dbt.adapters.icebergmv.maintenance.planning.cost import cost, read_estimate
from tests.refresh.refreshes import Model, Scenario, Stage, sell

INITIALS = Model(
    "SELECT substr(region, 1, 1) AS initial, count(*) AS orders FROM orders GROUP BY substr(region, 1, 1)",
    (("initial", "string"), ("orders", "bigint")),
)
MANY = [f"E{n}" for n in range(20)]


def kind(tmp_path: Path, *regions: str | None, files: int = 1) -> str:
    """Return how the view by initials is refreshed after one order in the first of some regions that had orders.

    `files` is how many files there were of each region.
    """
    stage = Stage(tmp_path)
    for _ in range(files):
        sell(*regions)(stage.tables())
    result, _ = stage.play(Scenario("", "", INITIALS, sell(regions[0]), INITIALS))
    stage.close()
    return result.kind


@pytest.fixture(autouse=True)
def _large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "FEW_ROWS", 0)
    monkeypatch.setattr(cost, "SECONDS_A_QUERY", 0.0)  # Full refreshes take none here.
    monkeypatch.setattr(merge_or_overwrite, "LEAST_SAVED", 1)


def test_groups_are_merged_where_a_region_is_wide(tmp_path: Path) -> None:
    assert kind(tmp_path, *MANY) == "merge"


@pytest.mark.parametrize(("files", "expected"), [(0, "overwrite"), (20, "merge")])
def test_the_stored_rows_of_a_region_count(tmp_path: Path, files: int, expected: str) -> None:
    """The recorder stores a row of NULL, so these are the rows of orders without a region alone."""
    assert kind(tmp_path, None, files=files) == expected


def test_small_tables_are_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "FEW_ROWS", 100)
    assert kind(tmp_path, *MANY) == "overwrite"


def test_stored_rows_are_read_and_written_by_a_merge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_or_overwrite, "WRITTEN_AGAIN", 1000)
    assert kind(tmp_path, None, files=20) == "overwrite"


def test_what_is_read_in_no_time_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_or_overwrite, "LEAST_SAVED", 1_000_000)
    assert kind(tmp_path, *MANY) == "overwrite"


def test_what_cannot_be_counted_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_estimate, "COUNTED_FILES", 2)
    assert kind(tmp_path, *MANY) == "overwrite"
