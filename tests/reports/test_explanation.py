"""What is explained of views, and of SELECTs that are none yet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewInfo
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable
from dbt.adapters.icebergmv.maintenance.reports.explanation import (
    Explanation,
    Outcome,
    explain,
    explain_all,
    without_status,
)
from dbt.adapters.icebergmv.maintenance.reports.explanation_text import explanation_text, in_a_line, project_text
from dbt.adapters.icebergmv.maintenance.reports.next_sql import NextSql
from dbt.adapters.icebergmv.maintenance.reports.view_status import Configured, Recorded
from tests.refresh.refreshes import DAYS, JOINED, ROWS, VIEW, Model, Stage, reading, sell


def of(stage: Stage, model: Model) -> Explanation:
    """Return the explanation of a model of the stage."""
    return explain(stage.catalog, Configured(stage.request(model)))


def select(sql: str) -> Model:
    """Return a model of which Spark is never asked."""
    return Model(sql, ())


def test_columns_say_what_they_follow(stage: Stage) -> None:
    sql = "SELECT upper(o.region) AS r, r.region, o.day, sum(amount) AS s FROM orders o JOIN regions r "
    found = of(stage, select(f"{sql} ON o.region = r.region GROUP BY upper(o.region), r.region, o.day"))
    follows = {c.name: [(t.base_table, t.base_column, t.how) for t in c.tracks] for c in found.columns}
    assert follows == {
        "r": [("lake.ns.orders", "region", "upper(region)"), ("lake.ns.regions", "region", "upper(region)")],
        "region": [("lake.ns.orders", "region", "as it is"), ("lake.ns.regions", "region", "as it is")],
        "day": [("lake.ns.orders", "day", "as it is")],
        "s": [],
    }


def test_a_window_by_months_follows_whole_months(stage: Stage) -> None:
    found = of(stage, select("SELECT day, sum(amount) OVER (PARTITION BY date_trunc('month', day)) AS s FROM orders"))
    (track,) = found.columns[0].tracks
    assert track.how == "with all rows of the same date_trunc to month"


def test_rows_that_tie_are_ordered_by_more(stage: Stage) -> None:
    numbers = "row_number() OVER (PARTITION BY day ORDER BY amount) AS n"
    found = of(stage, select(f"SELECT day, region, {numbers} FROM orders"))
    assert found.tie_breakers == ("`orders`.`region`",)
    assert "  rows that tie in a window are ordered by `orders`.`region`" in explanation_text(found).splitlines()
    assert of(stage, select(f"SELECT day, {numbers} FROM orders")).tie_breakers == ()


def test_a_table_that_columns_follow(stage: Stage) -> None:
    (orders,) = of(stage, Model()).base_tables
    assert (orders.name, orders.partitioned_by, orders.followed_by) == ("lake.ns.orders", ("`region`",), ("region",))
    assert orders.obstacles == ()
    assert orders.rows_added == orders.rows_changed
    assert orders.rows_added is not None
    assert orders.rows_added.kinds == ("overwrite",)


@pytest.mark.parametrize(
    ("sql", "verdict", "added", "changed"),
    [
        ("SELECT id, region FROM orders", "incremental", "append", "overwrite"),
        ("SELECT day, sum(amount) AS s FROM orders GROUP BY day", "incremental", "merge", "merge"),
        ("SELECT region, rand() AS r FROM orders", "full", "full", "full"),
        ("SELECT id FROM orders LIMIT 3", "full", "full", "full"),
        ("SELECT max(amount) AS m FROM orders HAVING max(amount) > 1", "full", "full", "full"),
    ],
)
def test_what_changes_come_to(sql: str, verdict: str, added: str, changed: str, stage: Stage) -> None:
    found = of(stage, select(sql))
    (orders,) = found.base_tables
    assert found.verdict == verdict
    assert orders.rows_added is not None
    assert orders.rows_changed is not None
    assert (orders.rows_added.kinds[0], orders.rows_changed.kinds[0]) == (added, changed)


def test_one_table_is_followed_and_another_is_not(stage: Stage) -> None:
    found = of(stage, select("SELECT id, (SELECT max(manager) FROM regions HAVING count(*) > 1) AS m FROM orders"))
    assert found.verdict == "partly"
    orders, regions = sorted(found.base_tables, key=lambda base: base.name)
    assert orders.rows_changed is not None
    assert "overwrite" in orders.rows_changed.kinds
    assert regions.obstacles == ("a subquery that no equality ties to the row",)


def test_a_table_has_no_obstacle_of_its_namesake(stage: Stage) -> None:
    stage.catalog.iceberg.create_namespace("other")
    stage.catalog.iceberg.create_table("other.orders", stage.tables()["orders"].schema())
    inner = "SELECT max(amount) FROM other.orders HAVING count(*) > 1"
    found = of(stage, select(f"SELECT id, region, ({inner}) AS m FROM orders"))
    said = {base.name: base.obstacles for base in found.base_tables}
    assert said == {
        "lake.ns.orders": (),
        "lake.other.orders": ("a subquery that no equality ties to the row",),
    }
    assert {part.split(":")[0] for part in in_a_line(found).split("; ")} == {"ns.orders", "other.orders"}


def test_what_is_said_of_one_file_is_what_a_refresh_then_does(stage: Stage) -> None:
    for model in (Model(), ROWS, JOINED, DAYS):
        stage.refresh(model)
        said = of(stage, model).base_tables[0].rows_added
        assert said is not None
        sell("EU")(stage.tables())
        result, _ = stage.refresh(model)
        assert result.kind in said.kinds


def test_every_obstacle_is_named_the_shortest_first(stage: Stage) -> None:
    found = of(stage, select("SELECT rank() OVER (ORDER BY n) AS r FROM (SELECT count(*) AS n FROM orders) LIMIT 3"))
    (orders,) = found.base_tables
    assert orders.obstacles == ("a window over all rows", "an aggregate over all rows")
    assert found.obstacles == ("LIMIT may pick other rows at the next evaluation",)


@pytest.mark.parametrize(
    ("sql", "obstacles"),
    [
        ("SELECT region, id FROM orders WHERE day >= current_date - 30", ()),
        (
            "SELECT region, id FROM orders WHERE day >= current_date - 30 LIMIT 3",
            ("LIMIT may pick other rows at the next evaluation",),
        ),
    ],
)
def test_a_clock_that_is_followed_is_no_obstacle(sql: str, obstacles: tuple[str, ...], stage: Stage) -> None:
    assert of(stage, select(sql)).obstacles == obstacles


def test_a_table_that_is_not_there(stage: Stage) -> None:
    found = of(stage, select("SELECT n.id FROM nowhere n JOIN orders o ON n.id = o.id"))
    absent, orders = found.base_tables
    assert "the catalog lake has no Iceberg table lake.ns.nowhere" in absent.obstacles
    assert (found.verdict, orders.rows_added) == ("unknown", None)
    assert "the catalog lake has no Iceberg table lake.ns.nowhere" in in_a_line(found)


def test_a_table_that_pyiceberg_does_not_understand(stage: Stage) -> None:
    stage.catalog.not_understood = {"orders"}
    (orders,) = of(stage, select("SELECT id FROM orders")).base_tables
    assert orders.obstacles == ("the metadata of lake.ns.orders hold something that PyIceberg does not know",)
    stage.catalog.not_understood = {"orders_shown"}
    stage.catalog.views["orders_shown"] = ViewInfo("ns", "orders_shown", "u", "SELECT id FROM orders", (), {}, None)
    (shown,) = of(stage, select("SELECT id FROM orders_shown")).base_tables
    assert shown.obstacles == ("the metadata of lake.ns.orders_shown hold something that PyIceberg does not know",)


def test_a_table_without_rows(stage: Stage) -> None:
    schema = stage.tables()["regions"].schema()
    stage.catalog.iceberg.create_table("ns.empty", schema)
    found = of(stage, select("SELECT region FROM empty"))
    (empty,) = found.base_tables
    assert (empty.rows_added, empty.rows_changed, found.verdict) == (None, None, "incremental")
    assert in_a_line(found) == "empty: not known yet"


def test_plans_and_sql_of_the_next_refresh(stage: Stage) -> None:
    stage.refresh(Model())
    assert of(stage, Model()).sql == NextSql((), "nothing is computed")
    sell("EU")(stage.tables())
    found = of(stage, Model())
    assert [(one.kind, one.verdict) for one in found.considered] == [
        ("overwrite", "chosen"),
        ("none", "no"),
        ("append", "no"),
        ("merge", "no"),
        ("full", "no"),
    ]
    assert all(one.why for one in found.considered)
    assert found.sql is not None
    (statement,) = found.sql.statements
    _, said = stage.refresh(Model())
    written = next(s for s in said if s.startswith("INSERT"))
    assert statement.split("REPLACE WHERE")[1] == written.split("REPLACE WHERE")[1]


def test_what_is_asked_may_come_to_several_kinds(stage: Stage) -> None:
    stage.refresh(DAYS)
    sell("EU")(stage.tables())
    found = of(stage, DAYS)
    assert {one.verdict for one in found.considered} == {"perhaps", "no"}
    assert found.sql is not None
    assert "if the answers of Spark allow it" in found.sql.note


def test_a_first_build_computes_the_select(stage: Stage) -> None:
    found = of(stage, Model())
    assert [(one.kind, one.why) for one in found.considered] == [("full", "first build")]
    assert found.sql is not None
    assert found.sql.statements[0].startswith("SELECT region, sum(amount) AS total FROM `lake`.`ns`.`orders` VERSION")


def test_what_cannot_be_a_view(stage: Stage) -> None:
    unnamed = of(stage, select("SELECT id + 1 FROM orders"))
    assert unnamed.verdict == "error"
    assert "has no name" in str(unnamed.error)
    broken = explain(stage.catalog, Recorded(VIEW, problem="no such macro"))
    assert (broken.verdict, broken.error) == ("error", "no such macro")


def test_a_view_by_its_name_alone(stage: Stage) -> None:
    stage.refresh(Model())
    sell("EU")(stage.tables())
    found = explain(stage.catalog, Recorded(VIEW))
    assert (found.verdict, found.considered[0].kind) == ("incremental", "overwrite")
    assert found.sql == of(stage, Model()).sql
    assert explain(stage.catalog, Recorded(VIEW, note="no model")).error == "no model"


def test_what_a_policy_refuses_is_explained(stage: Stage) -> None:
    some = Model("SELECT id FROM orders LIMIT 5", (("id", "bigint"),))
    stage.refresh(some)
    sell("EU")(stage.tables())
    found = of(stage, replace(some, config={"refresh_policy": "incremental_strict"}))
    assert (found.verdict, found.sql, found.considered) == ("error", None, ())
    assert "incremental_strict" in str(found.error)
    assert found.obstacles == ("LIMIT may pick other rows at the next evaluation",)
    assert found.base_tables[0].name == "lake.ns.orders"


def test_one_that_fails_does_not_hide_the_others(stage: Stage) -> None:
    models = [select("SELECT id + 1 FROM orders"), Model()]
    found = explain_all(stage.catalog, [Configured(stage.request(m)) for m in models])
    assert [e.verdict for e in found] == ["error", "incremental"]


def test_what_readers_get(stage: Stage) -> None:
    total = Model("SELECT sum(amount) AS total FROM orders", (("total", "bigint"),))
    models = {
        "stored": Model(),
        "stitched": reading("use_stitching", definition_below_rows=0),
        "small": reading("use_stitching", definition_below_rows=1_000),
        "total": reading("use_stitching", total, definition_below_rows=0),
    }
    found = {name: of(stage, model).readers for name, model in models.items()}
    assert (found["stored"], found["stitched"]) == (None, "use_stitching")
    assert found["small"] is not None
    assert found["small"].startswith("the SELECT itself: to compute it over base tables of this size takes less")
    assert found["total"] is not None
    assert "of this size" not in found["total"]
    small = of(stage, models["small"])
    assert f"  readers get {small.readers}" in explanation_text(small).splitlines()
    assert without_status(small).readers is None


def test_a_select_that_is_no_view_has_no_next_refresh(stage: Stage) -> None:
    found = without_status(of(stage, Model()))
    assert (found.status, found.considered) == (None, ())
    assert found.base_tables[0].rows_added == Outcome(("overwrite",), "orders: 1 partition changed")


def test_a_built_view_that_cannot_be_read_keeps_its_status(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.refresh(Model())

    def gone(_: str, __: str) -> None:
        raise CatalogUnavailable("connection refused", subject="Cannot read the catalog `lake`")

    monkeypatch.setattr(stage.catalog, "table", gone)
    found = of(stage, Model())
    assert found.status is not None
    assert found.error == found.status.error == "Cannot read the catalog `lake`: connection refused"
    assert "sales: fails" in explanation_text(found)
    assert "1 fails" in project_text([(found, "materialized_view")])
    assert "1 cannot be one" in project_text([(found, "table")])


def test_a_view_partitioned_by_a_hidden_key_is_named_by_it(stage: Stage) -> None:
    """A view that leaves out the column by which its table is partitioned stores it all the same."""
    stage.refresh(Model("SELECT id, amount FROM orders", (("id", "bigint"), ("amount", "bigint"))))
    request = stage.request(select("SELECT id FROM sales"))
    config = replace(request.config, storage_table=("lake", "ns", "__mv_storage__above"))
    above = explain(stage.catalog, Configured(replace(request, view=("lake", "ns", "above"), config=config)))
    (base,) = above.base_tables
    assert len(base.partitioned_by) == 1
    assert is_hidden(base.partitioned_by[0].strip("`"))
