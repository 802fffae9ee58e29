"""The generic test `materialized_view_is_right`: it sees wrong rows, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.refresh.statements import View, create_view
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from integration.support.lake import LakeProject
from tests.support.shares import one_of

ORDERS = "lake.{0}.orders"
VIEWS = {
    "by_day": f"select day, count(*) as orders, sum(amount) as total from {ORDERS} group by day",
    "merged": f"select customer, avg(amount) as mean, max(amount) as most from {ORDERS} group by customer",
    "keyed": f"select id, amount, map(id, customer) as m from {ORDERS} where amount > 0",
    "busy_days": "select day, orders from {{{{ ref('by_day') }}}} where orders > 0",
    "recent": f"select day, count(*) as n from {ORDERS} where day <= current_date group by day",
    "through": "select customer, count(*) as n from lake.{0}.positive group by customer",
    "odd": f"select id, nullif(customer, 'al') as `odd ``name`, double('NaN') as nan, -0.0d as zero from {ORDERS}",
}


@pytest.fixture(scope="module")
def shop(lake: LakeProject) -> LakeProject:
    schema = f"lake.{lake.schema}"
    lake.sql(f"create table {schema}.orders (id int, customer string, day date, amount bigint) partitioned by (day)")
    days = ", ".join(f"({n}, '{'al' if n % 2 else 'bo'}', date'2024-01-0{n % 3 + 1}', {n})" for n in range(9))
    lake.sql(f"insert into {schema}.orders values {days}, (1, null, null, 5), (1, null, null, 5)")
    lake.sql(f"create view {schema}.positive as select * from {schema}.orders where amount > 0")
    for name, sql in VIEWS.items():
        lake.model(name, sql.format(lake.schema))
    lake.model("live", VIEWS["by_day"].format(lake.schema), stale_read_behavior="use_stitching")
    lake.model("some", f"select id from {schema}.orders order by amount limit 3")
    tested = [{"name": n, "data_tests": ["materialized_view_is_right"]} for n in (*VIEWS, "live", "some")]
    lake.properties({"models": tested})
    return lake


def failures(lake: LakeProject, *select: str) -> dict[str, str]:
    """Run the tests of some models, all but `some` without any; return the messages of those that failed."""
    lake.dbt("test", "--quiet", *(["--select", *select] if select else ["--exclude", "some"]))
    return {name.removeprefix("materialized_view_is_right_").rstrip("_"): m for name, m in lake.failures().items()}


def test_right_views_pass_fresh_and_stale(shop: LakeProject) -> None:
    assert "is not a materialized view of the catalog. Run dbt first." in failures(shop)["by_day"]
    assert shop.dbt("compile", "--quiet").success
    shop.run()
    assert failures(shop) == {}
    shop.sql(f"insert into lake.{shop.schema}.orders values (100, 'bo', date'2024-01-02', 5)")
    shop.sql(f"delete from lake.{shop.schema}.orders where id = 3")
    assert failures(shop) == {}
    kinds = {name: r["refresh_kind"] for name, r in shop.run("--exclude", "some").items()}
    assert set(kinds.values()) <= {"append", "overwrite", "merge"}, kinds
    assert failures(shop) == {}


def test_a_build_over_no_rows_compares_nothing(shop: LakeProject) -> None:
    """`dbt build --empty` proves that a project can be built; the test does not stand in its way."""
    assert shop.dbt("build", "--quiet", "--empty", "--select", "by_day").success
    assert "the last run was built with --empty. Refresh it without." in failures(shop, "by_day")["by_day"]
    shop.run("--select", "by_day")
    assert failures(shop, "by_day") == {}


def test_where_a_view_may_give_other_rows_the_test_says_so(shop: LakeProject) -> None:
    shop.run("--select", "some")
    assert "LIMIT may pick other rows" in failures(shop, "some")["some"]


DAMAGES = {
    "surplus": "insert into {0} select * from {0} where day = date'2024-01-01'",
    "missing": "delete from {0} where day is null",
    "changed": "update {0} set total = total + 1 where day = date'2024-01-01'",
}


@pytest.mark.parametrize("damage", one_of(3, DAMAGES))
def test_a_wrong_row_is_seen_and_shown(shop: LakeProject, damage: str) -> None:
    shop.run("--select", "by_day", "live", "--full-refresh")
    for name in ("by_day", "live"):
        _damage(shop, name, DAMAGES[damage])
    wrong = failures(shop, "by_day", "live")
    number = 2 if damage == "changed" else 1
    assert {name: f"Got {number} result" in message for name, message in wrong.items()} == {
        "by_day": True,
        "live": True,
    }
    shop.dbt("test", "--quiet", "--store-failures", "--select", "by_day")
    kept = "materialized_view_is_right_by_day_"
    rows = shop.sql(
        f"select icebergmv_missing_in, icebergmv_rows, cast(day as string) from lake.{shop.schema}_dbt_test__audit.{kept}"
    )
    found = sorted(tuple(row) for row in rows)
    day = "2024-01-01"
    assert (
        found
        == {
            "surplus": [("definition", 1, day)],
            "missing": [("view", 1, None)],
            "changed": [("definition", 1, day), ("view", 1, day)],
        }[damage]
    )
    shop.run("--select", "by_day", "live", "--full-refresh")
    assert failures(shop, "by_day", "live") == {}


def _damage(lake: LakeProject, name: str, statement: str) -> None:
    """Change the storage table of a view, and publish the view over it as a refresh that went wrong would."""
    storage = f"lake.{lake.schema}.__mv_storage__{name}"
    lake.sql(statement.format(storage))
    view = lake.published(name)
    state = read_state(name, view.properties)
    table = lake.reader().table(lake.schema, f"__mv_storage__{name}")
    assert table is not None
    now = table.metadata.current_snapshot_id
    assert now is not None
    columns = tuple(c.name for c in view.columns)
    query = f"SELECT {', '.join(f'`{c}`' for c in columns)} FROM `lake`.`{lake.schema}`.`__mv_storage__{name}` VERSION AS OF {now}"
    properties = replace(state, storage_snapshot_id=now, view_sql_hash="").to_properties()
    lake.sql(create_view(View(("lake", lake.schema, name), columns, query, None, {}, properties)))
