"""The upkeep of a view: what is compacted, dropped and expired, and what is left alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.manifest import DataFileContent
from pyiceberg.schema import Schema
from pyiceberg.table.snapshots import Operation
from pyiceberg.types import IntegerType, NestedField

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.compaction import NotCompacted, compacted
from dbt.adapters.icebergmv.maintenance.operations.expiry import expiry, snapshots_read
from dbt.adapters.icebergmv.maintenance.operations.kept_rows import kept_rows
from dbt.adapters.icebergmv.maintenance.operations.small_files import FileCounts, file_counts
from dbt.adapters.icebergmv.maintenance.operations.upkeep import Upkeep, UpkeepOptions, upkeep
from dbt.adapters.icebergmv.maintenance.operations.upkeep_text import upkeep_text
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import keep_versions
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import ROWS, STORAGE, VIEW, Model, Stage, crash, reading, sell
from tests.support.metadata_tables import MetadataTable, file_of
from tests.support.recording_spark import RecordingSpark
from tests.support.shares import one_of

NOW = datetime.now(timezone.utc)


def grow(stage: Stage, model: Model, times: int) -> None:
    """Refresh a view after each of some changes."""
    for _ in range(times):
        sell("EU")(stage.tables())
        stage.refresh(model)


def keep(stage: Stage, *, dry_run: bool = False, now: datetime = NOW) -> tuple[Upkeep, list[str]]:
    spark = RecordingSpark(stage.catalog, ROWS.columns)
    return upkeep(Lake(stage.catalog, spark), VIEW, UpkeepOptions(dry_run=dry_run), now), spark.said


def pinned(stage: Stage) -> int:
    return read_state("v", stage.catalog.views["sales"].properties).storage_snapshot_id


def test_few_files_are_left_alone(stage: Stage) -> None:
    grow(stage, ROWS, 4)
    done, said = keep(stage)
    assert (done.data_files, done.compacted_files, done.data_files_after, said) == (4, 0, None, [])


@pytest.mark.parametrize("model", one_of(2, [ROWS, reading("use_stitching", ROWS)]))
def test_many_files_are_compacted_and_the_view_reads_them(stage: Stage, model: Model) -> None:
    grow(stage, model, 6)
    before, state = stage.catalog.views["sales"], pinned(stage)
    assert keep(stage, dry_run=True)[1] == []
    done, said = keep(stage)
    # Where other tables are read besides, Spark is asked first whether it can, and finds the same ones.
    described = (
        ["SELECT current_catalog", "DESCRIBE QUERY SELECT * FROM "] if "stale_read_behavior" in model.config else []
    )
    assert [statement.split("(")[0].split("`")[0] for statement in said] == [
        *described,
        "ALTER TABLE ",
        "CALL ",
        "CALL ",
        "CREATE OR REPLACE VIEW ",
    ]
    assert (done.data_files, done.compacted_files, done.note, done.error) == (6, 6, None, None)
    after = stage.catalog.views["sales"]
    assert pinned(stage) != state
    assert after.sql == before.sql.replace(str(state), str(pinned(stage)))
    result, said = stage.refresh(model)
    assert (result.kind, said) == ("none", [])


@pytest.mark.long
def test_a_compacted_view_is_left_alone_while_it_is_young(stage: Stage) -> None:
    model = replace(ROWS, config={"target_lag": 3600})
    for _ in range(6):
        sell("EU")(stage.tables())
        stage.ahead += timedelta(hours=1)
        stage.refresh(model)
    assert stage.refresh(model)[0].reason.startswith("refreshed")
    before = stage.catalog.views["sales"].properties
    assert keep(stage)[0].compacted_files == 6
    after = stage.catalog.views["sales"].properties
    assert {k for k in before if before[k] != after[k]} == {"icebergmv.storage-snapshot-id", "icebergmv.checksum"}
    assert pinned(stage) == stage.tables()[STORAGE[2]].metadata.current_snapshot_id
    sell("EU")(stage.tables())
    result, said = stage.refresh(model)
    assert (result.reason.startswith("refreshed"), said) == (True, [])
    stage.ahead += timedelta(hours=1)
    assert stage.refresh(model)[0].kind == "append"


@pytest.mark.long
def test_a_compaction_that_finds_nothing_leaves_no_branch(stage: Stage) -> None:
    grow(stage, ROWS, 6)
    before = stage.tables()[STORAGE[2]].metadata.refs

    class Idle(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            return [] if "rewrite_data_files" in sql else super().__call__(sql)

    done = upkeep(Lake(stage.catalog, Idle(stage.catalog, ROWS.columns)), VIEW, UpkeepOptions(), NOW)
    assert (done.compacted_files, done.note, done.error) == (0, None, None)
    assert stage.tables()[STORAGE[2]].metadata.refs == before


def test_a_stray_head_is_left_to_the_next_refresh(stage: Stage) -> None:
    grow(stage, ROWS, 6)
    crash(stage.tables())
    done, said = keep(stage)
    assert said == []
    assert (done.note or "").startswith("not compacted: its table is not at the rows of the view: a refresh runs, or")
    lake = Lake(stage.catalog, RecordingSpark(stage.catalog, ROWS.columns))
    with pytest.raises(NotCompacted):
        compacted(lake, kept_rows(lake, VIEW), 1)


@pytest.mark.long
def test_rows_are_not_copied_into_columns_that_somebody_altered(stage: Stage) -> None:
    grow(stage, ROWS, 6)
    table = stage.tables()[STORAGE[2]]
    kept = table.schema().find_field("amount").field_type
    with table.update_schema() as update:
        update.delete_column("amount")
    with table.update_schema() as update:
        update.add_column("amount", kept)
    done, said = keep(stage)
    assert [s for s in said if "rewrite_data_files" in s] == []
    assert done.note == "not compacted: the columns of its table were altered; a full refresh mends that"


@pytest.mark.parametrize(
    ("schema", "behavior"), one_of(3, [("other", "use_view_query"), ("ns", "use_view_query"), ("other", "")])
)
def test_names_without_a_schema_keep_their_meaning(stage: Stage, schema: str, behavior: str) -> None:
    """Iceberg would record the namespace of the session, and readers would look there."""
    grow(stage, reading("use_view_query", ROWS) if behavior else ROWS, 6)
    spark = RecordingSpark(stage.catalog, ROWS.columns, schema=schema)
    done = upkeep(Lake(stage.catalog, spark), VIEW, UpkeepOptions(), NOW)
    refused = schema == "other" and behavior != ""
    assert (done.compacted_files, done.error) == (0 if refused else 6, None)
    assert (done.note or "").endswith("in this session. Run `USE lake.ns` before") is refused


def test_rows_stay_where_the_text_over_them_cannot_be_read(stage: Stage) -> None:
    grow(stage, reading("use_stitching", ROWS), 6)

    class Unreadable(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            rows = super().__call__(sql)
            if sql.startswith("DESCRIBE QUERY"):
                raise ValueError("No such struct field id_bucket.")
            return rows

    spark = Unreadable(stage.catalog, ROWS.columns)
    done = upkeep(Lake(stage.catalog, spark), VIEW, UpkeepOptions(), NOW)
    assert (done.compacted_files, done.error, spark.said[0].split(" ")[0], len(spark.said)) == (0, None, "SELECT", 2)
    assert done.note == (
        "not compacted: its SQL cannot be read any more; a refresh mends that. Spark: No such struct field id_bucket"
    )


def test_a_rival_wins(stage: Stage) -> None:
    grow(stage, ROWS, 6)
    sell("US")(stage.tables())

    class Raced(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            rows = super().__call__(sql)
            if "rewrite_data_files" in sql:
                assert stage.refresh(ROWS)[0].kind == "append"
            return rows

    done = upkeep(Lake(stage.catalog, Raced(stage.catalog, ROWS.columns)), VIEW, UpkeepOptions(), NOW)
    assert done.note == "not compacted: the view or its table was changed meanwhile"
    assert stage.refresh(ROWS)[0].kind == "none"


def test_what_was_never_built(stage: Stage) -> None:
    assert keep(stage)[0].error == "it is not built."
    stage.refresh(ROWS)
    view = stage.catalog.views["sales"]
    stage.catalog.views["sales"] = replace(view, sql="SELECT 1")
    assert keep(stage)[0].error == "the view was redefined by hand. Refresh it."


def test_versions_that_are_gone_let_go_of_their_snapshots(stage: Stage) -> None:
    grow(stage, ROWS, 3)
    view = stage.catalog.views["sales"]
    done, said = keep(stage, now=NOW + timedelta(days=2))
    assert (done.dropped_branches, done.expired_snapshots, len(said)) == (0, 0, 1)
    stage.catalog.views["sales"] = replace(view, versions=view.versions[-1:])
    planned, said = keep(stage, now=NOW + timedelta(days=2), dry_run=True)
    assert said == []
    done, said = keep(stage, now=NOW + timedelta(days=2))
    assert (planned.dropped_branches, planned.expired_snapshots) == (2, 2)
    assert done.dropped_branches == 2
    assert [s.split("`icebergmv_")[0] for s in said[:2]] == [
        "ALTER TABLE `lake`.`ns`.`__mv_storage__sales` DROP BRANCH IF EXISTS "
    ] * 2
    assert said[2].startswith(
        "CALL `lake`.system.expire_snapshots(table => '`lake`.`ns`.`__mv_storage__sales`', older_than"
    )


def test_a_pinned_snapshot_without_a_branch_gets_one(stage: Stage) -> None:
    grow(stage, ROWS, 1)
    (branch,) = (name for name in stage.tables()[STORAGE[2]].metadata.refs if name != "main")
    stage.tables()[STORAGE[2]].manage_snapshots().remove_branch(branch).commit()
    _, said = keep(stage)
    assert f"AS OF VERSION {pinned(stage)} RETAIN" in said[0]


def test_what_readers_got_at_the_cutoff_stays(stage: Stage) -> None:
    grow(stage, ROWS, 3)
    metadata = stage.tables()[STORAGE[2]].metadata
    head = metadata.current_snapshot_id
    assert head is not None
    made = [entry.timestamp_ms for entry in metadata.snapshot_log]
    branches = [name for name in metadata.refs if name != "main"]

    def due(milliseconds: int) -> int:
        cutoff = datetime.fromtimestamp(milliseconds / 1000, tz=timezone.utc)
        found = expiry(metadata, head, branches, cutoff)
        return 0 if found is None else found.count

    # Of a view, what it read before stays as well: it was published a moment after main had moved.
    assert [due(at) for at in (made[0] - 1, *made)] == [0, 0, *range(len(made) - 1)]


def test_what_another_view_reads_stays(stage: Stage) -> None:
    """A stitched view compares with the snapshot that its last refresh read, and fails once that has expired."""
    grow(stage, ROWS, 4)
    metadata = stage.tables()[STORAGE[2]].metadata
    head, second = metadata.current_snapshot_id, sorted(metadata.snapshots, key=lambda s: s.timestamp_ms)[1]
    assert head is not None
    branches = [name for name in metadata.refs if name != "main"]
    counts = [expiry(metadata, head, branches, NOW + timedelta(days=2), needed) for needed in ((), {1, 2})]
    assert [found and found.count for found in counts] == [3, 3]
    found = expiry(metadata, head, branches, NOW + timedelta(days=2), {1, second.snapshot_id})
    assert found is not None
    assert (found.count, found.before.timestamp() * 1000) == (1, second.timestamp_ms)


def test_which_snapshots_views_read(stage: Stage) -> None:
    grow(stage, reading("use_stitching", ROWS), 2)
    orders = read_state("v", stage.catalog.views["sales"].properties).base_tables[0].version.snapshot_id
    stage.catalog.views["other"] = replace(stage.catalog.views["sales"], sql="SELECT * FROM t VERSION AS OF 7")
    views = [VIEW, ("lake", "ns", "other"), ("lake", "ns", "absent")]
    assert snapshots_read(stage.catalog, views) == {orders, pinned(stage), 7}


@pytest.mark.parametrize("layout", ["view", "table"])
def test_what_the_last_refresh_of_a_view_above_read_is_needed(stage: Stage, layout: str) -> None:
    stage.refresh(ROWS)
    above = Model("SELECT id, amount FROM sales", (("id", "bigint"), ("amount", "bigint")), {"layout": layout})
    name = ("lake", "ns", "above")
    request = stage.request(above)
    request = replace(request, view=name, config=replace(request.config, storage_table=("lake", "ns", "stored_above")))
    inspection, spark = inspect(stage.catalog, request), RecordingSpark(stage.catalog, above.columns)
    refresh(Lake(stage.catalog, spark), inspection, read_plan(inspection))
    read = pinned(stage)
    grow(stage, ROWS, 1)
    assert pinned(stage) != read
    assert read in snapshots_read(stage.catalog, [name])


def test_rows_that_main_came_back_to_were_read_then(stage: Stage) -> None:
    """By hand, or where a refresh died after it had moved main: readers had the older rows all the time."""
    grow(stage, ROWS, 3)
    table = stage.tables()[STORAGE[2]]
    first, *_, last = (s.snapshot_id for s in sorted(table.metadata.snapshots, key=lambda s: s.timestamp_ms))
    died = table.metadata.snapshot_log[-1].timestamp_ms
    table.manage_snapshots().set_current_snapshot(first).commit()
    table.manage_snapshots().set_current_snapshot(last).commit()
    metadata = stage.tables()[STORAGE[2]].metadata
    branches = [name for name in metadata.refs if name != "main"]
    assert expiry(metadata, last, branches, datetime.fromtimestamp(died / 1000, tz=timezone.utc)) is None


def test_readers_had_not_got_what_a_refresh_had_not_published_yet(stage: Stage) -> None:
    """It deletes first, then inserts, and only then moves main: readers get the rows before until that moment."""
    model = Model(config={"partition_by": ()})
    grow(stage, model, 2)
    metadata = stage.tables()[STORAGE[2]].metadata
    assert metadata.current_snapshot_id is not None
    *_, before, deleted, inserted = sorted(metadata.snapshots, key=lambda s: s.timestamp_ms)
    assert [e.snapshot_id for e in metadata.snapshot_log][-2:] == [before.snapshot_id, inserted.snapshot_id]
    branches = [name for name in metadata.refs if name != "main"]
    at = datetime.fromtimestamp(deleted.timestamp_ms / 1000, tz=timezone.utc)
    found = expiry(metadata, metadata.current_snapshot_id, branches, at)
    assert found is None or found.before.timestamp() * 1000 == before.timestamp_ms


@pytest.mark.long
def test_files_with_deletes_and_other_targets(stage: Stage) -> None:
    grow(stage, ROWS, 5)
    table = stage.tables()[STORAGE[2]]
    with table.transaction() as transaction:
        transaction.set_properties({"write.target-file-size-bytes": "100"})
    assert file_counts(StoredRows(STORAGE, stage.tables()[STORAGE[2]], pinned(stage)), 5) == FileCounts(5, 0, 0)
    assert FileCounts(5, 0, 1).compaction_pays
    assert not FileCounts(5, 0, 0).compaction_pays


def test_deletes_of_files_that_are_gone_are_nothing_to_compact(tmp_path: Path) -> None:
    """Iceberg leaves them in some cases, and a compaction would do nothing about them, again and again."""
    made = MetadataTable(tmp_path, Schema(NestedField(1, "id", IntegerType())))
    files = [file_of("a"), file_of("b")]
    of_a = file_of("of_a", content=DataFileContent.POSITION_DELETES, about="a")
    of_any = file_of("of_any", content=DataFileContent.POSITION_DELETES)
    made.commit(Operation.APPEND, files)
    both, gone, unknown = (
        made.commit(operation, added, removed)
        for operation, added, removed in (
            (Operation.OVERWRITE, [of_a], []),
            (Operation.OVERWRITE, [], files[:1]),
            (Operation.OVERWRITE, [of_any], []),
        )
    )
    counts = [file_counts(StoredRows(STORAGE, made.table(), at), 5) for at in (both, gone, unknown)]
    assert [(found.data, found.deletes) for found in counts] == [(2, 1), (1, 0), (1, 1)]


@pytest.mark.long
def test_small_files_count_by_partition(stage: Stage) -> None:
    stage.refresh(Model())
    table = stage.tables()[STORAGE[2]]
    for region in ("EU",) * 5 + ("US",) * 4:
        rows = [{"region": region, "total": 1}]
        columns = schema_to_pyarrow(table.schema())
        table.append(pa.Table.from_pylist(rows, schema=columns))
    head = table.metadata.current_snapshot_id
    assert head is not None
    assert file_counts(StoredRows(STORAGE, table, head), 5).small == 5


@pytest.mark.parametrize("value", [0, -1, True, "3", 1.5, 1_001])
def test_keep_versions_is_a_number(value: object) -> None:
    with pytest.raises(InvalidConfig, match="Give a number of versions from 1 to 1,000"):
        keep_versions(value)


def test_keep_versions_reaches_the_view(stage: Stage) -> None:
    assert (keep_versions(None), keep_versions(3)) == (10, 3)
    stage.refresh(ROWS)
    result, said = stage.refresh(replace(ROWS, config={"keep_versions": 3}))
    assert (result.kind, result.reason.endswith("keep_versions is 3, and was 10")) == ("none", True)
    assert "'version.history.num-entries' = '3'" in said[-1]


def test_what_people_read() -> None:
    assert upkeep_text([], dry_run=False) == "No materialized view is in the project."
    done = Upkeep("lake.a.v", "lake.a.s", 12, 1, 9, 4, 2, 3)
    assert upkeep_text([done, Upkeep("lake.a.new", error="it is not built.")], dry_run=False).splitlines() == [
        "VIEW        DATA FILES  DELETE FILES  COMPACTED  BRANCHES DROPPED  SNAPSHOTS EXPIRED  NOTE",
        "lake.a.v    12 -> 4     1             9          2                 3",
        "lake.a.new  -           -             -          -                 -                  it is not built.",
    ]
    assert upkeep_text([done], dry_run=True).startswith("Nothing was changed: this is what is to be done.\n\n")


def test_a_dry_run_refuses_what_a_run_refuses(stage: Stage) -> None:
    grow(stage, ROWS, 6)
    crash(stage.tables())
    promised, _ = keep(stage, dry_run=True)
    done, _ = keep(stage)
    assert promised.note is not None
    assert promised.note.startswith("not compacted: its table is not at the rows of the view")
    assert (promised.compacted_files, promised.note) == (done.compacted_files, done.note) == (0, promised.note)


def test_a_compaction_that_failed_is_not_counted(stage: Stage) -> None:
    grow(stage, ROWS, 6)

    class Broken(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            if "rewrite_data_files" in sql:
                raise RuntimeError("out of memory")
            return super().__call__(sql)

    found = upkeep(Lake(stage.catalog, Broken(stage.catalog, ROWS.columns)), VIEW, UpkeepOptions(), NOW)
    assert (found.compacted_files, found.error) == (0, "out of memory.")
