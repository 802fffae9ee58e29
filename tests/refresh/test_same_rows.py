"""A refresh that wrote the rows again that were stored publishes nothing but its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import pytest

from dbt.adapters.icebergmv.maintenance.errors import SparkLost
from dbt.adapters.icebergmv.maintenance.refresh.same_rows import SAME_ROWS, difference_query
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import STORAGE_SNAPSHOT_ID
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from tests.refresh.refreshes import COUNTED, STORAGE, VIEW, Model, Stage, sell
from tests.support.recording_spark import RecordingSpark
from tests.support.rivals import Interrupted

ROWS = Model(config={"partition_by": ()})
"""Its rows are deleted and inserted: the recorder replaces none by an INSERT."""


@dataclass
class Comparing(RecordingSpark):
    """Finds the rows that were written to be the same ones as before, or fails to compare them."""

    error: Exception | None = None

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        if not sql.startswith("SELECT 1 FROM (SELECT /*+ COALESCE(1) */"):
            return super().__call__(sql)
        self.said.append(sql)
        if self.error is not None:
            raise self.error
        return []


@dataclass
class Dying(Comparing):
    """Dies before a statement."""

    left: int = 0

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return super().__call__(sql)


def stale(stage: Stage) -> None:
    stage.refresh(ROWS)
    sell("EU", None)(stage.tables())


def comparing(stage: Stage, error: Exception | None = None) -> Comparing:
    return Comparing(stage.catalog, ROWS.columns, error=error)


def test_the_rows_of_before_stay(stage: Stage) -> None:
    stale(stage)
    before = stage.catalog.view(*VIEW[1:])
    result, said = stage.refresh(ROWS, comparing(stage))
    after = stage.catalog.view(*VIEW[1:])
    assert result.kind == "overwrite"
    assert result.reason.endswith(f"; {SAME_ROWS}")
    assert (result.rows_written, result.rows_deleted, result.stale_partitions) == (0, 0, 0)
    assert before is not None and after is not None and after.sql == before.sql
    assert after.properties[STORAGE_SNAPSHOT_ID] == before.properties[STORAGE_SNAPSHOT_ID]
    assert not any("fast_forward" in statement for statement in said)
    assert not any("VIEW" in statement.partition("`")[0] for statement in said if not statement.startswith("ALTER"))
    assert len(after.versions) == len(before.versions), "a version more would be one less to go back to"
    assert len(stage.tables()[STORAGE[2]].metadata.refs) == 2, "main, and the branch that keeps what is read"
    assert stage.refresh(ROWS)[0].kind == "none"


def test_killed_anywhere_the_next_refresh_computes_them_again(stage: Stage) -> None:
    stale(stage)
    for left in range(100):
        try:
            stage.refresh(ROWS, Dying(stage.catalog, ROWS.columns, left=left))
        except KeyboardInterrupt:
            continue
        break
    assert 4 < left < 15
    assert stage.refresh(ROWS)[0].kind == "none"


@dataclass
class InterruptedComparing(Interrupted, Comparing):
    """Finds the same rows, and something happens before a statement."""


def test_what_the_view_reads_keeps_a_branch(stage: Stage) -> None:
    """Another refresh may publish its rows between the last look at the storage table and the view of this one."""
    stale(stage)

    def drop_branches() -> None:
        table = stage.tables()[STORAGE[2]]
        for name in [*table.metadata.refs]:
            if name != "main":
                table.manage_snapshots().remove_branch(name).commit()

    spark = InterruptedComparing(stage.catalog, ROWS.columns, begins="ALTER VIEW", happens=drop_branches)
    stage.refresh(ROWS, spark)
    found, refs = stage.catalog.view(*VIEW[1:]), stage.tables()[STORAGE[2]].metadata.refs
    assert found is not None
    assert [str(ref.snapshot_id) for name, ref in refs.items() if name != "main"] == [
        found.properties[STORAGE_SNAPSHOT_ID]
    ]


def test_rows_that_another_refresh_publishes_meanwhile_do_not_get_the_state_of_these(stage: Stage) -> None:
    stale(stage)
    spark = InterruptedComparing(stage.catalog, ROWS.columns, begins="ALTER VIEW", happens=lambda: stage.refresh(ROWS))
    result, _ = stage.refresh(ROWS, spark)
    assert (result.kind, result.rows_written) == ("full", 1)
    assert stage.refresh(ROWS)[0].kind == "none"


def test_a_branch_that_cannot_be_dropped_now_is_left(stage: Stage) -> None:
    stale(stage)

    def other_commit() -> NoReturn:
        raise RuntimeError("org.apache.iceberg.exceptions.CommitFailedException: Table metadata refresh is required")

    spark = InterruptedComparing(
        stage.catalog, ROWS.columns, begins="ALTER TABLE `lake`.`ns`.`__mv_storage__sales` DROP"
    )
    spark.happens = other_commit
    result, said = stage.refresh(ROWS, spark)
    assert result.reason.endswith(f"; {SAME_ROWS}")
    assert len([statement for statement in said if statement.startswith("INSERT")]) == 1


def test_rows_that_cannot_be_compared_are_published(stage: Stage) -> None:
    stale(stage)
    result, said = stage.refresh(ROWS, comparing(stage, RuntimeError("out of memory")))
    assert result.rows_written == 1
    assert any("fast_forward" in statement for statement in said)


def test_if_spark_is_gone_nothing_is_published(stage: Stage) -> None:
    stale(stage)
    with pytest.raises(SparkLost):
        stage.refresh(ROWS, comparing(stage, SparkLost("gone")))
    assert stage.refresh(ROWS)[0].kind == "overwrite"


@pytest.mark.parametrize(
    "model", [COUNTED, Model(config={"partition_by": ("region",)})], ids=["SELECT", "partition_by"]
)
def test_what_is_made_anew_is_not_compared(model: Model, stage: Stage) -> None:
    stage.refresh(ROWS)
    result, said = stage.refresh(model, Comparing(stage.catalog, model.columns))
    assert result.rows_written == 1
    assert not any("icebergmv_sign" in statement for statement in said)


def test_the_query_of_the_difference(stage: Stage) -> None:
    stage.refresh(ROWS)
    table = stage.tables()[STORAGE[2]]
    rows = StoredRows(STORAGE, table, 1), StoredRows(STORAGE, table, 2)
    query = difference_query(*rows, {"day": "date", "x y": "double"}, "`day` = DATE '2024-01-01'")
    read = "SELECT *, {} AS icebergmv_sign FROM (SELECT `day`, `x y` FROM `lake`.`ns`.`__mv_storage__sales`"
    where = " WHERE `day` = DATE '2024-01-01')"
    assert query == (
        "SELECT 1 FROM (SELECT /*+ COALESCE(1) */ * FROM ("
        f"{read.format(1)} VERSION AS OF 2{where} UNION ALL {read.format(-1)} VERSION AS OF 1{where}))"
        " GROUP BY `day`, CAST(`x y` AS string) HAVING sum(icebergmv_sign) <> 0 LIMIT 1"
    )
