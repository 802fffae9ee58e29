"""The query that compares stored rows with the SELECT: what it reads, and when there is no such query."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from unittest.mock import patch

import pytest

from dbt.adapters.icebergmv.maintenance.definition import definition
from dbt.adapters.icebergmv.maintenance.errors import NotReadable
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.rightness import wrong_rows_query
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import STORAGE, VIEW, Model, Stage, reading, sell
from tests.support.recording_spark import SETTINGS, RecordingSpark


def full(sql: str) -> Model:
    """Return a model of the totals whose SELECT names its table in full, as dbt writes it."""
    return replace(Model(), sql=sql)


TOTALS = full("SELECT region, sum(amount) AS total FROM lake.ns.orders GROUP BY region")


def test_both_sides_are_read_at_what_was_recorded(stage: Stage) -> None:
    stage.refresh(TOTALS)
    tables = stage.tables()
    base, stored = (tables[name].metadata.current_snapshot_id for name in ("orders", STORAGE[2]))
    sell("EU")(tables)
    query = wrong_rows_query(stage.catalog, VIEW, SETTINGS)
    assert f"`lake`.`ns`.`orders` VERSION AS OF {base} GROUP BY region" in query
    assert f"`lake`.`ns`.`__mv_storage__sales` VERSION AS OF {stored}" in query
    assert query.endswith("GROUP BY `region`, `total` HAVING sum(icebergmv_sign) <> 0")


def test_a_view_that_is_a_table(stage: Stage) -> None:
    stage.refresh(replace(TOTALS, config={"layout": "table"}))
    stored = stage.tables()[VIEW[2]].metadata.current_snapshot_id
    query = wrong_rows_query(stage.catalog, VIEW, SETTINGS)
    assert f"`lake`.`ns`.`sales` VERSION AS OF {stored}" in query
    table = stage.tables()[VIEW[2]]
    table.append(table.scan().to_arrow())
    assert "was written (append) by something else than a refresh" in refused(stage)


def test_the_behaviour_of_readers_does_not_matter(stage: Stage) -> None:
    stage.refresh(reading("use_view_query", TOTALS))
    assert "VERSION AS OF" in wrong_rows_query(stage.catalog, VIEW, SETTINGS)


def test_the_clock_is_the_recorded_one(stage: Stage) -> None:
    model = full("SELECT region, sum(amount) AS total FROM lake.ns.orders WHERE day <= current_date GROUP BY region")
    request = replace(stage.request(model), now=lambda: datetime(2024, 5, 6, tzinfo=timezone.utc))
    inspection = inspect(stage.catalog, request)
    refresh(Lake(stage.catalog, RecordingSpark(stage.catalog, model.columns)), inspection, read_plan(inspection))
    query = wrong_rows_query(stage.catalog, VIEW, SETTINGS)
    assert "DATE '2024-05-06'" in query
    assert "current_date" not in query


FIRST = full(
    "SELECT region, id AS total FROM (SELECT *, row_number() OVER (PARTITION BY region ORDER BY amount) AS n "
    "FROM lake.ns.orders) q WHERE n = 1"
)


def test_rows_that_tied_are_ordered_as_the_stored_ones_were(stage: Stage) -> None:
    stage.refresh(FIRST)
    assert "ORDER BY amount, `orders`.`id`) AS n" in wrong_rows_query(stage.catalog, VIEW, SETTINGS)


def test_rows_that_may_have_been_ordered_otherwise(stage: Stage) -> None:
    with patch.object(definition, "tie_breaking", lambda *_: ()):
        stage.refresh(FIRST)
    assert refused(stage).startswith("rows tie in the ORDER BY of a window, so it may give other rows.")


def test_hidden_keys_take_part_in_the_order(stage: Stage) -> None:
    """The column that is stored besides is read, so rows that tie are ordered by it, too."""
    model = full(
        "SELECT o.amount AS region, q.id AS total FROM lake.ns.orders o JOIN (SELECT *, row_number() OVER "
        "(PARTITION BY day ORDER BY amount) AS n FROM lake.ns.orders) q ON o.day = q.day WHERE q.n = 1"
    )
    stage.refresh(model)
    query = wrong_rows_query(stage.catalog, VIEW, SETTINGS)
    assert "ORDER BY amount, `orders`.`id`, `orders`.`region`) AS n" in query


def test_a_table_that_was_empty_is_read_as_empty(stage: Stage) -> None:
    stage.catalog.iceberg.drop_table("ns.orders")
    stage.catalog.iceberg.create_table("ns.orders", stage.catalog.iceberg.load_table("ns.regions").schema())
    stage.refresh(full("SELECT region, count(*) AS total FROM lake.ns.orders GROUP BY region"))
    assert "WHERE false" in wrong_rows_query(stage.catalog, VIEW, SETTINGS)


def refused(stage: Stage, settings: dict[str, str] = SETTINGS) -> str:
    with pytest.raises(NotReadable) as error:
        wrong_rows_query(stage.catalog, VIEW, settings)
    assert str(error.value).startswith("Cannot compare with its SELECT the view lake.ns.sales: ")
    return error.value.cause


def test_no_view(stage: Stage) -> None:
    assert refused(stage) == "it is not a materialized view of the catalog. Run dbt first."


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT region, amount AS total FROM lake.ns.orders LIMIT 3", "LIMIT may pick other rows"),
        ("SELECT region, rand() AS total FROM lake.ns.orders", "rand() gives a new value at every run"),
        ("SELECT region, 1 AS total FROM elsewhere.ns.orders", "recorded no snapshot of elsewhere.ns.orders"),
    ],
)
def test_what_may_give_other_rows(stage: Stage, sql: str, why: str) -> None:
    stage.refresh(full(sql))
    assert why in refused(stage)


def test_what_is_gone(stage: Stage) -> None:
    stage.refresh(TOTALS)
    assert "with other settings: spark.sql.ansi.enabled is false, and was not set" in refused(
        stage, {**SETTINGS, "spark.sql.ansi.enabled": "false"}
    )
    view = stage.catalog.views["sales"]
    stage.catalog.views["sales"] = replace(view, sql="SELECT 1")
    assert refused(stage) == "the view was redefined by hand. Refresh it."
    stage.catalog.views["sales"] = view
    stage.catalog.iceberg.drop_table("ns.orders")
    assert "is no longer the table that the last refresh read" in refused(stage)
