"""target_lag: a run leaves a younger view alone, and nothing but new rows of its base tables waits for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from pyiceberg.io.pyarrow import schema_to_pyarrow

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo, ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import change_since
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult
from dbt.adapters.icebergmv.maintenance.reports.explanation import explain
from dbt.adapters.icebergmv.maintenance.reports.one_run import status
from dbt.adapters.icebergmv.maintenance.reports.view_status import Configured
from dbt.adapters.icebergmv.maintenance.status.resting import RestingView, inspect_for_run
from tests.refresh.refreshes import COUNTED, STORAGE, VIEW, Model, Stage, crash, employ, nothing, reading, sell
from tests.support.shares import one_of

LAG = {"target_lag": 3600}
HOURLY = Model(config=LAG)
STITCHED = reading("use_stitching", target_lag=3600)


def refreshed(stage: Stage, model: Model = HOURLY, **later: int) -> tuple[RefreshResult, list[str]]:
    """Refresh some time later."""
    stage.ahead += timedelta(**later)
    return stage.refresh(model)


def is_left_alone(stage: Stage, **request: Any) -> bool:
    asked = replace(stage.request(HOURLY), **request)
    return isinstance(inspect_for_run(stage.catalog, asked), RestingView)


def foreseen(stage: Stage, subject: Configured) -> tuple[str | None, tuple[str, ...]]:
    """Return what status, and explain, say of the next run: what holds the view back, and the kinds of refresh."""
    (found,), explained = status(stage.catalog, [subject], stage.now()), explain(stage.catalog, subject).status
    assert found.next is not None
    assert explained is not None
    assert explained.next is not None
    assert explained.next.held_by == found.next.held_by
    return found.next.held_by, found.next.kinds


def edit_view(stage: Stage, **changes: Any) -> None:
    stage.catalog.views[VIEW[2]] = replace(stage.catalog.views[VIEW[2]], **changes)


def test_a_younger_view_is_left_alone_without_a_look(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.refresh(HOURLY)
    sell("EU")(stage.tables())

    looks: list[Any] = []

    def looked(*asked: Any) -> Any:
        looks.append(asked)
        return change_since(*asked)

    monkeypatch.setattr("dbt.adapters.icebergmv.maintenance.status.status.change_since", looked)
    result, said = refreshed(stage, minutes=12)
    assert (result.kind, result.reason) == ("none", "refreshed 12 minutes ago, target_lag is 1 hour")
    assert (said, looks, result.base_tables, result.rows_written) == ([], [], (), 0)
    result, _ = refreshed(stage, minutes=48)
    assert len(looks) == 1
    assert (result.kind, result.reason) == ("overwrite", "orders: 1 partition changed")
    assert refreshed(stage, minutes=59)[0].reason.startswith("refreshed 59 minutes ago")


def test_the_age_is_that_of_the_look_at_the_base_tables(stage: Stage) -> None:
    request = stage.request(HOURLY)
    stage.refresh(HOURLY)
    looked = inspect_for_run(stage.catalog, replace(request, rebuild="--full-refresh"))
    assert not isinstance(looked, RestingView)
    recorded = datetime.fromisoformat(stage.catalog.views[VIEW[2]].properties["icebergmv.started-at"])
    ended = datetime.fromisoformat(stage.catalog.views[VIEW[2]].properties["icebergmv.refreshed-at"])
    assert recorded < ended
    moment = recorded + timedelta(hours=1)
    assert not is_left_alone(stage, now=lambda: moment)
    assert is_left_alone(stage, now=lambda: moment - timedelta(milliseconds=1))


def test_the_recorded_start_is_before_a_base_table_is_read(stage: Stage) -> None:
    read: list[datetime] = []
    catalog, load = stage.catalog, stage.catalog.table

    def table(namespace: str, name: str) -> Any:
        if name in ("orders", "regions"):
            read.append(stage.now())
        return load(namespace, name)

    catalog.table = table  # type: ignore[method-assign]
    stage.refresh(HOURLY)
    started = datetime.fromisoformat(catalog.views[VIEW[2]].properties["icebergmv.started-at"])
    assert started <= min(read)


def test_a_run_that_found_nothing_changed_does_not_renew_the_age(stage: Stage) -> None:
    stage.refresh(HOURLY)
    assert refreshed(stage, minutes=61)[0].reason.startswith("nothing changed since")
    sell("EU")(stage.tables())
    assert refreshed(stage, minutes=1)[0].kind == "overwrite"


def test_a_view_of_which_something_was_said_is_left_alone(stage: Stage) -> None:
    """What was said is recorded beside the configuration, and is none."""
    limited = Model(f"{HOURLY.sql} LIMIT 100", HOURLY.columns, LAG)
    stage.refresh(limited)
    recorded = stage.catalog.views[VIEW[2]].properties["icebergmv.config"]
    assert "LIMIT may pick other rows" in recorded
    assert refreshed(stage, limited, minutes=12)[0].reason.startswith("refreshed 12 minutes ago")


def test_a_view_that_is_a_table_is_left_alone_unless_another_wrote_into_it(stage: Stage) -> None:
    hourly = Model(config={**LAG, "layout": "table"})
    stage.refresh(hourly)
    sell("EU")(stage.tables())
    assert refreshed(stage, hourly, minutes=12)[0].reason.startswith("refreshed 12 minutes ago")
    table = stage.tables()[VIEW[2]]
    table.append(table.scan().to_arrow())
    assert refreshed(stage, hourly)[0].kind == "full"


@pytest.mark.parametrize("minutes", [-1, -60 * 24 * 400])
def test_a_refresh_in_the_future_is_a_wrong_clock(stage: Stage, minutes: int) -> None:
    stage.refresh(HOURLY)
    sell("EU")(stage.tables())
    assert refreshed(stage, minutes=minutes)[0].kind == "overwrite"


ACTED_ON: Mapping[str, Model] = {
    "SELECT": Model(COUNTED.sql, COUNTED.columns, LAG),
    "partition_by": Model(config={**LAG, "partition_by": ()}),
    "tblproperties": Model(config={**LAG, "tblproperties": {"write.target-file-size-bytes": "1048576"}}),
    "description": Model(config={**LAG, "comment": "other words"}),
    "behavior": STITCHED,
    "window": Model(config={**LAG, "staleness_window": 60}),
    "settings": Model(config=LAG),
    "no lag": Model(),
    "lag of nothing": Model(config={"target_lag": 0}),
    "release of Spark": Model(config={**LAG, "spark_release": "4.1"}),
    "not on run": Model(config={**LAG, "refresh_on_run": False}),
}


@pytest.mark.parametrize("what", ACTED_ON)
def test_what_does_not_wait(stage: Stage, what: str) -> None:
    stage.refresh(Model(config={**LAG, "spark_release": "4.0"}) if what == "release of Spark" else HOURLY)
    if what == "settings":
        config = replace(stage.request(HOURLY).config, settings={"spark.sql.session.timeZone": "Europe/Berlin"})
        assert not is_left_alone(stage, config=config)
        return
    result, _ = refreshed(stage, ACTED_ON[what], minutes=1)
    assert not result.reason.startswith("refreshed")
    assert result.base_tables


def test_small_tables_that_count_as_such_do_not_wait(stage: Stage) -> None:
    stage.refresh(STITCHED)
    small = replace(STITCHED, config={**STITCHED.config, "definition_below_rows": 10**6})
    before = stage.catalog.views[VIEW[2]].sql
    assert refreshed(stage, STITCHED, minutes=1)[0].reason.startswith("refreshed")
    assert refreshed(stage, small, minutes=1)[0].reason.startswith("nothing changed")
    assert stage.catalog.views[VIEW[2]].sql != before
    assert refreshed(stage, small, minutes=1)[0].reason.startswith("refreshed 3 minutes ago")


def test_a_view_that_runs_alone_stitched_gets_its_own_looks_at_once(stage: Stage) -> None:
    left = replace(STITCHED, config={**STITCHED.config, "refresh_on_run": False})
    stage.refresh(left)
    before = stage.catalog.views[VIEW[2]].sql
    assert refreshed(stage, STITCHED, minutes=1)[0].reason.startswith("nothing changed")
    assert stage.catalog.views[VIEW[2]].sql != before
    assert refreshed(stage, STITCHED, minutes=1)[0].reason.startswith("refreshed 2 minutes ago")


@pytest.mark.parametrize("releases", [("", "4.1"), ("4.0", "")])
def test_a_release_of_spark_that_is_not_known_is_no_change(stage: Stage, releases: tuple[str, str]) -> None:
    """States of former versions do not say it, nor do those of servers."""
    built, asked = (Model(config={**LAG, "spark_release": release}) for release in releases)
    stage.refresh(built)
    assert refreshed(stage, asked, minutes=1)[0].reason.startswith("refreshed 1 minute ago")


def drop_storage(stage: Stage) -> None:
    stage.catalog.iceberg.drop_table(f"ns.{STORAGE[2]}")


def crash_over_it(stage: Stage) -> None:
    crash(stage.tables())


LOSSES: Mapping[str, Callable[[Stage], None]] = {
    "dropped storage": drop_storage,
    "unfinished refresh": crash_over_it,
    "view edited": lambda stage: edit_view(stage, sql="SELECT 1"),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_broken_is_mended_at_once(stage: Stage, loss: str) -> None:
    stage.refresh(HOURLY)
    assert is_left_alone(stage)
    LOSSES[loss](stage)
    assert not is_left_alone(stage)
    assert refreshed(stage)[0].kind in ("full", "overwrite")
    assert is_left_alone(stage)


def test_a_run_that_builds_whatever_there_is_leaves_nothing_alone(stage: Stage) -> None:
    stage.refresh(HOURLY)
    assert not is_left_alone(stage, rebuild="--full-refresh")
    assert not is_left_alone(stage, partial="--empty")


def test_a_redefined_plain_view_does_not_wait(stage: Stage) -> None:
    types = {"region": "string", "amount": "bigint"}
    stage.catalog.views["plain"] = ViewInfo(
        namespace="ns",
        name="plain",
        uuid="u",
        sql="SELECT region, amount FROM orders",
        columns=tuple(ColumnInfo(name, type_, None) for name, type_ in types.items()),
        properties={},
        comment=None,
        default_namespace=("ns",),
        types=tuple(types.values()),
    )
    model = Model("SELECT region, sum(amount) AS total FROM plain GROUP BY region", HOURLY.columns, LAG)
    stage.refresh(model)
    assert refreshed(stage, model, minutes=1)[0].reason.startswith("refreshed")
    stage.catalog.views["plain"] = replace(stage.catalog.views["plain"], version_id=2)
    assert refreshed(stage, model, minutes=1)[0].reason.startswith("refreshed")
    request = stage.request(model)
    assert foreseen(stage, Configured(request)) == ("target_lag", ("none",))
    # The run gives the plain view another SELECT before it comes to this one.
    held_by, kinds = foreseen(stage, Configured(request, built_first=(("lake", "ns", "plain"),)))
    assert held_by is None
    assert {"full", "none"} <= set(kinds)
    stage.catalog.views["plain"] = replace(
        stage.catalog.views["plain"], sql="SELECT region, amount + 1 AS amount FROM orders"
    )
    assert refreshed(stage, model, minutes=1)[0].kind == "full"


@pytest.mark.parametrize("change", one_of(3, [nothing, sell("EU"), employ("Eve")]))
@pytest.mark.parametrize("behavior", ["use_stitching", "use_view_query", "fail"])
def test_what_readers_get_stays(stage: Stage, behavior: str, change: Callable[..., None]) -> None:
    model = reading(behavior, target_lag=3600)
    stage.refresh(model)
    before = stage.catalog.views[VIEW[2]]
    change(stage.tables())
    result, said = refreshed(stage, model, minutes=5)
    assert (result.kind, result.stale_read_behavior, said) == ("none", behavior, [])
    assert stage.catalog.views[VIEW[2]] == before


def test_storage_of_the_view_is_read_like_its_rows(stage: Stage) -> None:
    stage.refresh(HOURLY)
    storage = stage.tables()[STORAGE[2]]
    result, _ = refreshed(stage, minutes=1)
    assert (result.storage_table, result.storage_snapshot_id) == (STORAGE, storage.metadata.current_snapshot_id)
    assert schema_to_pyarrow(storage.schema()).names == ["region", "total"]
