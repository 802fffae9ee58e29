"""Groups that are not merged, above windows and other groups: those are replaced which reached rows were or are in."""

from __future__ import annotations

import pytest

from integration.support.following import in_turn
from integration.support.lake import LakeProject

_TOTALS = (
    "(select customer, max(country) as country, sum(amount) as total, count(*) as n from {orders} group by customer)"
)
_LAST = "(select *, row_number() over (partition by customer order by id desc) as place from {orders})"
VIEWS = {
    "medians": f"select country, percentile(total, 0.5) as median from {_TOTALS} group by country",
    "often": f"select country, count(*) as n from {_LAST} where place = 1 group by country having count(*) > 8",
    "countries": f"select distinct country, amount % 2 as odd from {_LAST} where place = 1",
    "steps": f"with totals as {_TOTALS} select total % 20 as step, collect_set(n) as sizes from totals group by total % 20",
    "values": f"select country, count(distinct n) as a, count(distinct total) as b from {_TOTALS} t group by country",
}
ROUNDS = {
    "an order changes": "update {orders} set amount = amount + 1000 where id = 7",
    "a customer moves": "update {orders} set country = 'c9' where customer = 3",
    "a customer goes": "delete from {orders} where customer = 4",
    "orders come": "insert into {orders} values (9000, 5, 'c1', 3), (9001, 777, 'c5', 4), (9002, null, null, null)",
}


@pytest.fixture(scope="module")
def orders(lake: LakeProject) -> str:
    name = f"lake.{lake.schema}.grouped_orders"
    lake.sql(f"create table {name} (id int, customer int, country string, amount int) using iceberg")
    lake.sql(
        f"insert into {name} select cast(id as int), cast(id % 60 as int), concat('c', id % 6), cast(id % 11 as int) "
        "from range(600)"
    )
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(orders=name))
    lake.run("--select", *VIEWS)
    return name


@pytest.mark.parametrize("change", in_turn(ROUNDS, 2))
def test_groups_are_replaced(change: str, lake: LakeProject, orders: str) -> None:
    lake.sql(ROUNDS[change].format(orders=orders))
    found = {name: response["refresh_kind"] for name, response in lake.run("--select", *VIEWS).items()}
    lake.assert_equals_definition(*(name for name in VIEWS if name != "steps"))
    assert set(found.values()) <= {"overwrite", "none"}, found
    assert found["medians"] == "overwrite"


def test_sets_are_those_of_the_definition(lake: LakeProject, orders: str) -> None:
    shown = "select step, sort_array(sizes) as sizes from"
    stored = lake.sql(f"{shown} {lake.view('steps')} order by 1")
    assert stored == lake.sql(f"{shown} ({VIEWS['steps'].format(orders=orders)}) order by 1")
