"""The result line of a model: the kind of refresh, why, and how much it wrote."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult
from dbt.adapters.icebergmv.responses import response_of


@pytest.mark.parametrize(
    ("result", "line"),
    [
        ({"kind": "none", "reason": "nothing changed since 07:00"}, "none: nothing changed since 07:00"),
        (
            {"kind": "full", "reason": "first build", "rows_written": 1234},
            "full: first build; 1,234 rows written",
        ),
        (
            {"kind": "append", "reason": "t: 1 partition changed", "rows_written": 1},
            "append: t: 1 partition changed; 1 row written",
        ),
        (
            {
                "kind": "merge",
                "reason": "t: 1 partition changed",
                "rows_written": 3,
                "bytes_written": 700,
                "estimated_bytes": 9,
            },
            "merge: t: 1 partition changed; 3 rows written",
        ),
        (
            {
                "kind": "overwrite",
                "reason": "t: 2 partitions changed",
                "stale_partitions": 2,
                "total_partitions": 11,
                "rows_written": 2,
            },
            "overwrite: 2 of 11 partitions stale (t: 2 partitions changed); 2 rows written",
        ),
        (
            {
                "kind": "overwrite",
                "reason": "t: 1 partition changed",
                "stale_partitions": 1,
                "total_partitions": 1,
            },
            "overwrite: t: 1 partition changed; 0 rows written",
        ),
        (
            {"kind": "overwrite", "reason": "t: 1 day changed", "rows_deleted": 1982},
            "overwrite: t: 1 day changed; 1,982 rows removed",
        ),
        (
            {"kind": "overwrite", "reason": "t: 1 day changed", "rows_written": 1, "rows_deleted": 3},
            "overwrite: t: 1 day changed; 1 row written",
        ),
        (
            {
                "kind": "overwrite",
                "reason": "t: 2 partitions changed",
                "stale_partitions": 21,
                "total_partitions": 21,
                "rows_written": 40,
            },
            "overwrite: all 21 partitions stale (t: 2 partitions changed); 40 rows written",
        ),
        (
            {
                "kind": "overwrite",
                "reason": "t: 1 day changed",
                "stale_partitions": 9,
                "total_partitions": 9,
                "rows_written": 218,
                "total_rows": 4798,
            },
            "overwrite: some rows of all 9 partitions stale (t: 1 day changed); 218 rows written",
        ),
        (
            {"kind": "restitch", "reason": "t: 1 partition changed"},
            "restitch: t: 1 partition changed; nothing recomputed",
        ),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_result_line(result: dict[str, Any], line: str) -> None:
    made = RefreshResult(
        storage_table=("lake", "s", "t"),
        storage_snapshot_id=1,
        base_tables=(),
        stale_read_behavior="use_data_table",
        **result,
    )
    response = response_of(made, 2.5)
    assert (response._message, response.bytes_written) == (line, result.get("bytes_written", 0))
    assert response.estimated_bytes == result.get("estimated_bytes")
