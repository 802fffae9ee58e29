"""Since when a view is stale: the first commit that it lacks, or the last refresh where nobody can know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.maintenance.status.inspection import RefreshedView, inspect
from dbt.adapters.icebergmv.maintenance.status.session.clock import ClockChange, date_moved_at, utc_now
from dbt.adapters.icebergmv.maintenance.status.stale_since import looked_at, stale_since
from tests.refresh.refreshes import COUNTED, JOINED, RANDOM, Model, Stage, employ, sell
from tests.support.recording_spark import committed_as


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A stage whose refreshes are three hours old."""
    made = Stage(tmp_path)
    made.ahead = timedelta(hours=-3)
    yield made
    made.close()


def seen(stage: Stage, model: Model) -> RefreshedView:
    view = inspect(stage.catalog, stage.request(model))
    assert isinstance(view, RefreshedView)
    return view


def head(stage: Stage, table: str) -> datetime:
    """Return when the newest snapshot of a table was made."""
    return datetime.fromtimestamp(stage.tables()[table].metadata.snapshots[-1].timestamp_ms / 1000, timezone.utc)


def test_the_first_commit_to_the_first_of_its_tables_counts(stage: Stage) -> None:
    stage.refresh(JOINED)
    employ("Eve")(stage.tables())
    first = head(stage, "regions")
    for _ in range(2):
        sell("EU")(stage.tables())
    assert stale_since(seen(stage, JOINED), max(stage.now(), utc_now())) == first


def test_a_compaction_before_the_change_does_not_count(stage: Stage) -> None:
    stage.refresh(Model())
    orders = stage.tables()["orders"]
    orders.append(orders.scan().to_arrow()[:0])
    committed_as(orders, "replace")
    sell("EU")(stage.tables())
    since = stale_since(seen(stage, Model()), max(stage.now(), utc_now()))
    assert since == head(stage, "orders")


def test_main_set_to_a_compaction_of_other_rows_has_moved(stage: Stage) -> None:
    sell("US")(stage.tables())
    orders = stage.tables()["orders"]
    orders.append(orders.scan().to_arrow()[:0])
    committed_as(orders, "replace")
    compacted = stage.tables()["orders"].metadata.current_snapshot_id
    assert compacted is not None
    sell("EU")(stage.tables())
    stage.refresh(Model())
    stage.tables()["orders"].manage_snapshots().set_current_snapshot(compacted).commit()
    moved = datetime.fromtimestamp(stage.tables()["orders"].metadata.snapshot_log[-1].timestamp_ms / 1000, timezone.utc)
    sell("EU")(stage.tables())
    assert stale_since(seen(stage, Model()), max(stage.now(), utc_now())) == max(moved, looked_at(seen(stage, Model())))


def test_clocks_differ_by_seconds(stage: Stage) -> None:
    stage.refresh(Model())
    sell("EU")(stage.tables())
    changed = head(stage, "orders")
    assert stale_since(seen(stage, Model()), changed - timedelta(seconds=30)) == changed


def test_a_snapshot_without_files_does_not_count(stage: Stage) -> None:
    stage.refresh(Model())
    orders = stage.tables()["orders"]
    orders.append(orders.scan().to_arrow()[:0])
    sell("EU")(stage.tables())
    assert stale_since(seen(stage, Model()), utc_now()) == head(stage, "orders")


def test_a_writer_whose_clock_is_ahead_hides_nothing(stage: Stage) -> None:
    stage.refresh(Model())
    sell("EU")(stage.tables())
    view = seen(stage, Model())
    assert stale_since(view, looked_at(view)) == looked_at(view)


def test_a_log_that_lost_the_snapshot_says_nothing(stage: Stage) -> None:
    stage.refresh(Model())
    sell("EU")(stage.tables())
    view = seen(stage, Model())
    (base,) = view.status.base_tables
    assert base.base.source is not None
    assert stale_since(view, max(stage.now(), utc_now())) == head(stage, "orders")
    base.base.source.table.metadata.snapshot_log[:] = base.base.source.table.metadata.snapshot_log[-1:]
    assert stale_since(view, max(stage.now(), utc_now())) == looked_at(view)


def test_a_writer_whose_clock_is_late_makes_no_view_older_than_it_is(stage: Stage) -> None:
    stage.ahead = timedelta(hours=3)
    stage.refresh(Model())
    sell("EU")(stage.tables())
    view = seen(stage, Model())
    assert stale_since(view, max(stage.now(), utc_now())) == looked_at(view)
    assert looked_at(view) > head(stage, "orders")


def test_a_refresh_at_a_time_to_come_says_nothing(stage: Stage) -> None:
    """The clock was wrong then: what happened since has the times that the catalog has for it."""
    stage.ahead = timedelta(days=1)
    stage.refresh(Model())
    stage.ahead = timedelta()
    sell("EU")(stage.tables())
    view = seen(stage, Model())
    assert stale_since(view, max(stage.now(), utc_now())) == head(stage, "orders")
    assert stale_since(seen(stage, COUNTED), max(stage.now(), utc_now())) is None


@pytest.mark.parametrize("model", [COUNTED, RANDOM])
def test_what_is_stale_by_itself_is_so_since_the_refresh(stage: Stage, model: Model) -> None:
    stage.refresh(RANDOM if model is RANDOM else Model())
    sell("EU")(stage.tables())
    view = seen(stage, model)
    assert stale_since(view, max(stage.now(), utc_now())) == looked_at(view)


@pytest.mark.parametrize(
    ("zone", "moment"),
    [
        ("UTC", "2024-03-31T00:00:00+00:00"),
        ("Europe/Berlin", "2024-03-30T23:00:00+00:00"),
        ("America/New_York", "2024-03-31T04:00:00+00:00"),
        ("+05:30", "2024-03-30T18:30:00+00:00"),
        ("CET", None),
    ],
)
def test_a_date_ends_at_midnight_of_the_session(zone: str, moment: str | None) -> None:
    change, settings = ClockChange({"date": "2024-03-30"}, {"date": "2024-04-02"}), {"spark.sql.session.timeZone": zone}
    found = date_moved_at(change, settings)
    assert found == (None if moment is None else datetime.fromisoformat(moment))
    times = {"timestamp": "2024-03-30 01:00:00.000000Z"}
    assert date_moved_at(replace(change, before={"date": "2024-03-30", **times}), settings) is None
    assert date_moved_at(replace(change, before=times), settings) is None
    assert date_moved_at(replace(change, before=None), settings) is None
