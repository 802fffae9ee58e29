"""The generic test materialized_view_is_fresh: when it fails, and what it says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import duckdb
import pytest

from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable
from dbt.adapters.icebergmv.maintenance.reports.freshness import Overdue, overdue, overdue_sql
from dbt.adapters.icebergmv.maintenance.reports.one_run import status
from dbt.adapters.icebergmv.maintenance.reports.view_status import Configured
from dbt.adapters.icebergmv.maintenance.status.session.clock import utc_now
from tests.refresh.refreshes import JOINED, RANDOM, STORAGE, TABLE, VIEW, Model, Stage, employ, sell

HOUR = 3600


def found(stage: Stage, minutes: int, allowed: int = HOUR) -> tuple[Overdue, ...]:
    """Return what is found some minutes from now."""
    return overdue(stage.catalog, VIEW, allowed, utc_now() + timedelta(minutes=minutes))


def test_stale_rows_may_be_as_old_as_is_allowed(stage: Stage) -> None:
    stage.refresh(Model())
    assert found(stage, 60 * 24 * 100) == (), "nothing changed since"
    sell("EU", "US")(stage.tables())
    assert found(stage, 59) == ()
    (one,) = found(stage, 61)
    assert (one.materialized_view, one.base_table) == ("lake.ns.sales", "lake.ns.orders")
    assert (one.change, one.allowed) == ("2 partitions changed (2 rows appended)", "1 hour")
    assert one.stale_since is not None
    assert one.stale_since.endswith(" UTC (1 hour ago)")
    assert str(one) == (
        f"lake.ns.sales is stale since {one.stale_since}, which may be 1 hour: "
        "lake.ns.orders: 2 partitions changed (2 rows appended)"
    )
    assert found(stage, 61, 2 * HOUR) == ()
    stage.refresh(Model())
    assert found(stage, 61) == ()


def test_a_view_that_is_a_table(stage: Stage) -> None:
    stage.refresh(TABLE)
    assert found(stage, 61) == ()
    sell("EU")(stage.tables())
    assert found(stage, 59) == ()
    assert [one.base_table for one in found(stage, 61)] == ["lake.ns.orders"]


def test_what_happened_after_dbt_was_started_is_not_too_old(stage: Stage) -> None:
    stage.refresh(Model())
    sell("EU")(stage.tables())
    assert found(stage, -10, allowed=0) == ()


@pytest.mark.parametrize("model", [Model(), RANDOM], ids=["of a table", "of itself"])
def test_a_clock_that_was_ahead_hides_nothing(stage: Stage, model: Model) -> None:
    stage.ahead = timedelta(days=1)
    stage.refresh(model)
    stage.ahead = timedelta()
    sell("EU")(stage.tables())
    (one,) = found(stage, 10 * 60)
    assert (
        "orders" in str(one)
        if model is not RANDOM
        else str(one).startswith(
            "lake.ns.sales: nobody knows since when it is stale, as by the clock its last refresh ("
        )
    )
    hourly = replace(model, config={**model.config, "target_lag": HOUR})
    (said,) = status(stage.catalog, [Configured(stage.request(hourly))], utc_now() + timedelta(hours=10))
    assert (said.state, said.within_target_lag) == ("stale", False)


def test_a_refresh_of_this_run_is_later_than_its_start(stage: Stage) -> None:
    stage.refresh(RANDOM)
    assert found(stage, -10, allowed=0) == ()


def test_each_table_that_changed_is_named(stage: Stage) -> None:
    stage.refresh(JOINED)
    sell("EU")(stage.tables())
    employ("Eve")(stage.tables())
    assert [one.base_table for one in found(stage, 61)] == ["lake.ns.orders", "lake.ns.regions"]


def test_a_view_that_can_never_be_known_to_be_fresh_says_why(stage: Stage) -> None:
    stage.refresh(Model("SELECT region, rand() AS r FROM orders", (("region", "string"), ("r", "double"))))
    assert found(stage, 59) == ()
    assert [one.change for one in found(stage, 61)] == ["full at every run: rand() gives a new value at every run"]


def test_a_view_without_rows_fails_however_much_is_allowed(stage: Stage) -> None:
    (never,) = found(stage, 0, 10**9)
    assert str(never) == "lake.ns.sales: it was never built"
    stage.refresh(Model())
    view = stage.catalog.views[VIEW[2]]
    stage.catalog.views[VIEW[2]] = replace(view, properties={**view.properties, "icebergmv.owner": "eve"})
    assert "changed by hand" in found(stage, 0)[0].change
    stage.catalog.views[VIEW[2]] = replace(view, properties={})
    assert "not a materialized view" in found(stage, 0)[0].change
    stage.catalog.views[VIEW[2]] = view
    stage.catalog.iceberg.drop_table(f"ns.{STORAGE[2]}")
    assert [str(one) for one in found(stage, 0)] == ["lake.ns.sales: its stored rows are gone"]


def test_a_catalog_that_is_down_is_an_error(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: object) -> None:
        raise CatalogUnavailable("it does not answer")

    monkeypatch.setattr(stage.catalog, "view", down)
    with pytest.raises(CatalogUnavailable):
        found(stage, 0)


def test_the_query_gives_what_was_found() -> None:
    nothing = duckdb.execute(overdue_sql(()).replace("`", '"'))
    assert [name for name, *_ in nothing.description or ()] == [
        "materialized_view",
        "base_table",
        "change",
        "stale_since",
        "allowed",
    ]
    assert nothing.fetchall() == []
    some = [Overdue("a.b.c", None, "never", None, "1 hour"), Overdue("a.b.c", "a.b.t", "3 files", "now", "1 hour")]
    rows = duckdb.execute(overdue_sql(some).replace("`", '"')).fetchall()
    assert rows == [("a.b.c", None, "never", None, "1 hour"), ("a.b.c", "a.b.t", "3 files", "now", "1 hour")]
    assert r"'it\'s \u0024{x}'" in overdue_sql([replace(some[0], change="it's ${x}")])
