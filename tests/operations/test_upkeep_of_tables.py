"""The upkeep of a view that is a table: its state is never lost, whatever is compacted and expired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone

import pyarrow as pa
import pytest
from pyiceberg.io.pyarrow import schema_to_pyarrow

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.upkeep import Upkeep, UpkeepOptions, upkeep
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import TableView, found_view
from tests.refresh.refreshes import ROWS, VIEW, Stage, sell
from tests.support.recording_spark import RecordingSpark, committed_as

NOW = datetime.now(timezone.utc)
TABLE_ROWS = replace(ROWS, config={"layout": "table"})


def grow(stage: Stage, times: int) -> None:
    """Refresh the view after each of some changes."""
    for _ in range(times):
        sell("EU")({"orders": stage.tables()["orders"]})
        stage.refresh(TABLE_ROWS)


def keep(stage: Stage, *, dry_run: bool = False) -> tuple[Upkeep, list[str]]:
    spark = RecordingSpark(stage.catalog, ROWS.columns)
    return upkeep(Lake(stage.catalog, spark), VIEW, UpkeepOptions(dry_run=dry_run), NOW), spark.said


def as_table(stage: Stage) -> TableView:
    found = found_view(stage.catalog, VIEW)
    assert isinstance(found, TableView)
    return found


def committed_of_others(stage: Stage, operation: str) -> None:
    """Commit to the table that is the view, with no rows."""
    table = stage.tables()[VIEW[2]]
    table.append(pa.Table.from_pylist([], schema=schema_to_pyarrow(table.schema())))
    committed_as(table, operation)


def test_a_view_that_is_a_table_is_compacted_and_keeps_its_state(stage: Stage) -> None:
    grow(stage, 7)
    before = as_table(stage)
    assert keep(stage, dry_run=True)[1] == []
    done, said = keep(stage)
    assert (done.storage_table, done.compacted_files, done.note, done.error) == ("lake.ns.sales", 6, None, None)
    assert [" ".join(s.split("(")[0].split("`")[0].split()) for s in said] == [
        "ALTER TABLE",
        "CALL",
        "INSERT INTO",
        "CALL",
        "ALTER TABLE",
    ]
    assert said[2].endswith(" WHERE false")
    after = as_table(stage)
    head = stage.tables()[VIEW[2]].metadata.current_snapshot_id
    assert (after.recorded_in, after.foreign) == (head, None)
    state, was = (read_state("v", found.properties) for found in (after, before))
    assert state == replace(was, storage_snapshot_id=head or 0)
    assert stage.refresh(TABLE_ROWS)[1] == []
    sell("EU")(stage.tables())
    assert stage.refresh(TABLE_ROWS)[0].kind == "append"


@pytest.mark.long
def test_a_compacted_table_is_left_alone_while_it_is_young(stage: Stage) -> None:
    model = replace(TABLE_ROWS, config={**TABLE_ROWS.config, "target_lag": 3600})
    grow(stage, 6)
    keep(stage)
    sell("EU")(stage.tables())
    assert stage.refresh(model)[0].reason.startswith("refreshed")


def test_what_an_expiry_must_leave_is_above_the_compactions_of_others(stage: Stage) -> None:
    """The state would be lost with the snapshots between it and main, which no branch names."""
    grow(stage, 2)
    committed_of_others(stage, "replace")
    committed_of_others(stage, "replace")
    assert as_table(stage).recorded_in != stage.tables()[VIEW[2]].metadata.current_snapshot_id
    assert keep(stage, dry_run=True)[1] == []
    done, said = keep(stage)
    assert (done.error, done.data_files_after) == (None, None)
    assert sum(s.endswith(" WHERE false") for s in said) == 1
    table = stage.tables()[VIEW[2]]
    assert as_table(stage).recorded_in == table.metadata.current_snapshot_id
    assert {ref.snapshot_id for ref in table.metadata.refs.values()} == {table.metadata.current_snapshot_id}
    assert keep(stage)[1] == []
    assert stage.refresh(TABLE_ROWS)[1] == []


def test_a_table_with_rows_of_others_is_not_maintained(stage: Stage) -> None:
    grow(stage, 6)
    committed_of_others(stage, "append")
    done, said = keep(stage)
    assert said == []
    assert (done.error or "").startswith("its table was written (append) by something else than a refresh")


def test_a_refresh_of_a_table_wins_over_its_compaction(stage: Stage) -> None:
    grow(stage, 6)
    sell("US")(stage.tables())

    class Raced(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            if "fast_forward" in sql:
                assert stage.refresh(TABLE_ROWS)[0].kind == "append"
                raise RuntimeError("Cannot fast-forward: main is not an ancestor of the branch")
            return super().__call__(sql)

    done = upkeep(Lake(stage.catalog, Raced(stage.catalog, ROWS.columns)), VIEW, UpkeepOptions(), NOW)
    assert (done.note, done.error) == ("not compacted: the view or its table was changed meanwhile", None)
    assert stage.refresh(TABLE_ROWS)[0].kind == "none"


@pytest.mark.long
def test_a_table_that_cannot_be_compacted_is_recorded_at_most(stage: Stage) -> None:
    grow(stage, 6)

    class Idle(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            return [] if "rewrite_data_files" in sql else super().__call__(sql)

    done = upkeep(Lake(stage.catalog, Idle(stage.catalog, ROWS.columns)), VIEW, UpkeepOptions(), NOW)
    assert (done.compacted_files, done.data_files_after, done.note, done.error) == (0, None, None, None)
    assert stage.refresh(TABLE_ROWS)[1] == []
