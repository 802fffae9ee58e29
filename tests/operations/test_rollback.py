"""A view is put back to the rows of an earlier version, with a state that the next refresh can build on or refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from pyiceberg.types import LongType

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo, ViewInfo
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, NotReadable, RefreshConflict
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.rightness import wrong_rows_query
from dbt.adapters.icebergmv.maintenance.operations.rollback import RolledBack, rollback
from dbt.adapters.icebergmv.maintenance.operations.upkeep import UpkeepOptions, upkeep
from dbt.adapters.icebergmv.maintenance.operations.versions import Version, versions_of
from dbt.adapters.icebergmv.maintenance.operations.versions_text import rolled_back_text, versions_text
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.reports.next_refresh import outlook
from dbt.adapters.icebergmv.maintenance.status.configuration_change import OnChange
from dbt.adapters.icebergmv.maintenance.status.inspection import RefreshedView, inspect
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import COUNTED, ROWS, STORAGE, VIEW, Model, Stage, crash, reading, sell
from tests.support.recording_spark import SETTINGS, RecordingSpark
from tests.support.shares import one_of


def refreshed(stage: Stage, model: Model, times: int = 3) -> list[int]:
    """Refresh a view after each of some changes; return the snapshots of its rows."""
    found = []
    for _ in range(times):
        sell("EU")(stage.tables())
        snapshot_id = stage.refresh(model)[0].storage_snapshot_id
        assert snapshot_id is not None
        found.append(snapshot_id)
    return found


def back(stage: Stage, to: int) -> tuple[RolledBack, list[str]]:
    spark = RecordingSpark(stage.catalog, ROWS.columns)
    return rollback(Lake(stage.catalog, spark), VIEW, to), spark.said


def versions(stage: Stage) -> tuple[Version, ...]:
    return versions_of(stage.catalog, VIEW).versions


def test_versions_the_latest_first(stage: Stage) -> None:
    snapshots = refreshed(stage, ROWS)
    found = versions(stage)
    assert [(v.version_id, v.storage_snapshot_id) for v in found] == list(zip((3, 2, 1), snapshots[::-1], strict=True))
    assert [v.refresh_kind for v in found] == ["append", "append", "full"]
    assert [v.refresh_reason for v in found] == ["orders: 1 row appended"] * 2 + ["first build"]
    assert [v.rows for v in found] == [3, 2, 1]
    assert [v.obstacle for v in found] == ["the view has its rows now", None, None]


def test_the_next_refresh_goes_on_from_there(stage: Stage) -> None:
    first, *_ = refreshed(stage, ROWS)
    state_then = read_state("v", stage.catalog.views["sales"].properties)
    done, said = back(stage, 1)
    assert (done.storage_snapshot_id, done.next_refresh, done.rows) == (first, "from there", 1)
    assert [statement.split("(")[0].split("`lake`")[0] for statement in said] == ["CALL ", "CREATE OR REPLACE VIEW "]
    view = stage.catalog.views["sales"]
    assert view.sql.endswith(f"VERSION AS OF {first}")
    state = read_state("v", view.properties)
    assert state.refresh_reason == "rolled back to version 1"
    assert state.base_tables[0].version != state_then.base_tables[0].version
    result, said = stage.refresh(ROWS)
    assert (result.kind, result.reason) == ("append", "orders: 2 rows appended")
    assert any(f"AS OF VERSION {first} RETAIN" in statement for statement in said)
    assert stage.refresh(ROWS)[0].kind == "none"


@pytest.mark.long
def test_a_snapshot_id_names_a_version_too(stage: Stage) -> None:
    snapshots = refreshed(stage, ROWS)
    assert back(stage, snapshots[1])[0].version_id == 2


@pytest.mark.long
def test_forward_again(stage: Stage) -> None:
    *_, last = refreshed(stage, ROWS)
    back(stage, 1)
    assert back(stage, last)[0].next_refresh == "from there"
    assert stage.refresh(ROWS)[0].kind == "none"


def test_over_a_changed_select_the_next_refresh_is_full(stage: Stage) -> None:
    refreshed(stage, Model(), 1)
    refreshed(stage, COUNTED, 1)
    assert versions(stage)[1].obstacle in {None, "its rows were expired"}
    refreshed(stage, replace(COUNTED, sql=f"{COUNTED.sql} HAVING count(*) > 0"), 1)
    before = next(v for v in versions(stage) if v.obstacle is None)
    assert back(stage, before.version_id)[0].next_refresh == "full"
    result, _ = stage.refresh(replace(COUNTED, sql=f"{COUNTED.sql} HAVING count(*) > 0"))
    assert (result.kind, result.reason) == ("full", "it was rolled back to rows of another SELECT")


@pytest.mark.parametrize("on_change", ["continue", "fail"])
def test_no_configuration_keeps_a_run_from_rows_of_another_select(stage: Stage, on_change: OnChange) -> None:
    """The model did not change: on_configuration_change has nothing to decide."""
    refreshed(stage, COUNTED, 1)
    model = replace(COUNTED, sql=f"{COUNTED.sql} HAVING count(*) > 0")
    refreshed(stage, model, 1)
    back(stage, next(v for v in versions(stage) if v.obstacle is None).version_id)
    view = inspect(stage.catalog, stage.request(model))
    assert isinstance(view, RefreshedView)
    assert not view.changes
    assert outlook(view, on_change).next.kinds == ("full",)


def test_rows_of_another_select_keep_their_age_and_say_why_they_are_not_compared(stage: Stage) -> None:
    stage.refresh(COUNTED)
    first = stage.catalog.views[VIEW[2]].properties
    stage.ahead += timedelta(hours=5)
    refreshed(stage, replace(COUNTED, sql=f"{COUNTED.sql} HAVING count(*) > 0"), 1)
    done, _ = back(stage, 1)
    assert rolled_back_text(done).endswith(
        "is full and brings it to now again; refresh_on_run: false keeps runs from it, unless its SELECT was another "
        "one then. If its configuration was another one then, on_configuration_change decides."
    )
    found = stage.catalog.views[VIEW[2]].properties
    assert found["icebergmv.started-at"] == first["icebergmv.started-at"]
    # Recorded with the rows, just before the view was published.
    assert found["icebergmv.refreshed-at"] <= first["icebergmv.refreshed-at"]
    with pytest.raises(
        NotReadable, match=r"rolled back to rows of another SELECT than its model has\. Run the model\."
    ):
        wrong_rows_query(stage.catalog, VIEW, SETTINGS)


def test_where_a_base_table_has_expired_what_was_read_the_next_refresh_is_full(stage: Stage) -> None:
    refreshed(stage, ROWS)
    orders = stage.tables()["orders"]
    read = read_state("v", stage.catalog.views["sales"].properties).base_tables[0].version.snapshot_id
    for snapshot in orders.metadata.snapshots:
        if snapshot.snapshot_id != read:
            orders.maintenance.expire_snapshots().by_id(snapshot.snapshot_id).commit()
    assert back(stage, 2)[0].next_refresh == "full"
    assert back(stage, 3)[0].next_refresh == "from there"
    assert back(stage, 1)[0].next_refresh == "full"
    assert stage.refresh(ROWS)[0].kind == "full"


@pytest.mark.parametrize(
    "sql", one_of(2, ["SELECT max(amount) AS id FROM v", "SELECT id, region, rand() AS amount FROM orders"])
)
def test_a_select_that_nothing_follows_is_refreshed_in_full_from_anywhere(stage: Stage, sql: str) -> None:
    refreshed(stage, replace(ROWS, sql=sql))
    assert back(stage, 1)[0].next_refresh == "full"
    assert stage.refresh(replace(ROWS, sql=sql))[0].kind == "full"


@pytest.mark.long
def test_rows_of_other_settings_are_not_built_on(stage: Stage) -> None:
    def run(**settings: str) -> str:
        spark = RecordingSpark(stage.catalog, ROWS.columns, settings={**SETTINGS, **settings})
        asked = stage.request(ROWS)
        asked = replace(asked, config=replace(asked.config, settings={**SETTINGS, **settings}))
        inspection = inspect(stage.catalog, asked)
        return refresh(Lake(stage.catalog, spark), inspection, read_plan(inspection)).kind

    run()
    assert run(**{"spark.sql.ansi.enabled": "true"}) == "full"
    assert back(stage, 1)[0].next_refresh == "full"
    assert run(**{"spark.sql.ansi.enabled": "true"}) == "full"


def test_rows_without_a_recorded_state_are_refreshed_in_full(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(
            "dbt.adapters.icebergmv.maintenance.refresh.view_layout.text_below_a_view", lambda *_: "of a later format"
        )
        refreshed(stage, ROWS, 1)
    refreshed(stage, ROWS, 1)
    assert (versions(stage)[1].refresh_kind, versions(stage)[1].obstacle) == (None, None)
    first = versions(stage)[1].storage_snapshot_id
    assert back(stage, 1)[0].next_refresh == "full"
    (made,) = (s.timestamp_ms for s in stage.tables()[STORAGE[2]].metadata.snapshots if s.snapshot_id == first)
    refreshed_at = stage.catalog.views[VIEW[2]].properties["icebergmv.refreshed-at"]
    assert datetime.fromisoformat(refreshed_at).timestamp() * 1000 == pytest.approx(made, abs=1)
    assert stage.refresh(ROWS)[0].kind == "full"


def test_a_storage_table_of_another_form_is_not_built_on(stage: Stage) -> None:
    refreshed(stage, ROWS)
    with stage.tables()[STORAGE[2]].transaction() as transaction:
        transaction.set_properties({"icebergmv.hidden-columns": "other"})
    assert back(stage, 1)[0].next_refresh == "full"
    result, _ = stage.refresh(ROWS)
    assert (result.kind, result.reason) == ("full", "orders was not read by the last refresh")


@pytest.mark.parametrize("behavior", one_of(3, ["use_stitching", "fail", "use_view_query"]))
def test_a_run_that_leaves_it_alone_describes_it_all_the_same(stage: Stage, behavior: str) -> None:
    model = reading(behavior, ROWS, refresh_on_run=False)
    first = refreshed(stage, reading(behavior, ROWS), 2)[0]
    with stage.tables()[STORAGE[2]].update_schema() as update:
        update.add_column("more", LongType())
    assert back(stage, first)[0].next_refresh == "full"
    described = replace(model, config={**model.config, "comment": "What it is"})
    result, said = stage.refresh(described)
    assert (result.kind, result.rows_written) == ("restitch" if behavior == "use_stitching" else "none", 0)
    assert any("CREATE OR REPLACE VIEW" in statement and "'What it is'" in statement for statement in said)


def test_readers_get_the_rows_whatever_is_configured(stage: Stage) -> None:
    model = reading("use_view_query", ROWS)
    first, *_ = refreshed(stage, model)
    back(stage, 1)
    assert stage.catalog.views["sales"].sql.endswith(f"VERSION AS OF {first}")
    inspection = inspect(stage.catalog, stage.request(model))
    assert isinstance(inspection, RefreshedView)
    assert not inspection.changes
    assert stage.refresh(model)[0].kind == "append"
    assert "VERSION AS OF" in stage.catalog.views["sales"].sql
    assert read_state("v", stage.catalog.views["sales"].properties).stale_read_behavior == "use_view_query"


@pytest.mark.long
def test_rows_of_another_release_of_spark_are_computed_again(stage: Stage) -> None:
    """What a version is of is recorded with its rows, as those of the view are by now of the next release."""
    before, after = (Model(ROWS.sql, ROWS.columns, {"spark_release": release}) for release in ("4.0", "4.1"))
    refreshed(stage, before, 1)
    result, _ = stage.refresh(after)
    assert (result.kind, result.reason) == ("full", "Spark is 4.1, and was 4.0")
    done, _ = back(stage, 1)
    assert (done.rows, done.next_refresh) == (1, "full")
    result, _ = stage.refresh(after)
    assert (result.kind, result.reason) == ("full", "Spark is 4.1, and was 4.0")
    assert stage.refresh(after)[0].kind == "none"


def test_compacted_rows_have_the_state_of_those_before(stage: Stage) -> None:
    refreshed(stage, ROWS, 6)
    spark = RecordingSpark(stage.catalog, ROWS.columns)
    upkeep(Lake(stage.catalog, spark), VIEW, UpkeepOptions(), datetime.now(timezone.utc))
    refreshed(stage, ROWS, 1)
    assert back(stage, 6)[0].next_refresh == "from there"


def test_after_a_crash_and_after_the_clock(stage: Stage) -> None:
    refreshed(stage, ROWS)
    crash(stage.tables())
    assert back(stage, 2)[0].next_refresh == "from there"
    assert stage.refresh(ROWS)[0].kind == "append"


def test_a_refresh_that_publishes_meanwhile_wins(stage: Stage) -> None:
    refreshed(stage, ROWS)
    sell("US")(stage.tables())

    class Raced(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            rows = super().__call__(sql)
            if "set_current_snapshot" in sql:
                assert stage.refresh(ROWS)[0].kind == "append"
            return rows

    with pytest.raises(RefreshConflict):
        rollback(Lake(stage.catalog, Raced(stage.catalog, ROWS.columns)), VIEW, 1)
    assert stage.refresh(ROWS)[0].kind == "none"


def test_a_view_that_is_a_table_is_refused(stage: Stage) -> None:
    refreshed(stage, replace(ROWS, config={"layout": "table"}))
    with pytest.raises(InvalidConfig, match="with layout table it keeps no versions to go back to"):
        back(stage, 1)


@pytest.mark.parametrize("form_changed", [False, True])
def test_a_run_leaves_old_rows_alone_for_as_long_as_they_are_young(stage: Stage, *, form_changed: bool) -> None:
    """The lag counts from when the rows were computed, not from the refresh that was undone."""
    model = replace(ROWS, config={"target_lag": 3600})
    refreshed(stage, model, 1)
    stage.ahead += timedelta(minutes=59, seconds=30)
    refreshed(stage, ROWS, 1)
    if form_changed:
        with stage.tables()[STORAGE[2]].transaction() as transaction:
            transaction.set_properties({"icebergmv.hidden-columns": "other"})
    assert back(stage, 1)[0].next_refresh == ("full" if form_changed else "from there")
    assert stage.refresh(model)[0].reason.startswith("refreshed 59 minutes ago")
    stage.ahead += timedelta(minutes=1)
    assert not stage.refresh(model)[0].reason.startswith("refreshed")


@pytest.mark.parametrize("partial", ["--empty", "another SELECT"])
def test_rows_of_another_select_are_never_left_alone(stage: Stage, partial: str) -> None:
    model = replace(ROWS, config={"target_lag": 3600})
    before = replace(model, sql=f"{ROWS.sql} AND amount > 1") if partial != "--empty" else model
    asked = replace(stage.request(before), partial=partial if partial == "--empty" else None)
    inspection = inspect(stage.catalog, asked)
    refresh(Lake(stage.catalog, RecordingSpark(stage.catalog, ROWS.columns)), inspection, read_plan(inspection))
    assert stage.refresh(model)[0].kind == "full"
    (to,) = (v.version_id for v in versions(stage) if v.obstacle is None)
    assert back(stage, to)[0].next_refresh == "full"
    assert stage.refresh(model)[0].kind == "full"
    assert stage.refresh(model)[0].reason.startswith("refreshed")


def test_what_is_refused(stage: Stage) -> None:
    with pytest.raises(NotReadable, match="not a materialized view"):
        back(stage, 1)
    refreshed(stage, ROWS)
    with pytest.raises(InvalidConfig, match=r"`to` is 9, which is no version that it keeps. Leave `to` out"):
        back(stage, 9)
    with pytest.raises(InvalidConfig, match="the view has its rows now"):
        back(stage, 3)
    view = stage.catalog.views["sales"]
    older = tuple(replace(v, sql=f"{v.sql}0" if v.version_id == 1 else "SELECT 1") for v in view.versions)
    stage.catalog.views["sales"] = replace(view, versions=older)
    assert [v.obstacle for v in versions(stage)] == [
        "it does not read the storage table at one snapshot",
        "it does not read the storage table at one snapshot",
        "its rows were expired",
    ]


def test_what_people_read() -> None:
    when = "2024-01-02T03:04:05.000+00:00"
    now = Version(2, when, "append", "new rows", 5, 77, "the view has its rows now")
    before = Version(1, when, None, None, None, 76, None)
    assert versions_text([now, before]).splitlines() == [
        "VERSION  PUBLISHED            REFRESH  ROWS  STORAGE SNAPSHOT  ROLL BACK TO IT                REASON",
        "2        2024-01-02 03:04:05  append   5     77                no: the view has its rows now  new rows",
        "1        2024-01-02 03:04:05  ?        ?     76                yes                            ?",
    ]
    told = rolled_back_text(RolledBack("lake.a.v", 1, 76, 5, "full"))
    assert told.startswith("lake.a.v has the rows of version 1 (storage snapshot 76, 5 rows). The next refresh is full")


@pytest.mark.parametrize("on_change", ["continue", "fail"])
def test_rows_of_a_run_with_empty_stay_partial(on_change: OnChange, stage: Stage) -> None:
    asked = replace(stage.request(ROWS), partial="--empty")
    view = inspect(stage.catalog, asked)
    refresh(Lake(stage.catalog, RecordingSpark(stage.catalog, ROWS.columns)), view, read_plan(view))
    refreshed(stage, ROWS, 1)
    (to,) = (v for v in versions(stage) if v.obstacle is None)
    done, _ = back(stage, to.version_id)
    assert (done.next_refresh, done.partial) == ("full", "--empty")
    assert rolled_back_text(done).endswith("They were built with --empty, so the next run refreshes the view in full.")
    following = outlook(inspect(stage.catalog, stage.request(ROWS)), on_change).next
    assert (following.kinds, following.reason) == (("full",), "the last run was built with --empty")


def test_a_policy_that_is_not_recorded_is_said_to_decide(stage: Stage) -> None:
    always_full = replace(ROWS, config={"refresh_policy": "full"})
    refreshed(stage, always_full, 2)
    done, _ = back(stage, 1)
    assert "goes on from there, if refresh_policy lets it," in rolled_back_text(done)
    assert stage.refresh(always_full)[0].kind == "full"


def test_a_version_with_the_rows_of_an_earlier_one_says_so(stage: Stage) -> None:
    refreshed(stage, ROWS)
    back(stage, 1)
    found = versions(stage)
    assert [v.rows_of for v in found] == [1, None, None, None]
    assert "the rows of version 1 (first build)" in versions_text(found).splitlines()[1]


def test_a_plain_view_that_was_redefined_in_between_makes_the_next_refresh_full(stage: Stage) -> None:
    """The rows of a version are those of the SELECT that the plain view had then."""
    columns = tuple(ColumnInfo(name, type_, None) for name, type_ in ROWS.columns)
    plain = ViewInfo(
        namespace="ns",
        name="plain",
        uuid="u",
        sql=f"{ROWS.sql} AND id > 0",
        columns=columns,
        properties={},
        comment=None,
        default_namespace=("ns",),
        types=tuple(c.type for c in columns),
    )
    stage.catalog.views["plain"] = plain
    model = replace(ROWS, sql="SELECT id, region, amount FROM plain")
    refreshed(stage, model, 1)
    stage.catalog.views["plain"] = replace(plain, sql=f"{ROWS.sql} AND id > 1", version_id=2)
    assert stage.refresh(model)[0].kind == "full"
    back(stage, 1)
    result, _ = stage.refresh(model)
    assert (result.kind, "plain" in result.reason) == ("full", True), result.reason
