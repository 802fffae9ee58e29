"""Another `stale_read_behavior` of a view below changes no row of the views above: they go on from what they have read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from integration.support.lake import LakeProject

VIEWS = {
    "low": "select day, customer, sum(amount) as total from {sales} group by day, customer",
    "middle": "select day, count(*) as n, sum(total) as total from {low} group by day",
    "beside": "select l.day, l.customer, l.total, s.amount from {low} l join {sales} s "
    "on s.day = l.day and s.customer = l.customer",
    "high": "select l.day, l.total, m.n from {low} l join {middle} m on l.day = m.day",
    "renamed": "-- depends_on: {low}\nselect day as at, total from {above_low} where total > 3",
}
LIVE = {"stale_read_behavior": "use_stitching", "definition_below_rows": 0}
STORED: dict[str, object] = {}


def _model_all(lake: LakeProject, names: Mapping[str, str], config: Mapping[str, object], *changed: str) -> None:
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(**names), **(config if view in changed else {}))


@pytest.mark.long
@pytest.mark.parametrize("switched", [("low",), ("low", "middle")])
def test_views_above_go_on(lake: LakeProject, switched: tuple[str, ...]) -> None:
    sales, plain = f"lake.{lake.schema}.sales_{len(switched)}", f"lake.{lake.schema}.above_low_{len(switched)}"
    names = {"sales": sales, "above_low": plain, **{view: f"{{{{ ref('{view}') }}}}" for view in VIEWS}}
    lake.sql(
        f"CREATE TABLE {sales} USING iceberg PARTITIONED BY (day) AS SELECT date_add(DATE '2024-01-01', "
        "cast(id % 9 as int)) AS day, cast(id % 5 as int) AS customer, cast(id % 7 as int) AS amount FROM range(300)"
    )
    _model_all(lake, names, STORED)
    lake.run("--select", "low", "--full-refresh")
    lake.sql(f"CREATE OR REPLACE VIEW {plain} AS SELECT * FROM lake.{lake.schema}.low WHERE customer < 4")
    lake.run("--full-refresh")
    others = [view for view in VIEWS if view not in switched]
    for config in (LIVE, STORED):
        _model_all(lake, names, config, *switched)
        found = lake.run()
        assert {found[view]["refresh_kind"] for view in VIEWS} == {"none"}, found
        lake.assert_equals_definition(*VIEWS)
        lake.sql(f"INSERT INTO {sales} VALUES (DATE '2024-01-03', 2, 5)")
        found = lake.run()
        assert "full" not in {found[view]["refresh_kind"] for view in others}, found
        lake.assert_equals_definition(*VIEWS)
    # The setting, and rows, in one run.
    for config in (LIVE, STORED):
        _model_all(lake, names, config, *switched)
        lake.sql(f"UPDATE {sales} SET amount = amount + 1 WHERE day = DATE '2024-01-05'")
        found = lake.run()
        assert "full" not in {found[view]["refresh_kind"] for view in others}, found
        lake.assert_equals_definition(*VIEWS)


def test_another_select_below_still_counts(lake: LakeProject) -> None:
    sales = f"lake.{lake.schema}.sales_of_another"
    lake.sql(f"CREATE TABLE {sales} USING iceberg AS SELECT id, cast(id % 5 as int) AS customer FROM range(20)")
    lake.model("below", f"select customer, count(*) as n from {sales} group by customer")
    lake.model("above", "select customer, n + 1 as n from {{ ref('below') }}")
    lake.run("--select", "below", "above")
    lake.model("below", f"select customer, count(*) * 2 as n from {sales} group by customer", **LIVE)
    lake.run("--select", "below", "above")
    lake.assert_equals_definition("below", "above")
    lake.model("below", f"select customer, count(*) * 3 as n from {sales} group by customer")
    lake.run("--select", "below", "above")
    lake.assert_equals_definition("below", "above")
