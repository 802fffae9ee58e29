"""A small storage table: what is written, and what is said of that, when it is known how many rows are replaced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.refresh.refreshes import Model, Stage, sell
from tests.support.recording_spark import RecordingSpark

SMALL = Model(config={"partition_by": ()})


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    stage.refresh(SMALL)
    sell("EU")(stage.tables())
    yield stage
    stage.close()


def _insert_of(spark: RecordingSpark) -> str:
    (insert,) = (s for s in spark.said if s.startswith("INSERT"))
    return insert


def test_stored_rows_are_written_beside_the_new_ones(stage: Stage) -> None:
    spark = RecordingSpark(stage.catalog, SMALL.columns)
    result, _ = stage.refresh(SMALL, spark)
    insert = _insert_of(spark)
    assert "REPLACE WHERE true SELECT `region`, `total` FROM (" in insert
    assert ") WHERE ((`region` <=> 'EU')) IS NOT TRUE\nUNION ALL\nSELECT `region`, `total` FROM (" in insert
    # One row was stored, and is replaced by the one that the recorder writes.
    assert "`snapshot-property.icebergmv.rows-kept` = '0'" in insert
    assert result.rows_written == 1


def test_where_no_stored_row_is_replaced_new_ones_are_only_added(stage: Stage) -> None:
    spark = RecordingSpark(stage.catalog, SMALL.columns, replaced=0)
    result, _ = stage.refresh(SMALL, spark)
    insert = _insert_of(spark)
    assert "REPLACE WHERE" not in insert
    assert "rows-kept" not in insert
    assert insert.endswith(") WHERE (`region` <=> 'EU')")
    assert (result.rows_written, result.rows_deleted) == (1, 0)
    assert not any(statement.startswith("DELETE") for statement in spark.said)


def test_rows_that_stay_are_not_counted(stage: Stage) -> None:
    stage.refresh(SMALL, RecordingSpark(stage.catalog, SMALL.columns, replaced=0))
    sell("EU")(stage.tables())
    spark = RecordingSpark(stage.catalog, SMALL.columns)
    result, _ = stage.refresh(SMALL, spark)
    assert "`snapshot-property.icebergmv.rows-kept` = '1'" in _insert_of(spark)
    # The recorder writes one row, which would be the one that stays.
    assert result.rows_written == 0
