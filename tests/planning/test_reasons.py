"""What changed, in words: partitions, rows or files."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import what_changed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (TableChange("stale", changed_partitions=2, unit="day"), "2 days changed"),
        (TableChange("stale", changed_partitions=1, unit="day", appended_since=1, appended_rows=5), "1 day changed"),
        (TableChange("stale", changed_partitions=2, unit="day", is_whole=True), "2 days changed"),
        (TableChange("stale", changed_partitions=4, unit="file"), "4 files changed"),
        (TableChange("stale", changed_partitions=2, unit="file", appended_since=1, appended_rows=1), "1 row appended"),
        (TableChange("stale", changed_partitions=2, unit="file", is_whole=True), "all rows written again"),
    ],
)
def test_what_changed(change: TableChange, words: str) -> None:
    assert what_changed(change) == words
