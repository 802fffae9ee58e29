"""The status of one view, state by state, and what is said of the next run."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.reports.as_json import as_json
from dbt.adapters.icebergmv.maintenance.reports.explanation import explain
from dbt.adapters.icebergmv.maintenance.reports.one_run import status
from dbt.adapters.icebergmv.maintenance.reports.status_text import status_text
from dbt.adapters.icebergmv.maintenance.reports.view_status import Configured, Recorded, ViewStatus
from dbt.adapters.icebergmv.maintenance.status.configuration_change import OnChange
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from tests.refresh.refreshes import (
    COUNTED,
    DAYS,
    ROWS,
    SCENARIOS,
    STORAGE,
    VIEW,
    Model,
    Stage,
    employ,
    reading,
    sell,
)
from tests.support.shares import one_of

BY_REGION, NOW = Model(), timedelta()


def look(stage: Stage, model: Model = BY_REGION, later: timedelta = NOW) -> ViewStatus:
    """Return the status of the stage's view, looked at some time from now."""
    now = datetime.now(timezone.utc) + later
    (found,) = status(stage.catalog, [Configured(stage.request(model))], now)
    return found


@pytest.mark.parametrize("name", one_of(3, SCENARIOS))
def test_the_refresh_does_what_status_said(name: str, tmp_path: Path) -> None:
    scenario, stage = SCENARIOS[name], Stage(tmp_path)
    if scenario.before is not None:
        stage.refresh(scenario.before)
    scenario.change(stage.tables())
    said = look(stage, scenario.model)
    result, _ = stage.refresh(scenario.model)
    stage.close()
    assert said.next is not None
    assert result.kind in said.next.kinds
    if not said.next.questions:
        assert said.next.kinds == (result.kind,)
        assert said.next.reason == result.reason
        assert said.next.estimated_bytes == result.estimated_bytes
    assert (said.state == "new") == (scenario.before is None)


def test_fresh_then_stale_then_fresh(stage: Stage) -> None:
    assert (look(stage).state, look(stage).refreshed_at) == ("new", None)
    stage.refresh(Model())
    fresh = look(stage, later=timedelta(hours=2))
    assert fresh.state == "fresh"
    assert fresh.age_seconds is not None
    assert 7190 < fresh.age_seconds < 7300
    assert (fresh.refresh_kind, fresh.storage_table) == ("full", "lake.ns.__mv_storage__sales")
    assert [b.change for b in fresh.base_tables] == [None]
    sell("EU", "EU")(stage.tables())
    stale = look(stage)
    assert stale.state == "stale"
    assert [(b.name, b.status, b.change) for b in stale.base_tables] == [
        ("lake.ns.orders", "stale", "1 partition changed (2 rows appended)")
    ]
    assert stale.next is not None
    assert (stale.next.kinds, stale.next.questions) == (("overwrite",), ())
    stage.refresh(Model())
    assert look(stage).state == "fresh"


def test_a_change_that_reaches_no_row_leaves_it_fresh(stage: Stage) -> None:
    stage.refresh(Model())
    sell()(stage.tables())
    assert look(stage).state == "fresh"
    assert look(stage).base_tables[0].from_snapshot_id != look(stage).base_tables[0].to_snapshot_id


def test_what_only_spark_can_say(stage: Stage) -> None:
    stage.refresh(DAYS)
    sell("EU")(stage.tables())
    found = look(stage, DAYS).next
    assert found is not None
    assert found.kinds == ("merge", "overwrite")
    assert found.questions == ("whether the groups can be merged exactly",)
    some = replace(DAYS, sql=DAYS.sql.replace("GROUP BY", "WHERE id > 0 GROUP BY"))
    stage.refresh(some)
    stage.tables()["orders"].delete("id = 1")
    found = look(stage, some).next
    assert found is not None
    assert {"overwrite", "full", "none"} < {*found.kinds}
    assert "whether a row of orders changed" in found.questions[0]
    strict = look(stage, replace(some, config={"refresh_policy": "incremental_strict"})).next
    assert strict is not None
    assert "full" not in strict.kinds
    assert "error" in strict.kinds
    assert "incremental_strict" in str(strict.refusal)


def test_a_full_refresh_that_is_refused(stage: Stage) -> None:
    some = Model("SELECT id, region FROM orders LIMIT 5", ROWS.columns[:2])
    stage.refresh(some)
    sell("EU")(stage.tables())
    found = look(stage, replace(some, config={"refresh_policy": "incremental_strict"}))
    assert found.state == "error"
    assert "LIMIT may pick other rows" in str(found.error)
    assert found.refreshed_at is not None
    assert (
        look(stage, some).limits == "full when a base table changed: LIMIT may pick other rows at the next evaluation"
    )


def test_storage_that_was_dropped(stage: Stage) -> None:
    stage.refresh(Model())
    stage.catalog.iceberg.drop_table(f"ns.{STORAGE[2]}")
    found = look(stage)
    assert found.state == "lost"
    assert found.next is not None
    assert (found.next.kinds, found.next.reason) == (("full",), "its storage table was dropped")


def test_lost_rows_are_not_left_as_they_are(stage: Stage) -> None:
    stage.refresh(Model())
    stage.catalog.iceberg.drop_table(f"ns.{STORAGE[2]}")
    (found,) = status(stage.catalog, [Configured(stage.request(COUNTED), "continue")])
    assert found.next is not None
    assert (found.next.kinds, found.next.reason, found.next.held_by) == (("full",), "the SELECT changed", None)


def test_a_changed_select(stage: Stage) -> None:
    stage.refresh(Model())
    found = look(stage, COUNTED)
    assert found.state == "stale"
    assert found.next is not None
    assert (found.next.kinds, found.next.reason) == (("full",), "the SELECT changed")


def test_what_a_run_does_about_changed_configuration(stage: Stage) -> None:
    stage.refresh(Model())
    request = stage.request(COUNTED)
    left, refused = status(stage.catalog, [Configured(request, "continue"), Configured(request, "fail")])
    assert left.next is not None
    assert (left.next.kinds, left.next.reason) == (
        ("none",),
        "on_configuration_change is continue, and the SELECT changed",
    )
    assert refused.state == "error"
    assert "the SELECT changed" in str(refused.error)
    forced = replace(request, rebuild="--full-refresh")
    (rebuilt,) = status(stage.catalog, [Configured(forced, "fail")])
    assert rebuilt.next is not None
    assert rebuilt.next.reason == "--full-refresh"


def test_a_state_that_cannot_be_read_is_told_and_the_others_are_shown(stage: Stage) -> None:
    stage.refresh(Model())
    view = stage.catalog.views["sales"]
    properties = {**view.properties, "icebergmv.owner": "somebody else"}
    stage.catalog.views["sales"] = replace(view, properties=properties)
    broken, other = status(
        stage.catalog, [Configured(stage.request(Model())), Recorded(VIEW, problem="its model is broken")]
    )
    assert broken.state == other.state == "error"
    assert "changed by hand" in str(broken.error)
    assert "--full-refresh" in str(broken.error)
    assert other.error == "its model is broken"


def test_a_view_whose_model_is_gone(stage: Stage) -> None:
    stage.refresh(Model())
    sell("US")(stage.tables())
    gone, never = status(stage.catalog, [Recorded(VIEW, note="no model"), Recorded(("lake", "ns", "nothing"))])
    assert (gone.state, gone.next, gone.note) == ("stale", None, "no model")
    assert [b.change for b in gone.base_tables] == ["1 partition changed (1 row appended)"]
    assert never.state == "error"
    assert "not a materialized view" in str(never.error)


def test_a_view_by_its_name_alone(stage: Stage) -> None:
    stage.refresh(Model())
    sell("US")(stage.tables())
    (found,) = status(stage.catalog, [Recorded(VIEW)])
    assert found.next is not None
    assert found.next.kinds == ("overwrite",)
    result, _ = stage.refresh(Model())
    assert result.kind == "overwrite"


def test_a_model_that_cannot_be_compiled_keeps_what_is_recorded(stage: Stage) -> None:
    stage.refresh(Model())
    (found,) = status(stage.catalog, [Recorded(VIEW, problem="no such macro")])
    assert (found.state, found.error) == ("error", "no such macro")
    assert found.refreshed_at is not None


@pytest.mark.parametrize(("later", "within"), [(5, True), (20, False)])
def test_age_against_the_window(later: int, within: bool, stage: Stage) -> None:
    windowed = reading("use_view_query", staleness_window=900)
    stage.refresh(windowed)
    found = look(stage, windowed, timedelta(minutes=later))
    assert (found.staleness_window, found.within_window) == (900, within)
    assert found.stale_read_behavior == "use_view_query"


def test_a_setting_that_needs_no_other_rows_is_told(stage: Stage) -> None:
    stage.refresh(reading("use_data_table"))
    said = "stale_read_behavior is fail, and was use_data_table"
    found = look(stage, reading("fail"))
    assert (found.state, found.stale_read_behavior, found.altered) == ("fresh", "use_data_table", (said,))
    assert f"  changed: {said}" in status_text([found]).splitlines()
    result, _ = stage.refresh(reading("fail"))
    assert (result.kind, look(stage, reading("fail")).altered) == ("none", ())


def test_a_setting_that_the_run_leaves_as_it_is(stage: Stage) -> None:
    stage.refresh(Model())
    described = Configured(stage.request(Model(config={"comment": "Sales"})), "continue")
    (found,) = status(stage.catalog, [described])
    assert (found.state, found.altered) == ("fresh", ("the description changed",))
    assert found.next is not None
    assert (found.next.kinds, found.next.held_by) == (("none",), "on_configuration_change")
    assert "none (on_configuration_change)" in status_text([found])


def asked(
    stage: Stage, model: Model, on_change: OnChange = "apply", rebuild: str | None = None
) -> tuple[str, tuple[str, ...]]:
    """Return state and next refresh of a model that asks Spark while it is compiled."""
    request = replace(stage.request(model), rebuild=rebuild)
    subject = Configured(request, on_change, is_asked=True)
    (found,) = status(stage.catalog, [subject])
    explained = explain(stage.catalog, subject)
    assert explained.error == found.error
    if found.next is None:
        return found.state, ()
    assert explained.status is not None
    assert explained.status.next is not None
    assert explained.status.next.kinds == found.next.kinds
    return found.state, found.next.kinds


CHANGES: tuple[OnChange, ...] = ("apply", "continue", "fail")


@pytest.mark.parametrize("on_change", CHANGES)
def test_a_select_that_only_the_run_knows_is_built_in_full_anyway(on_change: OnChange, stage: Stage) -> None:
    stage.refresh(Model())
    assert asked(stage, Model(), on_change, "full_refresh is true in its configuration") == ("stale", ("full",))


PARTITIONED_BY_A_NEW_COLUMN = Model(config={"partition_by": ("day",)})
LIMITED = Model("SELECT id, region FROM orders LIMIT 5", ROWS.columns[:2])
STRICT = {"refresh_policy": "incremental_strict"}


@pytest.mark.parametrize(
    ("on_change", "expected"),
    [("apply", ("stale", ("error", "full"))), ("continue", ("stale", ("error", "none"))), ("fail", ("error", ()))],
)
def test_what_fails_with_the_last_select_may_not_with_another(
    on_change: OnChange, expected: tuple[str, tuple[str, ...]], stage: Stage
) -> None:
    stage.refresh(Model())
    assert asked(stage, PARTITIONED_BY_A_NEW_COLUMN, on_change) == expected
    stage.refresh(replace(LIMITED, config={}))
    sell("EU")(stage.tables())
    assert asked(stage, replace(LIMITED, config=STRICT), on_change) == expected


def test_a_changed_select_does_not_wait_for_the_target_lag(stage: Stage) -> None:
    stage.refresh(LIMITED)
    sell("EU")(stage.tables())
    model = replace(LIMITED, config={**STRICT, "target_lag": 3600})
    assert asked(stage, model) == ("stale", ("none", "full", "error"))
    # Of one that is known, the rows may wait although no refresh of them would be right.
    assert explain(stage.catalog, Configured(stage.request(model))).verdict == "full"


def test_readers_that_do_not_get_what_is_configured(stage: Stage) -> None:
    total = reading("use_stitching", Model("SELECT sum(amount) AS total FROM orders", (("total", "bigint"),)))
    stage.refresh(total)
    found = look(stage, total)
    assert found.stale_read_behavior == "use_view_query"
    assert found.reads_reason


def test_readers_of_small_tables_get_what_is_configured(stage: Stage) -> None:
    """Rows that are current: how readers get them is for `explain`."""
    small = reading("use_stitching", definition_below_rows=1_000)
    stage.refresh(small)
    found = look(stage, small)
    assert (found.stale_read_behavior, found.reads_reason) == ("use_view_query", None)


def test_runs_that_do_not_refresh(stage: Stage) -> None:
    left = Model(config={"refresh_on_run": False})
    stage.refresh(left)
    sell("EU")(stage.tables())
    found = look(stage, left)
    assert found.state == "stale"
    assert found.next is not None
    assert (found.next.kinds, found.next.reason) == (("none",), "refresh_on_run is false")


def test_the_tables_are_looked_at_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.refresh(Model())
    asked: list[str] = []
    table = stage.catalog.table

    def counted(namespace: str, name: str) -> object:
        asked.append(name)
        return table(namespace, name)

    monkeypatch.setattr(stage.catalog, "table", counted)
    status(stage.catalog, [Configured(stage.request(Model()))] * 5)
    assert sorted(asked) == [STORAGE[2], "orders"]


def test_what_the_same_run_builds_first(stage: Stage) -> None:
    """A view over a table that the run builds anew, and views over views."""
    stage.refresh(Model())
    request = stage.request(Model())
    above = Configured(request, built_first=(("lake", "ns", "made_by_the_run"),))
    (found,) = status(stage.catalog, [above])
    assert found.state == "fresh"
    assert found.next is not None
    assert {*found.next.kinds} == {"none", "append", "overwrite", "merge", "full"}
    assert "lake.ns.made_by_the_run, which the same run builds first" in found.next.questions[0]
    rebuilt = replace(above, request=replace(request, rebuild="--full-refresh"))
    (firm,) = status(stage.catalog, [rebuilt])
    assert firm.next is not None
    assert firm.next.kinds == ("full",)


def test_json_has_every_field(stage: Stage) -> None:
    stage.refresh(Model())
    employ("Eve")(stage.tables())
    found = look(stage)
    assert json.loads(as_json([found])) == json.loads(json.dumps([asdict(found)]))
    assert json.loads(as_json([found]))[0]["next"]["kinds"] == ["none"]


def test_a_catalog_without_views(stage: Stage) -> None:
    stage.catalog.has_views = False
    found = look(stage)
    assert (found.state, found.next) == ("error", None)
    assert str(found.error).startswith("the catalog lake offers no views. Leave layout out, ")
    with pytest.raises(InvalidConfig, match=r"^Cannot refresh lake\.ns\.sales: the catalog lake offers no views\. "):
        inspect(stage.catalog, stage.request(BY_REGION))


HOURLY = Model(config={"target_lag": 3600})


def test_the_lag_of_a_view_is_the_time_since_its_tables_moved_on(stage: Stage) -> None:
    stage.refresh(HOURLY)
    stage.ahead, other = timedelta(days=-3), Model(config={**HOURLY.config, "partition_by": ()})
    stage.refresh(other)
    fresh = look(stage, other)
    assert (fresh.state, fresh.lag_seconds, fresh.within_target_lag, fresh.stale_since) == ("fresh", 0, True, None)
    sell("EU")(stage.tables())
    sell("US")(stage.tables())
    stale = look(stage, other, timedelta(minutes=50))
    assert stale.lag_seconds is not None
    assert 2990 < stale.lag_seconds < 3050, "not the three days since the refresh"
    first, second = (s.timestamp_ms for s in stage.tables()["orders"].metadata.snapshots[-2:])
    assert stale.stale_since is not None
    assert datetime.fromisoformat(stale.stale_since).timestamp() * 1000 == pytest.approx(first)
    assert first < second
    assert stale.within_target_lag
    late = look(stage, other, timedelta(minutes=61))
    assert late.within_target_lag is False


def test_a_table_that_was_rolled_back_moved_on_then(stage: Stage) -> None:
    sell("EU")(stage.tables())
    stage.refresh(HOURLY)
    orders = stage.tables()["orders"]
    stage.ahead = timedelta(days=-3)
    orders.manage_snapshots().set_current_snapshot(orders.metadata.snapshots[0].snapshot_id).commit()
    found = look(stage, HOURLY, timedelta(minutes=50))
    assert found.state == "stale"
    assert found.lag_seconds is not None
    assert found.lag_seconds < 3100


def test_a_table_that_was_made_anew_moved_on_at_a_time_that_nobody_knows(stage: Stage) -> None:
    stage.ahead = timedelta(hours=-3)
    stage.refresh(HOURLY)
    orders, iceberg = stage.tables()["orders"], stage.catalog.iceberg
    iceberg.drop_table("ns.orders")
    iceberg.create_table("ns.orders", orders.schema(), partition_spec=orders.spec())
    sell("EU")(stage.tables())
    found = look(stage, HOURLY)
    assert found.state == "stale"
    assert found.lag_seconds is not None
    assert 3 * 3600 <= found.lag_seconds < 3 * 3600 + 100
    assert found.within_target_lag is False


def test_the_date_moves_at_midnight_of_the_session(stage: Stage) -> None:
    recent = Model(
        "SELECT region, sum(amount) AS total FROM orders WHERE day >= current_date - 3650 GROUP BY region",
        HOURLY.columns,
        HOURLY.config,
    )
    stage.refresh(recent)
    started = datetime.now(timezone.utc)
    midnight = datetime.combine(started.date() + timedelta(days=1), datetime.min.time(), timezone.utc)
    stage.ahead = midnight - started + timedelta(minutes=20)
    (found,) = status(stage.catalog, [Configured(stage.request(recent))], stage.now())
    assert (found.state, found.clock is not None) == ("stale", True)
    assert found.stale_since is not None
    assert datetime.fromisoformat(found.stale_since) == max(midnight, started.replace(microsecond=0))


def test_the_next_run_leaves_a_younger_view_alone(stage: Stage) -> None:
    stage.refresh(HOURLY)
    sell("EU")(stage.tables())
    young, old = look(stage, HOURLY, timedelta(minutes=59)), look(stage, HOURLY, timedelta(minutes=61))
    assert young.next is not None
    assert old.next is not None
    assert (young.state, young.next.kinds, young.next.held_by) == ("stale", ("none",), "target_lag")
    assert young.next.reason == "refreshed 59 minutes ago, target_lag is 1 hour"
    assert (old.next.kinds, old.next.held_by) == (("overwrite",), None)
    (first,) = status(
        stage.catalog, [Configured(stage.request(HOURLY), built_first=(("lake", "ns", "orders"),))], stage.now()
    )
    assert first.next is not None
    assert first.next.kinds == ("none",), "whatever the same run builds first"


def test_a_younger_view_whose_refresh_would_fail_is_left_alone_too(stage: Stage) -> None:
    failing = reading("fail", target_lag=3600)
    stage.refresh(failing)
    stage.catalog.iceberg.drop_table("ns.orders")
    found = look(stage, failing)
    assert found.error is None
    assert found.state == "stale"
    assert found.next is not None
    assert found.next.held_by == "target_lag"
    assert found.note is not None
    assert found.note.startswith("the first run after its target_lag fails: ")
    assert stage.refresh(failing)[0].reason == found.next.reason
    late = look(stage, failing, timedelta(hours=2))
    assert late.state == "error"


def test_readers_who_get_something_else_are_told_of_though_no_setting_says_it(stage: Stage) -> None:
    stage.refresh(reading("use_stitching"))
    looks = replace(BY_REGION, config={"stale_read_behavior": "use_stitching"})
    found = look(stage, looks)
    assert found.altered == ("readers get use_view_query, and got use_stitching",)
    assert "  changed: readers get use_view_query, and got use_stitching" in status_text([found]).splitlines()
    stage.refresh(looks)
    assert look(stage, looks).altered == ()


@pytest.mark.parametrize(
    ("declared", "kinds"),
    [
        (None, ("none",)),
        ({"region": "string", "total": "bigint"}, ("none",)),
        ({"region": "string", "total": "int"}, ("none", "error")),
        ({"region": "string"}, ("none", "error")),
        ({"region": "string", "total": None}, ("none", "error")),
    ],
)
def test_a_contract_that_the_view_may_break(
    declared: dict[str, str | None] | None, kinds: tuple[str, ...], stage: Stage
) -> None:
    stage.refresh(BY_REGION)
    view = stage.catalog.views[VIEW[2]]
    columns = tuple(replace(c, type=t) for c, t in zip(view.columns, ("string", "bigint"), strict=True))
    stage.catalog.views[VIEW[2]] = replace(view, columns=columns)
    (found,) = status(stage.catalog, [Configured(stage.request(BY_REGION), declared=declared)], stage.now())
    assert found.next is not None
    assert found.next.kinds == kinds
    assert bool(found.next.questions) is ("error" in kinds)


def test_nothing_is_said_of_reads_before_the_tables_are_there(stage: Stage) -> None:
    absent = replace(reading("use_stitching"), sql="SELECT k, current_date() AS d FROM not_there")
    found = look(stage, absent)
    assert (found.state, found.limits, found.reads_reason) == ("new", None, None)
