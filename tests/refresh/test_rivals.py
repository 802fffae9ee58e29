"""A rival publishes while a job of this refresh runs, and drops its branch: one of the two wins, never a mix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone

import pytest
from pyiceberg.types import LongType

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, RefreshConflict
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.upkeep import UpkeepOptions, upkeep
from dbt.adapters.icebergmv.maintenance.refresh.storage_table import alone
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import found_view
from tests.refresh.refreshes import ROWS, STORAGE, VIEW, Model, Stage, sell
from tests.support.recording_spark import RecordingSpark
from tests.support.rivals import BesideARival, Interrupted, InterruptedAfter
from tests.support.shares import one_of

LAYOUTS = [ROWS, replace(ROWS, config={"layout": "table"})]


def sell_and_refresh(stage: Stage, model: Model, kind: str = "append") -> None:
    sell("US")(stage.tables())
    assert stage.refresh(model)[0].kind == kind


def recorded(stage: Stage) -> int | None:
    """Return the snapshot of the base table that the view records."""
    found = found_view(stage.catalog, VIEW)
    assert found is not None
    return read_state("v", found.properties).base_tables[0].version.snapshot_id


@pytest.mark.parametrize("model", LAYOUTS, ids=["view", "table"])
def test_another_refresh_publishes_meanwhile(stage: Stage, model: Model) -> None:
    stage.refresh(model)
    sell_and_refresh(stage, model)
    sell("EU")(stage.tables())
    spark = BesideARival(
        stage.catalog, model.columns, words="INSERT INTO", rival=lambda: sell_and_refresh(stage, model)
    )
    assert stage.refresh(model, spark)[0].kind == "none", "it starts again from what the rival published"
    assert bool(spark.dropped) is ("layout" in model.config), "a version of a view keeps its branch"
    assert recorded(stage) == stage.tables()["orders"].metadata.current_snapshot_id
    assert stage.refresh(model)[0].kind == "none"


def reformat(stage: Stage) -> None:
    """Give a base table another column, which makes no row of the view another one."""
    with stage.tables()["orders"].update_schema() as schema:
        schema.add_column("note", LongType())


@pytest.mark.parametrize("change", [lambda stage: sell()(stage.tables()), reformat], ids=["snapshot", "columns"])
def test_another_refresh_publishes_before_a_state_is_set(stage: Stage, change: Callable[[Stage], None]) -> None:
    stage.refresh(ROWS)
    change(stage)

    def rival() -> None:
        sell("US")(stage.tables())
        stage.refresh(ROWS)

    spark = Interrupted(stage.catalog, ROWS.columns, begins="ALTER VIEW", happens=rival)
    result, _ = stage.refresh(ROWS, spark)
    assert spark.happens is None, "the other refresh came before a state was set"
    assert result.kind == "full", "the SQL is that of the other refresh, and the state was not"
    assert recorded(stage) == stage.tables()["orders"].metadata.current_snapshot_id
    assert stage.refresh(ROWS)[0].kind == "none"


def test_a_state_that_cannot_be_set_as_another_refresh_published_is_a_lost_race(stage: Stage) -> None:
    stage.refresh(ROWS)
    reformat(stage)

    def rival() -> None:
        sell("US")(stage.tables())
        stage.refresh(ROWS)
        raise RuntimeError("org.apache.iceberg.exceptions.CommitFailedException: the view moved")

    spark = Interrupted(stage.catalog, ROWS.columns, begins="ALTER VIEW", happens=rival)
    assert stage.refresh(ROWS, spark)[0].kind == "none", "it starts again from what the other one published"
    assert spark.happens is None


def test_another_refresh_gives_the_storage_another_column_while_this_one_plans(stage: Stage) -> None:
    had = (("id", "bigint"), ("day", "date"), ("region", "string"), ("amount", "bigint"))
    every = Model("SELECT * FROM orders", had)
    wider = replace(every, columns=(*had, ("note", "bigint")))
    stage.refresh(every)
    sell("EU")(stage.tables())

    def rival() -> None:
        reformat(stage)
        assert stage.refresh(wider)[0].kind == "full"
        spark.columns = wider.columns

    # It has the columns of the SELECT by then, and not yet those of the storage table.
    spark = InterruptedAfter(stage.catalog, every.columns, begins="DESCRIBE", happens=rival)
    result, said = stage.refresh(every, spark)
    assert (spark.happens, result.kind) == (None, "none"), "it starts again from what the rival published"
    assert not [sql for sql in said if sql.startswith("CREATE OR REPLACE TABLE")], "the columns of before are of no use"
    sell("US")(stage.tables())
    assert stage.refresh(wider)[0].kind == "append", "the storage has the columns of today"


def test_a_table_that_was_changed_meanwhile_gets_no_statement_that_was_made_for_it(stage: Stage) -> None:
    stage.refresh(ROWS)
    before = stage.tables()[STORAGE[2]]
    sell_and_refresh(stage, ROWS)
    spark = RecordingSpark(stage.catalog, ROWS.columns)
    with (
        pytest.raises(RefreshConflict, match=r"another run made or changed the storage table lake\.ns\.\w+ meanwhile"),
        alone(Lake(stage.catalog, spark), STORAGE, before),
    ):
        spark("DROP TABLE")
    assert spark.said == []


CLUSTERED = replace(ROWS, config={"cluster_by": ["region"]})
ORDERS_ROWS = f"ALTER TABLE `lake`.`ns`.`{STORAGE[2]}` WRITE"


def count_made(spark: RecordingSpark) -> int:
    return sum(sql.startswith("CREATE") and "VIEW" not in sql.partition("`")[0] for sql in spark.said)


def test_what_fails_after_the_storage_table_was_made_is_not_another_runs_change(stage: Stage) -> None:
    def deny() -> None:
        raise RuntimeError("denied")

    spark = Interrupted(stage.catalog, ROWS.columns, begins=ORDERS_ROWS, happens=deny)
    with pytest.raises(RuntimeError, match="denied"):
        stage.refresh(CLUSTERED, spark)
    assert count_made(spark) == 1, "it is not tried again"


def test_a_rival_between_the_storage_table_and_its_order_is_a_lost_race(stage: Stage) -> None:
    def rival() -> None:
        stage.refresh(ROWS)
        raise RuntimeError("no such column")

    spark = Interrupted(stage.catalog, ROWS.columns, begins=ORDERS_ROWS, happens=rival)
    stage.refresh(CLUSTERED, spark)
    assert spark.happens is None
    assert recorded(stage) == stage.tables()["orders"].metadata.current_snapshot_id


class BesideAHook(RecordingSpark):
    """While rows are written, a hook of another model changes the session that all threads share."""

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        found = super().__call__(sql)
        if sql.startswith("INSERT"):
            self.settings = {"spark.sql.session.timeZone": "Asia/Tokyo"}
        return found


@pytest.mark.parametrize("model", LAYOUTS, ids=["view", "table"])
def test_rows_are_not_published_where_a_setting_changed_meanwhile(stage: Stage, model: Model) -> None:
    stage.refresh(model)
    before = recorded(stage)
    sell("EU")(stage.tables())
    with pytest.raises(InvalidConfig, match=r"the Spark session has spark\.sql\.session\.timeZone = Asia/Tokyo"):
        stage.refresh(model, BesideAHook(stage.catalog, model.columns))
    assert recorded(stage) == before
    assert stage.refresh(model)[0].kind == "append"


class Staging(RecordingSpark):
    """Rows that are inserted are staged, as with `spark.wap.id` in a table with `write.wap.enabled`."""

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        return [] if sql.startswith("INSERT") else super().__call__(sql)


@pytest.mark.parametrize("model", LAYOUTS, ids=["view", "table"])
def test_rows_that_are_staged_are_not_published(stage: Stage, model: Model) -> None:
    stage.refresh(model)
    before = recorded(stage)
    sell("EU")(stage.tables())
    with pytest.raises(InvalidConfig, match=r"do not come into it: spark\.wap\.id is set"):
        stage.refresh(model, Staging(stage.catalog, model.columns))
    assert recorded(stage) == before
    assert stage.refresh(model)[0].kind == "append"


@pytest.mark.filterwarnings("ignore:Delete operation did not match any records")
@pytest.mark.parametrize("layout", ["view", "table"])
def test_the_branch_is_dropped_between_delete_and_insert(stage: Stage, layout: str) -> None:
    """By hand, or because it is taken for abandoned: the branch that is made again lacks the DELETE."""
    model = Model(config={"partition_by": (), "layout": layout})
    stage.refresh(model)
    sell("EU")(stage.tables())
    stage.refresh(model)
    sell("EU")(stage.tables())
    name = VIEW[2] if layout == "table" else STORAGE[2]

    def drop() -> None:
        branch = spark.said[-1].partition("branch_")[2].partition("`")[0]
        stage.tables()[name].manage_snapshots().remove_branch(branch).commit()

    spark = BesideARival(stage.catalog, model.columns, words="INSERT INTO", rival=drop)
    assert stage.refresh(model, spark)[0].kind == "overwrite"
    assert len(spark.dropped) == 1
    assert sum("DELETE FROM" in said for said in spark.said) == 2, "it started again"


@pytest.mark.parametrize("model", one_of(2, LAYOUTS), ids=["view", "table"])
def test_a_refresh_publishes_while_rows_are_compacted(stage: Stage, model: Model) -> None:
    stage.refresh(model)
    for _ in range(6):
        sell_and_refresh(stage, model)
    spark = BesideARival(
        stage.catalog, model.columns, words="rewrite_data_files", rival=lambda: sell_and_refresh(stage, model)
    )
    done = upkeep(Lake(stage.catalog, spark), VIEW, UpkeepOptions(), datetime.now(timezone.utc))
    assert spark.has_met
    assert (done.error, done.note) == (None, "not compacted: the view or its table was changed meanwhile")
    assert recorded(stage) == stage.tables()["orders"].metadata.current_snapshot_id
    assert stage.refresh(model)[0].kind == "none"


def make_again(stage: Stage) -> None:
    """Drop a base table and make another one of its name."""
    table = stage.tables()["orders"]
    schema, spec = table.schema(), table.spec()
    stage.catalog.iceberg.drop_table("ns.orders")
    stage.catalog.iceberg.create_table("ns.orders", schema, partition_spec=spec)
    sell("JP")(stage.tables())


def expire(stage: Stage) -> None:
    """Expire the snapshot of a base table that a refresh reads."""
    table = stage.tables()["orders"]
    read = table.metadata.current_snapshot_id
    assert read is not None
    sell("JP")(stage.tables())
    table.refresh().maintenance.expire_snapshots().by_id(read).commit()


@pytest.mark.parametrize(
    ("is_built", "happens", "kind"),
    [(True, make_again, "full"), (True, expire, "overwrite"), (False, make_again, "full"), (False, expire, "full")],
)
def test_a_base_table_that_is_lost_while_it_is_read_is_read_again(
    stage: Stage, is_built: bool, happens: Callable[[Stage], None], kind: str
) -> None:
    if is_built:
        stage.refresh(ROWS)
        sell("EU")(stage.tables())

    def rival() -> None:
        happens(stage)
        raise RuntimeError("Cannot find snapshot with ID")

    begins = "INSERT INTO" if is_built else "CREATE OR REPLACE TABLE"
    spark = Interrupted(stage.catalog, ROWS.columns, begins=begins, happens=rival)
    assert stage.refresh(ROWS, spark)[0].kind == kind
    assert spark.happens is None
    assert recorded(stage) == stage.tables()["orders"].metadata.current_snapshot_id


def test_a_base_table_that_is_lost_each_time_is_an_error_with_its_cause_and_mend(stage: Stage) -> None:
    stage.refresh(ROWS)
    sell("EU")(stage.tables())

    class NeverThere(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            if " WITH (" in sql:
                make_again(stage)
                raise RuntimeError("Cannot find snapshot with ID")
            return super().__call__(sql)

    with pytest.raises(
        RefreshConflict,
        match=r"lake\.ns\.orders was dropped or replaced, .*\(Cannot find snapshot with ID\)\. .* run again\.$",
    ):
        stage.refresh(ROWS, NeverThere(stage.catalog, ROWS.columns))


def test_other_errors_than_of_a_lost_table_stay_what_they_are(stage: Stage) -> None:
    stage.refresh(ROWS)
    sell("EU")(stage.tables())

    def fail() -> None:
        sell("US")(stage.tables())
        stage.tables()["orders"].maintenance.expire_snapshots().by_id(older).commit()
        raise RuntimeError("the disk is full")

    older = stage.tables()["orders"].metadata.snapshots[0].snapshot_id
    sell("EU")(stage.tables())
    stage.refresh(ROWS)
    sell("EU")(stage.tables())
    with pytest.raises(RuntimeError, match="the disk is full"):
        stage.refresh(ROWS, Interrupted(stage.catalog, ROWS.columns, begins="INSERT INTO", happens=fail))
