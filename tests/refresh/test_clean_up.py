"""What is cleared away after a view is published."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import drop_unneeded_branches, new_branch_name
from tests.refresh.refreshes import Stage, sell

TABLE = ("lake", "ns", "orders")


def clear_away(stage: Stage, error: str) -> list[str]:
    """Clear away a branch that nobody reads while Spark answers with an error; return what Spark was given."""
    table = stage.catalog.iceberg.load_table("ns.orders")
    table.manage_snapshots().create_branch(table.metadata.current_snapshot_id or 0, new_branch_name()).commit()
    sell("EU")(stage.tables())
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        raise RuntimeError(error)

    drop_unneeded_branches(Lake(stage.catalog, spark), TABLE, None)
    return said


def test_a_commit_of_another_refresh_that_came_first_is_no_error(stage: Stage) -> None:
    """The rows are published; the next refresh clears away."""
    said = clear_away(stage, "org.apache.iceberg.exceptions.CommitFailedException: Table metadata refresh is required")
    assert [s.split("`icebergmv_")[0] for s in said] == ["ALTER TABLE `lake`.`ns`.`orders` DROP BRANCH IF EXISTS "]


def test_any_other_error_is_seen(stage: Stage) -> None:
    with pytest.raises(RuntimeError, match="disk full"):
        clear_away(stage, "java.io.IOException: disk full")
