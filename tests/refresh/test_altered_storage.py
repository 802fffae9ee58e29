"""A storage table whose columns somebody altered: rows that an incremental refresh kept would be others."""

from __future__ import annotations

from tests.refresh.refreshes import STORAGE, Model, Stage, sell


def test_a_column_that_was_added_again_is_not_written_beside_rows_without_it(stage: Stage) -> None:
    stage.refresh(Model())
    table = stage.tables()[STORAGE[2]]
    kept = table.schema().find_field("total").field_type
    with table.update_schema() as update:
        update.delete_column("total")
    with table.update_schema() as update:
        update.add_column("total", kept)
    assert stage.refresh(Model())[0].kind == "none", "readers see the snapshot with the columns of that time"
    sell("EU")(stage.tables())
    result, _ = stage.refresh(Model())
    assert (result.kind, result.reason) == (
        "full",
        "a column of its storage table was altered by something else than a refresh",
    )
    sell("EU")(stage.tables())
    assert stage.refresh(Model())[0].kind == "overwrite"
